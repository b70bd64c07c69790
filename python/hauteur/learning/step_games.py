"""The games of a run's steps, in units, played by this process or by workers. This process alone writes files."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from hauteur.cluster.scheduler import Played, summed_numbers
from hauteur.cluster.unit import Unit
from hauteur.games.game_line import NO_NET
from hauteur.learning.compute import UnitCost, UnitCosts
from hauteur.learning.gate import GateResults
from hauteur.learning.planned import CANDIDATE, PlannedGames, sound_units, unit_games, unit_path
from hauteur.learning.recipe import Recipe
from hauteur.learning.recorded_games import Games
from hauteur.learning.run_folder import RunFolder
from hauteur.learning.units import EVALUATIONS, OtherNets, played_here, summed_facts, units_of
from hauteur.matches.arena import ArenaFacts
from hauteur.matches.ratings.different import line_digest
from hauteur.matches.ratings.elo import Sprt
from hauteur.system import host
from hauteur.system.files import write_bytes
from hauteur.system.stopping import stop

if TYPE_CHECKING:
    from hauteur.cluster.scheduler import Scheduler, UnitBatch
    from hauteur.cluster.threads import Consumer, Threads

PULSE = 0.2
"""Seconds after which the progress of units in the background is shown again."""

OnGames = Callable[[int], None]
"""Takes the number of games that have ended."""


@dataclass(frozen=True)
class StepCost:
    """The cost of games."""

    facts: ArenaFacts
    """Of what this process and its workers played."""
    evaluations: tuple[int, int]
    """Of the run's net, and of the large one; units that were played before the run was killed count too."""
    seconds: float
    """Of the clock."""

    @classmethod
    def of(cls, costs: Sequence[Mapping[str, float]], seconds: float) -> StepCost:
        """Return what units took together, by the facts of each."""
        small, large = EVALUATIONS
        of_small = sum(cost.get(small, 0.0) for cost in costs)
        of_large = sum(cost.get(large, 0.0) for cost in costs)
        return cls(summed_facts(costs), (int(of_small), int(of_large)), seconds)


