"""Players of several series at several places, such as budgets, rated by opponents without a net; and head to head.

The rungs of the ladder are players without a net, each with about twice the simulations of the one below: against a
single fixed opponent most scores would be near 0 or 100 % and say little. The first player of a place climbs it in
short matches until its score crosses a half; all players of the place play that rung, and neighbouring rungs play each
other, so that all ratings are connected. Ratings use only games against rungs: a deeper search with the same net finds
exactly the mistakes of the other, and wins by more than against unrelated players. Matches head to head are reported
beside the ratings.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

import hauteur as ht
from hauteur_experiments.experiment import Setting
from hauteur_experiments.grid import APART, COLOURS, Match, play
from hauteur_experiments.measured import LEAST_GAMES, Interval, MatchElo, normal, z_of
from hauteur_experiments.verdict import SMALLEST_ELO, Claim, Inequality

RUNGS = (50, 100, 200, 400, 800, 1600, 3200, 6400, 12_500, 25_000, 50_000, 100_000, 200_000, 400_000, 800_000)
"""Simulations a move of the players of the ladder; the MPV paper's opponent has 100,000."""

PAPER_RUNG = 100_000
PROBE_GAMES = 24
"""Games that say whether to climb on; they are the first of the match with that rung."""

GAMES = 1000
"""Games of a point; head to head half as many, which the paper does not have."""

RANDOM_PLIES = 2
"""Random plies that a pair of games begins with: without them nets alone would play one game again and again."""

MOST_ELO = 1200.0


