"""The games of a run's steps, played by workers in units; this process alone writes files."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from hauteur.cluster.records import workers_line
from hauteur.cluster.scheduler import Batch, Played, Scheduler
from hauteur.cluster.unit import Unit
from hauteur.games.game_line import NO_NET
from hauteur.learning.gate import GateResults
from hauteur.learning.planned import CANDIDATE, PlannedGames
from hauteur.learning.recipe import Recipe
from hauteur.learning.recorded_games import Games
from hauteur.learning.run_folder import RunFolder
from hauteur.learning.step_games import OnGames, StepCost
from hauteur.learning.unit_files import missing_units, write_unit
from hauteur.learning.unit_journal import UnitJournal
from hauteur.learning.units import EVALUATIONS, summed_facts, units_of
from hauteur.matches.ratings.elo import Sprt

PULSE = 0.2
"""Seconds after which the progress of units in the background is shown again."""


class WorkerGames:
    """Workers play the games. net_files: of a generation's nets; warn: takes what is wrong, in a line."""

    def __init__(
        self,
        scheduler: Scheduler,
        recipe: Recipe,
        folder: RunFolder,
        net_files: Callable[[int], Sequence[Path]],
        warn: Callable[[str], object],
    ) -> None:
        self._scheduler, self._recipe, self._folder = scheduler, recipe, folder
        self._net_files, self._warn = net_files, warn
        self._journal = UnitJournal(recipe, folder)
        self._playing: dict[int, _Playing] = {}
        self._batches: list[Batch] = []

    def unit_games(self, games: int) -> int:
        """Return what gives each worker two units."""
        share = -(-games // (2 * max(1, len(self._scheduler.workers))))
        return min(max(2, share + share % 2), 100)

    def begin(self, *planned: PlannedGames) -> None:
        """Begin the self-play of generations that have not begun."""
        for one in planned:
            if one.generation not in self._playing:
                self._playing[one.generation] = self._begun(one)

    def _begun(self, planned: PlannedGames) -> _Playing:
        missing = missing_units(planned, self._folder.games, self._warn)
        batch = self._start(planned, missing)
        before = len(planned.plans) - sum(len(planned.units[number]) for number in missing)
        return _Playing(batch, before, lambda played: self._accept(planned, played))

    def self_play(self, planned: PlannedGames, on_games: OnGames) -> StepCost:
        """Wait for the games of a generation."""
        playing = self._playing[planned.generation]
        playing.wait(on_games)
        del self._playing[planned.generation]
        return _cost(playing.costs, playing.seconds)

    def probe(self, planned: PlannedGames, on_games: OnGames) -> tuple[Games, StepCost]:
        """Play games for observation."""
        began, parts, costs = time.perf_counter(), dict[int, Games](), list[Mapping[str, float]]()
        for played in self._results(planned):
            number, games = _games(planned, played)
            parts[number] = games
            costs.append(played.result.facts)
            on_games(sum(part.games for part in parts.values()))
        games = Games.join([parts[number] for number in sorted(parts)])
        return games, _cost(costs, time.perf_counter() - began)

    def gate_match(self, planned: PlannedGames, sprt: Sprt | None, on_games: OnGames) -> GateResults:
        """Play a gate match; with a sequential test until it ends."""
        results, scores = GateResults(sprt), dict[int, float]()
        for played in self._results(planned):
            _, games = _games(planned, played)
            new = dict(zip(games.index.tolist(), _scores(games, planned), strict=True))
            scores |= new
            if played.replaces:
                results, new = GateResults(sprt), scores
            for index in sorted(new):
                results.add(index, new[index])
            on_games(results.record.games)
            if results.over:
                break
        return results

    def workers(self) -> str:
        """Return who plays games, and what they wait for, in words."""
        return self._scheduler.status()

    def metrics(self) -> dict[str, Any]:
        """Return the numbers of the generation that ends."""
        counts, self._batches = [batch.counts for batch in self._batches], []
        return {"workers": workers_line(counts)} if counts else {}

    def close(self) -> None:
        """Forget the units that are being played."""
        for playing in self._playing.values():
            playing.batch.close()

    def _start(self, planned: PlannedGames, numbers: Sequence[int], *, first: bool = False) -> Batch:
        nets = {net: self._net_files(net) for net in planned.nets if net != NO_NET}
        units, sources = units_of(self._recipe, planned, nets, numbers)

        def check(unit: Unit, content: bytes) -> str:
            return planned.checked(pa.BufferReader(content), unit.own["number"], unit.name)[1]

        batch = self._scheduler.start(units, sources, check, first=first)
        self._batches.append(batch)
        return batch

    def _results(self, planned: PlannedGames) -> Iterator[Played]:
        """Yield what workers make of all units, before any that were begun earlier; note who did."""
        batch = self._start(planned, list(planned.units), first=True)
        with closing(batch):
            for played in batch:
                self._note(planned, played)
                yield played

    def _accept(self, planned: PlannedGames, played: Played) -> None:
        """Note who played a unit, then write its file, so that no file is there of which this is not known."""
        self._note(planned, played)
        number, content = played.unit.own["number"], played.result.content
        write_unit(planned, self._folder.games, number, content, replaces=played.replaces)

    def _note(self, planned: PlannedGames, played: Played) -> None:
        number, seconds = played.unit.own["number"], played.result.facts.get("total", 0.0)
        self._journal.add(
            planned, number, played.worker, played.facts, seconds, attempts=played.attempts, replaces=played.replaces
        )


class _Playing:
    """Self-play of a generation that workers play while this process may do something else.

    before: games that were there already; accept: takes each unit; costs: of the units so far; seconds: of the clock
    until the last.
    """

    def __init__(self, batch: Batch, before: int, accept: Callable[[Played], None]) -> None:
        self.batch, self.games, self.costs = batch, before, list[Mapping[str, float]]()
        self.seconds = 0.0
        self._accept, self._error = accept, list[Exception]()
        self._thread = threading.Thread(target=self._take, name="self-play", daemon=True)
        self._thread.start()

    def wait(self, on_games: OnGames) -> None:
        """Wait for the last unit; raise what went wrong."""
        while self._thread.is_alive():
            self._thread.join(PULSE)
            on_games(self.games)
        if self._error:
            raise self._error[0]
        on_games(self.games)

    def _take(self) -> None:
        began = time.perf_counter()
        try:
            for played in self.batch:
                self._accept(played)
                self.costs.append(played.result.facts)
                self.games += 0 if played.replaces else played.unit.games
                self.seconds = time.perf_counter() - began
        except Exception as error:  # raised where the games are waited for
            self._error.append(error)


def _games(planned: PlannedGames, played: Played) -> tuple[int, Games]:
    """Return the number of a unit, and its games."""
    number = played.unit.own["number"]
    return number, planned.checked(pa.BufferReader(played.result.content), number, played.unit.name)[0]


def _scores(games: Games, planned: PlannedGames) -> list[float]:
    """Return the candidate's score in each game."""
    seats = [planned.plans[index].seats[0] for index in games.index.tolist()]
    signs = np.where(np.array(seats) == CANDIDATE, 1, -1)
    return [float(score) for score in (1 + signs * games.outcome) / 2]


def _cost(costs: Sequence[Mapping[str, float]], seconds: float) -> StepCost:
    evaluations = tuple(int(sum(cost.get(name, 0.0) for cost in costs)) for name in EVALUATIONS)
    return StepCost(summed_facts(costs), (evaluations[0], evaluations[1]), seconds)
