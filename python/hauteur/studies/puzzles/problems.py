"""Problems to be solved: puzzles of Lichess's columns with their whole line, EPD suites (bm, am), puzzles in JSON.

A person solves them move by move (`PuzzleAttempt`), players by `hauteur puzzles solve`.
"""

import csv
import hashlib
import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Literal, TextIO

import chess

from hauteur import _core
from hauteur.games.played_game import line_texts
from hauteur.games.registry import load_game, with_fen
from hauteur.studies.puzzles.puzzle import COLUMNS, Puzzle, wins_at_once
from hauteur.system.errors import one_line
from hauteur.system.folders import folders_below
from hauteur.system.packed import content_suffix, plain_file
from hauteur.system.settings import validated

NEEDED_COLUMNS = ("PuzzleId", "FEN", "Moves")
LONGEST_EPD = 10_000
"""Characters of a line of EPD, at most."""
EPD = re.compile(r"((?:[^\s;]+\s+){3}[^\s;]+)(?:\s+\d+\s+\d+)?(?=[\s;]|$)")
"""The four fields of a position, and the counters of a FEN, which are not used."""
OPERATION = re.compile(r"[\s;]*([A-Za-z][A-Za-z0-9_-]*)((?:\s+(?:\"[^\"]*\"|[^\s;\"]+))*)\s*(?:;|$)")
OPERAND = re.compile(r"\"([^\"]*)\"|([^\s\"]+)")
EN_PASSANT = ("e.p.", "ep", "e.p")
OnBad = Callable[[str], None]
"""Gets a line of a suite that was left out, with its number and what is wrong."""
SHIPPED = Path(__file__).parent / "data"
"""Puzzles mined from games of the nets that ship; their solutions are confirmed as docs/how-to/puzzles.md says."""


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
        named = action not in self.wrong and (not self.right or action in self.right)
        return named or (self.wins and wins_at_once(self.state, action))


@dataclass(frozen=True)
class Problem:
    """A problem of one or several positions, all of which must be solved."""

    name: str
    """Name of the problem."""
    steps: tuple[ProblemStep, ...]
    """Its positions with their solutions."""
    rating: float | None = None
    """Rating in its file; None: it has none."""
    themes: tuple[str, ...] = ()
    """Themes in its file."""
    source: str = ""
    """Source in its file."""
    visits: int | None = None
    """Visits that the net needed by which it was mined; None: not known."""

    @property
    def digest(self) -> str:
        """Hash of the positions and of the right and wrong moves."""
        content = []
        for step in self.steps:
            position = step.state.notation()
            content.append((position, sorted(step.right), sorted(step.wrong), step.wins))
        return hashlib.blake2b(repr(content).encode(), digest_size=8).hexdigest()


def read_problems(path: Path, game: _core.Game | None = None, on_bad: OnBad = lambda _: None) -> Iterator[Problem]:
    """Read the problems of a file, by extension: .csv, .json, else EPD; ValueError names the wrong line.

    The file may be packed (`hauteur.system.packed`). game: which they must be of; None: the file says. on_bad: gets the
    lines of an EPD suite that were left out; it is an error where none is left.
    """
    with plain_file(path).open(encoding="utf-8-sig", errors="replace", newline="") as file:
        yield from _problems_in(file, str(path), content_suffix(path), game, on_bad)


def problems_in(
    file: TextIO,
    name: str,
    game: _core.Game | None = None,
    on_bad: OnBad = lambda _: None,
) -> Iterator[Problem]:
    """Read the problems of an open text, as `read_problems` those of a file of this name."""
    yield from _problems_in(file, name, Path(name).suffix.lower(), game, on_bad)


def _problems_in(file: TextIO, name: str, suffix: str, game: _core.Game | None, on_bad: OnBad) -> Iterator[Problem]:
    if suffix == ".csv":
        found = _read_csv(file, name, game)
    elif suffix == ".json":
        found = _read_json(file, name, game)
    else:
        found = _read_epd(file, name, game, on_bad)
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
    state.apply(_action(state, moves[0]))
    return Problem(name, tuple(_steps(state, moves[1:])))


