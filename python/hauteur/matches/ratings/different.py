"""Games that differ: repeats of a game are not evidence, so a pair that was played before does not count again."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from hauteur.matches.ratings.elo import MatchScore, Pairs


def line_digest(text: str) -> bytes:
    """Return what tells the course of a game from that of others: 8 bytes of its start, opening and moves as text."""
    # 8 bytes: among a million games two unlike ones have one digest with a chance of 3 in 100 million.
    return hashlib.blake2b(text.encode(), digest_size=8).digest()


def different_games(different: int, games: int) -> str:
    """Tell how many of the games differ, as `5 different games of 400`; empty where all do."""
    if different >= games:
        return ""
    return f"{different:,} different game{'' if different == 1 else 's'} of {games:,}"


class _Game(NamedTuple):
    score: float
    line: bytes
    opening: bytes


@dataclass
class DifferentGames:
    """Results of the games of a match that differ, from A's view; the same for any order of the games.

    Games 2k and 2k + 1 of a paired match are a pair, A first in game 2k. A pair counts once for each different opening,
    line with A first and line with B first; without pairs a game counts once for each different line.
    """

    paired: bool
    """Whether games 2k and 2k + 1 are a pair."""
    pairs: Pairs = field(default_factory=Pairs)
    """The pairs that count."""
    repeats: int = 0
    """Pairs, without pairs games, that were played before and do not count."""
    games: int = 0
    """All games that came."""
    openings: dict[bytes, MatchScore] = field(default_factory=dict)
    """Results of the games that count, by the digest of their opening; of pairs those that are complete."""
    _counted: MatchScore = field(default_factory=MatchScore)
    _half: dict[int, _Game] = field(default_factory=dict)
    _lines: set[bytes] = field(default_factory=set)
    _known: set[bytes] = field(default_factory=set)

    def add(self, index: int, score: float, line: bytes, opening: bytes = b"") -> None:
        """Take the game of this number. line, opening: digests of its course and of what was given of it."""
        self.games += 1
        self._lines.add(line)
        game = _Game(score, line, opening)
        if not self.paired:
            self._count(line, game)
            return
        # The games of a pair differ in the last bit of their numbers, and may end in either order.
        other = self._half.pop(index ^ 1, None)
        if other is None:
            self._half[index] = game
            return
        is_first = index % 2 == 0
        first, second = (game, other) if is_first else (other, game)
        if self._count(first.line + second.line, first, second):
            self.pairs = self.pairs.add(first.score + second.score)

    def _count(self, course: bytes, *games: _Game) -> bool:
        """Count games unless the same ones have come before; return whether they count."""
        if course in self._known:
            self.repeats += 1
            return False
        self._known.add(course)
        for game in games:
            self._counted = self._counted.add(game.score)
            before = self.openings.get(game.opening, MatchScore())
            self.openings[game.opening] = before.add(game.score)
        return True

    @property
    def record(self) -> MatchScore:
        """The games that count, with those whose partner is missing so far."""
        found = self._counted
        for game in self._half.values():
            found = found.add(game.score)
        return found

    @property
    def halves(self) -> Mapping[int, float]:
        """Scores of the games whose partner is missing so far, by their numbers."""
        return {index: game.score for index, game in self._half.items()}

    @property
    def different(self) -> int:
        """Number of games that differ in start, opening or moves, whoever was first."""
        return len(self._lines)

    @property
    def note(self) -> str:
        """Tell how many of the games differ, as `5 different games of 400`; empty where all do."""
        return different_games(self.different, self.games)
