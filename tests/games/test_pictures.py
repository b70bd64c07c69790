"""Boards as pictures: every position of a game is drawn as its text has it, with the last move marked."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from hauteur import _core
from hauteur.games.pictures import action_squares, board_of
from hauteur.games.registry import check_game, load_game
from hauteur.games.tutorial import MisereTicTacToe
from hauteur.web.positions import position_view

pytestmark = pytest.mark.quick

GAMES = ["chess", "minichess", "connect4", "tictactoe", "nogo(size=4)"]


def random_states(spec: str, seed: int = 0) -> list[_core.State]:
    """Return the positions of a random game."""
    rng = np.random.default_rng(seed)
    state = load_game(spec).new_initial_state()
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
        old = board_of(before)
        new = board_of(after)
        assert old is not None
        assert new is not None
        changed = {square for square in range(len(new.cells)) if old.cells[square] != new.cells[square]}
        assert set(new.last)
        assert set(new.last) <= changed
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
def test_the_drawing_is_xml_with_one_symbol_a_piece(spec: str, flip: bool) -> None:
    """Every sign of the cells is drawn once."""
    for state in random_states(spec, seed=2)[::5]:
        board = board_of(state)
        assert board is not None
        root = ElementTree.fromstring(state.svg(flip=flip))
        drawn = root.findall("{http://www.w3.org/2000/svg}use")
        pieces = len(board.cells) if board.look == "discs" else len(board.cells) - board.cells.count(".")
        assert len(drawn) == pieces


class Own(MisereTicTacToe):
    """A game of one's own, whose copies are of its class."""

    def copy(self) -> Own:
        twin = type(self)()
        twin.stones = self.stones.copy()
        twin.to_move = self.to_move
        return twin


class FromBelow(Own):
    """The same game with actions counted row by row from below, a1 b1 c1 a2 ..., and a text that begins at the top."""

    def action_to_text(self, action: int) -> str:
        return "abc"[action % 3] + "123"[action // 3]

    def text(self) -> str:
        return "\n".join(super().text().splitlines()[::-1])


class Named(FromBelow):
    """The same, which says which squares these are."""

    def squares(self, action: int) -> list[tuple[int, int]]:
        return [(2 - action // 3, action % 3)]


def test_a_stone_appears_where_the_square_is_that_was_pointed_at() -> None:
    state = _core.Game.from_python(Named()).new_initial_state()
    board = board_of(state)
    assert board is not None
    assert board.square_names[:4] == [*(f"row 1 column {column}" for column in (1, 2, 3)), "row 2 column 1"]
    for action in state.legal_actions().tolist():
        (square,) = action_squares(state, action)
        behind = board_of(state.child(action))
        assert behind is not None
        assert behind.cells[square] == "X"
        assert behind.last == (square,)


def test_moves_of_two_squares_are_pointed_at_in_their_order() -> None:
    """A game says so; an action without squares has none, which is a button on a page."""
    pairs = type("Pairs", (Own,), {"squares": lambda _, action: [(0, 0), (action // 3, action % 3)] if action else []})
    state = _core.Game.from_python(pairs()).new_initial_state()
    assert [action_squares(state, action) for action in (0, 5)] == [(), (0, 5)]
    assert [view["squares"] for view in position_view(state)["actions"]][:3] == [[], [0, 1], [0, 2]]


def test_check_game_finds_squares_that_are_mirrored() -> None:
    """Without `squares` an action is taken for the square of its number, counted from the top."""
    broken = {result.name: result.broken for result in check_game(FromBelow, games=2) if result.broken}
    assert list(broken) == ["squares"]
    assert "the move" in broken["squares"]
    assert check_game(Named, games=2).ok


KEPT = {
    "chess": ("2bcf39b8a2dcf64b", "af076911c2a4de83"),
    "minichess": ("1bb03807d2b6174a", "263dad54b275ae53"),
    "connect4": ("91b666e671467310", "10f9f2a056c4a891"),
    "tictactoe": ("3efba3819dc7f19a", "32fd5bba1b6e5f71"),
    "nogo(size=4)": ("8457f3aa34c53219", "a26b849874355aa2"),
    "go(size=9)": ("0388e648eb5a517a", "f64f5ccf81aac97c"),
    "hex(size=5)": ("8c454927b03a809a", "1fe94b765234e31b"),
    "othello(size=6)": ("d21b455ef44b7a43", "ce354be52a8333dd"),
    "tutorial": ("d57176baa0484af1", "3a06fa005d567254"),
}
"""Digests of the texts and of the drawings along a game, as they were when Python drew boards (but for the pieces of
chess, which were python-chess's then)."""

IN_CHECK = re.compile(r'<rect [^>]*fill="#e0705f" opacity=".75"/>')
"""The mark of a king in check, which those drawings had not."""


@pytest.mark.parametrize("spec", KEPT)
def test_texts_and_drawings_are_kept(spec: str) -> None:
    state = load_game(spec).new_initial_state()
    texts = list[str]()
    drawings = list[list[str]]()
    for ply in range(70):
        texts.append(state.text())
        drawings.append([IN_CHECK.sub("", state.svg(flip=flip)) for flip in (False, True)])
        if state.outcome() is not None:
            break
        legal = state.legal_actions()
        state.apply(int(legal[(ply * 104_729 + 17) % 97 % len(legal)]))
    digests = [hashlib.sha256(json.dumps(part).encode()).hexdigest()[:16] for part in (texts, drawings)]
    assert tuple(digests) == KEPT[spec]
