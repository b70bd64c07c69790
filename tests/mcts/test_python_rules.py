"""Search rules written in Python: neutral ones change nothing, each place has its effect, faults are one line."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from search_pairs import Pair, pairs
from search_toys import hash_evaluator

import hauteur as ht
from hauteur import Rule
from hauteur._core import Game
from hauteur.mcts.params import Fpu, SearchParams
from hauteur.mcts.reference import Edge, Node, Search, Value
from hauteur.mcts.reference.forest import ReferenceForest
from hauteur.mcts.reference.rule import PLACES, RuleChain
from hauteur.mcts.rules import SecondNet

CONNECT4 = Game("connect4")


class Echo(Rule):
    """Returns what it is given."""

    def edge_value(self, node: Node, edge: Edge, q: float) -> float:
        return q

    def prior(self, node: Node, edge: Edge, p: float) -> float:
        return p

    def exploration(self, node: Node, edge: Edge, u: float) -> float:
        return u

    def after_backup(self, node: Node, value: Value) -> None:
        node.memory["seen"] = value


class Plain(Rule):
    """Plain PUCT at the places that have no value of their own."""

    def step_size(self, node: Node, visits: int) -> float:
        return super().step_size(node, visits)

    def final_score(self, root: Node, edge: Edge) -> float:
        return super().final_score(root, edge)


@given(pairs(), st.integers(2, 80))
@settings(max_examples=60)
def test_neutral_rules_leave_every_search_as_it_is(pair: Pair, visits: int) -> None:
    pair.search = Search(pair.state, pair.params, pair.seed, [Rule(), Echo()])
    pair.run(visits)
    pair.check()


@given(pairs(), st.integers(2, 80))
@settings(max_examples=30)
def test_plain_steps_and_choice_are_those_of_puct(pair: Pair, visits: int) -> None:
    plain = pair.params.model_copy(update={"solver": None, "q_average": None, "variance": None, "repetition": None})
    pair = Pair(pair.state, plain, pair.evaluator, pair.seed)
    pair.search = Search(pair.state, plain, pair.seed, [Plain()])
    pair.run(visits)
    pair.check()


def searched(*rules: Rule, visits: int = 60, params: SearchParams | None = None) -> Search:
    search = Search(CONNECT4.new_initial_state(), params or SearchParams(), 0, rules)
    search.run(hash_evaluator(7), visits)
    return search


def test_place_1_the_value_of_an_edge() -> None:
    class Likes(Rule):
        def edge_value(self, node: Node, edge: Edge, q: float) -> float:
            return q + 2.0 * (edge.action == 6 and node.mover == 0)

    assert searched().root_visits()[6] < 30
    assert searched(Likes()).root_visits()[6] > 50


def test_place_2_the_prior() -> None:
    class Only(Rule):
        def prior(self, node: Node, edge: Edge, p: float) -> float:
            return float(edge.action == 2)

    search = searched(Only(), params=SearchParams(fpu=Fpu(kind="absolute", value=-1)))
    assert {action for action, visits in search.root_visits().items() if visits} == {2}
    assert [edge.prior for edge in search.root.edges] == sorted((e.prior for e in searched().root.edges), reverse=True)


def test_place_3_exploration() -> None:
    class Greedy(Rule):
        def exploration(self, node: Node, edge: Edge, u: float) -> float:
            return 0.0

    search = searched(Greedy(), params=SearchParams(fpu=Fpu(kind="absolute", value=-1)))
    assert sum(visits > 0 for visits in search.root_visits().values()) == 1


def test_place_4_the_step_size_and_place_5_after_a_backup() -> None:
    class Last(Rule):
        def step_size(self, node: Node, visits: int) -> float:
            assert visits == node.visits
            return 1.0

        def after_backup(self, node: Node, value: Value) -> None:
            node.memory.setdefault("results", []).append(value.wl)

    search = searched(Last())
    results = search.root.memory["results"]
    assert len(results) == search.root.visits == 60
    assert search.root.q == pytest.approx(results[-1])
    plain = searched(Echo())
    assert plain.root.q != plain.root.memory["seen"].wl


def test_after_a_backup_nodes_come_from_the_leaf_to_the_root_with_the_value_of_their_mover() -> None:
    class Way(Rule):
        def __init__(self) -> None:
            self.calls: list[tuple[int, float, int]] = []

        def after_backup(self, node: Node, value: Value) -> None:
            self.calls.append((node.state.ply, value.wl, node.mover))

    rule = Way()
    searched(rule, visits=40)
    ways: list[list[tuple[int, float, int]]] = [[]]
    for call in rule.calls:
        ways[-1].append(call)
        if call[0] == 0:
            ways.append([])
    assert len(ways) == 41
    for way in ways[:-1]:
        assert [ply for ply, _, _ in way] == list(range(len(way) - 1, -1, -1))
        assert len({wl if mover == 0 else -wl for _, wl, mover in way}) == 1


def test_place_6_the_final_choice() -> None:
    class Rare(Rule):
        def final_score(self, root: Node, edge: Edge) -> float:
            return -float(edge.visits)

    search = searched(Rare())
    visits = search.root_visits()
    assert search.root_visits() == searched().root_visits()
    assert visits[search.best_action() or 0] == min(visits.values())


def test_rules_act_in_their_order_and_the_last_decides_where_nothing_is_handed_on() -> None:
    class Times(Rule):
        def __init__(self, factor: float) -> None:
            self.factor = factor

        def edge_value(self, node: Node, edge: Edge, q: float) -> float:
            return q * self.factor

        def step_size(self, node: Node, visits: int) -> float:
            return self.factor / 10

        def final_score(self, root: Node, edge: Edge) -> float:
            return self.factor * edge.action

    class Plus(Rule):
        def edge_value(self, node: Node, edge: Edge, q: float) -> float:
            return q + 1

    node = searched().root
    edge = node.edges[0]
    assert RuleChain([Times(2), Plus()]).edge_value(node, edge, 0.5) == 2.0
    assert RuleChain([Plus(), Times(2)]).edge_value(node, edge, 0.5) == 3.0
    assert RuleChain([Times(2), Times(3), Plus()]).step_size(node, 0.5) == pytest.approx(0.3)
    assert RuleChain([Times(2), Times(-1)]).final_scores(node) == {e.action: -e.action for e in node.edges}
    assert RuleChain([Plus()]).final_scores(node) is None
    assert repr(Times(2)) == "Times(factor=2)"


def failing(place: str, answer: Callable[..., Any]) -> Rule:
    """A rule whose method at this place is the function."""
    rule: Rule = type("Bad", (Rule,), {place: lambda self, *arguments: answer()})()
    return rule


def stumble() -> float:
    raise KeyError("q")


@pytest.mark.parametrize("place", PLACES)
def test_a_rule_that_raises_is_named_with_its_method(place: str) -> None:
    with pytest.raises(ValueError, match=rf"^rule Bad\.{place} has failed: KeyError: 'q'$") as caught:
        searched(failing(place, stumble)).best_action()
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize("place", [place for place in PLACES if place != "after_backup"])
@pytest.mark.parametrize("answer", [math.nan, math.inf, None, "0.5", True, 1j, np.zeros(2)], ids=repr)
def test_what_is_no_finite_number_is_refused(place: str, answer: object) -> None:
    with pytest.raises(ValueError, match=rf"^rule Bad\.{place} must return a finite number.*, got ") as caught:
        searched(failing(place, lambda: answer)).best_action()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("place", "answer", "message"),
    [
        ("prior", -0.1, r"rule Bad.prior must return a finite number >= 0, got -0.1 \(float\)"),
        ("step_size", 1.5, r"rule Bad.step_size must return a finite number from 0 to 1, got 1.5 \(float\)"),
        ("after_backup", 0.5, r"rule Bad.after_backup must return nothing \(None\), got 0.5 \(float\)"),
    ],
)
def test_ranges_of_what_rules_return(place: str, answer: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        searched(failing(place, lambda: answer))


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ([Echo], r"rules\[0\] must be an object, got the class Echo: write Echo\(\)"),
        ([Echo(), 3], r"rules\[1\] must be a hauteur.Rule, got 3 \(int\)"),
        (Echo(), r"rules must be a list of hauteur.Rule objects, got Echo\(\) \(Echo\)"),
        ("curious", "rules must be a list"),
    ],
)
def test_what_is_no_list_of_rules_is_refused(rules: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RuleChain(rules)


def test_numbers_of_numpy_are_numbers() -> None:
    assert searched(failing("edge_value", lambda: np.float32(0.5))).root.visits == 60


def test_two_nets_are_refused() -> None:
    with pytest.raises(ValueError, match="do not go with second_net"):
        ReferenceForest(CONNECT4, SearchParams(second_net=SecondNet()), rules=[Echo()])


def test_a_slow_search_says_so_once() -> None:
    def run(visits: int) -> int:
        return int(ht.search(CONNECT4.new_initial_state(), "uniform", visits=visits, rules=[Echo()]).visits.sum())

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        assert (run(5), run(6)) == (4, 5)
    assert [str(warning.message) for warning in caught] == [
        "rules written in Python run on the reference search, which is in Python too: some thousands of visits a second"
    ]
