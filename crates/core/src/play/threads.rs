//! The threads that play games, and what passes between them and the caller.
//!
//! The caller gives plans with `begin` while there `has_room`, says `no_more` when it has none, and takes events. Plans go to the
//! threads in turns, so that it does not depend on time which games share batches.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::forest::ForestError;
use crate::game::{Action, GameInfo};
use crate::play::record::Record;
use crate::play::running::{Lost, Plan};
use crate::play::settings::{Layout, Table};
use crate::play::worker::{Links, Order, Worker};
use crate::step::StepFacts;

/// One plan for this many games at a time waits at each worker, so that a game that ends is followed at once.
const AHEAD_SHARE: usize = 16;

/// A player without a forest is to move.
pub struct Question {
    /// Number of the game.
    pub number: u64,
    /// Index of the player.
    pub player: usize,
    /// The moves since the position that its plan begins with.
    pub actions: Vec<Action>,
    /// Of all random draws for this move.
    pub seed: u64,
}

/// What a player without a forest replies.
pub enum Answer {
    /// A move. `score`: NaN: unknown; `depth`: 0: unknown; `seconds`: `None`: as long as the reply took; `note`: of this move.
    Move {
        /// The move.
        action: Action,
        /// In pawns, for the mover.
        score: f32,
        /// Plies looked ahead.
        depth: u16,
        /// How long the player thought.
        seconds: Option<f32>,
        /// What a user should know of it.
        note: String,
    },
    /// The player has lost.
    Lost(Lost),
}

/// What happens in the games.
pub enum Event {
    /// A player without a forest is to move.
    Asked(Question),
    /// A game is over.
    Ended {
        /// Who played it.
        worker: usize,
        /// The game.
        record: Box<Record>,
    },
    /// No game goes on: what went wrong, in one line.
    Failed(String),
}

/// What was done until now.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Games that are over.
    pub games: u64,
    /// Their moves.
    pub moves: u64,
    /// Visits of all trees.
    pub visits: u64,
    /// Leaves found in caches.
    pub cache_hits: u64,
    /// Leaves looked for there.
    pub cache_lookups: u64,
    /// Bytes of the trees of running games.
    pub tree_bytes: u64,
    /// By evaluator.
    pub networks: Vec<StepFacts>,
    /// Waiting for players without a forest while no game could go on.
    pub waited: Duration,
}

impl Facts {
    /// Nothing done yet with this many evaluators.
    pub fn new(evaluators: usize) -> Self {
        Facts { networks: vec![StepFacts::default(); evaluators], ..Facts::default() }
    }

    fn add(&mut self, other: &Facts) {
        self.games += other.games;
        self.moves += other.moves;
        self.visits += other.visits;
        self.cache_hits += other.cache_hits;
        self.cache_lookups += other.cache_lookups;
        self.tree_bytes += other.tree_bytes;
        self.waited += other.waited;
        self.networks.iter_mut().zip(&other.networks).for_each(|(sum, one)| sum.add(one));
    }
}

/// A worker as the caller sees it.
struct Hand {
    orders: Sender<Order>,
    facts: Arc<Mutex<Facts>>,
    thread: JoinHandle<()>,
    /// Games that it was given and that are not over.
    load: usize,
    /// Games that it is given at most.
    most: usize,
}

/// Which worker plays what.
struct Hands {
    all: Vec<Hand>,
    /// Worker of each running game.
    places: HashMap<u64, usize>,
    /// Games that were begun.
    begun: usize,
    /// Facts of workers that have ended.
    ended: Facts,
}

impl Hands {
    /// A worker that has failed takes no orders.
    fn order(&self, index: usize, order: Order) {
        let _ = self.all[index].orders.send(order);
    }
}

/// The threads that play. Its calls may come from any thread.
pub struct GameThreads {
    hands: Mutex<Hands>,
    events: Mutex<Receiver<Event>>,
    stop: Arc<AtomicBool>,
    players: usize,
}

