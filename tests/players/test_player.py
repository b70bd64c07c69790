"""The loop that runs searches: complete, the same with batches in flight, clean after a stop and after an error."""

import numpy as np
import pytest
from learning_toys import ToyEvaluator

from hauteur import _core
from hauteur.mcts.driver import run_searches
from hauteur.mcts.params import SearchParams

GAME = _core.Game("connect4")


def forest_of(trees: int, visits: int, **params: object) -> tuple[_core.Forest, np.ndarray]:
    settings = SearchParams.model_validate(params)
    forest = _core.Forest(GAME, settings, 1)
    ids = np.array([forest.add(GAME.new_initial_state()) for _ in range(trees)], np.int64)
    forest.set_visit_limits(ids, np.full(trees, visits, np.uint32))
    return forest, ids


def test_searches_reach_their_limits_and_facts_add_up() -> None:
    forest, ids = forest_of(20, 50, cache_size=0)  # with a cache equal positions of a batch share a row
    evaluator = ToyEvaluator(GAME)
    facts = run_searches(forest, evaluator, batch_size=16)
    assert forest.root_node_visits(ids).tolist() == [50] * 20
    assert facts.rows == sum(evaluator.rows) == forest.stats()["rows"]
    assert facts.batches == len(evaluator.rows)
    assert facts.fill == pytest.approx(facts.rows / (16 * facts.batches))
    assert facts.total == pytest.approx(facts.search + facts.network + facts.python)


def test_a_stop_leaves_nothing_in_flight() -> None:
    forest, ids = forest_of(1, 0)
    seen = iter(range(1, 6))
    facts = run_searches(forest, ToyEvaluator(GAME), batch_size=8, in_flight=3, should_stop=lambda: next(seen) == 5)
    assert facts.batches >= 5
    assert all(edge["in_flight"] == 0 for edge in forest.root_edges(int(ids[0])))
    forest.check_invariants(int(ids[0]))
    assert forest.root_node_visits(ids)[0] > 1


def test_an_evaluator_that_fails_leaves_nothing_in_flight() -> None:
    forest, ids = forest_of(1, 0)
    with pytest.raises(RuntimeError, match="the network is gone"):
        run_searches(forest, ToyEvaluator(GAME, fail_at=4), batch_size=8, in_flight=3)
    forest.check_invariants(int(ids[0]))
    assert all(edge["in_flight"] == 0 for edge in forest.root_edges(int(ids[0])))
