//! What one thread does: it searches in all its games together, and plays a move in each whose search has ended.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::evaluator::Origin;
use crate::forest::{Forest, ForestError};
use crate::game::{Action, GameInfo};
use crate::play::chosen_move::{ChosenMove, chosen_move};
use crate::play::messages::{Answer, Event, Facts, Order, Question};
use crate::play::running::{Plan, Running};
use crate::play::settings::{Layout, Lineup};
use crate::rules::second_net::Net;
use crate::step::{BatchBuffers, StepFacts, step};

/// Time after which facts are reported again while no game ends.
const REPORT_INTERVAL: Duration = Duration::from_millis(100);

/// An evaluator, the forests that it answers, and its batches.
struct Network {
    evaluator: usize,
    users: Vec<(usize, Net)>,
    buffers: BatchBuffers,
    facts: StepFacts,
}

/// A thread's games.
pub struct Worker {
    lineup: Arc<Lineup>,
    /// Forest of each player that searches.
    forest_of: Vec<Option<usize>>,
    /// Player of each forest.
    player_of: Vec<usize>,
    forests: Vec<Forest>,
    /// Slot of the game of each tree, by forest.
    slots_of: Vec<Vec<usize>>,
    networks: Vec<Network>,
    games: Vec<Option<Running>>,
    free: Vec<usize>,
    /// Trees that think: forest, tree, slot.
    thinking: Vec<(usize, usize, usize)>,
    asked: usize,
    plans: VecDeque<Plan>,
    no_more: bool,
    index: usize,
    orders: Receiver<Order>,
    events: Sender<Event>,
    stop: Arc<AtomicBool>,
    reported: Arc<Mutex<Facts>>,
    last_report: Instant,
    waited: Duration,
    done: Facts,
    /// Visits of all trees after a turn that brought neither rows nor moves; `None` after other turns.
    idle_visits: Option<u64>,
}

/// The links of a worker to its caller.
pub struct Links {
    /// Its index among the workers.
    pub index: usize,
    /// Orders to it.
    pub orders: Receiver<Order>,
    /// Events from it.
    pub events: Sender<Event>,
    /// The games are stopped.
    pub stop: Arc<AtomicBool>,
    /// Its totals.
    pub facts: Arc<Mutex<Facts>>,
}

impl Worker {
    /// A worker with this many games at a time.
    pub fn new(
        lineup: Arc<Lineup>,
        info: &GameInfo,
        layout: &Layout,
        slots: usize,
        links: Links,
    ) -> Result<Self, ForestError> {
        let mut forests = Vec::new();
        let mut player_of = Vec::new();
        let mut networks = Vec::<Network>::new();
        let mut forest_of = vec![None; lineup.players.len()];
        for (number, player) in lineup.players.iter().enumerate() {
            let Some(player) = player else { continue };
            let mut search = player.search.clone();
            search.max_in_flight = 1; // sequential searches: a game does not depend on the others
            let forest = Forest::with_rules(search, layout.seed, 1, player.rules.clone())?;
            forest_of[number] = Some(forests.len());
            for net in Net::all().filter(|net| forest.asks(*net)) {
                let evaluator = player.evaluator(net)?;
                let user = (forests.len(), net);
                match networks.iter_mut().find(|network| network.evaluator == evaluator) {
                    Some(network) => network.users.push(user),
                    None => networks.push(Network {
                        evaluator,
                        users: vec![user],
                        buffers: BatchBuffers::new(info, lineup.evaluators[evaluator].as_ref(), layout.batch_size),
                        facts: StepFacts::default(),
                    }),
                }
            }
            forests.push(forest);
            player_of.push(number);
        }
        Ok(Worker {
            forest_of,
            player_of,
            slots_of: vec![Vec::new(); forests.len()],
            forests,
            networks,
            games: (0..slots).map(|_| None).collect(),
            free: (0..slots).rev().collect(),
            thinking: Vec::new(),
            asked: 0,
            plans: VecDeque::new(),
            no_more: false,
            index: links.index,
            orders: links.orders,
            events: links.events,
            stop: links.stop,
            reported: links.facts,
            last_report: Instant::now(),
            waited: Duration::ZERO,
            done: Facts::new(lineup.evaluators.len()),
            idle_visits: None,
            lineup,
        })
    }

    /// Plays until an order to stop.
    pub fn run(&mut self) -> Result<(), String> {
        // Relaxed: the flag carries no data, and one turn more does no harm.
        while !self.stop.load(Ordering::Relaxed) {
            // Orders are only looked for between turns: a batch in progress is never interrupted, so what a game
            // sees does not depend on when an order arrives.
            while let Ok(order) = self.orders.try_recv() {
                self.follow(order)?;
            }
            self.begin_games()?;
            let searched = self.search()?;
            let moved = self.move_finished()?;
            self.check_rules()?;
            if searched || moved {
                self.idle_visits = None;
            } else if self.thinking.is_empty() {
                // All games wait for players without a forest, or for plans.
                self.wait()?;
            } else {
                self.check_progress()?;
            }
            if self.last_report.elapsed() >= REPORT_INTERVAL {
                self.report_facts();
            }
        }
        Ok(())
    }

