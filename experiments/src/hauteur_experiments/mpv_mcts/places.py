"""Players of several series at several places, such as budgets: each against a fixed opponent, and head to head.

The opponent of a place is a player without a net, whose simulations a short probe of the first player chooses: against
one that is far stronger or weaker scores would be near 0 or 100 % and say little. Differences between the players of a
place are those of their Elo against it, since a deeper search with the same net finds exactly the mistakes of the other
and wins by more than against unrelated players; matches head to head are reported too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import hauteur as ht
from hauteur_experiments.grid import APART, COLOURS, Match, play, points
from hauteur_experiments.measured import Interval, MatchElo, Record, contrast, elo_above, elo_columns, elo_text
from hauteur_experiments.setting import Setting
from hauteur_experiments.verdict import SMALLEST_ELO, Claim, Measured

RUNGS = (50, 100, 200, 400, 800, 1600, 3200, 6400, 12_500, 25_000, 50_000, 100_000, 200_000, 400_000, 800_000)
"""Simulations a move of the players without a net; the MPV paper's opponent has 100,000."""

PAPER_RUNG = 100_000
PROBE_GAMES = 24
"""Games that say whether a stronger or a weaker opponent is tried; they are the first of the match with it."""

GAMES = 1000
"""Games of a point; head to head half as many, which the paper does not have."""

RANDOM_PLIES = 2
"""Random plies that a pair of games begins with: without them nets alone would play one game again and again."""


@dataclass(frozen=True)
class Place:
    """Players that are compared with each other."""

    name: str
    """Name of their folders."""
    label: str
    """Name in figures."""
    share: float
    """Their budget over the paper's largest one."""
    players: Mapping[str, str]
    """Texts of the players by series; the first one chooses the opponent."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Facts that their rows repeat."""


