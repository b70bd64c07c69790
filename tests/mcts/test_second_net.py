"""Two nets in one tree: the core and the reference agree, and the laws of the method hold."""

from __future__ import annotations

import numpy as np
import pytest
from forests import search_one_by_one
from hypothesis import given
from hypothesis import strategies as st
from search_pairs import agree_after_each, calls
from search_toys import Evaluator, hash_evaluator
from second_net_pairs import TwoPair, two_net_pairs

from hauteur._core import Forest, Game, State
from hauteur.mcts.params import Dirichlet, SearchParams, SecondNet


@given(two_net_pairs(), calls)
def test_any_sequence_of_calls_agrees(pair: TwoPair, calls: list[tuple[str, int]]) -> None:
    agree_after_each(pair, calls)


SPECS = ("connect4", "tictactoe", "nogo(size=3)", "chess")
ORDERS = ("random", "round_robin", "large_first")


def searched(
    state: State, params: SearchParams, small: Evaluator, large: Evaluator, visits: int, moves: int = 0
) -> tuple[Forest, int]:
    """A tree searched one evaluation at a time, `moves` times: after each but the last the best move is played."""
    forest = Forest(state.game, params)
    tree = forest.add(state, seed=7)
    ids = np.array([tree])
    for move in range(moves + 1):
        if move:
            if forest.state(tree).outcome() is not None:
                break
            forest.advance(ids, forest.best_actions(ids))
        forest.set_visit_limits(ids, np.array([visits], np.uint32))
        search_one_by_one(forest, small, large)
        forest.check_invariants(tree)
    return forest, tree


def plain(**settings: object) -> SearchParams:
    return SearchParams.model_validate({"cache_size": 0} | settings)


def two(rule: SecondNet, **settings: object) -> SearchParams:
    return plain(second_net=rule.model_dump(), **settings)


def nets(game: Game) -> tuple[Evaluator, Evaluator]:
    return hash_evaluator(game.num_actions, salt=1), hash_evaluator(game.num_actions, salt=2)


def visits_of(forest: Forest, tree: int, which: str = "visits") -> dict[int, int]:
    return {edge["action"]: edge[which] for edge in forest.root_edges(tree)}


@pytest.mark.parametrize("spec", SPECS)
def test_without_large_visits_the_small_net_searches_alone(spec: str) -> None:
    state = Game(spec).new_initial_state()
    f_s, f_l = nets(state.game)
    noise = Dirichlet().model_dump()
    one = searched(state, plain(dirichlet=noise), f_s, f_l, 200, moves=2)
    both = searched(state, two(SecondNet(large_visits=0), dirichlet=noise), f_s, f_l, 200, moves=2)
    assert both[0].nets == [0]
    assert one[0].digest(one[1]) == both[0].digest(both[1])


@pytest.mark.parametrize("spec", SPECS)
def test_without_small_visits_the_large_net_searches_alone(spec: str) -> None:
    state = Game(spec).new_initial_state()
    f_s, f_l = nets(state.game)
    one = searched(state, plain(), f_l, f_l, 200, moves=2)
    both = searched(state, two(SecondNet(small_visits=0)), f_s, f_l, 200, moves=2)
    assert both[0].nets == [1]
    assert one[0].digest(one[1]) == both[0].digest(both[1])
    assert visits_of(*both, "large_visits") == visits_of(*one)


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("priority", ["visits", "own_puct", "parent_bonus"])
@pytest.mark.parametrize("values", ["means", "states"])
def test_a_small_net_of_full_weight_searches_as_if_alone(spec: str, order: str, priority: str, values: str) -> None:
    """alpha = beta = 1: N_S is that of PUCT with f_S, whatever the large net says and when."""
    state = Game(spec).new_initial_state()
    f_s, f_l = nets(state.game)
    rule = SecondNet.model_validate(
        {"small_visits": 200, "large_visits": 70, "alpha": 1, "beta": 1, "order": order, "priority": priority}
        | {"values": values, "large_first": 20}
    )
    one, both = (searched(state, params, f_s, f_l, 200, moves=2) for params in (plain(), two(rule)))
    assert visits_of(*one) == visits_of(*both)
    assert one[0].principal_variation(one[1]) == both[0].principal_variation(both[1])


@given(st.sampled_from(SPECS), st.sampled_from(ORDERS), st.integers(1, 60), st.integers(1, 60), st.sampled_from([1, 4]))
def test_both_budgets_are_spent(spec: str, order: str, small: int, large: int, together: int) -> None:
    state = Game(spec).new_initial_state()
    rule = SecondNet.model_validate(
        {"small_visits": small, "large_visits": large, "order": order, "large_batch": together}
    )
    forest, tree = searched(state, two(rule), *nets(state.game), small)
    assert forest.root_node_visits(np.array([tree])).tolist() == [small]
    stats = forest.tree_stats(tree)
    assert (stats["visits"], stats["large_visits"]) == (small + large, large)
    assert sum(visits_of(forest, tree).values()) == small - 1
    assert sum(visits_of(forest, tree, "large_visits").values()) == large - 1


def test_a_limit_scales_both_budgets() -> None:
    state = Game("connect4").new_initial_state()
    forest, tree = searched(state, two(SecondNet(small_visits=800, large_visits=100)), *nets(state.game), 96)
    assert (forest.tree_stats(tree)["visits"], forest.tree_stats(tree)["large_visits"]) == (108, 12)
