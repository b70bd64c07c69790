//! Many searches, one batch: quotas, the evaluation cache, threads over trees.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;
use thiserror::Error;

use crate::game::{Action, State};
use crate::math::rng::tree_key;
use crate::params::SearchParams;
use crate::rows::{Rows, encode_states};
use crate::rules::second_net::Net;
use crate::search::cache::{Cache, KeyMap};
use crate::search::counters::Counters;
use crate::search::oracle::LeafOracle;
use crate::search::outside::lockstep::{self, Climber};
use crate::search::outside::{OutsideRules, Places};
use crate::search::setup::Setup;
use crate::search::{Leaf, LeafSources, Search};
use crate::stats::{Edge, Value};

/// Rows that one tree can have in flight; with its collisions they are counted in 16 bits.
const MAX_TREE_ROWS: usize = 32_000;

/// A call that the forest rejects, which has changed nothing.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("{0}")]
pub struct ForestError(pub String);

/// A batch that waits for the answers of a net.
struct Waiting {
    net: Net,
    parts: Vec<TreeLeaves>,
}

/// Leaves of one tree in one batch, each with its row. Leaves of equal positions share one.
struct TreeLeaves {
    tree: usize,
    leaves: Vec<Leaf>,
}

/// Number of a batch that waits for its answers; unique in the process, so that no forest takes another's.
pub type BatchId = u64;
static NEXT_BATCH: AtomicU64 = AtomicU64::new(0);

/// Many searches that share a network's batches, a cache and threads.
pub struct Forest {
    setup: Arc<Setup>,
    seed: u64,
    added: u64,
    trees: Vec<Option<Search>>,
    free_ids: Vec<usize>,
    /// Evaluations of each net.
    caches: Vec<Cache>,
    oracle: Option<Arc<dyn LeafOracle>>,
    batches: BTreeMap<BatchId, Waiting>,
    /// Index of the tree with which the next gather for a net begins: every tree gets its turn when there are more trees than rows.
    next_tree: Vec<usize>,
    dropped: Counters,
    pool: Option<rayon::ThreadPool>,
}

impl Forest {
    /// An empty forest. `seed` keys the random draws of its trees; results do not depend on `threads`.
    pub fn new(params: SearchParams, seed: u64, threads: usize) -> Result<Self, ForestError> {
        Forest::with_rules(params, seed, threads, None)
    }

    /// `new`, with search rules from outside the core, which see all trees of a gather in step. Their work does not use the threads.
    pub fn with_rules(
        params: SearchParams,
        seed: u64,
        threads: usize,
        rules: Option<Arc<dyn OutsideRules>>,
    ) -> Result<Self, ForestError> {
        params.check().map_err(|error| ForestError(error.to_string()))?;
        if !(1..=1024).contains(&threads) {
            return Err(ForestError(format!("threads must be 1 to 1024, got {threads}")));
        }
        if let Some(rules) = &rules {
            refuse_with(&params.clone().without_neutral_rules(), rules.places())?;
        }
        let build = || rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = if threads > 1 { Some(build().map_err(|e| ForestError(format!("threads: {e}")))?) } else { None };
        // Two with one net as well: the second cache is that of a model of the opponent.
        let nets = params.second_net.map_or(2, |rule| rule.num_nets());
        Ok(Forest {
            caches: (0..nets).map(|_| Cache::new(params.cache_size)).collect(),
            setup: Arc::new(Setup::with_rules(params, rules)),
            seed,
            added: 0,
            trees: Vec::new(),
            free_ids: Vec::new(),
            oracle: None,
            batches: BTreeMap::new(),
            next_tree: vec![0; nets],
            dropped: Counters::default(),
            pool,
        })
    }

    /// Sets the oracle that is asked for exact results at leaves.
    pub fn set_oracle(&mut self, oracle: Option<Arc<dyn LeafOracle>>) {
        self.oracle = oracle;
    }

