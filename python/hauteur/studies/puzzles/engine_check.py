"""An external UCI engine looks at the solutions: is each move of the solver its best one, and the only good one?"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import chess
import chess.engine

from hauteur.players.engines.settings import EngineSettings, program_words
from hauteur.players.settings import parse_player
from hauteur.studies.puzzles.puzzle import EngineCheck, Puzzle, chance

MARGIN = 0.1
"""How far below the engine's best move a move is right, in chance of winning from -1 to 1."""
CLEAR = 0.1
"""By how much every other move must be worse: Lichess calls such a move an inaccuracy, and from 0.2 on a mistake."""
GAMES_FOLDER = Path("/usr/games")
"""Where Debian puts chess engines, which is not in everybody's PATH."""


def parse_check(text: str) -> EngineSettings:
    """The engine of a text like `uci:stockfish depth=16`; ValueError for anything else."""
    engine = parse_player(text, "--check").engine
    if engine is None or engine.protocol != "uci":
        raise ValueError(f"--check is a UCI engine with a limit, such as 'uci:stockfish depth=16', got {text!r}")
    if engine.tc is not None:
        raise ValueError("--check: the engine searches to depth=, nodes= or movetime=, it plays no game by tc=")
    return engine


@dataclass
class Checker:
    """A running engine; use it as a context."""

    settings: EngineSettings
    margin: float = MARGIN
    clear: float = CLEAR

    def __enter__(self) -> Self:
        words = [*program_words(self.settings.command), *program_words(self.settings.args)]
        words[0] = found_program(words[0])
        with self._naming():
            self.engine = chess.engine.SimpleEngine.popen_uci(words, timeout=self.settings.start_timeout)
        try:
            with self._naming():
                self.engine.configure(dict(self.settings.options))
        except ValueError:
            self._close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            with suppress(chess.engine.EngineError, TimeoutError):
                self.engine.quit()
        self._close()

    def _close(self) -> None:
        """End the program, whatever it does, and the thread that talks with it, which the process would wait for."""
        protocol = self.engine.protocol

        def forget() -> None:
            protocol.command = protocol.next_command = None  # one that was given up makes python-chess stumble here

        with suppress(RuntimeError):  # the program has ended, and its thread
            protocol.loop.call_soon_threadsafe(forget)
            self.engine.close()

    @contextmanager
    def _naming(self) -> Iterator[None]:
        """Have errors of the engine name it."""
        try:
            yield
        except (chess.engine.EngineError, TimeoutError) as error:
            raise ValueError(f"--check {self.settings.short_name}: {str(error) or 'it does not answer'}") from None

    @property
    def name(self) -> str:
        """The engine's own name."""
        return self.engine.id.get("name", self.settings.short_name)

    @property
    def _limit(self) -> str:
        return f"{_limit_text(self.settings)} clear={self.clear:g}"

    def is_mine(self, check: EngineCheck) -> bool:
        """Return whether a check is by the same engine with the same limit and measure."""
        return (check.engine, check.limit) == (self.name, self._limit)

    def check(self, puzzle: Puzzle) -> EngineCheck:
        """Return the engine's findings on every move of the solver."""
        board = chess.Board(puzzle.position().notation(), chess960="chess960" in puzzle.game)
        right, only, gaps, last = True, True, list[float | None](), None
        for number, text in enumerate(puzzle.solution):
            move = board.parse_uci(text)
            if number % 2 == 0:
                gap, last = self._look_at(board, move)
                ends = number == len(puzzle.solution) - 1 > 0 and _mates(board, move)
                gaps.append(gap)
                right = right and (ends or (gap is not None and gap >= -self.margin))
                only = only and (ends or (gap is not None and gap >= self.clear))
            board.push(move)
        return EngineCheck(
            engine=self.name,
            limit=self._limit,
            right=right,
            only=only,
            gaps=tuple(gaps),
            centipawns=last,
        )

    def _look_at(self, board: chess.Board, move: chess.Move) -> tuple[float | None, int | None]:
        """Return the margin of the move over the best other one, None if not among the two best; and its value.

        The value in centipawns for the mover, None for a mate or a move that is not among the two best.
        """
        with self._naming():
            lines = self.engine.analyse(board, _limit_of(self.settings), multipv=2)
        scores = {line["pv"][0]: line["score"].relative for line in lines if line.get("pv") and "score" in line}
        mine = scores.pop(move, None)
        if mine is None:
            return None, None
        other = max((score_chance(score) for score in scores.values()), default=-1.0)
        return score_chance(mine) - other, mine.score()


def score_chance(score: chess.engine.Score) -> float:
    """Chance of winning, -1 to 1, of the side that the score is for; a mate is -1 or 1."""
    centipawns = score.score()
    if centipawns is None:
        return 1.0 if score > chess.engine.Cp(0) else -1.0
    return chance(centipawns)


def _mates(board: chess.Board, move: chess.Move) -> bool:
    board.push(move)
    mate = board.is_checkmate()
    board.pop()
    return mate


def _limit_of(settings: EngineSettings) -> chess.engine.Limit:
    """Return the engine's search limit; it always includes a time, so that a hanging engine is detected."""
    seconds = settings.seconds_for_a_move if settings.movetime is None else settings.movetime / 1000
    return chess.engine.Limit(depth=settings.depth, nodes=settings.nodes, time=seconds)


def _limit_text(settings: EngineSettings) -> str:
    return " ".join(
        f"{key}={getattr(settings, key)}" for key in ("nodes", "depth", "movetime") if getattr(settings, key)
    )


def found_program(program: str) -> str:
    """The program's file; ValueError where there is none of this name."""
    found = shutil.which(program) or shutil.which(program, path=str(GAMES_FOLDER))
    if found is None:
        raise ValueError(f"--check: there is no program {program!r} in PATH or {GAMES_FOLDER}")
    return found
