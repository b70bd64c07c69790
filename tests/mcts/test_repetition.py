"""Repetition scoring: which repeats count, what becomes of their visits when the root moves on, the hook of games."""

from __future__ import annotations

import forests
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from repeating_games import Wanderers
from search_pairs import Pair, agree_after_each, calls, random_state, repetitions, wanderers
from search_pairs import search_params as plain_params
from search_toys import Floats, hash_evaluator

from hauteur._core import Forest, Game, State
from hauteur.mcts.params import QAverage, Repetition, SearchParams, Variance
from reference.repetition import Lost, take_back
from reference.tree import Node, Value

INLINE = SearchParams(repetition=Repetition())
LEGACY = SearchParams(repetition=Repetition(mode="legacy_certain"))
LOCKED = "chess(fen=7k/8/8/p1p1p1p1/P1P1P1P1/8/8/K7 w - - 0 1)"
"""Nothing but kings can move."""
TREE = np.array([0])


def searched(state: State, params: SearchParams, visits: int, *, value: float = 0.5) -> Forest:
    """A tree of `visits` visits; the network holds every position for as good for its mover."""
    forest = Forest(state.game, params)
    forest.add(state)
    search(forest, visits, value=value)
    return forest


def search(forest: Forest, visits: int, *, value: float = 0.5) -> None:
    def answer(features: Floats) -> tuple[Floats, Floats]:
        logits = np.zeros((len(features), forest.game.num_actions), np.float32)
        return logits, np.tile(np.array([value, 1.0 - value, 0.0], np.float32), (len(features), 1))

    forests.search(forest, answer, visits=visits, rows=1)
    forest.check_invariants(0)


def advance(forest: Forest, action: int = 0) -> None:
    forest.advance(TREE, np.array([action], np.uint16))
    forest.check_invariants(0)


def visits(forest: Forest) -> int:
    return int(forest.root_node_visits(TREE)[0])


def root_value(forest: Forest) -> NDArray[np.float32]:
    """Win - loss and share of draws."""
    win, drawn, loss = forest.root_values(TREE)[0]
    return np.array([win - loss, drawn])


def circle(plies: int = 0) -> State:
    """One move each and no choice: the position of ply n is that of ply n + 4."""
    state = Game.from_python(Wanderers(size=2, steps=(1,), ends_at_third=False)).new_initial_state()
    for _ in range(plies):
        state.apply(0)
    return state


# -- which repeats count -----------------------------------------------------------------------------------------------


def test_a_cycle_within_the_line_counts() -> None:
    """Own values +.5, -.5, +.5, -.5 of plies 0 to 3; ply 4 is a draw, 6 of the 10 visits end there."""
    forest = searched(circle(), INLINE, 10)
    assert forest.tree_stats(0)["nodes"] == 4
    assert forest.tree_stats(0)["terminal_visits"] == 6
    np.testing.assert_allclose(root_value(forest), [0.0, (4 * 0.5 + 6) / 10], atol=1e-6)


def test_a_cycle_that_began_before_the_root_does_not_count() -> None:
    forest = searched(circle(plies=2), INLINE, 10)
    assert forest.tree_stats(0)["nodes"] == 4, "ply 4 below this root counts, and no ply above it"
    history = circle(plies=4)
    assert history.repetition() == (1, 4, 0)
    assert searched(history, SearchParams(), 10).tree_stats(0)["nodes"] == 10


def test_the_legacy_rule_counts_history_and_spares_the_root() -> None:
    assert searched(circle(), LEGACY, 10).tree_stats(0)["nodes"] == 4
    assert searched(circle(plies=2), LEGACY, 10).tree_stats(0)["nodes"] == 2
    assert searched(circle(plies=4), LEGACY, 10).tree_stats(0)["nodes"] == 1


def test_a_repeat_may_be_won() -> None:
    state = Game.from_python(Wanderers(size=2, steps=(1,), ends_at_third=False, result=1)).new_initial_state()
    forest = searched(state, INLINE, 10)
    np.testing.assert_allclose(root_value(forest), [6 / 10, 4 * 0.5 / 10], atol=1e-6)