    /// Starts a tree at this position; returns its id, which may be that of a removed tree. Without `seed` its random draws are
    /// keyed by the forest's seed and the number of trees added before.
    pub fn add(&mut self, state: Box<dyn State>, seed: Option<u64>) -> usize {
        // A tree of a game has the game's seed, so that it is the same in whatever forest and slot the game is
        // played.
        let key = match seed {
            Some(seed) => tree_key(seed, 0),
            None => tree_key(self.seed, self.added),
        };
        self.added += 1;
        let search = Some(Search::new(self.setup.clone(), state, key));
        // Ids are used again, so that lists by tree are no longer than there are trees at a time.
        if let Some(id) = self.free_ids.pop() {
            self.trees[id] = search;
            return id;
        }
        self.trees.push(search);
        self.trees.len() - 1
    }

    /// Drops a tree; nothing of it may be in flight.
    pub fn remove(&mut self, id: usize) -> Result<(), ForestError> {
        self.idle_tree(id)?;
        if let Some(search) = self.trees[id].take() {
            // Totals outlive their trees: whoever reports them never sees them fall.
            self.dropped.add(search.counters());
            self.free_ids.push(id);
        }
        Ok(())
    }

    /// The tree with this id.
    pub fn tree(&self, id: usize) -> Result<&Search, ForestError> {
        self.trees.get(id).and_then(Option::as_ref).ok_or_else(|| unknown_tree(id))
    }

    /// The tree with this id, to change its settings.
    pub fn tree_mut(&mut self, id: usize) -> Result<&mut Search, ForestError> {
        self.trees.get_mut(id).and_then(Option::as_mut).ok_or_else(|| unknown_tree(id))
    }

    /// The tree with this id, which has nothing in flight.
    fn idle_tree(&mut self, id: usize) -> Result<&mut Search, ForestError> {
        let search = self.tree_mut(id)?;
        if search.rows_in_flight() as usize == search.waiting_for_model() {
            search.cancel_waiting(); // in no batch: nothing else cancels them
        }
        match search.rows_in_flight() {
            0 => Ok(search),
            n => Err(ForestError(format!("tree {id} has {n} rows in flight: apply or cancel their batch first"))),
        }
    }

    /// Ids of the trees, finished or not.
    pub fn ids(&self, finished: bool) -> Vec<usize> {
        let alive = self.trees.iter().enumerate().filter_map(|(id, tree)| tree.as_ref().map(|tree| (id, tree)));
        alive.filter(|(_, tree)| tree.is_finished() == finished).map(|(id, _)| id).collect()
    }

    /// Whether a search of this forest can ask this net: of one net the small one, of a model of the opponent the large one.
    pub fn asks(&self, net: Net) -> bool {
        match self.setup.params.second_net {
            Some(rule) => net.index() < rule.num_nets(),
            None if self.setup.models() => net == Net::Small || net == Net::Large,
            None => net == self.setup.only_net,
        }
    }

    /// Collects leaves of the trees whose next visit is for this net and writes their features. A tree may have its share of all rows
    /// in flight (this batch included), at least one.
    pub fn gather(&mut self, net: Net, mut rows: Rows) -> BatchId {
        let plan = self.plan(net, rows.capacity());
        let mut parts = self.collect(net, &plan);
        parts.retain(|part| !part.leaves.is_empty());
        number_rows(&mut parts, !self.caches[net.index()].is_off());
        let states: Vec<&dyn State> = row_owners(&parts).map(|(_, leaf)| leaf.state.as_ref()).collect();
        // The own net may have been trained for the other colour (games at odds); the model of the opponent was not.
        let swap = self.setup.params.swap_colors && !(self.setup.models() && net == Net::Large);
        encode_states(&states, &mut rows, swap, self.pool.as_ref());
        // A counter that nothing else is ordered by: relaxed is enough for unique numbers.
        let id = NEXT_BATCH.fetch_add(1, Ordering::Relaxed);
        self.batches.insert(id, Waiting { net, parts });
        id
    }

