"""The games of a file that are to be reviewed: PGN (chess, Chess960) or SGF (NoGo)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from hauteur import _core
from hauteur.games.game_line import BadGame, TaggedGame
from hauteur.games.pgn import read_tagged_pgn, spec_of_pgn
from hauteur.games.registry import make
from hauteur.games.sgf import read_tagged_sgf, spec_of_sgf
from hauteur.studies.review.review import MoveReport

MOST_GAMES = 10_000
"""Most games of a file that are reviewed at once."""

MOST_PLIES = 5_000
"""Most plies of a game; chess cannot have more than some 17,700, and nobody plays 5,000."""

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

    @property
    def actions(self) -> tuple[int, ...]:
        """All moves of the game."""
        return self.game.actions

    @property
    def complete(self) -> bool:
        """Return whether every move has its report."""
        return len(self.moves) == len(self.actions)

    @property
    def players(self) -> tuple[str, str]:
        """The names of the first and the second player, `?` where the file has none; short, of printable signs."""
        tags = self.game.tags
        return _name(tags.get("White", tags.get("PB"))), _name(tags.get("Black", tags.get("PW")))

    @property
    def positions(self) -> int:
        """How many positions are searched: all but a last one in which the game is over."""
        return len(self.actions) + (not self.ends_by_rule)

    @property
    def ends_by_rule(self) -> bool:
        """Return whether the game is over after its last move."""
        state = self.start.copy()
        for action in self.actions:
            state.play(action)
        return state.outcome() is not None


def _name(text: str | None) -> str:
    plain = "".join(sign if sign.isprintable() else " " for sign in text or "?")
    short = " ".join(plain.split()) or "?"
    return short if len(short) <= MOST_NAME else f"{short[: MOST_NAME - 3]}..."


def games_of(path: Path, *, number: int | None, on_bad: Callable[[BadGame], None]) -> list[ReviewedGame]:
    """Return the games of a file that have moves, or only the one with this number (from 1).

    Games that cannot be used are reported to `on_bad`; it is an error where none is left. Raise ValueError for a file
    of another kind, a number that the file has not, and too many or too long games.
    """
    found: list[ReviewedGame] = []
    count = 0
    game, records = _read(path)
    for count, record in enumerate(records, 1):
        if number not in (None, count):
            continue
        if isinstance(record, BadGame):
            on_bad(record)
        elif len(record.actions) > MOST_PLIES:
            on_bad(BadGame(f"{path}, game {count}", f"has {len(record.actions):,} plies, allowed are {MOST_PLIES:,}"))
        elif not record.actions:
            on_bad(BadGame(f"{path}, game {count}", "has no moves"))
        else:
            found.append(ReviewedGame(count, record, record.origin or game.initial_state()))
        if number == count:
            break
        if len(found) > MOST_GAMES:
            raise ValueError(f"{path}: has more than {MOST_GAMES:,} games; review one at a time with --game N")
    if number is not None and (count < number or number < 1):
        raise ValueError(f"--game {number}: {path} has the games 1 to {count}")
    if not found:
        raise ValueError(f"{path}: has no game to review")
    return found


def _read(path: Path) -> tuple[_core.Game, Iterator[TaggedGame | BadGame]]:
    """Return the game that a file is of, and its games."""
    if path.suffix.lower() == ".pgn":
        game = make(spec_of_pgn(path))
        return game, read_tagged_pgn(path, game)
    if path.suffix.lower() == ".sgf":
        game = make(spec_of_sgf(path))
        return game, read_tagged_sgf(path, game)
    raise ValueError(f"{path}: reviewed are games of chess in a file .pgn and of NoGo in a file .sgf")
