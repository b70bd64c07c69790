"""The games of a run's steps, in units, played by this process or by workers. This process alone writes files."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from hauteur.cluster.counts import summed_numbers
from hauteur.cluster.unit import Unit, job_class
from hauteur.games.game_line import NO_NET
from hauteur.learning.gate import GateResults
from hauteur.learning.planned import CANDIDATE, PlannedGames, missing_units, unit_path
from hauteur.learning.recipe import Recipe
from hauteur.learning.recorded_games import Games
from hauteur.learning.run_folder import RunFolder
from hauteur.learning.units import EVALUATIONS, LearningJob, summed_facts, units_of
from hauteur.matches.arena import ArenaFacts
from hauteur.matches.ratings.elo import Sprt
from hauteur.system.files import write_bytes

if TYPE_CHECKING:
    from hauteur.cluster.scheduler import Scheduler, UnitBatch

PULSE = 0.2
"""Seconds after which the progress of units in the background is shown again."""
MOST_CHECKED = 128 * 2**20
"""Bytes of checked games of a generation that wait for its end; the files of others are read again."""
SPRT_GAMES = 2
"""Games of a unit of a gate match that a sequential test may end, where this process plays them."""

OnGames = Callable[[int], None]
"""Takes the number of games that have ended."""


@dataclass(frozen=True)
class StepCost:
    """The cost of games. evaluations: of the run's own net, and of the large one beside it; seconds: of the clock."""

    facts: ArenaFacts
    evaluations: tuple[int, int]
    seconds: float

    @classmethod
    def of(cls, costs: Sequence[Mapping[str, float]], seconds: float) -> StepCost:
        """Return what units took together, by the facts of each."""
        small, large = (int(sum(cost.get(name, 0.0) for cost in costs)) for name in EVALUATIONS)
        return cls(summed_facts(costs), (small, large), seconds)


class PlayedUnit(NamedTuple):
    """A unit that was played. content: of its file; cost: see `summed_facts`."""

    number: int
    content: bytes
    games: Games
    cost: Mapping[str, float]


