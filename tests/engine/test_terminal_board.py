"""The board of the terminal: figures on coloured squares where it can show them, signs elsewhere."""

from __future__ import annotations

import io
from typing import Literal

import pytest
from rich.console import Console

from hauteur import _core
from hauteur.engine.terminal_board import LAST_SQUARES, board_text, draws_figures, position_text
from hauteur.games.registry import load_game


def screen(system: Literal["standard", "256", "truecolor"] | None, *, encoding: str = "utf-8") -> Console:
    """A terminal with these colours."""
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    return Console(file=file, force_terminal=system is not None, color_system=system, width=100)


def after(spec: str, *moves: str) -> _core.State:
    """The position after these moves."""
    state = load_game(spec).new_initial_state()
    for move in moves:
        state.apply(state.parse(move))
    return state


def test_pieces_are_figures_in_the_colours_of_their_sides_and_the_last_move_is_marked() -> None:
    text = board_text(after("chess", "e2e4"), figures=True)
    rows = text.plain.splitlines()
    assert rows[0] == "8  ♜  ♞  ♝  ♛  ♚  ♝  ♞  ♜  8"
    assert rows[4] == "4              ♟\ufe0e           4"
    assert rows[8] == "   a  b  c  d  e  f  g  h"
    styles = {(span.start, span.end): str(span.style) for span in text.spans}
    place = text.plain.index("♟\ufe0e           4")  # White's on e4
    (moved,) = [style for (start, end), style in styles.items() if start <= place < end]
    assert "#ffffff" in moved
    assert sum(any(ground in style for ground in LAST_SQUARES) for style in styles.values()) == 2
    queens = [style for (start, end), style in styles.items() if "♛" in text.plain[start:end]]
    assert ["#ffffff" in style for style in queens] == [False, True]
    assert board_text(after("chess"), figures=True, flip=True).plain.startswith("1  ♜  ♞  ♝  ♚")


def test_other_terminals_get_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    state = after("chess", "e2e4")
    for console in (screen(None), screen("standard"), screen("truecolor", encoding="latin-1")):
        assert not draws_figures(console)
        assert position_text(state, console).plain == state.text()
    monkeypatch.setenv("NO_COLOR", "1")
    assert not draws_figures(screen("truecolor"))
    assert "(P)" in board_text(state).plain


def test_other_games_keep_their_signs() -> None:
    assert board_text(after("connect4", "4"), figures=True).plain == board_text(after("connect4", "4")).plain
