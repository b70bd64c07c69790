"""Progress of a match on stderr while it is played: a table on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, TypeVar

from hauteur.matches.arena import ArenaFacts
from hauteur.matches.match import Match
from hauteur.matches.results import Tally, sprt_line, summary
from hauteur.players.build import Resources
from hauteur.system.formatting import duration, signed

if TYPE_CHECKING:
    from rich.table import Table

LINE_SECONDS = 10.0
"""How often progress is shown where stderr is no terminal."""
TERMINAL_SECONDS = 1.0


class ShownMatch(Protocol):
    """A match or a tournament."""

    resources: Resources

    @property
    def facts(self) -> ArenaFacts:
        """Cost of the games of this session."""

    @property
    def nets_are_open(self) -> bool:
        """True while games are being played."""

    @property
    def games_done(self) -> int:
        """Finished games of all sessions."""

    @property
    def games_wanted(self) -> int | None:
        """All games; None where there is no limit."""


Shown = TypeVar("Shown", bound=ShownMatch)


def progress_line(match: Match) -> str:
    """Games, results and speed so far."""
    result = f"  {summary(match.tally)}" if match.tally.record.games else ""
    test = "" if match.test is None else f"  {sprt_line(match.test)}"
    return f"{games_line(match)}{result}{test}  {speed_line(match)}"


def games_line(match: ShownMatch) -> str:
    """Finished games and how many there are to be."""
    of = "" if match.games_wanted is None else f"/{match.games_wanted:,}"
    return f"{match.games_done:,}{of} games"


def speed_line(match: ShownMatch) -> str:
    """Evaluations a second, rows of a batch, time so far and time left; and the workers, where they play."""
    search, scheduler = match.facts.search, match.resources.scheduler
    if scheduler is not None and not match.facts.games:
        return f"no unit is finished yet  {scheduler.status()}"
    rate = search.rows / search.total if search.total else 0.0
    fill = f", fill {search.rows / search.capacity:.0%}" if search.capacity else ""
    left = time_left(match)
    workers = "" if scheduler is None else f"  {scheduler.status()}"
    return f"{rate:,.0f} evaluations/s{fill}  {duration(search.total)}{f', {left} left' if left else ''}{workers}"


def time_left(match: ShownMatch) -> str:
    """Estimate the time of the remaining games at the speed of this session; empty where unknown.

    Games that are being played count as half played: short ones end first, and alone would promise too long a time.
    """
    played = match.facts.games
    if match.games_wanted is None or not played:
        return ""
    left = match.games_wanted - match.games_done
    halves = min(left, match.resources.parallel) / 2
    return duration(match.facts.search.total / (played + halves) * (left - halves))


def match_table(match: Match) -> Table:
    """The match as a table for the terminal, from A's view."""
    from rich.table import Table

    tally = match.tally
    shown = Table("", "games", "won", "drawn", "lost", "score", title=f"{match.names[0]} - {match.names[1]}")
    for label, record in (("all", tally.record), *((f"A {seat}", seat_of) for seat, seat_of in tally.seats.items())):
        counts = (record.games, record.wins, record.draws, record.losses)
        shown.add_row(label, *(f"{count:,}" for count in counts), f"{record.score:.1%}" if record.games else "")
    shown.caption = "\n".join(_caption(match))
    shown.caption_justify = "left"
    return shown


def _caption(match: Match) -> Iterator[str]:
    """Yield Elo, sequential test, remaining games and speed, a line each."""
    tally = match.tally
    yield elo_line(tally) if tally.record.games else "no game is over yet"
    if match.test is not None:
        yield sprt_line(match.test)
    if match.games_wanted is not None:
        left = match.games_wanted - match.games_done
        yield f"{left:,} games left{' at most' if match.test is not None else ''}"
    yield speed_line(match)


def elo_line(tally: Tally) -> str:
    """Elo with its interval, and superiority."""
    from hauteur.matches.ratings.elo import elo_of_score

    low, high = tally.elo_interval
    elo, low_text, high_text = map(signed, (elo_of_score(tally.record.score), low, high))
    return f"Elo {elo} [{low_text}, {high_text}] (95 %), LOS {tally.superiority:.1%}"


@contextmanager
def shown(match: Shown, line: Callable[[Shown], str], table: Callable[[Shown], Table]) -> Iterator[None]:
    """Show progress on stderr: a live table on a terminal, otherwise an occasional line."""
    from rich.console import Console
    from rich.live import Live

    console = Console(stderr=True)
    if not console.is_terminal:
        with every(LINE_SECONDS, match, lambda: print(line(match), file=sys.stderr, flush=True)):
            yield
        return
    live = Live("opening the nets", console=console, auto_refresh=False, transient=True)
    with live, every(TERMINAL_SECONDS, match, lambda: live.update(table(match), refresh=True)):
        yield


@contextmanager
def every(seconds: float, match: ShownMatch, show: Callable[[], None]) -> Iterator[None]:
    """Show progress every so many seconds of play."""
    with ticking(seconds, lambda: show() if match.nets_are_open else None):
        yield


@contextmanager
def ticking(seconds: float, show: Callable[[], object]) -> Iterator[None]:
    """Show something every so many seconds, in a thread: two games may end minutes apart."""
    over = threading.Event()

    def tick() -> None:
        while not over.wait(seconds):
            show()

    thread = threading.Thread(target=tick, daemon=True, name="progress")
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
