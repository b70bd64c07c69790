"""A review in one call, for programs in Python."""

from __future__ import annotations

import hashlib
from contextlib import closing
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hauteur.engine.nets import NetChoice
from hauteur.engine.playing import PlaySettings
from hauteur.games.game_line import BadGame
from hauteur.games.game_texts import FORMS
from hauteur.games.registry import load_game
from hauteur.mcts.analysis import DEFAULT_VISITS
from hauteur.mcts.limits import limits_of
from hauteur.mcts.plain_settings import given_search
from hauteur.networks.names import resolve_net
from hauteur.plots.page import table_html
from hauteur.studies.review.games import ReviewedGame, games_of, games_of_text
from hauteur.studies.review.page import game_view, move_cells
from hauteur.studies.review.review import MoveReport
from hauteur.studies.review.run import ReviewFolder, ReviewRun, annotated, kept, report_html, run_json
from hauteur.system.files import sha256_of, write_bytes, write_json
from hauteur.system.hints import MOST_THREADS, checked_seed, whole_number, with_hints
from hauteur.system.packed import PACKED_SUFFIXES
from hauteur.system.progress import ProgressLine

if TYPE_CHECKING:
    import chess.pgn

    from hauteur._core import Game
    from hauteur.mcts.params import SearchParams

DISPLAY_WIDTH = 100
"""Columns of the table that a review prints."""


@dataclass(frozen=True, eq=False, repr=False)
class Review:
    """The reviewed games of a file or text."""

    run: ReviewRun
    left_out: tuple[str, ...] = ()
    """Games that could not be read, and why."""

    @property
    def games(self) -> tuple[ReviewedGame, ...]:
        """The games, each with the reports of its `moves`."""
        return tuple(self.run.games)

    @property
    def moves(self) -> list[MoveReport]:
        """The reports of the moves of all games, in their order."""
        return [move for game in self.run.games for move in game.moves]

    @property
    def marked(self) -> list[MoveReport]:
        """Those of the inaccuracies, mistakes and blunders."""
        return [move for move in self.moves if move.mark]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as numbers and texts, as `hauteur review --json` prints it."""
        return run_json(self.run)

    def to_pgn(self) -> str:
        """Return the games of chess with chances, marks and better lines. Raise ValueError for another game."""
        return self._annotated("pgn")

    def to_sgf(self) -> str:
        """Return the games of Go, Gomoku or NoGo with chances, marks and better lines. ValueError for another game."""
        return self._annotated("sgf")

    def _annotated(self, form: str) -> str:
        game = self.run.games[0].start.game
        if game.record_form != form:
            own = ".html or .json" if game.record_form is None else f".{game.record_form}, .html or .json"
            raise ValueError(f"games of {game.name} are not written as {form.upper()}: save the review as {own}")
        return annotated(self.run)

    def save(self, path: str | Path) -> Path:
        """Write the annotated games (.pgn, .sgf), the page (.html) or the numbers (.json), and return the file's path.

        Raise ValueError for another suffix, and as `to_pgn` and `to_sgf` do.
        """
        file = Path(path)
        if file.suffix == ".pgn":
            write_bytes(file, self.to_pgn().encode())
        elif file.suffix == ".sgf":
            write_bytes(file, self.to_sgf().encode())
        elif file.suffix == ".html":
            write_bytes(file, report_html(self.run).encode())
        elif file.suffix == ".json":
            write_json(file, self.to_dict())
        else:
            raise ValueError(f"{file}: a review is saved as .pgn, .sgf, .html or .json")
        return file

    def __repr__(self) -> str:
        from rich.console import Console

        console = Console(width=DISPLAY_WIDTH, highlight=False, color_system=None)
        with console.capture() as captured:
            for game in self.run.games:
                console.print(game_view(game))
        return captured.get().rstrip("\n")

    def _repr_html_(self) -> str:
        parts = []
        for game in self.run.games:
            names = escape(" - ".join(game.players))
            rows = [move_cells(move) for move in game.moves]
            table = table_html(("move", "W D L before", "after", "lost %", "punished %", "best line"), rows)
            parts.append(f"<p>{game.number}. {names}</p>{table}")
        return "".join(parts)


@with_hints
def review(
    games: str | Path | chess.pgn.Game,
    evaluator: str | Path | None = None,
    params: SearchParams | None = None,
    *,
    visits: int | None = None,
    seconds: float | None = None,
    game: Game | str = "chess",
    seed: int = 0,
    threads: int = 0,
    out: str | Path | None = None,
    progress: bool | None = None,
) -> Review:
    """Review recorded games: the chances over the game, which moves threw something away, what was better.

    Parameters
    ----------
    games
        A file (.pgn, .sgf, .txt), or the text of such a file, or a `chess.pgn.Game`.
    evaluator
        A net by name or file, `"uniform"` or `"rollout"`; None: the net that ships for the game.
    params
        Settings of the search; default: plain PUCT.
    visits, seconds
        Effort a position; default: 800 visits. Moves that would be marked are searched four times as long.
    game
        What a text without a game's name holds moves of.
    seed
        Of the random draws of settings that have them.
    threads
        Of the net on the processor; 0: one a core.
    out
        A folder that keeps the review, with its page; the same call resumes there.
    progress
        Show a line of progress; None: on a terminal and in a notebook.

    Raise ValueError, in one line, where no game can be read, for an evaluator that is an object, and for limits out of
    range. Ctrl-C raises KeyboardInterrupt; with `out` the same call resumes it.

    >>> import hauteur as ht
    >>> review = ht.review("1. f3 e5 2. g4 Qh4# 0-1", "uniform", visits=20)
    >>> [(move.text, move.mark, move.allowed) for move in review.marked]
    [('g4', 'blunder', 1)]
    """
    if evaluator is not None and not isinstance(evaluator, str | Path):
        raise ValueError(f"review: evaluator must be a net by name or file, got {type(evaluator).__name__}")
    bad: list[BadGame] = []
    spec = load_game(game).spec
    read, name, digest = _read(games, spec, bad)
    if visits is None and seconds is None:
        visits = DEFAULT_VISITS
    net = resolve_net(evaluator, read[0].start.game).path
    run = ReviewRun(
        file=name,
        sha256=digest,
        games=read,
        nets=NetChoice(net, threads=whole_number("threads", threads, 0, MOST_THREADS)),
        limits=limits_of(visits, seconds),
        settings=PlaySettings(given_search(params)),
        seed=checked_seed(seed),
        folder=None if out is None else ReviewFolder(Path(out)),
    )
    with kept(run), ProgressLine(progress, "opening the net", left=True) as line, closing(run.run()) as reviewed:

        def show(*_: object) -> None:
            line.show(f"{run.done:,}/{run.positions:,} positions", run.done / run.positions)

        run.on_position = show
        for _ in reviewed:
            pass
    return Review(run, tuple(str(one) for one in bad))


def _read(games: object, spec: str, bad: list[BadGame]) -> tuple[list[ReviewedGame], str, str]:
    """Return the games, and what they come from: a name and a check sum."""
    path = _path_of(games)
    if path is not None:
        return games_of(path, number=None, on_bad=bad.append), path.name, sha256_of(path)
    text = str(games)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return games_of_text(text, spec, on_bad=bad.append), "text", digest


def _path_of(games: object) -> Path | None:
    """Return the file that is meant; None for the text of games."""
    if isinstance(games, Path):
        return games
    if not isinstance(games, str) or "\n" in games:
        return None
    path = Path(games.strip())
    return path if path.suffix.lower() in (*FORMS, *PACKED_SUFFIXES) else None
