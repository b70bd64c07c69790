"""Search rules written in Python: core and reference agree on them, faults are one line."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from forests import search
from hypothesis import given
from hypothesis import strategies as st
from search_pairs import Pair, agree_after_each, calls, pairs
from search_toys import hash_evaluator

import hauteur as ht
from hauteur import Rule
from hauteur._core import Forest, Game
from hauteur.games.played_game import position_after
from hauteur.mcts.own_rules import PLACES, Edges, Floats, Nodes, Numbers, RuleChain, Way, checked_rules
from hauteur.mcts.params import SearchParams, SecondNet, Solver, Variance
from reference import Search

CONNECT4 = Game("connect4")


class Echo(Rule):
    """Returns what it is given."""

    columns = ("seen",)

    def edge_value(self, nodes: Nodes, edges: Edges, q: Floats) -> Floats:
        return q

    def prior(self, nodes: Nodes, edges: Edges, p: Floats) -> Floats:
        return p

    def exploration(self, nodes: Nodes, edges: Edges, u: Floats) -> Floats:
        return u

    def choose(self, nodes: Nodes, edges: Edges, scores: Floats) -> Numbers:
        return super().choose(nodes, edges, scores)


class Spread(Rule):
    """The core's rule `variance` with mode stderr_bonus, or half_normal."""

    columns = ("m",)

    def __init__(self, scale: float, mode: str) -> None:
        self.scale = scale
        self.mode = mode
        self.random = "normal" if mode == "half_normal" else ""

    def after_backup(self, way: Way) -> None:
        gap = way.value - way.mean
        way["m"] = way["m"] + gap * (gap - way.step * gap)

    def edge_value(self, nodes: Nodes, edges: Edges, q: Floats) -> Floats:
        n = edges.visits
        above = nodes.handed("variance", 0.0)
        own = np.where(nodes.visits > 1, nodes["m"] / np.maximum(nodes.visits - 1, 1), above)
        variance = np.where(n > 1, edges["m"] / np.maximum(n - 1, 1), edges.of(own))
        variance = np.where(edges.ended, 0.0, variance)
        edges.hand_down("variance", variance)
        if self.mode == "half_normal":
            bonus = self.scale * np.abs(edges.random) * np.sqrt(variance)
        else:
            bonus = self.scale * np.sqrt(variance / np.maximum(n, 1))
        found: Floats = np.clip(q + bonus, -1.0, 1.0)
        return found


class Busy(Rule):
    """Has a say at every place, by all that rules are given."""

    columns: Sequence[str] = ("sum", "count")
    random = "uniform"

    def edge_value(self, nodes: Nodes, edges: Edges, q: Floats) -> Floats:
        kept: Floats = edges["sum"] / (1 + edges["count"]) + edges.of(nodes["sum"] / (1 + nodes["count"]))
        edges.hand_down("kept", kept)
        found: Floats = (
            q + 0.3 * edges.random / (1 + edges.visits) + 0.1 * edges.of(nodes.sign) * kept + 0.01 * edges.ended
        )
        return found

    def prior(self, nodes: Nodes, edges: Edges, p: Floats) -> Floats:
        found: Floats = 0.5 * p + 0.05 + 0.1 * np.abs(edges.of(nodes.handed("kept", 1.0))) + 0.01 * edges.in_flight
        return found

    def exploration(self, nodes: Nodes, edges: Edges, u: Floats) -> Floats:
        facts = nodes.network - 0.5 * nodes.mean + nodes.drawn + nodes.depth % 3
        return u * (1 + 0.1 * edges.of(np.abs(facts))) + 0.01 * edges.mean - 0.01 * edges.drawn * edges.prior

    def choose(self, nodes: Nodes, edges: Edges, scores: Floats) -> Numbers:
        last = np.diff(edges.starts) - 1
        odd = (nodes.visits % 5 == 0) & edges.allowed[edges.starts[:-1] + last]
        return np.where(odd, last, -1)

    def after_backup(self, way: Way) -> None:
        way["sum"] = way["sum"] + way.sign * way.value * (1 + way.height % 2) + 0.1 * way.drawn * way.mean
        way["count"] = way["count"] + way.step + (way.depth == 1)

    def final_score(self, nodes: Nodes, edges: Edges) -> Floats:
        return edges.visits + 3.0 * (edges.action % 3) + edges["sum"]


