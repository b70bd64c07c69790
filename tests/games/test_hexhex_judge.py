"""The opponent of Hex in `checks/hexhex_judge.py`: its wins within three plies, and what its net is given."""

from __future__ import annotations

import numpy as np
import pytest

import hauteur as ht
from hexhex_judge import CELLS, SIZE, forced_win, planes_of, winning_cells

pytestmark = pytest.mark.quick


def stones_of(state: ht.State) -> tuple[set[int], set[int]]:
    return set(state.moves[0::2]), set(state.moves[1::2])


def winning_moves(state: ht.State) -> set[int]:
    """By the rules of the core: the moves that end the game."""
    return {int(action) for action in state.legal_actions() if state.child(int(action)).is_terminal}


def position(plies: int, seed: int) -> ht.State:
    """A random position of that many plies in which nobody has won."""
    random = np.random.default_rng(seed)
    game = ht.load_game(f"hex(size={SIZE})")
    while True:
        state = game.new_initial_state()
        for _ in range(plies):
            if not state.is_terminal:
                state.apply(int(random.choice(state.legal_actions())))
        if not state.is_terminal:
            return state


@pytest.mark.parametrize("seed", range(6))
def test_cells_that_win_are_those_of_the_core(seed: int) -> None:
    state = position(90, seed)
    empty = {int(action) for action in state.legal_actions()}
    assert winning_cells(state.to_move, stones_of(state)[state.to_move], empty) == winning_moves(state)


def wins_in_three(state: ht.State, action: int) -> bool:
    """By the rules of the core: after this move no reply wins, and after every reply a move wins."""
    after = state.child(action)
    if winning_moves(after):
        return False
    return all(winning_moves(after.child(int(reply))) for reply in after.legal_actions())


@pytest.mark.parametrize("seed", range(6))
def test_a_forced_win_is_one_by_the_core_s_rules(seed: int) -> None:
    state = position(88, seed)
    empty = {int(action) for action in state.legal_actions()}
    at_once = winning_moves(state)
    in_three = {action for action in empty if wins_in_three(state, action)}
    wanted = min(at_once) if at_once else min(in_three, default=None)
    assert forced_win(state.to_move, stones_of(state), empty) == wanted


def test_some_of_these_positions_have_a_win_in_one_or_three_and_some_have_none() -> None:
    found = []
    for seed in range(6):
        state = position(88, seed)
        empty = {int(action) for action in state.legal_actions()}
        found.append(forced_win(state.to_move, stones_of(state), empty) is not None)
    assert set(found) == {True, False}


def test_the_net_sees_the_board_of_the_player_to_move() -> None:
    """The first player's sides are rows, the second one's columns, so that its board is transposed."""
    stones = ({1}, {SIZE})
    first = planes_of(0, stones)[0]
    second = planes_of(1, stones)[0]
    assert first.shape == (2, SIZE + 2, SIZE + 2)
    assert first[0, 1, 2] == 1
    assert first[1, 2, 1] == 1
    assert second[0, 1, 2] == 1
    assert second[1, 2, 1] == 1
    for planes in (first, second):
        frame = planes.copy()
        frame[:, 1:-1, 1:-1] = 0
        assert frame[0].sum(1).tolist() == [SIZE] + [0] * SIZE + [SIZE]
        assert frame[1].sum(0).tolist() == [SIZE] + [0] * SIZE + [SIZE]
    assert CELLS == SIZE * SIZE
