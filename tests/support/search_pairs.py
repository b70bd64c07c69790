"""The core and the reference side by side: the same calls to both, and a comparison after each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from pydantic import BaseModel
from repeating_games import Wanderers
from search_toys import Evaluator, Floats, ToyGame, hash_evaluator

from hauteur._core import Batch, Forest, Game, State
from hauteur.mcts.core_settings import RuleSection
from hauteur.mcts.own_rules import Rule, rule_chain
from hauteur.mcts.params import (
    Cpuct,
    Dirichlet,
    Fpu,
    Repetition,
    SearchContempt,
    SearchParams,
    Solver,
    TreeBalance,
    WdlContempt,
)
from hauteur.system.setting_facts import setting_facts
from hauteur.system.settings import section_of
from reference import Edge, Leaf, Node, Search
from reference.graph import GraphSearch
from reference.solver import edge_bounds
from reference.tree import OPEN

SPECS = ("tictactoe", "connect4", "nogo(size=3)", "nogo(size=4)", "chess")

games = st.sampled_from(SPECS).map(Game) | st.builds(
    ToyGame, seed=st.integers(0, 2**32), width=st.sampled_from([0, 3, 20]), max_plies=st.integers(1, 15)
).map(Game.from_python)


def wandering(ends_at_third: st.SearchStrategy[bool]) -> st.SearchStrategy[Game]:
    """Games whose positions come back."""
    return st.builds(
        Wanderers,
        size=st.integers(2, 6),
        steps=st.sampled_from([(1,), (-1, 1), (0, 1), (-1, 0, 1)]),
        seed=st.integers(0, 50),
        result=st.sampled_from([0, 0, 1, -1]),
        ends_at_third=ends_at_third,
        max_plies=st.integers(10, 60),
    ).map(Game.from_python)


wanderers = wandering(st.booleans())


def random_state(game: Game, moves: list[int]) -> State:
    """The position after some moves, each an index into the legal ones; stops before the game ends."""
    state = game.new_initial_state()
    for move in moves:
        legal = state.legal_actions()
        following = state.copy()
        following.apply(int(legal[move % len(legal)]))
        if following.outcome() is not None:
            break
        state = following
    return state


@dataclass
class Pending:
    """A gather of both searches that waits for answers."""

    batch: Batch
    leaves: list[Leaf]
    features: Floats
    net: int = 0


@dataclass
class Pair:
    """One tree in the core and the same tree in the reference."""

    state: State
    params: SearchParams
    evaluator: Evaluator
    seed: int = 0
    pending: list[Pending] = field(default_factory=list)
    rules: tuple[Rule, ...] = ()

    def __post_init__(self) -> None:
        self.forest = Forest(self.state.game, self.params, rules=rule_chain(self.rules))
        self.ids = np.array([self.forest.add(self.state, self.seed)])
        self.search = (
            GraphSearch(self.state, self.params, self.seed)
            if self.params.graph
            else Search(self.state, self.params, self.seed, self.rules)
        )

    def set_limit(self, visits: int) -> None:
        self.forest.set_visit_limits(self.ids, np.array([visits], np.uint32))
        self.search.visit_limit = visits

    def gather(self, rows: int) -> int:
        """Gathers in both."""
        return self.gather_for(0, rows, self.search.gather)

    def gather_for(self, net: int, rows: int, by_reference: Callable[[int], list[Leaf]]) -> int:
        """Gathers in both for a net; the rows must be the same positions in the same order."""
        features = np.full((rows, *self.state.game.feature_shape), np.nan, np.float32)
        batch = self.forest.gather(features, net)
        leaves = by_reference(rows)
        assert len(batch) == len(leaves)
        for row, leaf in zip(features, leaves, strict=False):
            np.testing.assert_array_equal(row, leaf.node.state.features())
        self.pending.append(Pending(batch, leaves, features[: len(leaves)], net))
        return len(leaves)

    def apply(self, index: int) -> None:
        pending = self.pending.pop(index)
        answers = self.evaluator(pending.features)
        self.forest.apply(pending.batch, *answers)
        self.search.apply(pending.leaves, *answers)

    def cancel(self, index: int) -> None:
        pending = self.pending.pop(index)
        self.forest.cancel(pending.batch)
        self.search.cancel(pending.leaves)

    def advance(self, move: int) -> None:
        """Answers all that waits, then plays a legal action, unless the game is over."""
        while self.pending:
            self.apply(0)
        legal = self.search.root.state.legal_actions()
        if len(legal):
            action = legal[move % len(legal)]
            self.forest.advance(self.ids, np.array([action], np.uint16))
            self.search.advance(int(action))

    def restrict(self, mask: int) -> None:
        legal = self.search.root.state.legal_actions()
        actions = [int(action) for k, action in enumerate(legal) if mask >> k & 1]
        self.forest.restrict_root(int(self.ids[0]), actions)
        self.search.restrict_root(actions)

    def set_quiet(self, quiet: bool) -> None:
        self.forest.set_quiet(self.ids, np.array([quiet]))
        self.search.set_quiet(quiet)

    def run(self, visits: int, rows: int = 1) -> None:
        """Searches to `visits` root visits, up to `rows` a batch, one batch at a time."""
        self.set_limit(visits)
        while self.search.wants_visit():
            self.gather(rows)
            self.apply(0)

    def check(self) -> None:
        """Both trees agree in all that can be seen of the root, and the core's tree is sound."""
        root = self.search.root
        tree = int(self.ids[0])
        self.forest.check_invariants(tree)
        assert int(self.forest.root_node_visits(self.ids)[0]) == root.visits
        core = {edge["action"]: edge for edge in self.forest.root_edges(tree)}
        assert core.keys() == {edge.action for edge in root.edges}
        q = self.search.root_q()
        priors = self.priors()
        for edge in root.edges:
            other = core[edge.action]
            assert (other["visits"], other["in_flight"]) == (edge.visits, edge.in_flight), edge.action
            assert other["prior"] == priors[edge.action]
            assert edge.visits == 0 or edge.action not in q or other["q"] == q[edge.action], edge.action
        self.check_more(root, core)

    def priors(self) -> dict[int, float]:
        """The priors of the root's edges."""
        return {edge.action: edge.prior for edge in self.search.root.edges}

    def check_more(self, root: Node, core: dict[int, dict[str, Any]]) -> None:
        """Both agree in proofs, frozen weights, and in the action that they would play. core: its edges of the root."""
        tree = int(self.ids[0])
        for edge in root.edges:
            self.check_proofs(edge, core[edge.action])
        self.check_choice()
        if self.params.solver:
            lower, upper, plies = self.forest.root_bounds(tree)
            assert (lower, upper) == root.bounds[:2]
            assert plies == (root.bounds.plies if root.bounds.is_proven else None)
        self.check_frozen(root, [])

    def check_proofs(self, edge: Edge, core: dict[str, Any]) -> None:
        """The same is proven of an edge of the root."""
        bounds = edge_bounds(self.search.root, edge) if self.params.solver else OPEN
        assert (core["lower"], core["upper"]) == bounds[:2]
        assert core["plies"] == (bounds.plies if bounds.is_proven else None)

    def check_choice(self) -> None:
        """Both would play the same action and teach the same policy."""
        if not self.search.root.edges:
            return
        assert int(self.forest.best_actions(self.ids)[0]) == self.search.best_action()
        target = self.forest.policy_targets(self.ids)[0]
        for action, share in self.search.policy_target().items():
            assert target[action] == np.float32(share), action

    def check_frozen(self, node: Node, line: list[int]) -> None:
        """The same weights are frozen at the nodes of the first plies."""
        core = self.forest.edges_after(int(self.ids[0]), line) if node.edges else []
        weights = {edge.action: weight for edge, weight in node.frozen}
        assert [weight or 0.0 for *_, weight in core] == pytest.approx(
            [weights.get(edge.action, 0.0) for edge in node.edges], abs=1e-9
        )
        assert [action for action, *_ in core] == [edge.action for edge in node.edges]
        for edge in node.edges[: node.num_chosen]:
            if edge.child and edge.child.edges and edge.visits and len(line) < 2:
                self.check_frozen(edge.child, [*line, edge.action])