@dataclass
class StepGames:
    """Plays the games of a run's steps.

    net_files: of a generation's nets; threads: of each net, where this process plays; warn: takes what is wrong with
    files, in a line; before: metrics of the present generation that an earlier process left.
    """

    recipe: Recipe
    folder: RunFolder
    net_files: Callable[[int], Sequence[Path]]
    threads: int
    warn: Callable[[str], object]
    scheduler: Scheduler | None
    before: Mapping[str, Any]
    _begun: dict[int, _Background] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._numbers_before = self.before.get("workers", {})
        if self.scheduler is not None:
            self._since = self.scheduler.counts
            if not self.recipe.run.exact:
                self.warn("run.exact = false: workers' games are not those of one process, nor the same again")

    def unit_games(self, games: int, *, sprt: bool = False) -> int:
        """Return the games of a unit, even, where no file is written: two units a worker, or all at this process.

        sprt: the games end with a sequential test.
        """
        if self.scheduler is None:
            return SPRT_GAMES if sprt else games + games % 2
        share = -(-games // (2 * max(1, self.scheduler.workers)))
        return min(max(2, share + share % 2), 100)

    def begin(self, *planned: PlannedGames) -> None:
        """Begin the self-play of generations that have not begun, where workers play it beside other work."""
        if self.scheduler is None:
            return
        for one in planned:
            if one.generation not in self._begun:
                generation = _Generation(one, self.folder.games, self.warn)
                batch = self._start(self.scheduler, one, generation.missing)
                self._begun[one.generation] = _Background(generation, batch, partial(_received, one))

    def self_play(self, planned: PlannedGames, on_games: OnGames) -> tuple[StepCost, dict[Path, Games]]:
        """Play the games of a generation that are missing on disk; return those of some files, which were checked."""
        if self.scheduler is None:
            generation = _Generation(planned, self.folder.games, self.warn)
            for played in self._played_here(planned, generation.missing, on_games, generation.games):
                generation.take(played)
            return generation.end()
        self.begin(planned)
        background = self._begun[planned.generation]
        while not background.has_ended(PULSE):
            on_games(background.generation.games)
        on_games(background.generation.games)
        del self._begun[planned.generation]
        return background.generation.end()

    def play_again(self, planned: PlannedGames, numbers: Sequence[int], on_games: OnGames) -> None:
        """Play units of a generation that is over, whose files are not right any more."""
        for played in self._results(planned, numbers, on_games):
            write_bytes(unit_path(self.folder.games, planned.generation, played.number), played.content)

    def probe(self, planned: PlannedGames, on_games: OnGames) -> tuple[Games, StepCost]:
        """Play games for observation."""
        began = time.perf_counter()
        found = sorted(self._results(planned, list(planned.units), on_games), key=lambda one: one.number)
        cost = StepCost.of([one.cost for one in found], time.perf_counter() - began)
        return Games.join([one.games for one in found]), cost

    def gate_match(self, planned: PlannedGames, sprt: Sprt | None, on_games: OnGames) -> GateResults:
        """Play a gate match; with a sequential test until it ends."""
        results = GateResults(sprt)
        with closing(self._results(planned, list(planned.units), on_games)) as found:
            for played in found:
                for index, score in zip(played.games.index.tolist(), _scores(played.games, planned), strict=True):
                    results.add(index, score)
                if results.over:
                    break
        return results

    def workers(self) -> str | None:
        """Return who plays games, and what they wait for, in words; None: this process alone."""
        return None if self.scheduler is None else self.scheduler.status()

    def metrics(self) -> dict[str, Any]:
        """Return the numbers of workers in the generation until now; without any, nothing."""
        if self.scheduler is None:
            return {}
        return {"workers": summed_numbers([self._numbers_before, self.scheduler.counts.since(self._since)])}

    def progress(self) -> dict[str, Any]:
        """Return what progress.json has about workers."""
        return {} if self.scheduler is None else {"workers": self.workers(), "numbers": self.metrics()["workers"]}

    def end_generation(self) -> dict[str, Any]:
        """Return the numbers of the generation that ends, and begin to count anew."""
        found = self.metrics()
        if self.scheduler is not None:
            self._since, self._numbers_before = self.scheduler.counts, {}
        return found

    def close(self) -> None:
        """Forget the units that are being played."""
        for background in self._begun.values():
            background.batch.close()

    def _results(self, planned: PlannedGames, numbers: Sequence[int], on_games: OnGames) -> Generator[PlayedUnit]:
        """Yield units as they are played, before any that were begun earlier."""
        if self.scheduler is None:
            yield from self._played_here(planned, numbers, on_games)
            return
        games = 0
        with closing(self._start(self.scheduler, planned, numbers, first=True)) as batch:
            for played in batch:
                games += played.unit.games
                yield _received(planned, played.unit.own["number"], played.result.content, played.result.facts)
                on_games(games)

    def _played_here(
        self, planned: PlannedGames, numbers: Sequence[int], on_games: OnGames, before: int = 0
    ) -> Generator[PlayedUnit]:
        """Play units side by side in this process. before: games that were there."""
        if not numbers:
            return
        units, sources = self._units(planned, numbers)
        count = before

        def on_game() -> None:
            nonlocal count
            count += 1
            on_games(count)

        job = job_class(planned.kind)(units[0], sources, self.threads)
        assert isinstance(job, LearningJob)
        with closing(job), closing(job.played(iter(units), on_game)) as found:
            for unit, records, facts in found:
                yield _received(planned, unit.own["number"], job.content(records), facts)

    def _start(
        self, scheduler: Scheduler, planned: PlannedGames, numbers: Sequence[int], *, first: bool = False
    ) -> UnitBatch:
        return scheduler.start(*self._units(planned, numbers), first=first)

    def _units(self, planned: PlannedGames, numbers: Sequence[int]) -> tuple[list[Unit], dict[str, Path]]:
        nets = {net: self.net_files(net) for net in planned.nets if net != NO_NET}
        return units_of(self.recipe, planned, nets, numbers)


class _Generation:
    """Self-play of a generation: writes the files of units; checked: games, as far as memory allows."""

    def __init__(self, planned: PlannedGames, folder: Path, warn: Callable[[str], object]) -> None:
        self.missing = missing_units(planned, folder, warn)
        self.games = len(planned.plans) - sum(len(planned.units[number]) for number in self.missing)
        self._planned, self._folder = planned, folder
        self._checked: dict[Path, Games] = {}
        self._costs: list[Mapping[str, float]] = []
        self._room = MOST_CHECKED
        self._began, self._seconds = time.perf_counter(), 0.0

    def take(self, played: PlayedUnit) -> None:
        """Write the file of a unit."""
        path = unit_path(self._folder, self._planned.generation, played.number)
        write_bytes(path, played.content)
        self._room -= played.games.nbytes
        if self._room >= 0:
            self._checked[path] = played.games
        self._costs.append(played.cost)
        self.games += played.games.games
        self._seconds = time.perf_counter() - self._began

    def end(self) -> tuple[StepCost, dict[Path, Games]]:
        """Return what the games took, and those of some files."""
        return StepCost.of(self._costs, self._seconds), self._checked


class _Background:
    """Self-play of a generation that workers play while this process may do something else."""

    def __init__(self, generation: _Generation, batch: UnitBatch, received: Callable[..., PlayedUnit]) -> None:
        self.generation, self.batch, self._received = generation, batch, received
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._take, name="self-play", daemon=True)
        self._thread.start()

    def has_ended(self, seconds: float) -> bool:
        """Wait for the last unit at most this time; raise what went wrong."""
        self._thread.join(seconds)
        over = not self._thread.is_alive()
        if self._error is not None:
            raise self._error
        return over

    def _take(self) -> None:
        try:
            for played in self.batch:
                unit, result = played.unit, played.result
                self.generation.take(self._received(unit.own["number"], result.content, result.facts))
        except Exception as error:  # raised where the games are waited for
            self._error = error


def _received(planned: PlannedGames, number: int, content: bytes, cost: Mapping[str, float]) -> PlayedUnit:
    """Return a unit with its games. ValueError where they are not those that were planned."""
    games = planned.checked(pa.BufferReader(content), number, f"{planned.purpose}, unit {number}")
    return PlayedUnit(number, content, games, cost)


def _scores(games: Games, planned: PlannedGames) -> list[float]:
    """Return the candidate's score in each game."""
    sides = [planned.plans[index].sides[0] for index in games.index.tolist()]
    signs = np.where(np.array(sides) == CANDIDATE, 1, -1)
    return [float(score) for score in (1 + signs * games.outcome) / 2]
