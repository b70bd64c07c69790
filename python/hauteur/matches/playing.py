"""Where the games of matches are played: in this process, or by workers. Both play the same games.

Workers get units of whole pairs, and only as many ahead as keep them busy: who waits for the end of a sequential test
does not know how many there will be, and workers come and go.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from hauteur import _core
from hauteur.cluster.scheduler import Played, Scheduler, UnitBatch
from hauteur.cluster.unit import Unit
from hauteur.matches.arena import ArenaFacts, play_games
from hauteur.matches.record import GamePlan
from hauteur.matches.results import MatchGame
from hauteur.matches.unit_games import add_counts
from hauteur.matches.units import match_unit, read_games, refuse_objects, unit_players
from hauteur.players.build import Evaluators, Resources, Unopened, build_player
from hauteur.players.move_player import MovePlayer
from hauteur.players.search_player import SearchPlayer
from hauteur.players.settings import PlayerSettings
from hauteur.system.seeds import derived_seed

ROUND_UNITS = 4
"""Units a worker in a round; a round is handed out when the one before the last is over."""
UNKNOWN_WORKERS = 8
"""As many are expected of a cluster before the first has joined."""
SHARES = 2
"""Units are small enough that each worker gets two of them from the games that are left,"""
LEAST_SHARE = 8
"""but this part of the concurrent games or more: a few games alone take nearly as long as many together."""


@dataclass(frozen=True)
class Pairings:
    """Players, and the settings that decide their games besides the plans.

    labels: of the players, for messages; purpose: of the seed, where plans have none; describe: names a game.
    """

    game: _core.Game
    players: Sequence[PlayerSettings]
    labels: Sequence[str]
    seed: int
    purpose: str
    max_plies: int | None = None
    describe: Callable[[int], str] = "game {}".format


@contextmanager
def ready(pairings: Pairings, resources: Resources) -> Iterator[Playing]:
    """Yield what plays the games; ValueError or OSError, naming the player, where one does not fit."""
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
            yield PlayingInUnits(pairings, resources, scheduler)


@dataclass
class PlayingHere:
    """Games that this process plays. evaluators: their names; counts: what workers did, so empty."""

    pairings: Pairings
    players: Sequence[SearchPlayer | MovePlayer]
    resources: Resources
    evaluators: list[str]
    counts: dict[str, Any] = field(default_factory=dict)

    def play(self, plans: Iterator[GamePlan], games: int, facts: ArenaFacts) -> Generator[list[MatchGame]]:
        """Play the games of an iterator and yield each as it ends."""
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
                yield [MatchGame.of(self.pairings.game, record, a=min(record.plan.sides))]


@dataclass
class PlayingInUnits:
    """Games that workers play. evaluators: names of those that are known to have been used."""

    pairings: Pairings
    resources: Resources
    scheduler: Scheduler
    evaluators: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._since = self.scheduler.counts
        one = self.pairings
        self._shared, self._sources = unit_players(
            one.game, one.players, one.labels, max_plies=one.max_plies, resources=self.resources
        )
        self._names = {sha256: path.name for sha256, path in self._sources.items()}

    @property
    def counts(self) -> dict[str, Any]:
        """Return what workers did until now."""
        return self.scheduler.counts.since(self._since)

    def play(self, plans: Iterator[GamePlan], games: int, facts: ArenaFacts) -> Generator[list[MatchGame]]:
        """Play the games of an iterator, which is asked for a few rounds of units at a time."""
        started = time.monotonic()
        units = self._units(_in_pairs(plans), games)
        batches: deque[UnitBatch] = deque()
        try:
            while True:
                while len(batches) < 2 and (some := list(islice(units, ROUND_UNITS * self._workers))):
                    batches.append(self.scheduler.start(some, self._sources))
                if not batches:
                    return
                for played in batches[0]:
                    yield self._games(played, facts, started)
                batches.popleft()
        finally:
            for batch in batches:
                batch.close()

    def _games(self, played: Played, facts: ArenaFacts, started: float) -> list[MatchGame]:
        found = read_games(played.unit, played.result.content)
        self.evaluators.extend(name for name in found.evaluators if name not in self.evaluators)
        add_counts(facts, played.result.facts)
        facts.search = replace(facts.search, total=time.monotonic() - started)
        return found.games

    @property
    def _workers(self) -> int:
        """Number of workers that are there, or will soon be."""
        return max(self.scheduler.workers, self.resources.workers) or UNKNOWN_WORKERS

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


Playing = PlayingHere | PlayingInUnits
"""Plays games of players that are ready."""


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
    """Take pairs until there are `games` games, one pair at least."""
    found: list[GamePlan] = []
    for pair in pairs:
        found += pair
        if len(found) + 2 > games:
            break
    return found