def floats(least: float, most: float) -> st.SearchStrategy[float]:
    """Any float of a range, both ends included."""
    return st.floats(least, most, allow_nan=False, width=32)


cpucts = st.builds(Cpuct, init=floats(0, 5), base=st.sampled_from([1.0, 20.0, 19652.0]), factor=floats(0, 4))
fpus = st.builds(Fpu, kind=st.sampled_from(["reduction", "absolute", "parent_value"]), value=floats(-1, 1))
temperatures = st.sampled_from([0.5, 1.0, 1.359, 3.0])

MOST_NUMBER, MOST_WHOLE = 3.0, 20


TINY = 1e-9
"""Settings nearer to 0 are not drawn: what is divided by them is infinite."""


def drawn(section: type[BaseModel], without: Sequence[str] = ()) -> st.SearchStrategy[Any]:
    """Any settings of a section, within its ranges and within sizes that a small search feels.

    without: settings that keep their defaults.
    """
    fields = {}
    for name in section.model_fields:
        if name in without:
            continue
        facts = setting_facts(section, name)
        low, high = (facts.ends.get(end, 0) for end in ("ge", "le"))
        least = max(low, -MOST_NUMBER)
        most = min(high, MOST_NUMBER)
        kinds: dict[str, st.SearchStrategy[Any]] = {
            "choice": st.sampled_from(facts.choices or ("",)),
            "switch": st.booleans(),
            "whole": st.integers(int(low), int(min(high, MOST_WHOLE))),
            "number": st.sampled_from([least, most]) | st.floats(least, most).filter(lambda one: abs(one) > TINY),
        }
        fields[name] = st.none() | kinds[facts.kind] if facts.optional else kinds[facts.kind]
    return st.builds(section, **fields)


