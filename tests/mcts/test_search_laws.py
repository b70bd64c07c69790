"""Laws that every search obeys, whatever the game, the parameters and the answers."""

from __future__ import annotations

import numpy as np
import pytest
from forests import NOISY, gather, make_forest, search
from hypothesis import given, settings
from hypothesis import strategies as st
from search_pairs import SPECS, Pair, games, pairs, search_params, without
from search_toys import hash_evaluator, uniform_evaluator

from hauteur._core import Forest, Game
from hauteur.mcts.params import SearchParams


def digests(forest: Forest) -> list[int]:
    """One digest a tree."""
    return [forest.digest(int(tree)) for tree in np.sort(forest.finished())]


# -- results do not depend on how the work is cut ----------------------------------------------------------------------


@pytest.mark.parametrize("spec", SPECS)
def test_any_number_of_threads_grows_the_same_trees(spec: str) -> None:
    game = Game(spec)
    grown = []
    for threads in (1, 2, 8):
        forest = make_forest(game, trees=20, threads=threads)
        search(forest, hash_evaluator(game.num_actions), visits=60, rows=64)
        grown.append(digests(forest))
    assert grown[0] == grown[1] == grown[2]
    assert len(set(grown[0])) == 20


def test_a_forest_of_256_trees_is_256_single_searches() -> None:
    game = Game("connect4")
    evaluator = hash_evaluator(7)
    params = NOISY.model_copy(update={"max_in_flight": 1})
    forest = make_forest(game, params, trees=256, threads=2)
    search(forest, evaluator, visits=40, rows=256)
    singles: list[int] = []
    for seed in range(256):
        single = Forest(game, params)
        single.add(game.new_initial_state(), seed=seed)
        search(single, evaluator, visits=40, rows=1)
        singles += digests(single)
    assert digests(forest) == singles


@given(games, st.integers(0, 2**64 - 1), st.integers(2, 60))
@settings(max_examples=30)
def test_the_same_seed_grows_the_same_tree_and_another_seed_another_one(game: Game, seed: int, visits: int) -> None:
    def grow(seed: int) -> tuple[int, int]:
        forest = Forest(game, NOISY, seed=seed)
        tree = forest.add(game.new_initial_state())
        search(forest, hash_evaluator(game.num_actions), visits=visits, rows=4)
        edges = forest.root_edges(tree)
        return forest.digest(tree), len(edges)

    (first, edges), (again, _), (other, _) = grow(seed), grow(seed), grow(seed ^ 1)
    assert first == again
    assert edges < 5 or visits < 40 or first != other


@given(games, search_params, st.integers(2, 80))
@settings(max_examples=30)
def test_the_cache_changes_nothing_in_sequential_search(game: Game, params: SearchParams, visits: int) -> None:
    grown: list[int] = []
    for cache_size in (0, 3, 10_000):
        forest = make_forest(game, params.model_copy(update={"cache_size": cache_size, "cache_key": "exact"}))
        search(forest, hash_evaluator(game.num_actions), visits=visits, rows=1)
        grown += digests(forest)
    assert len(set(grown)) == 1


# -- limits ------------------------------------------------------------------------------------------------------------


@given(pairs(), st.integers(1, 90), st.integers(1, 33))
def test_visit_limits_are_exact(pair: Pair, visits: int, rows: int) -> None:
    search(pair.forest, pair.evaluator, visits=visits, rows=rows)
    lower, upper, _ = pair.forest.root_bounds(0)
    if lower == upper:  # nothing is left to find out
        visits = min(visits, int(pair.forest.root_node_visits(pair.ids)[0]))
    assert int(pair.forest.root_node_visits(pair.ids)[0]) == visits
    assert int(pair.forest.root_visits(pair.ids).sum()) == visits - 1
    assert pair.forest.finished().tolist() == [0]


