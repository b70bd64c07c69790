"""Positions that games begin from: files with one opening a line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hauteur import _core
from hauteur.game import make, with_fen


@dataclass(frozen=True)
class Opening:
    """A position to begin from: chess from a FEN (None: the game's start), then moves."""

    fen: str | None = None
    actions: tuple[int, ...] = ()

    def origin(self, game: _core.Game) -> _core.State:
        """The position before the moves."""
        return make(with_fen(game.spec, self.fen)).initial_state()


def read_openings(path: Path, game: _core.Game) -> list[Opening]:
    """One opening a line; empty lines and those that begin with # are left out. ValueError names the line.

    A line is a list of moves in the game's notation or, for chess, an EPD or FEN: four fields, then nothing, the two
    counters of a FEN, or the operations of an EPD, which are not read.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not a text file: {error}") from None
    openings = []
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                openings.append(read_opening(line, game))
            except ValueError as error:
                raise ValueError(f"{path}, line {number}: {error}") from None
    if not openings:
        raise ValueError(f"{path}: no openings in it")
    return openings


def read_opening(line: str, game: _core.Game) -> Opening:
    """The opening that a line names, checked; the game must not be over after it."""
    words = line.split()
    opening = Opening(fen=_fen(words)) if game.name == "chess" and "/" in words[0] else None
    state = (opening or Opening()).origin(game)
    if opening is None:
        opening = Opening(actions=_play(state, words))
    if state.outcome() is not None:
        raise ValueError("the game is over in this position")
    return opening


def _fen(words: list[str]) -> str:
    """The FEN at the beginning of an EPD: four fields, and two more if they are numbers."""
    counters = words[4:6]
    return " ".join(words[: 6 if len(counters) == 2 and all(word.isdecimal() for word in counters) else 4])


def _play(state: _core.State, moves: list[str]) -> tuple[int, ...]:
    """Plays the moves, returns them as actions."""
    actions = []
    for move in moves:
        if state.outcome() is not None:
            raise ValueError(f"the game is over before {move!r}")
        actions.append(state.action_from_text(move))
        state.play(actions[-1])
    return tuple(actions)
