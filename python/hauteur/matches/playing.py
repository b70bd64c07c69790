"""Where the games of matches are played: in this process, or by workers. Both play the same games.

Workers get units of whole pairs, and only so many ahead as keep them busy: who waits for the end of a sequential test
does not know how many there will be, and workers come and go.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Protocol

from hauteur import _core
from hauteur.cluster.played import ComparedUnit
from hauteur.cluster.records import MOST_TEXT, UnitEntry, worker_numbers
from hauteur.cluster.scheduler import Batch, CheckedResult, Played, Scheduler
from hauteur.cluster.unit import Unit
from hauteur.matches.arena import ArenaFacts, play_games
from hauteur.matches.by_rules import player_a
from hauteur.matches.record import GamePlan
from hauteur.matches.results import MatchGame
from hauteur.matches.unit_games import add_counts
from hauteur.matches.units import UnitGames, checked_result, match_unit, refuse_objects, unit_players
from hauteur.players.build import Evaluators, Resources, Unopened, build_player
from hauteur.players.move_player import MovePlayer
from hauteur.players.search_player import SearchPlayer
from hauteur.players.settings import PlayerSettings
from hauteur.system.jsonl import Journal
from hauteur.system.seeds import derived_seed

ROUND_UNITS = 4
"""Units a worker in a round; a round is handed out when the one before the last is over."""
UNKNOWN_WORKERS = 8
"""As many are expected of a cluster before the first has joined."""
SHARES = 2
"""Units are so small that each worker gets so many of the games that are left,"""
LEAST_SHARE = 8
"""but this part of the concurrent games or more: a few games alone take nearly as long as many together."""


@dataclass(frozen=True)
class Pairings:
    """Who plays, and what decides their games besides the plans.

    labels: of the players, for messages; purpose: of the seed, where plans have none; describe: names a game.
    """

    game: _core.Game
    players: Sequence[PlayerSettings]
    labels: Sequence[str]
    seed: int
    purpose: str
    max_plies: int | None = None
    describe: Callable[[int], str] = "game {}".format


@dataclass(frozen=True)
class PlayedGames:
    """Games that are over. replaces: they stand in the place of games with their numbers that were there before."""

    games: Sequence[MatchGame]
    replaces: bool = False


class Playing(Protocol):
    """Plays games of players that are ready.

    evaluators: names of those that are known to have been used; counts: what workers did, empty without any.
    """

    evaluators: list[str]

    @property
    def counts(self) -> dict[str, Any]:
        """Return what workers did until now."""

    def play(self, plans: Iterator[GamePlan], games: int, facts: ArenaFacts) -> Generator[PlayedGames]:
        """Play these games, of which there are so many at most, and yield them as they end."""


@contextmanager
def ready(pairings: Pairings, resources: Resources, journal: Journal[UnitEntry] | None = None) -> Iterator[Playing]:
    """Yield what plays the games; ValueError or OSError, naming the player, where one does not fit.

    journal: who played which unit, where workers play.
    """
    scheduler = resources.scheduler
    kind = Evaluators if scheduler is None else Unopened
    if scheduler is not None:
        for settings, label in zip(pairings.players, pairings.labels, strict=True):
            refuse_objects(settings, label)
    with kind(pairings.game, resources) as evaluators:
        players = [
            build_player(pairings.game, settings, evaluators, label)
            for settings, label in zip(pairings.players, pairings.labels, strict=True)
        ]
        if scheduler is None:
            names = [evaluator.name for evaluator in evaluators.opened.values()]
            yield PlayingHere(pairings, players, resources, names)
        else:
            yield PlayingInUnits(pairings, resources, scheduler, journal)


@dataclass
class PlayingHere:
    """Games that this process plays."""

    pairings: Pairings
    players: Sequence[SearchPlayer | MovePlayer]
    resources: Resources
    evaluators: list[str]
    counts: dict[str, Any] = field(default_factory=dict)

    def play(self, plans: Iterator[GamePlan], games: int, facts: ArenaFacts) -> Generator[PlayedGames]:
        """Play the games of an iterator."""
        del games
        records = play_games(
            self.pairings.game,
            self.players,
            plans,
            seed=self.pairings.seed,
            purpose=self.pairings.purpose,
            parallel=self.resources.parallel,
            batch_size=self.resources.rows,
            max_plies=self.pairings.max_plies,
            facts=facts,
        )
        with closing(records):
            for record in records:
                yield PlayedGames([MatchGame.of(self.pairings.game, record, a=player_a(record.plan))])


@dataclass
class PlayingInUnits:
    """Games that workers play. journal: of the units, in the folder of the games."""

    pairings: Pairings
    resources: Resources
    scheduler: Scheduler
    journal: Journal[UnitEntry] | None = None
    evaluators: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._since = self.scheduler.counts
        self._ended: dict[str, tuple[str, Unit]] = {}  # units of rounds that have ended, and who played them
        self._session = time.time()
        one = self.pairings
        self._shared, self._sources = unit_players(
            one.game, one.players, one.labels, max_plies=one.max_plies, resources=self.resources
        )
        self._names = {sha256: path.name for sha256, path in self._sources.items()}

    @property
    def counts(self) -> dict[str, Any]:
        """Return what workers did until now."""
        return worker_numbers(self._since, self.scheduler.counts)

    def play(self, plans: Iterator[GamePlan], games: int, facts: ArenaFacts) -> Generator[PlayedGames]:
        """Play the games of an iterator, which is asked for a few rounds of units at a time."""
        started = time.monotonic()
        units = self._units(_in_pairs(plans), games)
        batches: deque[Batch] = deque()
        try:
            while True:
                if again := self._distrusted():
                    yield from self._replaced(again, facts, started)
                while len(batches) < 2 and (some := list(islice(units, ROUND_UNITS * self._workers))):
                    batches.append(
                        self.scheduler.start(some, self._sources, self._check, on_compared=self._note_comparison)
                    )
                if not batches:
                    return
                found: dict[str, tuple[str, Unit]] = {}
                for played in batches[0]:
                    self._note(played)
                    found[played.unit.key] = played.worker, played.unit
                    yield self._games(played, facts, started)
                batches.popleft()
                self._ended |= found
        finally:
            for batch in batches:
                batch.close()

    def _distrusted(self) -> list[Unit]:
        """Return the units of rounds that have ended which a worker played that was shut out since."""
        wrong = self.scheduler.shut_out
        return [unit for worker, unit in self._ended.values() if worker in wrong] if wrong else []

    def _replaced(self, units: Sequence[Unit], facts: ArenaFacts, started: float) -> Iterator[PlayedGames]:
        """Play units again, before the others."""
        on_compared = self._note_comparison
        batch = self.scheduler.start(units, self._sources, self._check, first=True, on_compared=on_compared)
        with closing(batch):
            for first in batch:
                played = replace(first, replaces=True)
                self._note(played)
                self._ended[played.unit.key] = played.worker, played.unit
                yield self._games(played, facts, started)

    def _note(self, played: Played) -> None:
        """Keep who played a unit, before its games are kept."""
        if self.journal is None:
            return
        plans = played.unit.own["plans"]
        entry = UnitEntry.of_unit(
            played.worker,
            played.facts,
            played.result.facts.get("total", 0.0),
            kind=played.unit.kind,
            unit=plans[0]["index"],
            games=len(plans),
            session=self._session,
            backend=", ".join(played.games.evaluators)[:MOST_TEXT],
            attempts=played.attempts,
            replaces=played.replaces,
        )
        self.journal.append(entry)

    def _note_comparison(self, compared: ComparedUnit) -> None:
        """Keep who played a unit that was compared, and whether the games were the same."""
        if self.journal is not None:
            first = compared.unit.own["plans"][0]["index"]
            self.journal.append(UnitEntry.of_comparison(compared, unit=first, session=self._session))

    def _games(self, played: Played, facts: ArenaFacts, started: float) -> PlayedGames:
        found: UnitGames = played.games
        self.evaluators.extend(name for name in found.evaluators if name not in self.evaluators)
        add_counts(facts, played.result.facts)
        facts.search = replace(facts.search, total=time.monotonic() - started)
        return PlayedGames(found.games, replaces=played.replaces)

    def _check(self, unit: Unit, content: bytes) -> CheckedResult:
        return checked_result(self.pairings.game, self._shared, unit, content)

    @property
    def _workers(self) -> int:
        """Number of workers that are there, or will soon be."""
        return max(len(self.scheduler.workers), self.resources.workers) or UNKNOWN_WORKERS

    def _units(self, pairs: Iterator[list[GamePlan]], games: int) -> Iterator[Unit]:
        """Yield units."""
        while plans := _of_unit(pairs, unit_size(games, self._workers, self.resources.parallel)):
            games -= len(plans)
            yield self._unit(plans)

    def _unit(self, plans: Sequence[GamePlan]) -> Unit:
        one = self.pairings
        seeded = [
            replace(plan, seed=derived_seed(one.seed, one.purpose, plan.index)) if plan.seed is None else plan
            for plan in plans
        ]
        name = f"{len(plans)} games from {one.describe(plans[0].index)} on"
        return match_unit(name, self._shared, self._names, seeded)


def unit_size(left: int, workers: int, parallel: int) -> int:
    """Games of the next unit, of those that are left: two units fill a worker, and near the end they are smaller."""
    return min(parallel // 2, max(parallel // LEAST_SHARE, left // (SHARES * workers)))


def _in_pairs(plans: Iterator[GamePlan]) -> Iterator[list[GamePlan]]:
    """Yield the games 2k and 2k + 1 together, where both are there."""
    pair: list[GamePlan] = []
    for plan in plans:
        if pair and pair[0].index // 2 != plan.index // 2:
            yield pair
            pair = []
        pair.append(plan)
    if pair:
        yield pair


def _of_unit(pairs: Iterator[list[GamePlan]], games: int) -> list[GamePlan]:
    """Take pairs until there are so many games, one pair at least."""
    found: list[GamePlan] = []
    for pair in pairs:
        found += pair
        if len(found) + 2 > games:
            break
    return found
