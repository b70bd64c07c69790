"""Two nets or more in one tree: the core and the reference agree, and the laws of the method hold."""

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
from hauteur.players.settings import parse_player


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
        {"small_visits": 100, "large_visits": 35, "alpha": 1, "beta": 1, "order": order, "priority": priority}
        | {"values": values, "large_first": 20}
    )
    one, both = (searched(state, params, f_s, f_l, 100, moves=2) for params in (plain(), two(rule)))
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


THREE = {"small_visits": 80, "large_visits": 20}


def searched_by(state: State, params: SearchParams, evaluators: list[Evaluator], visits: int) -> tuple[Forest, int]:
    """A tree searched one evaluation at a time by as many nets as the settings have."""
    forest = Forest(state.game, params)
    tree = forest.add(state, seed=7)
    forest.set_visit_limits(np.array([tree]), np.array([visits], np.uint32))
    assert forest.nets == list(range(len(evaluators)))
    search_one_by_one(forest, *evaluators)
    forest.check_invariants(tree)
    return forest, tree


def some_nets(game: Game, count: int) -> list[Evaluator]:
    return [hash_evaluator(game.num_actions, salt=salt) for salt in range(1, count + 1)]


# Digests of trees of two nets from before there could be more, by game, order, priority and reading.
RECORDED = {
    ("connect4", "random", "visits", "means"): 403480314732549133,
    ("connect4", "round_robin", "own_puct", "states"): 3302713600039091994,
    ("connect4", "large_first", "parent_bonus", "means"): 10187367367476040746,
    ("nogo(size=3)", "random", "visits", "states"): 471854043266433079,
    ("chess", "random", "visits", "means"): 575156356629501720,
    ("chess", "large_first", "visits", "states"): 10313986345256824071,
    ("tictactoe", "round_robin", "visits", "means"): 11631376964672365220,
}


@pytest.mark.parametrize(("settings", "digest"), RECORDED.items())
def test_two_nets_search_as_they_did_before_there_were_more(settings: tuple[str, str, str, str], digest: int) -> None:
    spec, order, priority, values = settings
    state = Game(spec).new_initial_state()
    rule = SecondNet.model_validate(THREE | {"order": order, "priority": priority, "values": values, "large_batch": 2})
    forest, tree = searched(state, two(rule, dirichlet=Dirichlet().model_dump()), *nets(state.game), 200, moves=1)
    assert forest.digest(tree) == digest


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("more", ["10", "10:0.2:0.5,4", "10:1:1,10:0:0,3:0.5:0.5:own_puct,5:0.5:0.5:parent_bonus"])
def test_every_net_spends_its_budget(spec: str, order: str, more: str) -> None:
    state = Game(spec).new_initial_state()
    rule = SecondNet.model_validate(THREE | {"order": order, "more": more})
    budgets = [80, 20, *(int(word.split(":")[0]) for word in more.split(","))]
    forest, tree = searched_by(state, two(rule), some_nets(state.game, len(budgets)), 160)
    assert [1 + int(forest.root_visits_of(tree, net).sum()) for net in range(len(budgets))] == [
        2 * budget for budget in budgets
    ]
    stats = forest.tree_stats(tree)
    assert (stats["visits"], stats["large_visits"]) == (2 * sum(budgets), 2 * sum(budgets[1:]))


@pytest.mark.parametrize("spec", SPECS)
def test_further_nets_without_weight_leave_the_small_tree_as_it_is(spec: str) -> None:
    """Shares of 0: value and priors are those of the first two, and so are N_S and N_L."""
    state = Game(spec).new_initial_state()
    evaluators = some_nets(state.game, 3)
    order = {"order": "round_robin", "beta": 0.5}
    pair = searched_by(state, two(SecondNet.model_validate(THREE | order)), evaluators[:2], 160)
    three = searched_by(state, two(SecondNet.model_validate(THREE | order | {"more": "10:0:0"})), evaluators, 160)
    assert visits_of(*pair) == visits_of(*three)
    assert three[0].root_visits_of(three[1], 1).sum() == pair[0].root_visits_of(pair[1], 1).sum()


@pytest.mark.parametrize("spec", SPECS)
def test_nets_of_equal_settings_take_the_same_nodes_the_smaller_first(spec: str) -> None:
    """Two larger nets with one evaluator, one budget and one priority: after an equal number of turns, equal visits."""
    state = Game(spec).new_initial_state()
    small, large = nets(state.game)
    rule = SecondNet.model_validate(THREE | {"order": "round_robin", "more": "20"})
    asked: list[int] = []
    forest = Forest(state.game, two(rule))
    tree = forest.add(state, seed=7)
    forest.set_visit_limits(np.array([tree]), np.array([80], np.uint32))
    features = np.zeros((1, *state.game.feature_shape), np.float32)
    while len(forest.active()):
        for net, evaluator in enumerate((small, large, large)):
            batch = forest.gather(features, net)
            asked += [net] * len(batch)
            forest.apply(batch, *evaluator(features[: len(batch)]))
    turns = [net for net in asked if net]
    assert turns[: len(turns) // 2 * 2 : 2] == [1] * (len(turns) // 2)
    if spec != "tictactoe":
        assert turns == [1, 2] * 20
    assert forest.root_visits_of(tree, 1).tolist() == forest.root_visits_of(tree, 2).tolist()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("0", "VISITS"),
        ("20:1.5", "alpha and beta 0 to 1"),
        ("20:0.5:0.5:best", "parent_bonus as priority"),
        (",".join(["1"] * 7), "at most 6 times"),
    ],
)
def test_texts_of_further_nets_are_refused_in_one_line(more: str, message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        parse_player(f"net=uniform large_net=uniform third_net=uniform second_net.more={more}")
    assert "\n" not in str(error.value)
    assert more in str(error.value)


def test_further_nets_need_turns_of_the_first_two() -> None:
    for budgets in ({"small_visits": 0}, {"large_visits": 0}):
        with pytest.raises(ValueError, match="small_visits and large_visits must be 1 or more where `more` has nets"):
            SearchParams.model_validate({"second_net": budgets | {"more": "20"}})