solvers = drawn(Solver, without=["exact"])
"""Without exact ends, whose searches are counted by positions of alpha-beta: test_exact_ends.py compares those."""
repetitions = drawn(Repetition)

contempts = st.builds(
    WdlContempt,
    contempt=st.sampled_from([0.0, 50.0, -300.0]) | floats(-3000, 3000),
    mode=st.sampled_from(["play", "play", "white_side_analysis", "black_side_analysis", "disable"]),
    max_value=st.sampled_from([0.0, 420.0, 1000.0]),
    calibration_elo=st.just(0.0) | floats(1, 4000),
    attenuation=st.just(1.0) | floats(-2, 2),
    draw_rate_reference=st.sampled_from([0.1, 0.5, 0.9]),
    draw_rate_target=st.sampled_from([0.0, 0.001, 0.5, 0.9]),
    max_s=st.sampled_from([0.01, 0.5, 1.4, 10.0]),
    book_exit_bias=st.just(0.65) | floats(-2, 2),
)

search_contempts = st.builds(
    SearchContempt,
    n_scl=st.integers(1, 30) | st.integers(-30, -1) | st.sampled_from([1, 10**9]),
    temperature=st.just(1.0) | st.sampled_from([1e-3, 0.5, 3.0, 100.0]),
    sampling_ratio=st.just(1.0) | floats(0, 1),
    ratio_schedule=st.sampled_from(["", "5:0.5", "3:0 20:1 40:0.25"]),
    proofs_respect_contempt=st.booleans(),
)

balances = st.builds(
    TreeBalance,
    mode=st.sampled_from(["normalised", "normalised", "legacy", "capped", "additive", "additive_relative"]),
    many=floats(0, 3),
    few=floats(0, 3),
    normalise=st.booleans(),
    scale=floats(0.5, 2),
    left=floats(-0.5, 3),
    right=floats(-1, 3),
    until=st.none() | st.integers(0, 5),
)

