"""Trees of the reference under the calls of a forest: many of them, their reports, searches with rules in Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from search_pairs import Pair, games, pairs, random_state, search_params, without
from search_toys import hash_evaluator

import hauteur as ht
from hauteur import Rule
from hauteur._core import Forest, Game
from hauteur.mcts.driver import run_searches
from hauteur.mcts.params import SearchParams
from hauteur.mcts.reference import Edge, Node, Search
from hauteur.mcts.reference.forest import ReferenceForest
from hauteur.networks.evaluators.base import Answers, Floats, GameEvaluator

CONNECT4 = Game("connect4")


class HashEvaluator(GameEvaluator):
    """`hash_evaluator` as an evaluator of the driver."""

    def __init__(self, game: Game) -> None:
        super().__init__(game, "hash", 3)
        self._answers = hash_evaluator(game.num_actions)

    def compute(self, features: Floats) -> Answers:
        return self._answers(features)


def seen(forest: Forest | ReferenceForest, ids: np.ndarray[Any, np.dtype[np.int64]]) -> list[Any]:
    """All that the arena asks a forest about its trees."""
    searched_ids = ids[forest.root_node_visits(ids) > 0]
    arrays = [
        *(forest.root_node_visits(ids), forest.root_visits(ids), forest.root_q(ids), forest.root_priors(ids)),
        *(forest.policy_targets(ids), forest.proven_results(ids), forest.root_values(ids)),
        *(forest.network_values(searched_ids), forest.best_actions(searched_ids)),
    ]
    return [*((np.asarray(array) + 0).tolist() for array in arrays), sorted(forest.finished().tolist())]  # no -0.0


@given(games, search_params, st.lists(st.lists(st.integers(0, 1000), max_size=8), min_size=1, max_size=4))
@settings(max_examples=30)
def test_many_reference_trees_are_those_of_the_core(game: Game, params: SearchParams, starts: list[list[int]]) -> None:
    params = params.model_copy(update={"max_in_flight": 1, "wdl_contempt": None})
    evaluator = HashEvaluator(game)
    forests = (Forest(game, params), ReferenceForest(game, params))
    found = []
    for forest in forests:
        ids = np.array([forest.add(random_state(game, moves), seed) for seed, moves in enumerate(starts)])
        forest.set_visit_limits(ids, np.full(len(ids), 20, np.uint32))
        run_searches(forest, evaluator, batch_size=3)
        found.append([seen(forest, ids)])
        going = np.array([tree for tree in ids.tolist() if len(forest.state(tree).legal_actions())], np.int64)
        if len(going):
            forest.advance(going, forest.best_actions(going))
            run_searches(forest, evaluator, batch_size=3)
            found[-1].append(seen(forest, ids))
    evaluator.close()
    np.testing.assert_equal(found[1], found[0])


class Sixth(Rule):
    """Likes the first player's move 6."""

    def edge_value(self, node: Node, edge: Edge, q: float) -> float:
        return q + 2.0 * (edge.action == 6 and node.mover == 0)


@pytest.mark.filterwarnings("ignore:rules written in Python")
def test_a_search_with_rules_has_the_result_of_any_search() -> None:
    state = CONNECT4.new_initial_state()
    result = ht.search(state, HashEvaluator(CONNECT4), visits=60, rules=[Sixth()], seed=3)
    reference = Search(state, SearchParams(), 3, [Sixth()])
    reference.run(hash_evaluator(7), 60)
    assert {move.action: move.visits for move in result.moves} == reference.root_visits()
    assert result.best_action == reference.best_action() == 6
    assert result.visits.sum() == 59
    assert result.reason == "visits"
    root = result.tree.root
    assert (root.visits, root.q) == (60, reference.root.q)
    assert root.wdl.sum() == pytest.approx(1)
    child = root.children[0]
    assert (child.action, child.visits) == (6, reference.root_visits()[6])
    assert sum(reply.visits for reply in child.children) == child.visits - 1
    assert len(result.pv) > 1
    assert "<table>" in result._repr_html_()


@pytest.mark.filterwarnings("ignore:rules written in Python")
def test_a_search_with_rules_ends_by_its_clock_and_reports() -> None:
    seen: list[int] = []
    result = ht.search(
        CONNECT4.new_initial_state(),
        "uniform",
        seconds=0.4,
        rules=[Sixth()],
        on_report=lambda found: seen.append(int(found.visits.sum())),
    )
    assert result.reason == "time"
    assert seen == sorted(seen)
    assert seen


@pytest.mark.filterwarnings("ignore:rules written in Python")
def test_many_searches_with_rules() -> None:
    state = CONNECT4.new_initial_state()
    batch = ht.search_batch([state, state], HashEvaluator(CONNECT4), visits=60, rules=[Sixth()])
    assert batch.best_actions.tolist() == [6, 6]
    assert batch.visits.sum(axis=1).tolist() == [59, 59]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"rules": [Sixth]}, r"rules\[0\] must be an object, got the class Sixth"),
        ({"rules": [Sixth()], "visits": 0}, "visits must be a whole number >= 1, got 0"),
        ({"rules": [Sixth()], "large": "uniform"}, "do not go with a second net"),
    ],
)
def test_wrong_arguments_of_a_search_with_rules(more: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ht.search(CONNECT4.new_initial_state(), "uniform", **more)


REPORTED = ("visits", "in_flight", "prior", "q", "u", "value", "wdl", "terminal", "lower", "upper", "plies")


@given(pairs(), st.integers(2, 60))
@settings(max_examples=40)
def test_reports_of_a_reference_tree_are_those_of_the_core(pair: Pair, visits: int) -> None:
    off = ("dirichlet", "root_policy_temperature", "wdl_contempt", "variance", "repetition")
    pair = without(pair, *off)
    pair.run(visits)
    forest, tree = ReferenceForest(pair.state.game, pair.params), int(pair.ids[0])
    own = forest.add(pair.state, pair.seed)
    forest.searches[own] = pair.search
    core = {edge["action"]: edge for edge in pair.forest.root_edges(tree)}
    edges = forest.root_edges(own)
    assert edges[0]["action"] == pair.search.best_action()
    for edge in edges:
        wanted = core.pop(edge["action"])
        for key in REPORTED:
            assert edge[key] == (wanted[key] and pytest.approx(wanted[key], rel=1e-6, abs=1e-6)), key
    assert not core
    assert forest.root_bounds(own) == pair.forest.root_bounds(tree)
    for action in (None, *(edge["action"] for edge in edges)):
        assert forest.principal_variation(own, action) == pair.forest.principal_variation(tree, action)


def test_calls_about_trees_that_there_are_not() -> None:
    forest = ReferenceForest(CONNECT4, SearchParams())
    with pytest.raises(ValueError, match="there is no tree 4"):
        forest.root_visits(np.array([4]))
    ids = np.array([forest.add(CONNECT4.new_initial_state())])
    with pytest.raises(ValueError, match="was not searched"):
        forest.best_actions(ids)
    with pytest.raises(ValueError, match="one net"):
        forest.gather(np.zeros((1, 2, 6, 7), np.float32), 1)
