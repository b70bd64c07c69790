"""Self-play of one net in units, for checks that look at the scheduler itself."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hauteur.cluster.scheduler import Batch, Played, Scheduler
from hauteur.games.registry import load_game
from hauteur.learning.planned import PlannedGames, planned_selfplay
from hauteur.learning.recipe import Recipe, parse_recipe
from hauteur.learning.run_folder import RunFolder
from hauteur.learning.run_players import RunPlayers
from hauteur.learning.selfplay import episodes
from hauteur.learning.trainers import Learners
from hauteur.learning.units import units_of
from hauteur.matches.arena import ArenaFacts


@dataclass(frozen=True)
class Arrival:
    """A unit, or a game, that was finished. seconds: of the monotonic clock."""

    seconds: float
    worker: str
    games: int
    positions: int


class SelfPlayWork:
    """Games of a recipe, played by a net of random weights."""

    def __init__(self, folder: Path, fields: Mapping[str, Any]) -> None:
        self.recipe: Recipe = parse_recipe(dict(fields), "the recipe")
        self.game = load_game(self.recipe.game)
        self._run = RunFolder(folder)
        self._run.net(0).parent.mkdir(parents=True, exist_ok=True)
        Learners.new(self.game, self.recipe).save(self.game, self._run, 0, {})
        self._generation = 0

    def start(self, scheduler: Scheduler, games: int) -> Batch:
        """Begin to play games that were not played before."""
        planned = self._planned(games)
        units, sources = units_of(self.recipe, planned, {0: [self._run.net(0)]}, list(planned.units))

        return scheduler.start(units, sources, planned.check)

    def _planned(self, games: int) -> PlannedGames:
        self._generation += 1
        settings = self.recipe.selfplay.model_copy(update={"games": games})
        seed = self.recipe.run.seed
        return planned_selfplay(self.game, settings, generation=self._generation, nets=[0], seed=seed)

    def in_this_process(self, games: int, threads: int) -> Iterator[Arrival]:
        """Play without units, as many games side by side as the recipe says."""
        with ExitStack() as stack:
            files = [self._run.net(0)]
            players = RunPlayers(self.recipe, lambda _: files, self.game, exact=True, threads=threads)
            playing = players.of_selfplay([0], self.recipe.selfplay, stack)
            planned, facts = self._planned(games), ArenaFacts()
            plans = iter(planned.plans)
            for record in episodes(
                self.game, playing, planned.settings, plans, seed=planned.seed, purpose=planned.purpose, facts=facts
            ):
                yield Arrival(time.monotonic(), "this process", 1, len(record.actions))


def arrivals(batch: Batch, seen: Callable[[Played], None] | None = None) -> Iterator[Arrival]:
    """What comes in, until all is there."""
    for played in batch:
        if seen is not None:
            seen(played)
        yield Arrival(time.monotonic(), played.worker, played.unit.games, int(played.result.facts["moves"]))


def pace(found: list[Arrival], head: int, tail: int) -> tuple[float, float]:
    """Games and positions a second between the first `head` arrivals and the last `tail` ones."""
    kept = found[head : len(found) - tail]
    seconds = kept[-1].seconds - found[head - 1].seconds
    return sum(one.games for one in kept) / seconds, sum(one.positions for one in kept) / seconds