OWN_STRATEGIES = {
    *("search_contempt", "opponent_net", "second_net", "solver", "repetition", "wdl_contempt", "gumbel", "lower_bound"),
    "tree_balance",
}
"""Rules with a strategy above, or tests of their own."""

WITHOUT_STRATEGY = {
    name: st.none() | st.none() | drawn(section)
    for name, field in SearchParams.model_fields.items()
    if (section := section_of(field)) is not None and issubclass(section, RuleSection) and name not in OWN_STRATEGIES
}
"""Rules that nothing else is said of here: a new one is compared with the reference at once."""

search_params = st.builds(
    SearchParams,
    **WITHOUT_STRATEGY,
    cpuct=cpucts,
    root_cpuct=st.none() | cpucts,
    fpu=fpus,
    root_fpu=st.none() | fpus,
    policy_temperature=temperatures,
    arithmetic=st.sampled_from(["exact", "lc0"]),
    root_policy_temperature=st.none() | temperatures,
    dirichlet=st.none() | st.builds(Dirichlet, epsilon=floats(0, 1), alpha=st.sampled_from([0.03, 0.3, 10.0])),
    draw_score=st.just(0.0) | floats(-1, 1),
    reuse_tree=st.booleans(),
    max_collisions=st.integers(1, 12),
    cache_size=st.sampled_from([0, 100_000]),
    cache_key=st.sampled_from(["exact", "position"]),
    solver=st.none() | solvers,
    repetition=st.none() | repetitions,
    wdl_contempt=st.none() | contempts,
    search_contempt=st.none() | search_contempts,
    tree_balance=st.none() | st.none() | balances,
)


@st.composite
def pairs(draw: st.DrawFn, repeating: st.SearchStrategy[Game] = wanderers) -> Pair:
    """A random position of a random game with random parameters and random answers."""
    game = draw(games | repeating)
    state = random_state(game, draw(st.lists(st.integers(0, 1000), max_size=10)))
    salt = draw(st.integers(0, 2**32))
    sharpness = draw(st.sampled_from([0.0, 1.0, 6.0]))
    evaluator = hash_evaluator(game.num_actions, salt=salt, sharpness=sharpness)
    return Pair(state, draw(search_params), evaluator, seed=draw(st.integers(0, 2**64 - 1)))


def without(pair: Pair, *rules: str) -> Pair:
    """The same pair with some rules off."""
    return replace(pair, params=pair.params.model_copy(update=dict.fromkeys(rules)))


calls = st.lists(
    st.tuples(st.just("gather"), st.integers(1, 9))
    | st.tuples(st.sampled_from(["apply", "apply", "cancel"]), st.integers(0, 3))
    | st.tuples(st.sampled_from(["advance", "restrict", "limit"]), st.integers(0, 300))
    | st.tuples(st.just("quiet"), st.integers(0, 1))
    | st.tuples(st.just("run"), st.integers(1, 40)),
    min_size=1,
    max_size=25,
)


def do_call(pair: Pair, what: str, number: int) -> None:
    """One step of a random sequence of calls."""
    root_visits = pair.search.root.visits
    match what:
        case "gather" if len(pair.pending) < 4:
            pair.gather(number)
        case "apply" if pair.pending:
            pair.apply(number % len(pair.pending))
        case "cancel" if pair.pending:
            pair.cancel(number % len(pair.pending))
        case "advance":
            pair.advance(number)
        case "restrict":
            pair.restrict(number)
        case "quiet":
            pair.set_quiet(number == 1)
        case "limit":
            pair.set_limit(number % 3 * (root_visits + number % 50))
        case "run" if not pair.pending:
            pair.run(root_visits + number)
            pair.set_limit(root_visits + number + 60)


def agree_after_each(pair: Pair, calls: list[tuple[str, int]]) -> None:
    """Makes the calls; after every one both trees agree, and so does what they would play and teach."""
    for what, number in calls:
        do_call(pair, what, number)
        pair.check()