class Hasty(Rule):
    """Later visits move the mean further."""

    def step_size(self, way: Way) -> Floats:
        return np.minimum(1.0, 1.5 * way.step + 0.01 * (way.visits > 9))


def with_rules(pair: Pair, *rules: Rule, **changed: Any) -> Pair:
    """The same pair with rules; those that act on backup do not go with the solver."""
    solver = {"solver": None} if {"after_backup", "step_size"} & set(RuleChain(rules).places) else {}
    return replace(pair, params=pair.params.model_copy(update=solver | changed), rules=rules)


@given(pairs(), st.integers(2, 60))
def test_neutral_rules_leave_every_search_as_it_is(pair: Pair, visits: int) -> None:
    pair.run(visits)
    ruled = with_rules(pair, Rule(), Echo())
    ruled.run(visits)
    ruled.check()
    assert ruled.forest.digest(int(ruled.ids[0])) == pair.forest.digest(int(pair.ids[0]))


CHAINS: tuple[tuple[Rule, ...], ...] = (
    (Busy(),),
    (Busy(), Hasty()),
    (Spread(0.5, "half_normal"), Busy()),
    (Hasty(), Spread(0.5, "stderr_bonus"), Echo()),
)


@given(pairs(), st.sampled_from(CHAINS), calls)
def test_core_and_reference_agree_on_rules_in_all_calls(
    pair: Pair, rules: tuple[Rule, ...], made: list[tuple[str, int]]
) -> None:
    agree_after_each(with_rules(pair, *rules), made)


class Selects(Busy):
    """Busy, but for what happens on backup."""

    columns = ()
    edge_value = Rule.edge_value
    after_backup = Rule.after_backup
    final_score = Rule.final_score


@given(pairs(), calls)
def test_core_and_reference_agree_on_rules_of_selection_with_every_setting(
    pair: Pair, made: list[tuple[str, int]]
) -> None:
    agree_after_each(with_rules(pair, Selects()), made)


def forest_of(params: SearchParams, starts: Sequence[Sequence[int]], *rules: Rule, rows: int = 64) -> Forest:
    """A searched forest of Connect Four with a tree for each line of moves."""
    forest = Forest(CONNECT4, params, rules=RuleChain(rules) if rules else None)
    for number, moves in enumerate(starts):
        forest.add(position_after(CONNECT4.new_initial_state(), moves), 1000 + number)
    search(forest, hash_evaluator(7), visits=80, rows=rows)
    return forest


STARTS = [[], [3], [3, 3], [0, 1, 2], [3, 3, 3, 3], [6, 5, 6, 5, 6], [0, 0, 0, 1, 1, 1]]
ONE_LEAF = SearchParams(max_in_flight=1)


@pytest.mark.parametrize("mode", ["stderr_bonus", "half_normal"])
def test_the_core_s_own_rule_written_in_python_makes_the_core_s_visits(mode: Any) -> None:
    core = forest_of(ONE_LEAF.model_copy(update={"variance": Variance(mode=mode, scale=0.4)}), STARTS)
    ours = forest_of(ONE_LEAF, STARTS, Spread(0.4, mode))
    assert [core.digest(tree) for tree in range(len(STARTS))] == [ours.digest(tree) for tree in range(len(STARTS))]
    plain = forest_of(ONE_LEAF, STARTS)
    assert plain.digest(0) != ours.digest(0)


@pytest.mark.parametrize("rules", CHAINS)
def test_a_tree_does_not_depend_on_what_is_searched_beside_it(rules: tuple[Rule, ...]) -> None:
    together = forest_of(ONE_LEAF, STARTS, *rules)
    for rows in (1, 3):
        other = forest_of(ONE_LEAF, STARTS, *rules, rows=rows)
        assert [other.digest(tree) for tree in range(len(STARTS))] == [
            together.digest(tree) for tree in range(len(STARTS))
        ]
    alone = Pair(CONNECT4.new_initial_state(), ONE_LEAF, hash_evaluator(7), 1000, rules=rules)
    alone.run(80)
    assert alone.forest.digest(0) == together.digest(0)