    /// Trees that take part in a gather of `capacity` rows, with their quotas.
    fn plan(&mut self, net: Net, capacity: usize) -> Vec<(usize, usize)> {
        let active = self.ids(false);
        if active.is_empty() || capacity == 0 {
            return Vec::new();
        }
        if self.setup.models() && net == Net::Large {
            return self.plan_for_model(capacity);
        }
        // Rows in flight count in the shares, so a tree with many answers outstanding adds fewer.
        let in_flight: usize = self.trees.iter().flatten().map(|tree| tree.rows_in_flight() as usize).sum();
        let whole = (in_flight + capacity) / active.len();
        let rest = (in_flight + capacity) % active.len();
        let most = match self.setup.params.max_in_flight as usize {
            0 => MAX_TREE_ROWS,
            limit => limit.min(MAX_TREE_ROWS),
        };
        let share = whole.clamp(1, most);
        // Trees take turns, because a batch may be smaller than the number of trees.
        let start = active.partition_point(|id| *id < self.next_tree[net.index()]);
        let mut free = capacity;
        // In the order of the ids, whosever turn it is: `pick` borrows trees so, and a batch has its rows so.
        let mut plan = BTreeMap::new();
        for &id in active[start..].iter().chain(&active[..start]) {
            let quota = self.trees[id].as_ref().map_or(0, |tree| self.quota(tree, net, share)).min(free);
            if quota > 0 {
                plan.insert(id, quota);
                free -= quota;
            }
            if free == 0 {
                self.next_tree[net.index()] = id + 1;
                break;
            }
        }
        // What is left when every tree has its share: a row more for as many trees as the quotient has cut off. The first ones take
        // it, not those whose turn it is: so a batch that is cancelled leaves no trace.
        let mut more = if whole == share && share < most { rest.min(free) } else { 0 };
        for &id in &active {
            if more == 0 {
                break;
            }
            let planned = plan.get(&id).copied().unwrap_or(0);
            let quota = self.trees[id].as_ref().map_or(0, |tree| self.quota(tree, net, share + 1));
            if quota > planned {
                let added = (quota - planned).min(free);
                plan.insert(id, planned + added);
                free -= added;
                more = (more - 1).min(free);
            }
        }
        plan.into_iter().collect()
    }

    /// Trees whose leaves wait for the model of the opponent, with the number of those that it evaluates now.
    fn plan_for_model(&self, capacity: usize) -> Vec<(usize, usize)> {
        let waiting = self.trees.iter().enumerate();
        let waiting = waiting.filter_map(|(id, tree)| Some((id, tree.as_ref()?.waiting_for_model())));
        let mut free = capacity;
        let plan = waiting.map(|(id, leaves)| {
            let quota = leaves.min(free);
            free -= quota;
            (id, quota)
        });
        plan.filter(|(_, quota)| *quota > 0).collect()
    }

    /// Rows that a tree may add for this net, when its share of rows in flight is `share`. A batch of a larger net's turns begins as a whole.
    fn quota(&self, tree: &Search, net: Net, share: usize) -> usize {
        let free = share.saturating_sub(tree.rows_in_flight() as usize);
        if free == 0 || tree.next_net() != Some(net) {
            return 0;
        }
        // A batch of a larger net is not cut by the share: its leaves were chosen as the best of one moment.
        match self.setup.params.second_net {
            Some(rule) if net != Net::Small => free.max(rule.large_batch as usize),
            _ => free,
        }
    }