class Elo(NamedTuple):
    """A difference or a rating with its 95 % interval."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, tally: ht.Tally) -> Elo:
        """The difference of a match; infinite values are clipped."""
        match = MatchElo(tally)
        return cls(*(min(MOST_ELO, max(-MOST_ELO, end)) for end in (match.value, *match.interval(0.95))))

    @classmethod
    def normal(cls, value: float, half: float) -> Elo:
        """A value with the half of its interval."""
        return cls(value, value - half, value + half)

    @property
    def half(self) -> float:
        """Half of the interval."""
        return (self.high - self.low) / 2

    def measured(self, games: int) -> Interval:
        """The difference of these games for a claim; its interval is taken to be normal."""
        return normal(self.value, self.half / z_of(0.95), games)

    def __str__(self) -> str:
        return f"{self.value:+.0f} [{self.low:+.0f}, {self.high:+.0f}]"


@dataclass(frozen=True)
class Place:
    """Players that are compared with each other. name: of their folders; label: in figures; budget: of a move, as a
    share of the largest one; players: by series, the first one climbs the ladder; facts: of their rows.
    """

    name: str
    label: str
    share: float
    players: Mapping[str, str]
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class LadderTable:
    """Places with their players; duels: series that also meet head to head at each place."""

    setting: Setting
    game: str
    places: Sequence[Place]
    duels: Sequence[tuple[str, str]]
    tallies: dict[tuple[str, str], ht.Tally] = field(default_factory=dict)

    @property
    def games(self) -> int:
        """Games of a point."""
        return self.setting.pairs(GAMES)

    def matches(self) -> Iterator[Match]:
        """Yield the matches for an estimate, as if each place played the rung that it tries first."""
        for place in self.places:
            rung = self._rung(self._begin(place))
            for player in place.players.values():
                yield Match("rung", player, rung, self.games, game=self.game)
            for a, b in self.duels:
                yield Match("duel", place.players[a], place.players[b], self.games // 2, game=self.game)

    def play(self) -> ht.RatingList:
        """Play everything; the ratings."""
        used = set[int]()
        for place in self.places:
            rung = None if self.setting.opponent else self._climb(place)
            used |= set() if rung is None else {rung}
            for series in place.players:
                self._meet(place, series, rung)
        names = [self._rung_name(rung) for rung in (used or [None])]
        for lower in range(min(used, default=0), max(used, default=0)):
            self._match(self._rung_name(lower + 1), self._rung_name(lower), self._rung(lower + 1), self._rung(lower))
        rated = [(a, b, tally) for (a, b), tally in self.tallies.items()]
        paper = self._rung_name(RUNGS.index(PAPER_RUNG))
        self.zero = paper if paper in names else self._rung_name(min(used)) if used else "opponent"
        for place in self.places:
            for a, b in self.duels:
                names_of = (self.player(place, a), self.player(place, b))
                self._match(*names_of, place.players[a], place.players[b], max(2, self.games // 4 * 2))
        self.ratings = ht.rating_list(rated, anchors={self.zero: 0.0})
        return self.ratings

    def player(self, place: Place, series: str) -> str:
        """Name of a player."""
        return f"{place.name}-{series}"

    def _begin(self, place: Place) -> int:
        """The rung to try first: the paper's opponent at its largest budget, half of it at half the budget."""
        return min(range(len(RUNGS)), key=lambda index: abs(RUNGS[index] - PAPER_RUNG * place.share))

    def _rung(self, index: int) -> str:
        if self.setting.opponent is not None:
            return self.setting.opponent
        return f"{'rave' if ht.load_game(self.game).name == 'nogo' else 'mcts'}:{RUNGS[index]}"

    def _rung_name(self, index: int | None) -> str:
        return "opponent" if index is None else self._rung(index).replace(":", "")

    def _meet(self, place: Place, series: str, rung: int | None, games: int | None = None) -> ht.Tally:
        names = self.player(place, series), self._rung_name(rung)
        return self._match(*names, place.players[series], self._rung(rung or 0), games)

    def _match(self, a: str, b: str, a_words: str, b_words: str, games: int | None = None) -> ht.Tally:
        """Play or resume a match; a shorter one is the beginning of the whole one."""
        count = self.games if games is None else min(games, self.games)
        match = Match(f"{a}-vs-{b}", a_words, b_words, count, game=self.game, random_plies=RANDOM_PLIES)
        self.tallies[a, b] = play(self.setting, [match])[match.name].tally
        return self.tallies[a, b]

    def _climb(self, place: Place) -> int:
        """Climb while the first player scores more than a half, else descend; return the rung nearer a half."""
        series, before, way, index = next(iter(place.players)), 0.5, 0, self._begin(place)
        while True:
            score = self._meet(place, series, index, PROBE_GAMES).record.score
            step = 1 if score > 0.5 else -1
            if way and step != way:
                return index if abs(score - 0.5) <= abs(before - 0.5) else index - way
            if not 0 <= index + step < len(RUNGS):
                return index
            before, way, index = score, step, index + step

    # -- what was found --

    def rating(self, place: Place, series: str) -> Elo:
        """A player's rating."""
        name = self.player(place, series)
        found = next(rating for rating in self.ratings.ratings if rating.name == name)
        return Elo(found.elo, *found.interval())

    def contrast(self, above: Sequence[str], below: Sequence[str] = (), places: Sequence[Place] | None = None) -> Elo:
        """Mean rating of some series at places minus that of others (0 where there are none), by the covariance."""
        order = [rating.name for rating in self.ratings.ratings]
        weights = np.zeros(len(order))
        chosen = self.places if places is None else places
        for series, sign in ((above, 1.0), (below, -1.0)):
            names = [self.player(place, one) for place in chosen for one in series]
            for name in names:
                weights[order.index(name)] += sign / len(names)
        value = float(weights @ np.array([rating.elo for rating in self.ratings.ratings]))
        half = z_of(0.95) * math.sqrt(max(0.0, float(weights @ self.ratings.covariance @ weights)))
        return Elo.normal(value, half)

    def duel(self, a: str, b: str) -> Elo:
        """All matches of two series head to head, pooled: the mean of their Elo, whose errors are independent."""
        found = [Elo.of(self.tallies[self.player(place, a), self.player(place, b)]) for place in self.places]
        return Elo.normal(
            sum(one.value for one in found) / len(found), math.hypot(*(x.half for x in found)) / len(found)
        )

    def duel_games(self, a: str, b: str) -> int:
        """Games of these matches."""
        return sum(self.tallies[self.player(p, a), self.player(p, b)].record.games for p in self.places)

    def rows(self) -> list[dict[str, Any]]:
        """A row a player: the facts of its place, its series, its rating."""
        rows = []
        for place in self.places:
            for series in place.players:
                elo = self.rating(place, series)
                row = {"place": place.name, **place.facts, "player": series}
                rows.append({**row, "elo": elo.value, "elo_low": elo.low, "elo_high": elo.high})
        return rows

    def facts(self) -> dict[str, Any]:
        """All matches as plain data, and the player with 0 Elo."""
        rows = []
        for (a, b), tally in self.tallies.items():
            elo, record = Elo.of(tally), tally.record
            counts = {"games": record.games, "wins": record.wins, "draws": record.draws, "losses": record.losses}
            rows.append({"a": a, "b": b, **counts, "score": record.score, **elo._asdict()})
        return {"matches": rows, "zero": self.zero}

    def text(self) -> str:
        """Matches head to head as lines of text."""
        lines = ["head to head:"]
        for place in self.places:
            for a, b in self.duels:
                tally = self.tallies[self.player(place, a), self.player(place, b)]
                lines.append(f"  {place.name:>16}  {a} : {b}  {tally.record!s}  Elo {Elo.of(tally)}")
        return "\n".join(lines)

    def figure(self, key: str, title: str, x_name: str) -> ht.Figure:
        """Ratings with bars over the places."""
        lines, names = [], list(self.places[0].players)
        for number, series in enumerate(names):
            elos = [self.rating(place, series) for place in self.places]
            xs = [place + APART * (number - (len(names) - 1) / 2) for place in range(1, len(elos) + 1)]
            values, low, high = ([elo[part] for elo in elos] for part in range(3))
            colour = COLOURS[number % len(COLOURS)]
            lines.append(ht.Series(series, xs, values, colour, low=low, high=high, joined=False))
        text, labels = f"Elo above {self.zero}, 95 %. {self.game}.", [place.label for place in self.places]
        return ht.Figure(key, title, text, "Elo", x_name, lines=tuple(lines), x_names=labels)


def all_ahead(elos: Mapping[str, Elo], games: int, matters: float = SMALLEST_ELO) -> Claim:
    """Return the claim that all these differences, by what they are of, are above 0. games: of the smallest; matters:
    the smallest difference that does, in Elo.
    """
    sides = (
        Inequality(what, elo.measured(games), 0.0, "above", LEAST_GAMES, unit="Elo", matters=matters)
        for what, elo in elos.items()
    )
    return Claim(tuple(sides))
