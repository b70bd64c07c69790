"""Puzzle: a position with one good move that is hard to find, its line and origin; its themes, and files of puzzles.

Themes are Lichess's: those alone that follow from the rules, the line's length or its value. Files are the columns of
Lichess's puzzle database, EPD, and JSON, which holds puzzles of every game.
"""

import csv
import hashlib
import io
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated

import chess
from pydantic import Field

from hauteur import _core
from hauteur.games.registry import load_game, with_fen
from hauteur.system.files import write_bytes
from hauteur.system.settings import Section

EASIEST = 400
"""The lowest rating."""
HARDEST = 3200
"""The highest rating."""
RATING_AT_HIGH = 2600
"""Rating of a puzzle whose solution is found with the last visits only."""
RATING_A_DOUBLING = 200
ID_LETTERS = 11
"""Hexadecimal digits of a name, after a letter so that no program takes it for a number."""


class Opinion(Section):
    """The move that a search of `visits` visits plays in a puzzle's position, and the root's value for its mover."""

    visits: int = Field(ge=1)
    move: str
    q: Annotated[float, Field(ge=-1, le=1)]


class Puzzle(Section):
    """A puzzle of any game; moves are texts of the game's notation."""

    id: str
    """Name of the puzzle."""
    game: str
    """Spec of the game."""
    fen: str | None = None
    """Position that `opening` is played from; None: the game's start."""
    opening: tuple[str, ...] = ()
    """Moves that lead to the puzzle, the last one the opponent's (empty where a position of chess cannot have come from
    a move)."""
    solution: tuple[str, ...] = Field(min_length=1)
    """The solver's move, the opponent's reply, and so on to a move of the solver."""
    rating: int
    """Rating of the puzzle."""
    themes: tuple[str, ...] = ()
    """Its themes."""
    source: str = ""
    """Where the position comes from."""
    visits: int = Field(ge=1)
    """Minimum of visits from which a search plays every move of the solver."""
    gap: float
    """Smallest margin of a move of the solver over every other move, -2 to 2."""
    value: Annotated[float, Field(ge=-1, le=1)]
    """Value of the solver's last move for the solver, -1 to 1."""
    low: Opinion
    """Opinion of the search with few visits."""
    high: Opinion
    """Opinion of the search with many visits."""

    def start(self) -> _core.State:
        """Return the position that the opening is played from."""
        return load_game(with_fen(self.game, self.fen)).new_initial_state()

    def position(self) -> _core.State:
        """Return the position that is to be solved."""
        state = self.start()
        for move in self.opening:
            state.apply(state.parse(move))
        return state

    @property
    def solver_moves(self) -> tuple[str, ...]:
        """The moves that must be found."""
        return self.solution[::2]


def identity(state: _core.State) -> str:
    """Name of a position, the same however it came about: of its FEN without counters, or of what the network sees."""
    game = state.game
    if game.has_fen:
        without_counters = state.notation().split()[:4]
        content = " ".join([game.name, *without_counters]).encode()
    else:
        content = f"{game.spec} {state.to_move} ".encode() + state.features().tobytes()
    return "p" + hashlib.blake2b(content, digest_size=8).hexdigest()[:ID_LETTERS]


def wins_at_once(state: _core.State, action: int) -> bool:
    """Return whether a legal move ends the game with a win for its player."""
    return state.child(action).outcome() == (1 if state.to_move == 0 else -1)


def rating(visits: int, high: int) -> int:
    """Return the difficulty: RATING_AT_HIGH - RATING_A_DOUBLING log2(high / visits), rounded, from EASIEST to HARDEST.

    visits: fewest at which a search finds the solution; high: of the confirming search. A scale of this program,
    monotone in visits; not calibrated against players' ratings.
    """
    figure = RATING_AT_HIGH - RATING_A_DOUBLING * math.log2(high / visits)
    return round(min(max(figure, EASIEST), HARDEST))


CRUSHING = 0.8
"""Chance of winning, -1 to 1, from which a position is won: 600 centipawns by Lichess's formula."""
ADVANTAGE = 0.35
"""Chance of winning, -1 to 1, from which a side has the advantage: 200 centipawns by the same formula."""
ENDGAME_PIECES = 6
"""Queens, rooks, bishops and knights of an endgame, at most."""
LENGTHS = {1: "oneMove", 2: "short", 3: "long"}


def themes_of(puzzle: Puzzle) -> tuple[str, ...]:
    """The themes, in alphabetical order; of games other than chess only length and whether the line wins."""
    found = {LENGTHS.get(len(puzzle.solver_moves), "veryLong")}
    if puzzle.game.startswith("chess"):
        found |= set(_of_rules(puzzle))
        if "mate" not in found:
            found.add(_theme_of_value(puzzle.value))
    elif _wins(puzzle):
        found |= {"win", f"winIn{len(puzzle.solver_moves)}"}
    return tuple(sorted(found))


def _theme_of_value(value: float) -> str:
    """Return the theme of what the line leads to; value: the solver's chance of winning, -1 to 1."""
    if value >= CRUSHING:
        return "crushing"
    return "advantage" if value >= ADVANTAGE else "equality"


def _wins(puzzle: Puzzle) -> bool:
    state = puzzle.position()
    solver = state.to_move
    for move in puzzle.solution:
        state.apply(state.parse(move))
    return state.outcome() == (1 if solver == 0 else -1)


def _of_rules(puzzle: Puzzle) -> Iterator[str]:
    position = puzzle.position()
    board = chess.Board(position.notation(), chess960="chess960" in puzzle.game)
    pieces = board.occupied & ~(board.pawns | board.kings)
    if pieces.bit_count() <= ENDGAME_PIECES:
        yield "endgame"
    for number, text in enumerate(puzzle.solution):
        move = board.parse_uci(text)
        if number % 2 == 0:
            yield from _of_move(board, move)
        board.push(move)
    if board.is_checkmate():
        yield "mate"
        yield f"mateIn{len(puzzle.solver_moves)}"


def _of_move(board: chess.Board, move: chess.Move) -> Iterator[str]:
    if board.is_castling(move):
        yield "castling"
    if board.is_en_passant(move):
        yield "enPassant"
    if move.promotion is not None:
        yield "promotion" if move.promotion == chess.QUEEN else "underPromotion"
    board.push(move)
    if board.checkers_mask().bit_count() > 1:
        yield "doubleCheck"
    board.pop()


COLUMNS = (
    *("PuzzleId", "FEN", "Moves", "Rating", "RatingDeviation", "Popularity", "NbPlays"),
    *("Themes", "GameUrl", "OpeningTags"),
)
"""Of Lichess's puzzle database."""
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
        moves = " ".join([*puzzle.opening, *puzzle.solution])
        source = " ".join(puzzle.source.split())
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
    board = chess.Board(puzzle.position().notation(), chess960="chess960" in puzzle.game)
    line = list(map(chess.Move.from_uci, puzzle.solution))
    return board.epd(bm=line[0], pv=line, id=puzzle.id)