def test_a_tree_stops_growing_at_the_memory_cap_and_the_others_go_on() -> None:
    game = Game("connect4")
    cap = 20_000
    forest = make_forest(game, SearchParams(max_tree_bytes=cap), trees=2)
    forest.set_visit_limits(np.array([0]), np.array([10], np.uint32))
    while len(forest.active()):
        batch, features = gather(forest, 8)
        forest.apply(batch, *uniform_evaluator(7)(features))
    assert forest.root_node_visits(np.array([0]))[0] == 10
    assert cap <= forest.tree_stats(1)["bytes"] <= cap + 8 * 300
    batch, _ = gather(forest, 8)
    assert len(batch) == 0
    forest.check_invariants(1)


# -- bookkeeping -------------------------------------------------------------------------------------------------------


@given(pairs(), st.integers(1, 80), st.integers(1, 16))
def test_the_root_is_the_mean_of_its_visits(pair: Pair, visits: int, rows: int) -> None:
    pair = without(pair, "solver", "wdl_contempt", "q_average")
    search(pair.forest, pair.evaluator, visits=visits, rows=rows)
    edges = [edge for edge in pair.forest.root_edges(0) if edge["visits"]]
    total = pair.forest.network_values(pair.ids)[0].astype(np.float64)
    for edge in edges:
        total += edge["visits"] * np.array(edge["wdl"], np.float64)
    root = pair.forest.root_values(pair.ids)[0]
    np.testing.assert_allclose(root, total / visits, atol=2e-5)
    assert abs(root.sum() - 1) < 1e-5
    assert all(edge["in_flight"] == 0 for edge in pair.forest.root_edges(0))


@given(pairs(), st.integers(1, 60), st.lists(st.integers(1, 9), min_size=1, max_size=4))
def test_cancel_restores_the_tree(pair: Pair, visits: int, gathers: list[int]) -> None:
    # Rules that choose edges out of the order of their priors leave another order of edges without visits behind.
    pair = without(pair, "solver", "variance", "tree_balance")
    forest = pair.forest
    search(forest, pair.evaluator, visits=visits, rows=1)
    forest.set_visit_limits(pair.ids, np.array([visits + 30], np.uint32))
    before = forest.digest(0)
    visits_before = forest.stats()["visits"]
    counted = evaluated(forest)
    batches = [gather(forest, rows)[0] for rows in gathers]
    while batches:
        forest.cancel(batches.pop(len(batches) // 2))
        forest.check_invariants(0)
    assert all(edge["in_flight"] == 0 for edge in forest.root_edges(0))
    free_visits = forest.stats()["visits"] - visits_before
    assert int(forest.root_node_visits(pair.ids)[0]) == visits + free_visits
    assert free_visits or forest.digest(0) == before
    assert evaluated(forest) == counted


def evaluated(forest: Forest) -> tuple[float, ...]:
    """What is counted of evaluations that were not known: rows of both nets, and lookups that found nothing."""
    stats = forest.stats()
    return stats["rows"], stats["large_rows"], stats["cache_lookups"] - stats["cache_hits"]


@given(pairs(), st.integers(1, 60), st.integers(0, 100))
def test_advance_keeps_the_subtree_or_clears_it(pair: Pair, visits: int, move: int) -> None:
    pair.run(visits)
    edges = {edge["action"]: edge for edge in pair.forest.root_edges(0)}
    legal = pair.state.legal_actions()
    action = int(legal[move % len(legal)])
    pair.forest.advance(pair.ids, np.array([action], np.uint16))
    pair.forest.check_invariants(0)
    expected = 0
    if pair.params.reuse_tree and action in edges and not edges[action]["terminal"]:
        expected = edges[action]["visits"]
    found = int(pair.forest.root_node_visits(pair.ids)[0])
    # Visits that ended at a repeat are taken back; where there were no others, the position was never evaluated.
    assert found == expected or (pair.params.repetition and found < expected)
    assert len(pair.forest.root_edges(0)) == (len(pair.forest.state(0).legal_actions()) if found else 0)
