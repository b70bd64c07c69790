//! The threads that play games.
//!
//! The caller begins games with `begin` while the threads have room (`has_room`), says `no_more` when it has no plan left, and waits for
//! events. Plans go to the threads in turn, so that which games share batches does not depend on time.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::forest::ForestError;
use crate::game::GameInfo;
use crate::play::messages::{Answer, Event, Facts, Order};
use crate::play::running::Plan;
use crate::play::settings::{Layout, Lineup};
use crate::play::worker::{Links, Worker};

/// Games of a worker for each plan that waits there, so that another game begins at once where one ends.
const AHEAD_SHARE: usize = 16;

/// A worker as the caller sees it.
struct WorkerHandle {
    orders: Sender<Order>,
    facts: Arc<Mutex<Facts>>,
    thread: JoinHandle<()>,
    /// Games that were assigned to it and are not over.
    load: usize,
    /// Greatest number of games assigned to it at a time.
    max_load: usize,
}

/// The workers, and which of them plays which game.
struct Workers {
    handles: Vec<WorkerHandle>,
    /// Index of the worker of each running game, by the game's number.
    worker_of: HashMap<u64, usize>,
    /// Games begun until now.
    begun: usize,
    /// Facts of workers that have ended.
    ended: Facts,
}

impl Workers {
    /// Sends an order; a worker that has failed takes none.
    fn order(&self, index: usize, order: Order) {
        let _ = self.handles[index].orders.send(order);
    }

    /// Sends the same order to all workers.
    fn order_all(&self, order: impl Fn() -> Order) {
        (0..self.handles.len()).for_each(|index| self.order(index, order()));
    }
}

/// The threads that play. Its calls may come from any thread.
pub struct GameThreads {
    workers: Mutex<Workers>,
    events: Mutex<Receiver<Event>>,
    stop: Arc<AtomicBool>,
    players: usize,
}

impl GameThreads {
    /// Starts the threads, which wait for games.
    pub fn new(lineup: Lineup, info: &GameInfo, layout: Layout) -> Result<Self, ForestError> {
        let refuse = |what: String| Err(ForestError(what));
        if layout.parallel < 1 {
            return refuse(format!("the number of parallel games must be >= 1, got {}", layout.parallel));
        }
        if layout.batch_size < 1 {
            return refuse(format!("batch_size must be >= 1, got {}", layout.batch_size));
        }
        let ruled = lineup.players.iter().flatten().any(|player| player.rules.is_some());
        // Rules from outside are called about all trees of a thread at once, which costs little more than a call about
        // one: more threads would call more often, about fewer trees.
        let workers = if ruled { 1 } else { layout.workers.clamp(1, layout.parallel) };
        let lineup = Arc::new(lineup);
        let stop = Arc::new(AtomicBool::new(false));
        let (sender, events) = channel();
        let ended = Facts::new(lineup.evaluators.len());
        let no_workers = Workers { handles: Vec::new(), worker_of: HashMap::new(), begun: 0, ended };
        let threads = GameThreads {
            workers: Mutex::new(no_workers),
            events: Mutex::new(events),
            stop: stop.clone(),
            players: lineup.players.len(),
        };
        for index in 0..workers {
            let slots = layout.parallel / workers + usize::from(index < layout.parallel % workers);
            let (orders, inbox) = channel();
            let facts = Arc::new(Mutex::new(Facts::new(lineup.evaluators.len())));
            let links =
                Links { index, orders: inbox, events: sender.clone(), stop: stop.clone(), facts: facts.clone() };
            let worker = Worker::new(lineup.clone(), info, &layout, slots, links)?;
            let events = sender.clone();
            let spawned =
                std::thread::Builder::new().name(format!("games {index}")).spawn(move || run(worker, &events));
            let thread = spawned.map_err(|error| ForestError(format!("threads: {error}")))?;
            // A few plans more than games: a slot that is free begins the next game without a message to the caller and
            // back.
            let max_load = slots + slots.div_ceil(AHEAD_SHARE);
            let handle = WorkerHandle { orders, facts, thread, load: 0, max_load };
            locked(&threads.workers).handles.push(handle);
        }
        Ok(threads)
    }

