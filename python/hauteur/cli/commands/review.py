"""hauteur review: W/D/L over a recorded game, its mistakes, and the annotated game."""

import json as json_format
import sys
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cyclopts import Parameter

from hauteur.cli.commands.engine import analysis_limits
from hauteur.cli.commands.options import Searcher
from hauteur.games.game_line import BadGame
from hauteur.studies.review.games import games_of
from hauteur.studies.review.run import ReviewFolder, ReviewRun, searched_by
from hauteur.system.files import sha256_of
from hauteur.system.progress import ProgressLine


@Parameter(name="*")
@dataclass(frozen=True)
class ReviewOptions:
    """Games that are reviewed, effort, and the folder of the result."""

    game: int | None = None
    """Number of the only game of the file to review, from 1. Default: all."""
    visits: int | None = None
    """Visits a position, its own evaluation included. Default: 800; with --time no limit."""
    time: float | None = None
    """Seconds a position."""
    out: Path | None = None
    """Folder for report.html, the annotated review.pgn (chess) or review.sgf (Go, Gomoku, NoGo), result.json and the
    positions that a later attempt goes on from. Default: nothing is kept."""
    json: bool = False
    """Print one JSON object instead of the table."""


def review(
    file: Path,
    *,
    options: ReviewOptions = ReviewOptions(),
    searcher: Searcher = Searcher(),  # noqa: B008  (immutable)
) -> int:
    """Search every position of recorded games: W/D/L over the game, mistakes, better lines, the annotated game.

    A move is an inaccuracy, a mistake or a blunder where it lost 5, 10 or 15 % of expected score (win + draw/2), as on
    Lichess, and only where searches with four times the effort come to a mark too. Mates within three moves are proven.
    Ctrl-C ends a review; with --out the same command goes on.

    Parameters
    ----------
    file
        Games: .pgn (chess, Chess960), .sgf (Go, Gomoku, NoGo), or .txt (any game: the first line names it, as in
        `connect4`, and each further line has the moves of a game). Packed too: .gz, .bz2, .xz, .zip, .zst.
    """
    limits = analysis_limits(options.visits, options.time)
    out = options.out
    games = games_of(file, number=options.game, on_bad=_warn, on_note=_note)
    run = ReviewRun(
        file=file.name,
        sha256=sha256_of(file),
        games=games,
        nets=searcher.nets(games[0].start.game),
        limits=limits,
        settings=searcher.settings(),
        seed=searcher.seed,
        folder=None if out is None else ReviewFolder(out),
    )
    result = _reviewed(run, quiet=options.json)
    if options.json:
        print(json_format.dumps(result))
    else:
        print(searched_by(run), file=sys.stderr)
    if out is not None and not options.json:
        shown = [path.name for path in sorted(out.iterdir()) if path.suffix in SHOWN]
        print(f"{out}: {', '.join(shown)}")
    return 0


def _warn(bad: BadGame) -> None:
    print(f"hauteur: warning: left out {bad}", file=sys.stderr)


def _note(text: str) -> None:
    print(f"hauteur: note: {text}", file=sys.stderr)


SHOWN = (".html", ".pgn", ".sgf")
"""Files of the folder that are named at the end."""


def _reviewed(run: ReviewRun, *, quiet: bool) -> dict[str, Any]:
    """Review all games, show each when it is done, and write the files, also when the review is interrupted."""
    from rich.console import Console

    from hauteur.studies.review.page import game_view
    from hauteur.studies.review.run import kept, run_json

    console = Console(highlight=False)
    try:
        with kept(run), ProgressLine(None, "opening the net", left=True) as line, closing(run.run()) as games:
            run.on_position = lambda *_: line.show(
                f"{run.done:,}/{run.positions:,} positions", run.done / run.positions
            )
            for game in games:
                if game.complete and not quiet:
                    line.clear()
                    console.print(game_view(game))
    except KeyboardInterrupt:
        later = "the same command goes on with it" if run.folder is not None else "nothing is kept without --out"
        print(f"\nreview interrupted after {run.done:,} of {run.positions:,} positions; {later}", file=sys.stderr)
        raise
    return run_json(run)