def _steps(state: _core.State, solution: Sequence[str]) -> Iterator[ProblemStep]:
    """The solver's positions of a line. Where it ends with a win at once, any such win is right."""
    for number, move in enumerate(solution):
        if number % 2:
            state.apply(_action(state, move))
            continue
        action = _action(state, move)
        wins = number == len(solution) - 1 and wins_at_once(state, action)
        yield ProblemStep(state.copy(), frozenset([action]), wins=wins)
        state.apply(action)


def _action(state: _core.State, move: str) -> int:
    if state.outcome() is not None:
        raise ValueError(f"the game is over before {move!r}")
    return state.parse(move)


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


def _read_epd(file: TextIO, name: str, game: _core.Game | None, on_bad: OnBad) -> Iterator[Problem]:
    """Read the lines of a suite one by one; a wrong line is left out and reported. ValueError where all are wrong."""
    game = game or load_game("chess")
    if game.name != "chess":
        raise ValueError(f"{name}: EPD has positions of chess, not of {game.spec}")
    first_wrong = ""
    has_good = False
    for number, line in enumerate(file, 1):
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                problem = epd_problem(line, game, f"line {number}")
            except ValueError as error:
                wrong = f"{name}, line {number}: {one_line(error)}"
                first_wrong = first_wrong or wrong
                on_bad(wrong)
                continue
            has_good = True
            yield problem
    if first_wrong and not has_good:
        raise ValueError(first_wrong)


def epd_problem(line: str, game: _core.Game, name: str) -> Problem:
    """Parse an EPD problem: bm lists the right moves, am the wrong ones, id names the problem.

    The two counters of a FEN may stand before the operations. Moves are read as in games (SAN as people write it).
    Raise ValueError for what is no problem of chess.
    """
    if len(line) > LONGEST_EPD:
        raise ValueError(f"a line of EPD has at most {LONGEST_EPD:,} characters, this one has {len(line):,}")
    match = EPD.match(line.strip())
    if match is None:
        raise ValueError("expected the four fields of a position, then operations such as bm Nf3;")
    operations = _operations(line.strip()[match.end() :])
    fen = _epd_fen(match[1].split())
    state = load_game(with_fen(game.spec, fen)).new_initial_state()
    right = frozenset(_epd_moves(state, operations.get("bm", ())))
    wrong = frozenset(_epd_moves(state, operations.get("am", ())))
    if not right and not wrong:
        raise ValueError("names no best move: a problem has bm or am")
    names = operations.get("id", ())
    return Problem(" ".join(names) or name, (ProblemStep(state, right, wrong),))


def _epd_fen(fields: Sequence[str]) -> str:
    """Return the four fields of a position as a FEN; an en passant square stays where a pawn can take there."""
    fen, _, _ = _core.clean_fen(f"{' '.join(fields)} 0 1")
    if chess.Board(fen).has_legal_en_passant():
        return fen
    board, mover, rights, _, *counters = fen.split()
    return " ".join([board, mover, rights, "-", *counters])


def _operations(text: str) -> dict[str, tuple[str, ...]]:
    """Return the operands of each operation by its name; text in quotes is one operand."""
    found: dict[str, tuple[str, ...]] = {}
    at = 0
    while text[at:].strip(" \t;"):
        match = OPERATION.match(text, at)
        if match is None:
            raise ValueError(f"expected an operation such as bm Nf3; got {text[at : at + 40].strip()!r}")
        operands = (quoted or plain for quoted, plain in OPERAND.findall(match[2]))
        found.setdefault(match[1], tuple(operands))
        at = match.end()
    return found


