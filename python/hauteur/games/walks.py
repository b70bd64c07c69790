"""Games to step through on a page: every position of a game as plain data, and the drawing of the empty board.

`hauteur.plots.boards` makes the widget of them; it knows no games.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from hauteur import _core
from hauteur.games import pictures
from hauteur.games.game_line import RECORDED, result_text

MOST_PLIES = 1000
"""Plies of a game that can be stepped through; a longer one is cut there, and says so."""

Shares = tuple[float, float, float]
Item = TypeVar("Item")


@dataclass(frozen=True)
class MoveNote:
    """Notes on a move.

    text: below the board; mark: a class of moves, such as `blunder`, which is coloured; sign: what follows the move in
    the list, such as `??`.
    """

    text: str = ""
    mark: str = ""
    sign: str = ""


@dataclass(frozen=True)
class WalkNotes:
    """Facts of a game other than its moves.

    wdl: the first player's chances of win, draw, loss by position (by the number of plies before it); best: the action
    that was thought best there; moves: notes by the number of the move, from 0.
    """

    wdl: Mapping[int, Shares] = field(default_factory=dict)
    best: Mapping[int, int] = field(default_factory=dict)
    moves: Mapping[int, MoveNote] = field(default_factory=dict)
    expected: bool = False


NO_NOTES = WalkNotes()


def walk_of(start: _core.State, actions: Sequence[int], *, title: str, notes: WalkNotes = NO_NOTES) -> dict[str, Any]:
    """Return a game as the widget takes it: lists with one entry a position (moves and notes: one a move).

    actions must be legal, as many as are played from `start`. Raise ValueError for an illegal one.
    """
    state = start.copy()
    walk: dict[str, Any] = {"title": title}
    for name in ("cells", "last", "captions", "best", "wdl", "moves", "notes", "marks"):
        walk[name] = []
    walk["expected"] = notes.expected
    _add_position(walk, state, notes, 0, ())
    for ply, action in enumerate(actions[:MOST_PLIES]):
        note = notes.moves.get(ply, MoveNote())
        text = _numbered(state, action, first=ply == 0)
        walk["moves"].append(f"{text}{note.sign}")
        walk["notes"].append(note.text)
        walk["marks"].append(note.mark)
        last = pictures.action_squares(state, action)
        state.apply(action)
        _add_position(walk, state, notes, ply + 1, last)
    if len(actions) > MOST_PLIES:
        walk["notes"][-1] = f"the page shows the first {MOST_PLIES:,} of {len(actions):,} plies"
    return walk


def drawing_of(state: _core.State) -> dict[str, Any] | None:
    """Return the empty board as the widget takes it; None where the game has no board of cells."""
    board = pictures.board_of(state)
    if board is None or not _is_drawn(board):
        return None
    symbols = board.symbols
    return {
        "size": list(board.size),
        "cell": board.cell,
        "corner": list(board.margins),
        "columns": board.columns,
        "slant": [board.slant(row) for row in range(board.rows)],
        "ground": board.ground(),
        "flipped": board.ground(flip=True),
        "symbols": "".join(drawing for _, _, drawing in sorted(symbols)),
        "ids": {sign: name for sign, name, _ in symbols if sign != "." or board.look == "discs"},
    }


def result_title(first: str, second: str, outcome: int | None, end_reason: str = "") -> str:
    """Return `A - B, 1-0 (checkmate)`."""
    result = "" if outcome is None else f", {result_text(outcome)}"
    reason = "" if end_reason in ("", RECORDED) else f" ({end_reason})"
    return f"{first} - {second}{result}{reason}"


def evenly(items: Sequence[Item], most: int) -> list[Item]:
    """Return `most` of the items at most, spread evenly, the first and the last of them if `most` is above 1."""
    if len(items) <= most:
        return list(items)
    last = len(items) - 1
    places = [round(step * last / max(1, most - 1)) for step in range(most)]
    return [items[place] for place in places]


def packed(cells: str) -> str:
    """Return the cells of a board with a number in place of several empty ones, as in a FEN."""
    return re.sub(r"\.{2,}", lambda run: str(len(run[0])), cells)


def _is_drawn(board: pictures.Board) -> bool:
    """Return whether the widget draws such boards; it shows others as text."""
    return board.look != "letters"


def _add_position(walk: dict[str, Any], state: _core.State, notes: WalkNotes, ply: int, last: tuple[int, ...]) -> None:
    """Add an entry to each list of a walk that has one a position. last: squares of the last move."""
    board = pictures.board_of(state, last)
    if board is not None and _is_drawn(board):
        walk["cells"].append(packed(board.cells))
    else:
        walk["cells"].append(state.text())
    walk["last"].append([] if board is None else list(board.last))
    walk["captions"].append("" if board is None else board.caption)
    best = notes.best.get(ply)
    squares = [] if best is None else list(pictures.action_squares(state, best))
    walk["best"].append(squares)
    shares = notes.wdl.get(ply)
    rounded = None if shares is None else [round(share, 3) for share in shares]
    walk["wdl"].append(rounded)


def _numbered(state: _core.State, action: int, *, first: bool) -> str:
    """Return the move as people read it: with its number in chess for White, in other games for every ply."""
    if state.game.name != "chess":
        return f"{state.ply + 1}. {state.action_to_text(action)}"
    number = state.notation().split()[5]
    text = state.action_to_text(action, "san")
    if state.to_move == 0:
        return f"{number}. {text}"
    return f"{number}... {text}" if first else text