    fn collect(&mut self, net: Net, plan: &[(usize, usize)]) -> Vec<TreeLeaves> {
        let own = &self.caches[0];
        let model = &self.caches[1];
        let asks_model = self.setup.models() && net == Net::Large;
        let cache = if self.setup.models() { own } else { &self.caches[net.index()] };
        let sources = LeafSources { cache, model, oracle: self.oracle.as_deref() };
        let gather = |tree: usize, quota: usize, search: &mut Search| {
            let mut leaves = search.take_buffer();
            match asks_model {
                true => search.gather_for_model(quota, model, &mut leaves),
                false => search.gather(quota, net, sources, &mut leaves),
            }
            if leaves.is_empty() {
                search.keep_buffer(std::mem::take(&mut leaves));
            }
            TreeLeaves { tree, leaves }
        };
        // The trees of a batch are borrowed mutably side by side, which is what lets threads work on them
        // without a lock.
        let chosen = pick(&mut self.trees, plan.iter().map(|(id, _)| *id));
        if let Some(rules) =
            self.setup.outside.as_ref().filter(|rules| rules.places().selects() || rules.places().backs_up())
        {
            let climbers = chosen.into_iter().zip(plan);
            let mut climbers: Vec<_> =
                climbers.map(|(search, (id, quota))| Climber::new(*id, search, *quota, net)).collect();
            // After a failure, which the rules keep, the caller takes back what was found.
            let _ = lockstep::gather(rules.as_ref(), &mut climbers, sources);
            return climbers.into_iter().map(|Climber { tree, leaves, .. }| TreeLeaves { tree, leaves }).collect();
        }
        match &self.pool {
            Some(pool) => pool.install(|| {
                let work = chosen.into_par_iter().zip(plan.par_iter());
                work.map(|(search, (id, quota))| gather(*id, *quota, search)).collect()
            }),
            None => chosen.into_iter().zip(plan).map(|(search, (id, quota))| gather(*id, *quota, search)).collect(),
        }
    }

    /// Number of rows of a batch.
    pub fn batch_len(&self, batch: BatchId) -> Result<usize, ForestError> {
        Ok(row_owners(self.parts(batch)?).count())
    }

    /// The tree of each row of a batch; of a row that several share, the first one.
    pub fn batch_trees(&self, batch: BatchId) -> Result<Vec<usize>, ForestError> {
        Ok(row_owners(self.parts(batch)?).map(|(tree, _)| tree).collect())
    }

    /// The position of each row of a batch.
    pub fn batch_positions(&self, batch: BatchId) -> Result<Vec<&dyn State>, ForestError> {
        Ok(row_owners(self.parts(batch)?).map(|(_, leaf)| leaf.state.as_ref()).collect())
    }

    /// Copies of the positions of the rows of a batch.
    pub fn batch_states(&self, batch: BatchId) -> Result<Vec<Box<dyn State>>, ForestError> {
        Ok(self.batch_positions(batch)?.into_iter().map(State::clone_box).collect())
    }

    /// The actions from its tree's root to the position of each row of a batch.
    pub fn batch_lines(&self, batch: BatchId) -> Result<Vec<Vec<Action>>, ForestError> {
        row_owners(self.parts(batch)?).map(|(tree, leaf)| Ok(self.tree(tree)?.line_to(leaf))).collect()
    }

    fn parts(&self, batch: BatchId) -> Result<&Vec<TreeLeaves>, ForestError> {
        self.batches.get(&batch).map(|waiting| &waiting.parts).ok_or_else(|| unknown_batch(batch))
    }

    /// Takes the network's answers: `logits` has `num_actions` floats a row, `wdl` three. An answer that is not finite leaves everything unchanged.
    pub fn apply(
        &mut self,
        batch: BatchId,
        logits: &[f32],
        wdl: &[f32],
        num_actions: usize,
    ) -> Result<(), ForestError> {
        let rows = self.batch_len(batch)?;
        if logits.len() < rows * num_actions || wdl.len() < rows * 3 {
            let got = (logits.len() / num_actions.max(1)).min(wdl.len() / 3);
            return Err(ForestError(format!("answers for {rows} rows are needed, got {got}")));
        }
        // All answers are read and checked before a tree changes: a batch with a NaN in row 90 leaves no trace
        // of rows 1 to 89.
        let mut waiting = self.batches.remove(&batch).expect("batch_len found it");
        if let Err(error) = self.read_answers(&mut waiting.parts, logits, wdl, num_actions) {
            self.batches.insert(batch, waiting);
            return Err(ForestError(error));
        }
        self.grow(waiting);
        Ok(())
    }

