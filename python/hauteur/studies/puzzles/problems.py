"""Problems to be solved: puzzles of Lichess's columns with their whole line, EPD suites (bm, am), puzzles in JSON."""

from __future__ import annotations

import csv
import hashlib
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TextIO

from hauteur import _core
from hauteur.games.epd import parse_epd
from hauteur.games.registry import fen_games, load_game, with_fen
from hauteur.studies.puzzles.mining import wins_at_once
from hauteur.studies.puzzles.puzzle import Puzzle
from hauteur.system.settings import validated

NEEDED_COLUMNS = ("PuzzleId", "FEN", "Moves")


@dataclass(frozen=True)
class ProblemStep:
    """Position with its right moves (empty: all that are not wrong) and its wrong moves.

    wins: an immediately winning move is right too.
    """

    state: _core.State
    right: frozenset[int]
    wrong: frozenset[int] = frozenset()
    wins: bool = False

    def is_right(self, action: int) -> bool:
        """Return whether a move solves it."""
        named = action not in self.wrong and (not self.right or action in self.right)
        return named or (self.wins and wins_at_once(self.state, action))


@dataclass(frozen=True)
class Problem:
    """Problem of one or several positions, all of which must be solved.

    rating, themes, source: what the file says of it; visits: those that the net needed which it was mined by.
    """

    name: str
    steps: tuple[ProblemStep, ...]
    rating: float | None = None
    themes: tuple[str, ...] = ()
    source: str = ""
    visits: int | None = None

    @property
    def digest(self) -> str:
        """Hash of the positions and of the right and wrong moves."""
        content = [(step.state.notation(), sorted(step.right), sorted(step.wrong), step.wins) for step in self.steps]
        return hashlib.blake2b(repr(content).encode(), digest_size=8).hexdigest()


def read_problems(path: Path, game: _core.Game | None = None) -> Iterator[Problem]:
    """Read the problems of a file, by extension: .csv, .json, else EPD; ValueError names the invalid line.

    game: which they must be of; None: the file tells.
    """
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        yield from problems_in(file, str(path), game)


def problems_in(file: TextIO, name: str, game: _core.Game | None = None) -> Iterator[Problem]:
    """Read the problems of an open text, as `read_problems` those of a file of this name."""
    suffix = Path(name).suffix.lower()
    if suffix == ".csv":
        found = _read_csv(file, name, game)
    elif suffix == ".json":
        found = _read_json(file, name, game)
    else:
        found = _read_epd(file, name, game)
    first = next(found, None)
    if first is None:
        raise ValueError(f"{name}: no problems in it")
    yield first
    yield from found


def _read_csv(file: TextIO, name: str, game: _core.Game | None) -> Iterator[Problem]:
    game = game or load_game("chess")
    if game.name != "chess":
        raise ValueError(f"{name}: a CSV file has puzzles of chess, not of {game.spec}")
    rows = csv.DictReader(file)
    try:
        missing = [name for name in NEEDED_COLUMNS if name not in (rows.fieldnames or ())]
        if missing:
            raise ValueError(f"has no column {missing[0]}; needed are {', '.join(NEEDED_COLUMNS)}")
        for row in rows:
            puzzle, fen, moves = (row[column] or "" for column in NEEDED_COLUMNS)
            rating = _rating(row.get("Rating"))
            themes = tuple((row.get("Themes") or "").split())
            problem = _of_line(game, puzzle, fen, moves.split())
            yield replace(problem, rating=rating, themes=themes, source=row.get("GameUrl") or "")
    except (csv.Error, ValueError) as error:
        raise ValueError(f"{name}, line {max(rows.line_num, 1)}: {error}") from None


def _rating(rating: str | None) -> float | None:
    """Return the rating of a puzzle, None where it has none."""
    if not rating:
        return None
    try:
        value = float(rating)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"a rating must be a number, got {rating!r}")
    return value


def _of_line(game: _core.Game, name: str, fen: str, moves: Sequence[str]) -> Problem:
    """A puzzle whose first move is the opponent's, and then every second one."""
    if len(moves) < 2:
        raise ValueError(f"a puzzle has the opponent's move and at least one more, got {' '.join(moves)!r}")
    state = load_game(with_fen(game.spec, fen)).new_initial_state()
    _play(state, moves[0])
    return Problem(name, tuple(_steps(state, moves[1:])))


def _steps(state: _core.State, solution: Sequence[str]) -> Iterator[ProblemStep]:
    """The solver's positions of a line. Where it ends with a win at once, any such win is right."""
    for number, move in enumerate(solution):
        if number % 2:
            _play(state, move)
            continue
        action = _action(state, move)
        wins = number == len(solution) - 1 and wins_at_once(state, action)
        yield ProblemStep(state.copy(), frozenset([action]), wins=wins)
        state.apply(action)


def _action(state: _core.State, move: str) -> int:
    if state.outcome() is not None:
        raise ValueError(f"the game is over before {move!r}")
    return state.parse(move)


def _play(state: _core.State, move: str) -> None:
    state.apply(_action(state, move))


def _read_json(file: TextIO, name: str, game: _core.Game | None) -> Iterator[Problem]:
    try:
        values = json.load(file)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{name}: not a JSON file: {error}") from None
    if not isinstance(values, list):
        raise ValueError(f"{name}: must hold a JSON array of puzzles")
    for number, value in enumerate(values, 1):
        where = f"{name}, puzzle {number}"
        puzzle = validated(Puzzle, value, where)
        try:
            own = load_game(puzzle.game)
            game = game or own
            if own.spec != game.spec:
                raise ValueError(f"is of {puzzle.game}, not of {game.spec}")
            steps = tuple(_steps(puzzle.position(), puzzle.solution))
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from None
        yield Problem(puzzle.id, steps, puzzle.rating, puzzle.themes, puzzle.source, puzzle.visits)


def _read_epd(file: TextIO, name: str, game: _core.Game | None) -> Iterator[Problem]:
    if game is not None and not game.has_fen:
        known = " and ".join(one.name for one in fen_games())
        raise ValueError(f"{name}: EPD has positions of {known}, not of {game.spec}")
    for number, line in enumerate(file, 1):
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                game = game or _game_of(line.split()[0].count("/") + 1)
                yield epd_problem(line, game, f"line {number}")
            except ValueError as error:
                raise ValueError(f"{name}, line {number}: {error}") from None


def _game_of(ranks: int) -> _core.Game:
    """Return the game whose FENs have so many ranks, chess where none has."""
    return next((game for game in fen_games() if game.feature_shape[1] == ranks), load_game("chess"))


def epd_problem(line: str, game: _core.Game, name: str) -> Problem:
    """Parse an EPD problem: bm lists the right moves, am the wrong ones, id names the problem."""
    fen, operations = parse_epd(line)
    if not operations.get("bm") and not operations.get("am"):
        raise ValueError("names no best move: a problem has bm or am")
    state = load_game(with_fen(game.spec, fen)).new_initial_state()
    right, wrong = (frozenset(_action(state, move) for move in operations.get(key, ())) for key in ("bm", "am"))
    return Problem(" ".join(operations.get("id", ())) or name, (ProblemStep(state, right, wrong),))