def _epd_moves(state: _core.State, words: Sequence[str]) -> Iterator[int]:
    """Yield the moves of an operation; `e.p.` after one says nothing new."""
    for word in words:
        bare = word.strip(",")
        if bare and bare not in EN_PASSANT:
            yield _action(state, bare)


MOST_LOOKED_AT = 20_000
"""Folders that one look takes."""
MOST_PROBLEMS = 2_000
"""Problems of a set that are read."""


def shipped_sets() -> dict[str, Path]:
    """Return the files of the puzzles that ship, by their names."""
    return {path.stem: path for path in sorted(SHIPPED.glob("*.json"))}


def problems_of(path: Path, on_bad: OnBad = lambda _: None) -> list[Problem]:
    """Return the first MOST_PROBLEMS problems of a file. on_bad: as in `read_problems`."""
    return list(islice(read_problems(path, on_bad=on_bad), MOST_PROBLEMS))


@dataclass
class PuzzleFiles:
    """The puzzles that ship, and files of puzzles (.epd, Lichess's columns, of `mine`) below roots.

    Clients name them by what `look` has found, the root's name and the path below it; no path is made of a name.
    """

    roots: Sequence[Path]
    sets: dict[str, Path] = field(default_factory=dict)

    def look(self) -> None:
        self.sets = shipped_sets()
        for root in self.roots:
            for place, folder, files in islice(folders_below(root), MOST_LOOKED_AT):
                for name in files:
                    path = folder / name
                    if not path.is_symlink() and _has_puzzles(path):
                        self.sets[str(place / name)] = path

    def find(self, name: str) -> Path:
        """Return the file of a set. Raise ValueError where there is none."""
        if name not in self.sets:
            self.look()
        if name not in self.sets:
            raise ValueError(f"there is no set of puzzles {name[:80]!r} here")
        return self.sets[name]


def _has_puzzles(path: Path) -> bool:
    if path.name == "puzzles.json" or path.suffix.lower() == ".epd":
        return True
    if path.suffix.lower() != ".csv" or (path.parent / "puzzles.json").exists():
        return False  # beside its JSON a CSV file has the same puzzles
    try:
        with path.open("rb") as file:
            return file.read(len(COLUMNS[0])) == COLUMNS[0].encode()
    except OSError:
        return False


Answer = Literal["right", "wrong", "solved"]
"""right: the line goes on with the opponent's reply; solved: it was the last move."""


@dataclass
class PuzzleAttempt:
    """A person at a problem.

    number: of the step that is to be solved; clean: without wrong moves or help until now; end: the position behind the
    last move that was found.
    """

    problem: Problem
    number: int = 0
    clean: bool = True
    end: _core.State | None = None

    @property
    def step(self) -> ProblemStep:
        """The position that is to be solved, after the end the last one."""
        steps = self.problem.steps
        return steps[min(self.number, len(steps) - 1)]

    @property
    def solved(self) -> bool:
        return self.number == len(self.problem.steps)

    @property
    def shown(self) -> _core.State:
        """The position to look at: of the step, after the end the one behind the line as it was solved."""
        return self.step.state if self.end is None else self.end

    def answer(self, action: int) -> Answer:
        """Take a move of the solver, which must be legal."""
        if not self.step.is_right(action):
            self.clean = False
            return "wrong"
        if self.number + 1 == len(self.problem.steps):
            self.end = self.step.state.child(action)
        self.number += 1
        return "solved" if self.solved else "right"

    def help(self) -> tuple[int, ...]:
        """Return the right moves of the step (none: all that are not wrong); the attempt counts as failed."""
        self.clean = False
        return tuple(sorted(self.step.right))

    def line(self) -> list[str]:
        """Return the rest of the line from the step on, as people write it; of several right moves the first."""
        state = self.step.state
        last = self.problem.steps[-1]
        rest = last.state.moves[len(state.moves) :]
        return line_texts(state, [*rest, *sorted(last.right)[:1]])