    /// Waits for an order and follows it; not after the last one.
    fn wait(&mut self) -> Result<(), String> {
        if self.stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        self.report_facts();
        let started = Instant::now();
        // A closed channel means that the caller is gone.
        let order = self.orders.recv().unwrap_or(Order::Stop);
        // Waiting for plans is not the players' time.
        if self.asked > 0 {
            self.waited += started.elapsed();
        }
        self.follow(order)
    }

    fn follow(&mut self, order: Order) -> Result<(), String> {
        match order {
            Order::Play(plan) => {
                self.no_more = false;
                self.plans.push_back(*plan);
            }
            Order::NoMore => self.no_more = true,
            Order::Answered(number, answer) => self.take_answer(number, answer)?,
            Order::Stop => self.stop.store(true, Ordering::Relaxed),
        }
        Ok(())
    }

    /// Starts games while there are free slots. Which game gets which slot does not depend on time: a free slot waits until it is known
    /// whether there is another game.
    fn begin_games(&mut self) -> Result<(), String> {
        while !self.free.is_empty() && !self.stop.load(Ordering::Relaxed) {
            let Some(plan) = self.plans.pop_front() else {
                if self.no_more {
                    break;
                }
                self.wait()?;
                continue;
            };
            let slot = self.free.pop().expect("a free slot");
            self.games[slot] = Some(Running::new(plan, &self.lineup.rules));
            self.continue_game(slot)?;
        }
        Ok(())
    }

    /// Evaluates one batch with every network; false if there were no rows.
    fn search(&mut self) -> Result<bool, String> {
        let mut any = false;
        let slots_of = &self.slots_of;
        let games = &self.games;
        let root_line = |forest: usize, tree: usize| -> (Option<Origin>, Vec<Action>) {
            let game = games[slots_of[forest][tree]].as_ref().expect("a tree is of a running game");
            (game.plan.origin.clone(), game.columns.actions.clone())
        };
        for network in &mut self.networks {
            let evaluator = self.lineup.evaluators[network.evaluator].as_ref();
            let Network { users, buffers, facts, .. } = network;
            any |= step(&mut self.forests, users, evaluator, buffers, &root_line, facts)? > 0;
        }
        Ok(any)
    }

    /// Plays a move wherever a search has ended; false if none has.
    fn move_finished(&mut self) -> Result<bool, String> {
        let forests = &self.forests;
        let ended =
            |(forest, tree, _): &(usize, usize, usize)| forests[*forest].tree(*tree).is_ok_and(|t| t.is_finished());
        let (finished, open): (Vec<_>, Vec<_>) = self.thinking.iter().partition(|one| ended(one));
        if finished.is_empty() {
            return Ok(false);
        }
        self.thinking = open;
        for &(forest, tree, slot) in &finished {
            let chosen = self.choose(forest, tree, slot)?;
            self.game(slot).play(&chosen);
            self.continue_game(slot)?;
        }
        Ok(true)
    }

    fn choose(&mut self, forest: usize, tree: usize, slot: usize) -> Result<ChosenMove, String> {
        let lineup = self.lineup.clone();
        let player = lineup.players[self.player_of[forest]].as_ref().expect("a player with a forest searches");
        let game = self.games[slot].as_mut().expect("a running game");
        // Drawn at every move, also where temperature 0 does not look at it: the next move's number is the
        // same either way.
        let uniform = game.draw();
        let search = self.forests[forest].tree(tree).map_err(|error| error.0)?;
        let mut chosen = chosen_move(search, &player.moves.temperature, game.state.ply(), uniform)?;
        chosen.learn = player.moves.learns && game.full;
        chosen.seconds = game.begun.elapsed().as_secs_f32();
        Ok(chosen)
    }

    fn game(&mut self, slot: usize) -> &mut Running {
        self.games[slot].as_mut().expect("a running game")
    }

    /// Ends the game, or hands it to the player to move.
    fn continue_game(&mut self, slot: usize) -> Result<(), String> {
        let rules = self.lineup.rules;
        if self.game(slot).is_over(&rules) {
            return self.end(slot);
        }
        let mover = self.game(slot).mover();
        self.game(slot).begun = Instant::now();
        match self.forest_of[mover] {
            Some(forest) => self.think(slot, mover, forest),
            None => {
                self.asked += 1;
                let game = self.game(slot);
                let question = Question {
                    number: game.plan.number,
                    player: mover,
                    actions: game.columns.actions.clone(),
                    seed: game.answer_seed(),
                };
                self.send(Event::Asked(question))
            }
        }
    }