    fn read_answers(
        &self,
        parts: &mut [TreeLeaves],
        logits: &[f32],
        wdl: &[f32],
        num_actions: usize,
    ) -> Result<(), String> {
        let read = |part: &mut TreeLeaves| {
            let search = self.trees[part.tree].as_ref().expect("trees in flight are not removed");
            for leaf in &mut part.leaves {
                let row = leaf.row;
                let logits = &logits[row * num_actions..][..num_actions];
                let read = match leaf.asks_model() {
                    true => search.read_model(leaf, logits),
                    false => search.read_answer(leaf, logits, &wdl[row * 3..][..3]),
                };
                read.map_err(|e| format!("row {row}: {e}"))?;
            }
            Ok(())
        };
        match &self.pool {
            Some(pool) => pool.install(|| parts.par_iter_mut().try_for_each(read)),
            None => parts.iter_mut().try_for_each(read),
        }
    }

    /// Expands and backs up; then the cache takes the new evaluations in row order.
    fn grow(&mut self, Waiting { net, parts }: Waiting) {
        let cache = &mut self.caches[net.index()];
        let keep = !cache.is_off();
        let grow = |search: &mut Search, mut part: TreeLeaves, kept: &mut Vec<Kept>| {
            for leaf in part.leaves.drain(..) {
                search.apply(leaf, |key, edges, value| {
                    if keep {
                        kept.push((key, Box::<[_]>::from(edges), value));
                    }
                });
            }
            search.keep_buffer(part.leaves);
        };
        let chosen = pick(&mut self.trees, parts.iter().map(|part| part.tree));
        if let Some(rules) = self.setup.outside.as_ref().filter(|rules| rules.places().backs_up()) {
            let mut kept: Vec<Vec<_>> = vec![Vec::new(); parts.len()];
            let mut trees: Vec<_> =
                chosen.into_iter().zip(parts).map(|(search, part)| (part.tree, search, part.leaves)).collect();
            let _ = lockstep::apply(rules.as_ref(), &mut trees, |part, key, edges, value| {
                if keep {
                    kept[part].push((key, Box::<[_]>::from(edges), value));
                }
            });
            return keep_in(cache, kept);
        }
        let Some(pool) = &self.pool else {
            let mut kept = Vec::new();
            chosen.into_iter().zip(parts).for_each(|(search, part)| grow(search, part, &mut kept));
            return keep_in(cache, vec![kept]);
        };
        // The threads return their evaluations, and the cache takes them in row order: its content does not depend on
        // which thread was first.
        let kept: Vec<_> = pool.install(|| {
            let work = chosen.into_par_iter().zip(parts);
            let grown = work.map(|(search, part)| {
                let mut kept = Vec::new();
                grow(search, part, &mut kept);
                kept
            });
            grown.collect()
        });
        keep_in(cache, kept);
    }

    /// Takes back the visits of a batch.
    pub fn cancel(&mut self, batch: BatchId) -> Result<(), ForestError> {
        let waiting = self.batches.remove(&batch).ok_or_else(|| unknown_batch(batch))?;
        for part in waiting.parts {
            let search = self.tree_mut(part.tree)?;
            part.leaves.into_iter().for_each(|leaf| search.cancel(leaf));
        }
        Ok(())
    }

