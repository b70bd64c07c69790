"""The games of a file that are to be reviewed: PGN (chess, Chess960), SGF (Go, Gomoku, NoGo), lists of moves (all)."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from hauteur import _core
from hauteur.games.game_line import BadGame, TaggedGame
from hauteur.games.game_texts import FORMS, MOST_PLIES, GameSource, form_of, games_in, games_in_file, player_names
from hauteur.games.played_game import position_after
from hauteur.mcts.report import Wdl
from hauteur.studies.review.review import MoveReport, expected_score, punished
from hauteur.system.formatting import printable
from hauteur.system.packed import content_suffix, plain_file

MOST_GAMES = 10_000
"""Most games of a file that are reviewed at once."""

MOST_BYTES = 2**28
"""Most bytes of a file."""

MOST_NAME = 60
"""Signs of a player's name that are shown."""


@dataclass
class ReviewedGame:
    """A game of a file, and what its review has come to.

    number: in the file, from 1; start: where it begins; moves: the reports so far, in order.
    """

    number: int
    game: TaggedGame
    start: _core.State
    moves: list[MoveReport] = field(default_factory=list)

    def add(self, report: MoveReport) -> None:
        """Add the report of the next move; where it is the reply to a marked move, that one is punished or not."""
        last = self.moves[-1] if self.moves else None
        # A missed win is marked also where the position stays won by all that is known: then nothing can be kept of it.
        if last is not None and last.mark and last.loss > 0.0 and last.mover != report.mover:
            self.moves[-1] = replace(last, punished=punished(last.loss, report.loss))
        self.moves.append(report)

    @property
    def actions(self) -> tuple[int, ...]:
        return self.game.actions

    @property
    def complete(self) -> bool:
        return len(self.moves) == len(self.actions)

    @property
    def players(self) -> tuple[str, str]:
        """The names of the first and the second player, `?` where the file has none; short, of printable signs."""
        first, second = player_names(self.game)
        return _name(first), _name(second)

    @cached_property
    def positions(self) -> int:
        """How many positions are searched: all but a last one in which the game is over."""
        moves = len(self.actions)
        return moves if self.ends_by_rule else moves + 1

    @property
    def ends_by_rule(self) -> bool:
        """True where the game is over after its last move."""
        return position_after(self.start, self.actions).outcome() is not None


def _name(text: str) -> str:
    short = " ".join(printable(text or "?").split()) or "?"
    if len(short) <= MOST_NAME:
        return short
    return f"{short[: MOST_NAME - 3]}..."


def games_of(
    path: Path,
    *,
    number: int | None,
    on_bad: Callable[[BadGame], None],
    on_note: Callable[[str], None] = lambda _: None,
) -> list[ReviewedGame]:
    """Return the games of a file that have moves, or only the one with this number (from 1).

    Games that cannot be used are reported to `on_bad`, what was changed to read others to `on_note`, a line each; it is
    an error where no game is left. Raise ValueError for a file
    of another kind, a number that the file has not, and too many or too long games.
    """
    path.stat()  # an error names a file that is not there
    suffix = content_suffix(path)
    if suffix not in FORMS:
        kinds = "a .pgn (chess), an .sgf (Go, Gomoku, NoGo) or a .txt (any game)"
        raise ValueError(f"{path}: expected {kinds}, got {'a folder' if path.is_dir() else 'a file of another kind'}")
    size = plain_file(path).stat().st_size
    if size > MOST_BYTES:
        raise ValueError(f"{path}: has {size:,} bytes, allowed are {MOST_BYTES:,}")
    return _chosen(str(path), games_in_file(path, FORMS[suffix], annotated=True), number, on_bad, on_note)


def games_of_text(
    text: str,
    spec: str,
    *,
    number: int | None = None,
    on_bad: Callable[[BadGame], None],
    on_note: Callable[[str], None] = lambda _: None,
) -> list[ReviewedGame]:
    """Return the games of a text as `games_of` does those of a file: PGN, SGF, or a game's moves a line.

    spec: of the game that moves are of, where no first line names it.
    """
    form = form_of(text)
    name = {"pgn": "PGN", "sgf": "SGF"}.get(form, "the text")
    return _chosen(name, games_in(text, form, name, spec, annotated=True), number, on_bad, on_note)


def _chosen(
    name: str,
    source: GameSource,
    number: int | None,
    on_bad: Callable[[BadGame], None],
    on_note: Callable[[str], None],
) -> list[ReviewedGame]:
    """Return the usable games of a file or text of this name."""
    found: list[ReviewedGame] = []
    count = 0
    game, records = source
    for count, record in enumerate(records, 1):
        if number not in (None, count):
            continue
        where = f"{name}, game {count}"
        if isinstance(record, BadGame):
            on_bad(record)
        elif len(record.actions) > MOST_PLIES:
            on_bad(BadGame(where, f"has {len(record.actions):,} plies, allowed are {MOST_PLIES:,}"))
        elif not record.actions:
            on_bad(BadGame(where, "has no moves"))
        else:
            for note in record.said:
                on_note(note)
            found.append(ReviewedGame(count, record, record.origin or game.new_initial_state()))
        if number == count:
            break
        if len(found) > MOST_GAMES:
            raise ValueError(f"{name}: has more than {MOST_GAMES:,} games; review one at a time with --game N")
    if number is not None and (count < number or number < 1):
        raise ValueError(f"--game {number}: {name} has the games 1 to {count}")
    if not found:
        raise ValueError(f"{name}: has no game to review")
    return found


def percent(wdl: Wdl) -> str:
    """Return `W 41 D 35 L 24`."""
    win, draw, loss = wdl
    return f"W {100 * win:.0f} D {100 * draw:.0f} L {100 * loss:.0f}"


def verdict(move: MoveReport) -> str:
    """Return a marked move's name, its worth before and after, what was better, how far it was punished; else empty."""
    if not move.mark:
        return ""
    before = 100 * expected_score(move.before)
    after = 100 * expected_score(move.after)
    change = f"fell from {before:.0f} to {after:.0f} %" if move.loss > 0.0 else f"stayed at {before:.0f} %"
    fell = f"the mover's expected score {change}"
    text = f"{move.mark.capitalize()}: {_win_text(move)}{fell}; best was {move.best}"
    if move.punished is None:
        return text
    return f"{text}; {100 * move.punished:.0f} % punished"


def _win_text(move: MoveReport) -> str:
    """Return the forced win that a move missed or allowed, in words that others follow; empty where there is none."""
    text = ""
    if move.missed is not None:
        text += f"misses {move.win} in {move.missed}; "
    if move.allowed is not None:
        text += f"allows {move.win} in {move.allowed}; "
    return text
