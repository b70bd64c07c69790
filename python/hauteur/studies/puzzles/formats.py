"""Puzzles as files: the columns of Lichess's puzzle database, EPD, and JSON, which holds puzzles of every game."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from hauteur.games.epd import epd_line
from hauteur.studies.puzzles.puzzle import Puzzle
from hauteur.system.files import write_bytes

COLUMNS = (
    "PuzzleId",
    "FEN",
    "Moves",
    "Rating",
    "RatingDeviation",
    "Popularity",
    "NbPlays",
    "Themes",
    "GameUrl",
    "OpeningTags",
)
DEVIATION = 500
"""Deviation of a rating without any game against it."""


def write_puzzles(puzzles: Sequence[Puzzle], folder: Path, stem: str = "puzzles") -> list[Path]:
    """Write the puzzles in every format that fits their game; the paths."""
    texts = {".json": json_text(puzzles)}
    if all(is_chess(puzzle) for puzzle in puzzles):
        texts = {".csv": csv_text(puzzles), ".epd": epd_text(puzzles), **texts}
    paths = []
    for suffix, text in texts.items():
        paths.append(folder / f"{stem}{suffix}")
        write_bytes(paths[-1], text.encode())
    return paths


def is_chess(puzzle: Puzzle) -> bool:
    """Return whether it is a chess puzzle, Chess960 included."""
    return puzzle.game.partition("(")[0] == "chess"


def fits_csv(puzzle: Puzzle) -> bool:
    """Return whether the puzzle begins with an opponent's move, as this format requires."""
    return is_chess(puzzle) and len(puzzle.opening) == 1 and puzzle.fen is not None


def csv_text(puzzles: Iterable[Puzzle]) -> str:
    """Lichess's columns: the FEN is before the opponent's move, which is the first of the moves.

    Puzzles without a move of the opponent are left out.
    """
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    for puzzle in filter(fits_csv, puzzles):
        moves, source = " ".join([*puzzle.opening, *puzzle.solution]), " ".join(puzzle.source.split())
        themes = " ".join(puzzle.themes)
        writer.writerow([puzzle.id, puzzle.fen, moves, puzzle.rating, DEVIATION, 0, 0, themes, source, ""])
    return file.getvalue()


def json_text(puzzles: Iterable[Puzzle]) -> str:
    """A JSON array of puzzles, one a line."""
    lines = ",\n".join(json.dumps(puzzle.model_dump(exclude_defaults=True)) for puzzle in puzzles)
    return f"[\n{lines}\n]\n" if lines else "[]\n"


def epd_text(puzzles: Iterable[Puzzle]) -> str:
    """Lines, one a puzzle: the position that the solver sees, the best move, the line, the name."""
    return "".join(f"{_epd(puzzle)}\n" for puzzle in puzzles)


def _epd(puzzle: Puzzle) -> str:
    state = puzzle.position()
    line = _san(puzzle)
    return epd_line(state.notation(), {"bm": line[:1], "pv": line, "id": [puzzle.id]})


def _san(puzzle: Puzzle) -> list[str]:
    """The solution in SAN."""
    state, texts = puzzle.position(), []
    for move in puzzle.solution:
        action = state.parse(move)
        texts.append(state.action_to_text(action, "san"))
        state.apply(action)
    return texts