@dataclass
class StepGames:
    """Plays the games of a run's steps."""

    recipe: Recipe
    """All settings."""
    folder: RunFolder
    """Where the units of games are written."""
    net_files: Callable[[int], Sequence[Path]]
    """Gives the files of a generation's nets."""
    other_nets: OtherNets
    """Nets of a fixed opponent, and of a model of the opponent."""
    threads: int
    """Threads of each net, where this process plays."""
    warn: Callable[[str], object]
    """Takes what is wrong with files, in a line."""
    scheduler: Scheduler | None
    """Hands units to workers; None: this process plays them."""
    before: Mapping[str, Any]
    """Metrics of the present generation that an earlier process left."""
    _begun: dict[int, _Generation] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._costs = UnitCosts(self.folder.costs)
        self._numbers_before = self.before.get("workers", {})
        if self.scheduler is not None:
            self._since = self.scheduler.counts()
            if not self.recipe.run.exact:
                self.warn("run.exact = false: workers' games are not those of one process, nor the same again")

    def self_play(
        self,
        planned: PlannedGames,
        on_games: OnGames,
        *,
        ahead: Sequence[PlannedGames] = (),
        finished: bool = False,
    ) -> tuple[list[Games], StepCost]:
        """Return the games of a generation, by unit, and what it took to play those that had no right file.

        ahead: later generations, which workers begin to play too. finished: all games of the generation should have a
        file, as it is over.
        """
        generation = self._generation(planned, finished=finished)
        if self.scheduler is not None:
            for later in ahead:
                self._generation(later)
        if self.scheduler is None:
            before = generation.games
            units = self._played(planned, generation.missing, lambda done: on_games(before + done))
            # A job scheduler that ends this process leaves it some time, enough to finish the units in work.
            with stop.put_off(), closing(units) as found:
                for played in found:
                    generation.take(played)
        # With workers another thread writes its files; this one shows the count until all are there.
        while generation.goes_on:
            generation.join(PULSE)
            on_games(generation.games)
        del self._begun[planned.generation]
        return generation.end()

    def _generation(self, planned: PlannedGames, *, finished: bool = False) -> _Generation:
        """Return the self-play of a generation, begun where workers play it."""
        if planned.generation not in self._begun:
            again = planned.kind == "reanalyse"
            folder = self.folder.reanalysed if again else self.folder.games
            generation = _Generation(planned, folder, self._costs, self.warn, finished=finished)
            self._begun[planned.generation] = generation
            if self.scheduler is not None:
                units, sources = self._units(planned, generation.missing)
                # Old positions come before games that were begun ahead for later generations: training waits for them.
                batch = self.scheduler.start(units, sources, first=again)
                generation.begin(batch, self.scheduler.threads)
        return self._begun[planned.generation]

    def probe(self, planned: PlannedGames, on_games: OnGames) -> tuple[Games, StepCost]:
        """Play the games of a probe, of which no file is kept; return them in order, and what they took."""
        began = host.clock.passed()
        with closing(self._played(planned, list(planned.units), on_games)) as played:
            found = sorted(played, key=lambda one: one.unit.own["number"])
        seconds = host.clock.passed() - began
        facts = []
        games = []
        for one in found:
            facts.append(one.result.facts)
            games.append(_checked(planned, one))
        return Games.join(games), StepCost.of(facts, seconds)

    def gate_match(
        self,
        planned: PlannedGames,
        sprt: Sprt | None,
        on_games: OnGames,
    ) -> tuple[GateResults, tuple[int, int]]:
        """Play a gate match; with a sequential test until it ends. Return the evaluations of both nets too.

        Those are of the units whose games the decision takes: which others are played depends on the workers.
        """
        results = GateResults(sprt)
        costs: dict[int, Mapping[str, float]] = {}
        with closing(self._played(planned, list(planned.units), on_games)) as found:
            for played in found:
                games = _checked(planned, played)
                costs[played.unit.own["number"]] = played.result.facts
                # Units arrive in any order; the results count games by number, so that the test ends at the same one.
                for number, score in enumerate(_scores(games, planned)):
                    results.add(int(games.index[number]), score, _line(games, number))
                if results.over:
                    break
        units = -(-results.record.games // planned.unit_games)
        return results, StepCost.of([costs[number] for number in range(units)], 0.0).evaluations

    def workers(self) -> str | None:
        """Return who plays games, and what they wait for, in words; None: this process alone."""
        return None if self.scheduler is None else self.scheduler.status()

    def metrics(self) -> dict[str, Any]:
        """Return the numbers of workers in the generation until now; without any, nothing."""
        if self.scheduler is None:
            return {}
        return {"workers": summed_numbers([self._numbers_before, self.scheduler.counts(self._since)])}

    def progress(self) -> dict[str, Any]:
        """Return what progress.json has about workers."""
        if self.scheduler is None:
            return {}
        return {"workers": self.workers(), "numbers": self.metrics()["workers"]}

    def end_generation(self) -> dict[str, Any]:
        """Return the numbers of the generation that ends, and begin to count anew."""
        found = self.metrics()
        if self.scheduler is not None:
            self._since = self.scheduler.counts()
            self._numbers_before = {}
        return found

    def close(self) -> None:
        """Forget the units that are being played; after a request to end, those of self-play are taken first."""
        for generation in self._begun.values():
            while stop.requested and generation.goes_on:
                generation.join(PULSE)
            if generation.batch is not None:
                generation.batch.close()

    def _played(self, planned: PlannedGames, numbers: Sequence[int], on_games: OnGames) -> Generator[Played]:
        """Yield units as they are played, by workers before any that were begun earlier. on_games: takes the count."""
        if not numbers:
            return
        units, sources = self._units(planned, numbers)
        if self.scheduler is None:
            yield from played_here(units, sources, self.threads, on_games)
            return
        games = 0
        with closing(self.scheduler.start(units, sources, first=True)) as batch:
            for played in batch:
                games += played.unit.games
                yield played
                on_games(games)

    def _units(self, planned: PlannedGames, numbers: Sequence[int]) -> tuple[list[Unit], dict[str, Path]]:
        """Return the units of these numbers, and where the files of their nets are."""
        nets = {net: self.net_files(net) for net in planned.nets if net != NO_NET}
        return units_of(self.recipe, planned, nets, self.other_nets, numbers)


class _Generation:
    """Self-play of a generation: writes the files of units; games: those that are there.

    Another thread takes units from workers, so that the present one can do something else meanwhile.
    """

    # Of the class: with a lag several generations are played at a time, all of which add to one file.
    _writing = threading.Lock()
    """Of the file of costs, which several generations add to."""

    def __init__(
        self,
        planned: PlannedGames,
        folder: Path,
        unit_costs: UnitCosts,
        warn: Callable[[str], object],
        *,
        finished: bool,
    ) -> None:
        self._planned = planned
        self._folder = folder
        self._unit_costs = unit_costs
        self._sound = sound_units(planned, folder, warn, finished=finished)
        self.missing = [number for number in planned.units if number not in self._sound]
        self.games = sum(games.games for games in self._sound.values())
        self.batch: UnitBatch | None = None
        self._consumer: Consumer | None = None
        self._costs: list[Mapping[str, float]] = []
        self._began = host.clock.passed()
        self._seconds = 0.0

    def begin(self, batch: UnitBatch, threads: Threads) -> None:
        """Begin to take units from workers."""
        self.batch = batch
        self._consumer = threads.each(batch, self.take, "self-play")

    @property
    def goes_on(self) -> bool:
        """Whether units are still to come from workers."""
        return self._consumer is not None and self._consumer.is_alive()

    def join(self, seconds: float) -> None:
        """Wait for the last unit from workers, at most this time."""
        if self._consumer is not None:
            self._consumer.join(seconds)

    def take(self, played: Played) -> None:
        """Write the file of a unit."""
        # This process alone writes: workers return bytes, so that no file system need be shared.
        path = unit_path(self._folder, self._planned.generation, played.unit.own["number"])
        self._charge(played)
        write_bytes(path, played.result.content)
        self._costs.append(played.result.facts)
        self.games += played.unit.games
        self._seconds = host.clock.passed() - self._began

    def _charge(self, played: Played) -> None:
        """Write what a unit has cost, before its games: after a kill in between it has two lines, never none."""
        own, large = (int(played.result.facts.get(name, 0)) for name in EVALUATIONS)
        number = played.unit.own["number"]
        cost = UnitCost(
            kind=self._planned.kind,
            generation=self._planned.generation,
            number=number,
            evaluations=own,
            evaluations_large=large,
        )
        with self._writing:
            self._unit_costs.add(cost)

    def end(self) -> tuple[list[Games], StepCost]:
        """Return all games, those just played as their files have them, and what they took; raise what went wrong."""
        if self._consumer is not None and self._consumer.error is not None:
            raise self._consumer.error
        planned = self._planned
        games = []
        for number in planned.units:
            # New units are read back from their files: what is learned from is what a resumed run will read.
            sound = self._sound.get(number)
            games.append(unit_games(planned, self._folder, number) if sound is None else sound)
        cost = StepCost.of(self._costs, self._seconds)
        charged = self._unit_costs.of(planned.kind, planned.generation)
        return games, replace(cost, evaluations=charged)


def _checked(planned: PlannedGames, played: Played) -> Games:
    """Return the games of a unit. ValueError where they are not those that were planned."""
    return planned.checked(pa.BufferReader(played.result.content), played.unit.own["number"], played.unit.name)


def _line(games: Games, number: int) -> bytes:
    """Return the digest of a game's start and moves."""
    begin, end = games.line_offsets[number : number + 2].tolist()
    return line_digest(f"{games.origin[number]} {games.lines[begin:end].tolist()}")


def _scores(games: Games, planned: PlannedGames) -> list[float]:
    """Return the candidate's points in each game: 1, 1/2 or 0."""
    points = []
    for index, outcome in zip(games.index.tolist(), games.outcome.tolist(), strict=True):
        first, _ = planned.plans[index].sides
        of_candidate = outcome if first == CANDIDATE else -outcome
        points.append((1 + of_candidate) / 2)
    return points
