//! Gather and apply in many trees in step: at every depth rules from outside are asked once for all of them.

use crate::rules::second_net::Net;
use crate::search::outside::backup::back_up_together;
use crate::search::outside::choose::{Standing, Terms};
use crate::search::outside::{Failed, NodeRows, OutsideRules};
use crate::search::{Leaf, LeafSources, Reached, Search, Turn};
use crate::stats::{Edge, Value};

/// A tree in a gather.
pub struct Climber<'a> {
    /// Its number.
    pub tree: usize,
    /// The leaves that it has found.
    pub leaves: Vec<Leaf>,
    search: &'a mut Search,
    turn: Turn,
    standing: Option<Standing>,
}

impl<'a> Climber<'a> {
    /// A tree that may add `quota` leaves.
    pub fn new(tree: usize, search: &'a mut Search, quota: usize, net: Net) -> Self {
        let turn = search.begin_turn(quota, net);
        Climber { tree, leaves: Vec::new(), search, turn, standing: None }
    }

    /// Takes where its descent has led; `via`: the place of the edge in the rows.
    fn settle(&mut self, reached: Reached, via: i64) {
        self.standing = match reached {
            Reached::Node(node, own) => Some(Standing::at(node, own, via)),
            Reached::End(visit) => {
                self.search.end_descent(&mut self.turn, visit, &mut self.leaves);
                None
            }
        };
    }

    /// Begins its next descent, if there is one.
    fn begin(&mut self, sources: LeafSources) {
        if self.search.may_go_on(&self.turn) {
            let reached = self.search.begin_descent(sources);
            self.settle(reached, -1);
        }
    }
}

/// Finds leaves in many trees. Every tree makes one descent after another, each together with one of every other tree, so that what it
/// finds does not depend on the others, but for when its descents come. After a failure nothing is in flight but the leaves.
pub fn gather(rules: &dyn OutsideRules, trees: &mut [Climber], sources: LeafSources) -> Result<(), Failed> {
    let mut shown = Shown::new(rules);
    let mut result = Ok(());
    // A call of a rule from outside costs much more than a row of it.
    let mut most = 0;
    let mut found = false;
    while result.is_ok() {
        // A call about few trees costs nearly as much as one about all, so trees that lag behind wait for the next gather.
        let willing =
            trees.iter_mut().filter_map(|climber| climber.search.may_go_on(&climber.turn).then_some(())).count();
        most = most.max(willing);
        if willing == 0 || (found && 2 * willing < most) {
            break;
        }
        trees.iter_mut().for_each(|climber| climber.begin(sources));
        let mut moving: Vec<&mut Climber> = trees.iter_mut().filter(|climber| climber.standing.is_some()).collect();
        let mut depth = 0;
        while !moving.is_empty() && result.is_ok() {
            result = shown.step(&mut moving, depth, sources);
            moving.retain(|climber| climber.standing.is_some());
            depth += 1;
        }
        found = trees.iter().any(|climber| !climber.leaves.is_empty());
        result =
            result.and(back_up_together(rules, trees.iter_mut().map(|climber| (climber.tree, &mut *climber.search))));
    }
    trees.iter_mut().for_each(|climber| climber.search.end_turn(&climber.turn));
    result
}

/// Expands and backs up answered leaves of many trees, the first of each together, then the second, and so on. `keep`: of a part by its
/// place, what the cache may take.
pub fn apply(
    rules: &dyn OutsideRules,
    trees: &mut [(usize, &mut Search, Vec<Leaf>)],
    mut keep: impl FnMut(usize, u64, &[Edge], Value),
) -> Result<(), Failed> {
    let mut result = Ok(());
    // Popped from the end, leaves come in the order in which they were gathered.
    trees.iter_mut().for_each(|(_, _, leaves)| leaves.reverse());
    while trees.iter().any(|(_, _, leaves)| !leaves.is_empty()) {
        for (part, (_, search, leaves)) in trees.iter_mut().enumerate() {
            if let Some(leaf) = leaves.pop() {
                search.apply(leaf, |key, edges, value| keep(part, key, edges, value));
            }
        }
        let searches = trees.iter_mut().map(|(tree, search, _)| (*tree, &mut **search));
        result = back_up_together(rules, searches).and(result);
    }
    result
}

/// What rules are shown of one depth.
struct Shown<'a> {
    rules: &'a dyn OutsideRules,
    rows: NodeRows,
    terms: Terms,
    picks: Vec<i64>,
}

impl<'a> Shown<'a> {
    fn new(rules: &'a dyn OutsideRules) -> Self {
        let rows = NodeRows::new(rules.columns(), rules.draws().len());
        Shown { rules, rows, terms: Terms::default(), picks: Vec::new() }
    }

    /// One step of every descent, all of which stand at this depth.
    fn step(&mut self, moving: &mut [&mut Climber], depth: usize, sources: LeafSources) -> Result<(), Failed> {
        self.rows.clear(depth);
        self.terms.clear();
        let mut asked: Vec<(&mut Climber, Standing)> = Vec::with_capacity(moving.len());
        for climber in moving {
            let Some(mut at) = climber.standing.take() else { continue };
            // A rule of the core that takes the place of PUCT (a frozen node, say) leaves the others nothing to
            // score.
            if let Some(edge) = climber.search.edge_unasked(&at) {
                let reached = climber.search.take_edge(at.node, edge, sources);
                climber.settle(reached, -1);
                continue;
            }
            climber.search.show(climber.tree, &mut at, self.rules.draws(), &mut self.rows, &mut self.terms);
            asked.push((climber, at));
        }
        if asked.is_empty() {
            return Ok(());
        }
        if self.rules.places().priors {
            self.rules.priors(&self.rows, &mut self.terms.priors)?;
            asked.iter().for_each(|(climber, at)| climber.search.reprice(at, &mut self.terms));
        }
        self.picks.clear();
        self.picks.resize(asked.len(), -1);
        self.rules.terms(&self.rows, &mut self.terms.q, &mut self.terms.u, &mut self.picks)?;
        for ((climber, at), picked) in asked.into_iter().zip(&self.picks) {
            let edge = climber.search.pick(&at, &self.terms, *picked);
            let reached = climber.search.take_edge(at.node, edge, sources);
            climber.settle(reached, (at.start + edge) as i64);
        }
        Ok(())
    }
}