@dataclass(eq=False)
class PlaceTable:
    """Places with their players, and the matches between them."""

    setting: Setting
    """Settings of the experiment."""
    game: str
    """Spec of the game."""
    places: Sequence[Place]
    """Places in the order of the table."""
    duels: Sequence[tuple[str, str]]
    """Pairs of series that also meet head to head at each place."""
    opponents: dict[str, str] = field(default_factory=dict)
    """The chosen opponent of each place as text, by the place's name."""
    elos: dict[tuple[str, str, str], MatchElo] = field(default_factory=dict)
    """Match results as Elo, by place and two series (the second one empty: against the opponent)."""

    def matches(self) -> Iterator[Match]:
        """Yield the matches, as if each place had the opponent that it tries first."""
        for place in self.places:
            opponent = self.setting.opponent or self._rung(self._first_rung(place))
            yield from (self._match(place, name, opponent) for name in place.players)
            yield from (self._duel(place, *pair) for pair in self.duels)

    def play(self) -> None:
        """Play everything."""
        for place in self.places:
            opponent = self.setting.opponent
            if not opponent:
                opponent = self._rung(self._probed(place))
            self.opponents[place.name] = opponent
            for series in place.players:
                self._keep(place, series, "", self._match(place, series, opponent))
            for a, b in self.duels:
                self._keep(place, a, b, self._duel(place, a, b))

    def _keep(self, place: Place, a: str, b: str, match: Match) -> None:
        played = play(self.setting, [match])[match.name]
        self.elos[place.name, a, b] = MatchElo(played.tally)

    def _match(self, place: Place, series: str, opponent: str, most: int = GAMES) -> Match:
        """A player against the opponent; a shorter match is the beginning of the whole one."""
        name = "opponent" if self.setting.opponent else opponent.replace(":", "")
        games = min(most, self.setting.pairs(GAMES))
        return self._spec(f"{place.name}-{series}-vs-{name}", place.players[series], opponent, games)

    def _duel(self, place: Place, a: str, b: str) -> Match:
        games = self.setting.pairs(GAMES // 2)
        return self._spec(f"{place.name}-{a}-vs-{b}", place.players[a], place.players[b], games)

    def _spec(self, name: str, a: str, b: str, games: int) -> Match:
        return Match(name, a, b, games, game=self.game, random_plies=RANDOM_PLIES)

    def _first_rung(self, place: Place) -> int:
        """The rung to try first: the paper's opponent at its largest budget, half of it at half the budget."""
        wanted = PAPER_RUNG * place.share
        return min(range(len(RUNGS)), key=lambda rung: abs(RUNGS[rung] - wanted))

    def _rung(self, rung: int) -> str:
        is_nogo = ht.load_game(self.game).name == "nogo"
        kind = "rave" if is_nogo else "mcts"
        return f"{kind}:{RUNGS[rung]}"

    def _probed(self, place: Place) -> int:
        """Try stronger rungs while the first player scores above a half, else weaker ones; the nearest to a half."""
        first = next(iter(place.players))
        scores: dict[int, float] = {}
        rung = self._first_rung(place)
        while rung not in scores:
            match = self._match(place, first, self._rung(rung), PROBE_GAMES)
            played = play(self.setting, [match])[match.name]
            scores[rung] = played.tally.record.score
            step = 1 if scores[rung] > 0.5 else -1
            rung = min(len(RUNGS) - 1, max(0, rung + step))
        return min(scores, key=lambda tried: abs(scores[tried] - 0.5))

    # -- what was found --

    def elo(self, place: Place, series: str) -> MatchElo:
        """A player's difference from the opponent of its place."""
        return self.elos[place.name, series, ""]

    def lead(self, above: Sequence[str], below: Sequence[str] = (), places: Sequence[Place] | None = None) -> Interval:
        """Mean Elo of some series at places, all of them by default, minus that of others (0 where there are none)."""
        chosen = self.places if places is None else places
        terms = []
        for place in chosen:
            for series in above:
                terms.append((1 / len(above) / len(chosen), self.elo(place, series)))
            for series in below:
                terms.append((-1 / len(below) / len(chosen), self.elo(place, series)))
        return contrast(*terms)

    def duel(self, a: str, b: str) -> Interval:
        """The mean Elo of two series head to head over the places."""
        weight = 1 / len(self.places)
        terms = [(weight, self.elos[place.name, a, b]) for place in self.places]
        return contrast(*terms)

    def duels_ahead(self, series: str) -> Claim:
        """Return the claim that a series is ahead of all others that it meets head to head."""
        leads = {}
        for a, b in self.duels:
            if a == series:
                leads[f"{series} ahead of the {b}"] = self.duel(a, b)
        return all_ahead(leads)

    def rows(self) -> list[dict[str, Any]]:
        """A row a player: the facts of its place, its series, its Elo above the opponent."""
        return [
            {"place": place.name, **place.facts, "player": series, "opponent": self.opponents[place.name]}
            | elo_columns(self.elo(place, series))
            for place in self.places
            for series in place.players
        ]

    def text(self) -> str:
        """Matches head to head as lines of text."""
        lines = ["head to head:"]
        for (place, a, b), elo in self.elos.items():
            if b:
                lines.append(f"  {place:>16}  {a} : {b}  {Record.of(elo.tally)}  Elo {elo_text(elo)}")
        return "\n".join(lines)

    def figure(self, key: str, title: str, x_name: str) -> ht.Figure:
        """Elo with bars over the places."""
        lines = []
        names = list(self.places[0].players)
        middle = (len(names) - 1) / 2
        for number, series in enumerate(names):
            shift = APART * (number - middle)
            xs = []
            elos = []
            for count, place in enumerate(self.places, 1):
                xs.append(count + shift)
                elos.append(self.elo(place, series))
            lines.append(points(series, xs, elos, COLOURS[number % len(COLOURS)]))
        text = f"Elo above the opponent of each place, 95 %. {self.game}."
        labels = [f"{place.label} ({self.opponents[place.name]})" for place in self.places]
        return ht.Figure(key, title, text, "Elo", x_name, lines=tuple(lines), x_names=labels)


def all_ahead(elos: Mapping[str, Measured], matters: float = SMALLEST_ELO) -> Claim:
    """Return the claim that all these differences are above 0. matters: the smallest that does, in Elo."""
    sides = [elo_above(what, elo, matters) for what, elo in elos.items()]
    return Claim(tuple(sides))