    /// Whether a worker waits for a game, or soon will.
    pub fn has_room(&self) -> bool {
        locked(&self.workers).handles.iter().any(|worker| worker.load < worker.max_load)
    }

    /// Number of games that are not over.
    pub fn running(&self) -> usize {
        locked(&self.workers).worker_of.len()
    }

    /// Begins this game.
    pub fn begin(&self, plan: Plan) -> Result<(), ForestError> {
        if plan.sides.iter().any(|side| *side >= self.players) {
            return Err(ForestError(format!("there are {} players, got sides {:?}", self.players, plan.sides)));
        }
        let mut workers = locked(&self.workers);
        if workers.handles.is_empty() {
            return Err(ForestError("these games were stopped".into()));
        }
        // In turns and not to the idlest worker: which games share batches must not depend on time, since a
        // net may round a row differently in a batch of another size.
        let index = workers.begun % workers.handles.len();
        workers.begun += 1;
        workers.worker_of.insert(plan.number, index);
        workers.handles[index].load += 1;
        workers.order(index, Order::Play(Box::new(plan)));
        Ok(())
    }

    /// There are no more games at present.
    pub fn no_more(&self) {
        let workers = locked(&self.workers);
        workers.order_all(|| Order::NoMore);
    }

    /// Waits for the next event; `None`: there was none in this time.
    pub fn wait(&self, timeout: Duration) -> Option<Event> {
        // The lock of the events is released before that of the workers is taken: a caller that answers
        // meanwhile is not blocked, and no two locks are held at once.
        let event = locked(&self.events).recv_timeout(timeout).ok()?;
        if let Event::Ended { worker, record } = &event {
            let mut workers = locked(&self.workers);
            workers.worker_of.remove(&record.number);
            if let Some(handle) = workers.handles.get_mut(*worker) {
                handle.load -= 1;
            }
        }
        Some(event)
    }

    /// Answers a question about the game with this number.
    pub fn answer(&self, number: u64, answer: Answer) {
        let workers = locked(&self.workers);
        if let Some(index) = workers.worker_of.get(&number) {
            workers.order(*index, Order::Answered(number, answer));
        }
    }

    /// The sums over all workers, each of which reports from time to time, and whenever a game is over.
    pub fn facts(&self) -> Facts {
        let workers = locked(&self.workers);
        let mut sum = workers.ended.clone();
        workers.handles.iter().for_each(|handle| sum.add(&locked(&handle.facts)));
        sum
    }

    /// Number of threads.
    pub fn workers(&self) -> usize {
        locked(&self.workers).handles.len()
    }

    /// Stops the running games and waits for the threads to end; a batch in progress is finished first.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
        // Taken out under the lock and joined without it: whoever asks for facts meanwhile need not wait for the last
        // batch.
        let handles = {
            let mut workers = locked(&self.workers);
            workers.order_all(|| Order::Stop); // wakes those that wait
            workers.worker_of.clear();
            std::mem::take(&mut workers.handles)
        };
        for handle in handles {
            let _ = handle.thread.join(); // a panic was reported as an event
            locked(&self.workers).ended.add(&locked(&handle.facts));
        }
    }
}

impl Drop for GameThreads {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Locks a mutex; no thread panics while it holds one of these.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn run(mut worker: Worker, events: &Sender<Event>) {
    // A panic must reach the caller as an event; a thread that dies silently would let it wait for ever.
    let ended = catch_unwind(AssertUnwindSafe(|| worker.run()));
    let failure = match ended {
        Ok(Ok(())) => return,
        Ok(Err(message)) => message,
        Err(_) => "a thread of the games has panicked".into(),
    };
    let _ = events.send(Event::Failed(failure)); // no one may wait any more
}