# -- the root moves on -------------------------------------------------------------------------------------------------


def test_past_the_first_occurrence_the_visits_are_taken_back() -> None:
    forest = searched(circle(), INLINE, 10)
    advance(forest)
    assert visits(forest) == 3
    np.testing.assert_allclose(root_value(forest), [0.5 / 3, 0.5], atol=1e-6)
    search(forest, 4)
    assert forest.tree_stats(0)["nodes"] == 4, "the position is evaluated now"


@pytest.mark.parametrize("mode", ["inline_value", "legacy_certain"])
def test_trees_stay_sound_along_a_game_of_kings(mode: str) -> None:
    params = SearchParams(repetition=Repetition.model_validate({"mode": mode}))
    forest = searched(Game(LOCKED).new_initial_state(), params, 400, value=0.1)
    shrunk = 0
    for _ in range(12):
        if not len(forest.root_edges(0)):
            break
        best = forest.root_edges(0)[0]
        advance(forest, best["action"])
        shrunk += visits(forest) < best["visits"]
        search(forest, 400, value=0.1)
    assert (shrunk > 0) == (mode == "inline_value")


# -- the hook ----------------------------------------------------------------------------------------------------------


def test_chess_tells_repeats() -> None:
    state = Game("chess").new_initial_state()
    found = []
    for move in ("g1f3", "g8f6", "f3g1", "f6g8", "g1f3", "g8f6", "f3g1", "f6g8"):
        found.append(state.repetition())
        state.apply(state.parse(move))
    assert found == [None, None, None, None, (1, 4, 0), (1, 4, 0), (1, 4, 0), (1, 4, 0)]
    assert state.repetition() == (2, 4, 0)
    assert state.outcome() == 0


@pytest.mark.parametrize("answer", [(0, 4), (1, 0), (1, 9), (1,), (1, 1, 2), "often"])
def test_a_wrong_answer_of_a_game_is_an_error(answer: object) -> None:
    class Wrong(Wanderers):
        def repetition(self) -> object:  # type: ignore[override]
            return answer

    state = Game.from_python(Wrong()).new_initial_state()
    state.apply(0)
    with pytest.raises(ValueError, match=r"repetition\(\) must be None or"):
        state.repetition()


# -- core and reference ------------------------------------------------------------------------------------------------

averages = st.builds(QAverage, mode=st.just("linear"), beta=st.sampled_from([0.3, 0.5, 1.5]))
spreads = st.builds(Variance, mode=st.sampled_from(["std_bonus", "half_normal"]), scale=st.sampled_from([0.1, 1.0]))


@st.composite
def pairs(draw: st.DrawFn) -> Pair:
    """A position of a game that goes round in circles, perhaps in the middle of one."""
    game = draw(wanderers | st.just(Game(LOCKED)))
    state = random_state(game, draw(st.lists(st.integers(0, 1000), max_size=10)))
    params = draw(plain_params).model_copy(
        update={
            "repetition": draw(repetitions),
            "q_average": draw(st.none() | averages),
            "variance": draw(st.none() | spreads),
        }
    )
    evaluator = hash_evaluator(
        game.num_actions, salt=draw(st.integers(0, 99)), sharpness=draw(st.sampled_from([1.0, 6.0]))
    )
    return Pair(state, params, evaluator, seed=draw(st.integers(0, 99)))


@settings(suppress_health_check=list(HealthCheck))
@given(pairs(), calls)
def test_core_and_reference_agree(pair: Pair, steps: list[tuple[str, int]]) -> None:
    agree_after_each(pair, steps)


def test_four_draws_of_ten_visits_taken_back() -> None:
    """n = 10, Q = .12: without 4 visits of value 0 it is (1.2 - 0) / 6."""
    node = Node(circle(), 0, None, visits=10, value=Value(0.12, 0.4), deviations=0.5)
    take_back(node, Lost(4, 0.0, 0.0, 1.0), averaged=False)
    assert node.visits == 6
    assert node.value.wl == pytest.approx(0.20)
    assert node.value.d == pytest.approx(0.0, abs=1e-7)
    assert node.deviations == pytest.approx(0.5 - 0.2**2 * 4 * 6 / 10)