impl GameThreads {
    /// Starts the threads, which wait for games.
    pub fn new(table: Table, info: &GameInfo, layout: Layout) -> Result<Self, ForestError> {
        let refuse = |what: String| Err(ForestError(what));
        if layout.parallel < 1 {
            return refuse(format!("the number of parallel games must be >= 1, got {}", layout.parallel));
        }
        if layout.batch_size < 1 {
            return refuse(format!("batch_size must be >= 1, got {}", layout.batch_size));
        }
        let ruled = table.players.iter().flatten().any(|player| player.rules.is_some());
        let workers = if ruled { 1 } else { layout.workers.clamp(1, layout.parallel) };
        let (table, stop) = (Arc::new(table), Arc::new(AtomicBool::new(false)));
        let (sender, events) = channel();
        let ended = Facts::new(table.evaluators.len());
        let hands = Hands { all: Vec::new(), places: HashMap::new(), begun: 0, ended };
        let threads = GameThreads {
            hands: Mutex::new(hands),
            events: Mutex::new(events),
            stop: stop.clone(),
            players: table.players.len(),
        };
        for index in 0..workers {
            let slots = layout.parallel / workers + usize::from(index < layout.parallel % workers);
            let (orders, inbox) = channel();
            let facts = Arc::new(Mutex::new(Facts::new(table.evaluators.len())));
            let links =
                Links { index, orders: inbox, events: sender.clone(), stop: stop.clone(), facts: facts.clone() };
            let worker = Worker::new(table.clone(), info, &layout, slots, links)?;
            let events = sender.clone();
            let spawned =
                std::thread::Builder::new().name(format!("games {index}")).spawn(move || run(worker, &events));
            let thread = spawned.map_err(|error| ForestError(format!("threads: {error}")))?;
            let most = slots + slots.div_ceil(AHEAD_SHARE);
            locked(&threads.hands).all.push(Hand { orders, facts, thread, load: 0, most });
        }
        Ok(threads)
    }

    /// Is there a worker that waits for a game, or soon will?
    pub fn has_room(&self) -> bool {
        locked(&self.hands).all.iter().any(|hand| hand.load < hand.most)
    }

    /// Number of games that are not over.
    pub fn running(&self) -> usize {
        locked(&self.hands).places.len()
    }

    /// Lets this game be played.
    pub fn begin(&self, plan: Plan) -> Result<(), ForestError> {
        if plan.sides.iter().any(|side| *side >= self.players) {
            return Err(ForestError(format!("there are {} players, got sides {:?}", self.players, plan.sides)));
        }
        let mut hands = locked(&self.hands);
        if hands.all.is_empty() {
            return Err(ForestError("these games were given up".into()));
        }
        // In turns and not to the idlest worker: which games share batches must not depend on time, since a
        // net may round a row differently in a batch of another size.
        let index = hands.begun % hands.all.len();
        hands.begun += 1;
        hands.places.insert(plan.number, index);
        hands.all[index].load += 1;
        hands.order(index, Order::Play(Box::new(plan)));
        Ok(())
    }

    /// There are no more games at present.
    pub fn no_more(&self) {
        let hands = locked(&self.hands);
        (0..hands.all.len()).for_each(|index| hands.order(index, Order::NoMore));
    }

    /// What happens next; `None`: nothing in this time.
    pub fn wait(&self, most: Duration) -> Option<Event> {
        // The lock of the events is released before that of the workers is taken: a caller that answers
        // meanwhile is not blocked, and no two locks are held at once.
        let event = locked(&self.events).recv_timeout(most).ok()?;
        if let Event::Ended { worker, record } = &event {
            let mut hands = locked(&self.hands);
            hands.places.remove(&record.number);
            if let Some(hand) = hands.all.get_mut(*worker) {
                hand.load -= 1;
            }
        }
        Some(event)
    }

    /// Answers a question about the game with this number.
    pub fn answer(&self, number: u64, answer: Answer) {
        let hands = locked(&self.hands);
        if let Some(index) = hands.places.get(&number) {
            hands.order(*index, Order::Answered(number, answer));
        }
    }

    /// What all have done, of which each tells now and then, and whenever a game is over.
    pub fn facts(&self) -> Facts {
        let hands = locked(&self.hands);
        let mut sum = hands.ended.clone();
        hands.all.iter().for_each(|hand| sum.add(&locked(&hand.facts)));
        sum
    }

    /// Number of threads.
    pub fn workers(&self) -> usize {
        locked(&self.hands).all.len()
    }

    /// Gives the running games up and waits for the threads to end; a batch that is computed is waited for.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
        let all = {
            let mut hands = locked(&self.hands);
            (0..hands.all.len()).for_each(|index| hands.order(index, Order::Stop)); // wakes those that wait
            hands.places.clear();
            std::mem::take(&mut hands.all)
        };
        for hand in all {
            let _ = hand.thread.join(); // a panic was reported as an event
            locked(&self.hands).ended.add(&locked(&hand.facts));
        }
    }
}

impl Drop for GameThreads {
    fn drop(&mut self) {
        self.stop();
    }
}

/// No thread panics with one of these.
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