    /// Plays actions and re-roots. All are checked before any is played.
    pub fn advance(&mut self, moves: &[(usize, Action)]) -> Result<(), ForestError> {
        let mut legal = Vec::new();
        for (id, action) in moves {
            self.idle_tree(*id)?.root_state().legal_actions(&mut legal);
            if !legal.contains(action) {
                return Err(ForestError(format!("tree {id}: action {action} is not legal; legal: {legal:?}")));
            }
        }
        let mut ids: Vec<usize> = moves.iter().map(|(id, _)| *id).collect();
        ids.sort_unstable();
        if ids.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(ForestError("a tree is named twice in one advance".into()));
        }
        for (id, action) in moves {
            self.tree_mut(*id)?.advance(*action);
        }
        Ok(())
    }

    /// Totals of all trees, removed ones included.
    pub fn counters(&self) -> Counters {
        let mut total = self.dropped;
        self.trees.iter().flatten().for_each(|search| total.add(search.counters()));
        total
    }

    /// Positions in the evaluation cache.
    pub fn cache_len(&self) -> usize {
        self.caches.iter().map(Cache::len).sum()
    }

    /// Empties the evaluation cache.
    pub fn clear_cache(&mut self) {
        self.caches.iter_mut().for_each(Cache::clear);
    }

    /// Bytes of all trees.
    pub fn tree_bytes(&self) -> usize {
        self.trees.iter().flatten().map(|search| search.tree().bytes()).sum()
    }

    /// Nodes of all trees.
    pub fn tree_nodes(&self) -> usize {
        self.trees.iter().flatten().map(|search| search.tree().num_nodes()).sum()
    }
}

/// An evaluation and its key.
type Kept = (u64, Box<[Edge]>, Value);

/// Takes evaluations in the order of the rows.
fn keep_in(cache: &mut Cache, kept: Vec<Vec<Kept>>) {
    kept.into_iter().flatten().for_each(|(key, edges, value)| cache.insert(key, edges, value));
}

/// Refuses settings that do not go with rules from outside at these places.
fn refuse_with(params: &SearchParams, places: Places) -> Result<(), ForestError> {
    let others = [
        ("second_net", "they search with one net", params.second_net.is_some()),
        ("opponent_net", "they search with one net", params.opponent_net.is_some()),
        ("graph", "they search a tree", params.graph),
        (
            "solver",
            "step_size and after_backup see every visit as it was",
            params.solver.is_some() && places.backs_up(),
        ),
    ];
    match others.iter().find(|(_, _, on)| *on) {
        Some((name, why, _)) => Err(ForestError(format!("rules written in Python cannot be used with {name}: {why}"))),
        None => Ok(()),
    }
}

fn unknown_tree(id: usize) -> ForestError {
    ForestError(format!("no tree {id} in this forest"))
}

fn unknown_batch(batch: BatchId) -> ForestError {
    let why = "it is another forest's, or was applied or cancelled";
    ForestError(format!("batch {batch} is not waiting in this forest: {why}"))
}

/// The trees with these ids, which ascend and exist.
fn pick(trees: &mut [Option<Search>], ids: impl Iterator<Item = usize>) -> Vec<&mut Search> {
    let mut picked = Vec::new();
    let mut rest = trees;
    let mut offset = 0;
    for id in ids {
        // Cut off one after another: several items of one slice, all to be changed, without unsafe code.
        let (head, tail) = rest.split_at_mut(id - offset + 1);
        picked.push(head[id - offset].as_mut().expect("a tree that exists"));
        (rest, offset) = (tail, id + 1);
    }
    picked
}

/// Numbers the rows of a batch. `shared`: a leaf has the row of an equal position of a tree before its own, as it would have its
/// evaluation if that tree had been a batch ahead. Leaves of one tree keep rows of their own: a tree is the same whatever the others are.
fn number_rows(parts: &mut [TreeLeaves], shared: bool) {
    let mut known: KeyMap<usize> = KeyMap::default();
    let mut next = 0;
    for part in parts {
        for leaf in &mut part.leaves {
            leaf.row = known.get(&leaf.key()).copied().unwrap_or(next);
            next += usize::from(leaf.row == next);
        }
        if shared {
            known.extend(part.leaves.iter().map(|leaf| (leaf.key(), leaf.row)));
        }
    }
}

/// The tree and the leaf that each row belongs to, the first of those that share it, in the order of the rows.
fn row_owners(parts: &[TreeLeaves]) -> impl Iterator<Item = (usize, &Leaf)> {
    let mut next = 0;
    let all = parts.iter().flat_map(|part| part.leaves.iter().map(move |leaf| (part.tree, leaf)));
    all.filter(move |(_, leaf)| {
        let first = leaf.row == next;
        next += usize::from(first);
        first
    })
}
