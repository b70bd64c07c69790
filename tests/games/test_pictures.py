"""Boards as pictures: every position of a game is drawn as its text has it, with the last move marked."""

import itertools
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from hauteur import _core
from hauteur.games.pictures import LOOKS, action_squares, board_of, board_svg, seat_names, square_words
from hauteur.games.registry import make

GAMES = ["chess", "minichess", "connect4", "tictactoe", "nogo(size=4)"]


def random_states(spec: str, seed: int = 0) -> list[_core.State]:
    """Return the positions of a random game."""
    rng = np.random.default_rng(seed)
    state = make(spec).new_initial_state()
    states = [state.copy()]
    while state.outcome() is None and len(states) < 60:
        state.apply(int(rng.choice(state.legal_actions())))
        states.append(state.copy())
    return states


@pytest.mark.parametrize("spec", GAMES)
def test_the_last_move_is_among_the_squares_that_changed(spec: str) -> None:
    """The squares of the last move changed, and at least one of a changed position is marked."""
    states = random_states(spec)
    for before, after in itertools.pairwise(states):
        old, new = board_of(before), board_of(after)
        assert old is not None
        assert new is not None
        changed = {square for square in range(len(new.cells)) if old.cells[square] != new.cells[square]}
        assert set(new.last)
        assert set(new.last) <= changed or spec == "chess"  # castling is marked as king and rook
        assert set(new.last) & changed


@pytest.mark.parametrize("spec", GAMES)
def test_the_squares_of_an_action_are_those_that_it_changes(spec: str) -> None:
    """Where an action goes is what is marked after it."""
    for state in random_states(spec, seed=1)[:10]:
        for action in state.legal_actions()[:5].tolist():
            after = state.copy()
            after.apply(action)
            board = board_of(after)
            assert board is not None
            assert sorted(action_squares(state, action)) == sorted(board.last)


@pytest.mark.parametrize("spec", GAMES)
@pytest.mark.parametrize("flip", [False, True])
def test_the_drawing_is_xml_with_one_symbol_a_man(spec: str, flip: bool) -> None:
    """Every sign of the cells is drawn once."""
    for state in random_states(spec, seed=2)[::5]:
        board = board_of(state)
        assert board is not None
        root = ElementTree.fromstring(board_svg(state, flip=flip))
        drawn = root.findall("{http://www.w3.org/2000/svg}use")
        men = len(board.cells) if board.look == "discs" else len(board.cells) - board.cells.count(".")
        assert len(drawn) == men


def test_a_board_seen_from_the_other_side_has_the_same_men_in_the_other_order() -> None:
    """Flipping turns the board by half a turn."""
    board = board_of(make("chess").new_initial_state())
    assert board is not None
    assert board.corner(0, flip=True) == board.corner(63)
    assert board.square("e4") == 36
    assert board.square("e9") is None


def test_an_arrow_needs_a_legal_action_() -> None:
    """An illegal action is refused; a game without cells is drawn by itself."""
    state = make("chess").new_initial_state()
    assert "<circle" in board_svg(state, arrow=state.parse("e2e4"))
    with pytest.raises(ValueError, match="not legal"):
        board_svg(state, arrow=0)
    assert "tutorial" not in LOOKS


def test_a_game_whose_text_is_a_grid_is_drawn_with_its_signs() -> None:
    state = make("tutorial").new_initial_state()
    state.apply_text("b2")
    board = board_of(state)
    assert board is not None
    assert (board.look, board.cells, board.square("b2")) == ("letters", "....X....", 4)
    assert action_squares(state, state.parse("c1")) == (8,)
    assert square_words(board)[3:5] == ["empty", "X"]
    assert ">X</text>" in board_svg(state)


@pytest.mark.parametrize(
    ("spec", "seats"),
    [
        ("chess", ("White", "Black")),
        ("nogo", ("Black", "White")),
        ("connect4", ("Yellow", "Red")),
        ("tutorial", ("First player", "Second player")),
        ("chess(fen=4k3/8/8/8/8/8/4P3/4K3 b - - 0 1)", ("White", "Black")),
    ],
)
def test_players_are_called_as_captions_call_them(spec: str, seats: tuple[str, str]) -> None:
    assert seat_names(make(spec)) == seats