def test_a_rule_that_acts_nowhere_is_refused() -> None:
    """A method that nothing calls would be measured as plain PUCT."""

    class Misspelt(Rule):
        def edge_values(self, nodes: object, edges: object, q: Floats) -> Floats:
            return q

    class AlsoMisspelt(Echo):
        def after_backups(self, way: Way) -> None:
            raise AssertionError

    class Elsewhere(Rule):
        columns = ("m",)

    class Helped(Echo):
        def score(self) -> float:
            return 1.0

    for rule, said in (
        (Misspelt(), r"Misspelt, has a method edge_values, which is no place \(did you mean edge_value\?\)"),
        (AlsoMisspelt(), r"which is no place \(did you mean after_backup\?\)"),
        (Elsewhere(), "Elsewhere, must override one of edge_value, prior, "),
    ):
        with pytest.raises(ValueError, match=said):
            checked_rules([rule])
    assert len(checked_rules([Rule(), Helped()])) == 2


def test_rules_act_in_their_order_and_the_last_decides_where_nothing_is_handed_on() -> None:
    class Times(Rule):
        def __init__(self, factor: float) -> None:
            self.factor = factor

        def edge_value(self, nodes: Nodes, edges: Edges, q: Floats) -> Floats:
            return q * self.factor

        def final_score(self, nodes: Nodes, edges: Edges) -> Floats:
            return np.multiply(self.factor, edges.action, dtype=np.float64)

    class Plus(Rule):
        def edge_value(self, nodes: Nodes, edges: Edges, q: Floats) -> Floats:
            return q + 1

    def value(*rules: Rule) -> float:
        chain = RuleChain(rules)
        show(chain)
        return float(chain.terms(np.full(7, 0.5), np.zeros(7))[0][0])

    assert (value(Times(2), Plus()), value(Plus(), Times(2))) == (2.0, 3.0)
    chain = RuleChain([Times(2), Times(-1)])
    show(chain)
    assert sorted(chain.final_scores().tolist()) == [-6.0, -5.0, -4.0, -3.0, -2.0, -1.0, 0.0]
    assert repr(Times(2)) == "Times(factor=2)"


def show(chain: RuleChain) -> None:
    """Show a root of Connect Four."""
    node = np.zeros((5 + len(chain.columns), 1))
    numbers = (np.zeros(1, np.int64), np.array([0, 7]), np.array([-1]))
    chain.show_nodes(0, *numbers, node, np.arange(7, dtype=np.uint16), np.ones((8 + len(chain.columns), 7)))


def failing(place: str, answer: Callable[..., Any]) -> Rule:
    """A rule whose method at this place is the function."""
    rule: Rule = type("Bad", (Rule,), {place: lambda self, *arguments: answer()})()
    return rule


def run_in(kind: str, rule: Rule) -> None:
    """Search by the core or by the reference, and choose a move."""
    state = CONNECT4.new_initial_state()
    evaluator = hash_evaluator(7)
    if kind == "reference":
        tree = Search(state, SearchParams(), 0, [rule])
        tree.run(evaluator, 20)
        tree.best_action()
        return
    forest = Forest(CONNECT4, SearchParams(), rules=RuleChain([rule]))
    ids = np.array([forest.add(state, 0)])
    search(forest, evaluator, visits=20, rows=1)
    forest.best_actions(ids)


def stumble() -> float:
    raise KeyError("q")


SEARCHES = pytest.mark.parametrize("kind", ["core", "reference"])


@SEARCHES
@pytest.mark.parametrize("place", PLACES)
def test_a_rule_that_raises_is_named_with_its_method(kind: str, place: str) -> None:
    with pytest.raises(ValueError, match=rf"^rule Bad\.{place} has failed: KeyError: 'q'$") as caught:
        run_in(kind, failing(place, stumble))
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize("place", PLACES)
def test_a_rule_that_raises_is_named_where_the_core_evaluates(place: str) -> None:
    with pytest.raises(ValueError, match=rf"^rule Bad\.{place} has failed: KeyError: 'q'$"):
        ht.search(CONNECT4.new_initial_state(), "uniform", visits=20, rules=[failing(place, stumble)])