    /// Begins the search of the player to move: in its tree of this game, advanced to the position, or in a new one.
    fn think(&mut self, slot: usize, mover: usize, forest: usize) -> Result<(), String> {
        let lineup = self.lineup.clone();
        let settings = &lineup.players[mover].as_ref().expect("a player with a forest searches").moves;
        let game = self.games[slot].as_mut().expect("a running game");
        let number = game.tree_number();
        let trees = &mut self.forests[forest];
        let tree = match game.trees[number] {
            Some(tree) => {
                // A tree catches up only when its player is to move: trees of finished games are never advanced in
                // vain.
                for action in game.unplayed[number].drain(..) {
                    trees.advance(&[(tree, action)]).map_err(|error| error.0)?;
                }
                tree
            }
            None => {
                let tree = trees.add(game.state.clone_box(), Some(game.tree_seed()));
                game.trees[number] = Some(tree);
                tree
            }
        };
        let search = trees.tree_mut(tree).map_err(|error| error.0)?;
        search.set_visit_limit(settings.visits);
        if let Some(cap) = settings.playout_cap {
            game.full = game.draws_full(cap.full_share);
            // A fast search only has to choose well: it has no noise and nothing else that is for learning (Wu 2019,
            // section 3.1).
            search.set_quiet(!game.full);
            search.set_visit_limit(if game.full { settings.visits } else { cap.fast_visits });
        }
        let slots = &mut self.slots_of[forest];
        if slots.len() <= tree {
            slots.resize(tree + 1, 0);
        }
        slots[tree] = slot;
        self.thinking.push((forest, tree, slot));
        Ok(())
    }

    /// Plays the move that a player without a forest has answered.
    fn take_answer(&mut self, number: u64, answer: Answer) -> Result<(), String> {
        let waits = |game: &Option<Running>| game.as_ref().is_some_and(|game| game.plan.number == number);
        let slot = self.games.iter().position(waits).ok_or(format!("no game {number} waits for a move"))?;
        self.asked -= 1;
        let game = self.game(slot);
        match answer {
            Answer::Lost(lost) => game.lose(lost),
            Answer::Move { action, score, depth, seconds, note } => {
                // The answer comes from outside (a program, a person) and has not been checked.
                let mut legal = Vec::new();
                game.state.legal_actions(&mut legal);
                if !legal.contains(&action) {
                    return Err(format!("action {action} is not legal here; legal: {legal:?}"));
                }
                let seconds = seconds.unwrap_or_else(|| game.begun.elapsed().as_secs_f32());
                game.play(&ChosenMove {
                    action,
                    target: vec![(action, 1)],
                    root_wdl: [f32::NAN; 3],
                    net_value: f32::NAN,
                    surprise: f32::NAN,
                    visits: 0,
                    temperature: 0.0,
                    learn: false,
                    score,
                    depth,
                    seconds,
                    proven: 0,
                });
                if !note.is_empty() {
                    game.note(note);
                }
            }
        }
        self.continue_game(slot)
    }

    /// Ends a game: removes its trees, frees its slot and sends its record.
    fn end(&mut self, slot: usize) -> Result<(), String> {
        let game = self.games[slot].take().expect("a running game");
        self.free.push(slot);
        for (side, tree) in game.trees.iter().enumerate() {
            if let (Some(tree), Some(forest)) = (tree, self.forest_of[game.plan.sides[side]]) {
                self.forests[forest].remove(*tree).map_err(|error| error.0)?;
            }
        }
        // Reported before the event: who is told of the end finds the game among the facts.
        self.done.games += 1;
        self.done.moves += game.columns.actions.len() as u64;
        self.report_facts();
        self.send(Event::Ended { worker: self.index, record: Box::new(game.record()) })
    }

    fn send(&self, event: Event) -> Result<(), String> {
        self.events.send(event).map_err(|_| "the caller of these games has stopped waiting".into())
    }

    fn report_facts(&mut self) {
        self.last_report = Instant::now();
        let mut facts = self.done.clone();
        for forest in &self.forests {
            let counters = forest.counters();
            facts.visits += counters.visits;
            facts.cache_hits += counters.cache_hits;
            facts.cache_lookups += counters.cache_lookups;
            facts.tree_bytes += forest.tree_bytes() as u64;
        }
        for network in &self.networks {
            facts.networks[network.evaluator] = network.facts;
        }
        facts.waited = self.waited;
        // A whole set at once, so that the caller never sees half of a turn.
        *self.reported.lock().expect("no thread panics with the facts") = facts;
    }

    /// Fails where search rules from outside have failed; they know why.
    fn check_rules(&self) -> Result<(), String> {
        let mut rules = self.lineup.players.iter().flatten().filter_map(|player| player.rules.as_ref());
        if rules.any(|rules| rules.has_failed()) {
            return Err("a search rule has failed".into());
        }
        Ok(())
    }

    /// Fails where two turns in a row bring neither rows nor moves nor visits, though trees are active.
    fn check_progress(&mut self) -> Result<(), String> {
        let visits = self.forests.iter().map(|forest| forest.counters().visits).sum();
        if self.idle_visits == Some(visits) {
            return Err("the games make no progress: no rows, no moves, yet not all are over".into());
        }
        self.idle_visits = Some(visits); // from the cache, or because the games end there
        Ok(())
    }
}