def test_an_interrupt_in_a_rule_comes_through_where_the_core_evaluates() -> None:
    def interrupt() -> float:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ht.search(CONNECT4.new_initial_state(), "uniform", visits=20, rules=[failing("prior", interrupt)])


NUMBERS = [place for place in PLACES if place not in ("after_backup", "choose")]


@SEARCHES
@pytest.mark.parametrize("place", NUMBERS)
@pytest.mark.parametrize(
    "answer",
    [math.nan, None, "0.5", np.full(7, True), np.full(7, math.inf), np.zeros(99), np.ones(7, complex)],
    ids=repr,
)
def test_what_is_no_array_of_finite_numbers_is_refused(kind: str, place: str, answer: object) -> None:
    with pytest.raises(
        ValueError, match=rf"^rule Bad\.{place} must return finite numbers.* of shape .*, got "
    ) as caught:
        run_in(kind, failing(place, lambda: answer))
    assert "\n" not in str(caught.value)


@SEARCHES
@pytest.mark.parametrize(
    ("place", "answer", "message"),
    [
        ("prior", np.full(7, -0.1), r"rule Bad.prior must return finite numbers >= 0 of shape \(7,\), got "),
        (
            "step_size",
            np.full(1, 1.5),
            r"rule Bad.step_size must return finite numbers from 0 to 1 of shape \(1,\), got ",
        ),
        ("after_backup", 0.5, r"rule Bad.after_backup must return nothing \(None\), got 0.5 \(float\)"),
        ("choose", np.array([7]), "rule Bad.choose must choose edges that may be taken, or -1; got 7"),
        ("choose", np.array([-2]), "rule Bad.choose must choose edges that may be taken, or -1; got -2"),
        ("choose", np.array([0.0]), "rule Bad.choose must return 1 whole numbers, got "),
    ],
)
def test_ranges_of_what_rules_return(kind: str, place: str, answer: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        run_in(kind, failing(place, lambda: answer))


def test_an_edge_that_the_root_is_kept_from_cannot_be_chosen() -> None:
    pair = Pair(
        CONNECT4.new_initial_state(), SearchParams(), hash_evaluator(7), rules=(failing("choose", lambda: [1]),)
    )
    pair.restrict(1 << 6)
    with pytest.raises(ValueError, match=r"rule Bad.choose must choose edges that may be taken, or -1; got 1"):
        pair.run(5)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ([Echo], r"rules\[0\] must be an object, got the class Echo: write Echo\(\)"),
        ([Echo(), 3], r"rules\[1\] must be a hauteur.Rule, got 3 \(int\)"),
        (Echo(), r"rules must be a list of hauteur.Rule objects, got Echo\(\) \(Echo\)"),
        ("curious", "rules must be a list"),
        ([type("Odd", (Rule,), {"random": "gumbel"})()], r"rules\[0\], Odd, must have as columns a list of names"),
    ],
)
def test_what_is_no_list_of_rules_is_refused(rules: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RuleChain(rules)


def test_a_column_that_the_rule_does_not_have_is_named() -> None:
    class Forgets(Rule):
        columns = ("sum",)

        def edge_value(self, nodes: Nodes, edges: Edges, q: Floats) -> Floats:
            return q + edges["total"]

    with pytest.raises(
        ValueError, match=r"Forgets.edge_value has failed: KeyError: .*'total' is not in .*columns: sum"
    ):
        run_in("core", Forgets())


@pytest.mark.parametrize(
    ("params", "rule", "message"),
    [
        (SearchParams(second_net=SecondNet()), Rule(), "cannot be used with second_net"),
        (SearchParams(graph=True), Rule(), "cannot be used with graph"),
        (SearchParams(solver=Solver()), Hasty(), "cannot be used with solver: step_size and after_backup"),
    ],
)
def test_settings_that_do_not_go_with_rules_are_refused(params: SearchParams, rule: Rule, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Forest(CONNECT4, params, rules=RuleChain([rule]))
