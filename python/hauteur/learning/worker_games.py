"""The games of a run's steps, played by workers in units; this process alone writes files."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from hauteur.cluster.records import summed_numbers, worker_numbers
from hauteur.cluster.scheduler import Batch, Played, Scheduler
from hauteur.games.game_line import NO_NET
from hauteur.learning.gate import GateResults
from hauteur.learning.planned import CANDIDATE, PlannedGames
from hauteur.learning.recipe import Recipe
from hauteur.learning.recorded_games import Games
from hauteur.learning.run_folder import RunFolder
from hauteur.learning.step_games import OnGames, StepCost
from hauteur.learning.unit_files import missing_units, unit_path, write_unit
from hauteur.learning.unit_journal import UnitJournal
from hauteur.learning.units import EVALUATIONS, summed_facts, units_of
from hauteur.matches.ratings.elo import Sprt

PULSE = 0.2
"""Seconds after which the progress of units in the background is shown again."""

MOST_CHECKED = 128 * 2**20
"""Bytes of checked games of a generation that wait for its end; the files of others are read again."""
MOST_NAMED = 20
"""Units that a warning names."""


class WorkerGames:
    """Workers play the games.

    net_files: of a generation's nets; warn: takes what is wrong, in a line; before: metrics of the
    present generation that an earlier process left.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        recipe: Recipe,
        folder: RunFolder,
        net_files: Callable[[int], Sequence[Path]],
        warn: Callable[[str], object],
        before: Mapping[str, Any],
    ) -> None:
        self._scheduler, self._recipe, self._folder = scheduler, recipe, folder
        self._net_files, self._warn = net_files, warn
        self._journal = UnitJournal(recipe, folder)
        self._playing: dict[int, _Playing] = {}
        self._wrong: frozenset[str] = frozenset()
        self._since, self._before = scheduler.counts, before.get("workers", {})
        if not recipe.run.exact:
            warn("run.exact = false: workers' games are not those of one process, nor the same again, nor compared")

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
        distrusted = self._journal.distrusted(planned.generation)
        missing = missing_units(planned, self._folder.games, self._warn, distrusted)
        before = len(planned.plans) - sum(len(planned.units[number]) for number in missing)
        return _Playing(self._start(planned, missing), before, lambda played: self._accept(planned, played))

    def self_play(self, planned: PlannedGames, on_games: OnGames) -> tuple[StepCost, dict[Path, Games]]:
        """Wait for the games of a generation."""
        generation, costs, seconds = planned.generation, list[Mapping[str, float]](), 0.0
        while True:
            playing = self._playing[generation]
            while not playing.has_ended(PULSE):
                self._look()
                on_games(playing.games)
            on_games(playing.games)
            self._look()
            costs, seconds = [*costs, *playing.costs], seconds + playing.seconds
            if not self._journal.distrusted(generation):
                del self._playing[generation]
                return _cost(costs, seconds), playing.checked
            self._playing[generation] = self._begun(planned)  # a worker was shut out after all had been played

    def play_again(self, planned: PlannedGames, numbers: Sequence[int], on_games: OnGames) -> None:
        """Play units of a generation that is over, before any that were begun earlier."""
        games = 0
        with closing(self._start(planned, numbers, first=True)) as batch:
            for played in batch:
                self._accept(planned, played)
                games += 0 if played.replaces else played.unit.games
                on_games(games)

    def probe(self, planned: PlannedGames, on_games: OnGames) -> tuple[Games, StepCost]:
        """Play games for observation."""
        began, parts, costs = time.perf_counter(), dict[int, Games](), list[Mapping[str, float]]()
        for played in self._results(planned):
            parts[played.unit.own["number"]] = played.games
            costs.append(played.result.facts)
            on_games(sum(part.games for part in parts.values()))
        games = Games.join([parts[number] for number in sorted(parts)])
        return games, _cost(costs, time.perf_counter() - began)

    def gate_match(self, planned: PlannedGames, sprt: Sprt | None, on_games: OnGames) -> GateResults:
        """Play a gate match; with a sequential test until it ends."""
        results, scores = GateResults(sprt), dict[int, float]()
        for played in self._results(planned):
            games: Games = played.games
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
        """Return the numbers of the generation until now."""
        return {"workers": summed_numbers([self._before, worker_numbers(self._since, self._scheduler.counts)])}

    def progress(self) -> dict[str, Any]:
        """Return what progress.json has about workers."""
        return {"workers": self.workers(), "numbers": self.metrics()["workers"]}

    def end_generation(self) -> dict[str, Any]:
        """Return the numbers of the generation, and begin to count anew."""
        found = self.metrics()
        self._since, self._before = self._scheduler.counts, {}
        return found

    def close(self) -> None:
        """Forget the units that are being played."""
        for playing in self._playing.values():
            playing.batch.close()

    def _start(self, planned: PlannedGames, numbers: Sequence[int], *, first: bool = False) -> Batch:
        nets = {net: self._net_files(net) for net in planned.nets if net != NO_NET}
        units, sources = units_of(self._recipe, planned, nets, numbers)
        on_compared = partial(self._journal.add_comparison, planned)
        return self._scheduler.start(units, sources, planned.check, first=first, on_compared=on_compared)

    def _results(self, planned: PlannedGames) -> Iterator[Played]:
        """Yield what workers make of all units, before any that were begun earlier; note who did."""
        batch = self._start(planned, list(planned.units), first=True)
        with closing(batch):
            for played in batch:
                self._note(planned, played)
                yield played

    def _accept(self, planned: PlannedGames, played: Played) -> Path:
        """Note who played a unit, then write its file, so that no file is there of which this is not known."""
        self._note(planned, played)
        number, content = played.unit.own["number"], played.result.content
        write_unit(planned, self._folder.games, number, content, replaces=played.replaces)
        return unit_path(self._folder.games, planned.generation, number)

    def _note(self, planned: PlannedGames, played: Played) -> None:
        number, seconds = played.unit.own["number"], played.result.facts.get("total", 0.0)
        more = {"attempts": played.attempts, "replaces": played.replaces}
        self._journal.add(planned, number, played.worker, played.facts, seconds, **more)

    def _look(self) -> None:
        """Name workers that have been shut out, and what of theirs remains."""
        wrong = self._scheduler.shut_out
        for worker in sorted(wrong - self._wrong):
            units = [unit for unit in self._journal.shut_out(worker) if unit[0] not in self._playing]
            if units:
                listed = ", ".join(f"{number} of generation {generation}" for generation, number in units[:MOST_NAMED])
                more = f", and {len(units) - MOST_NAMED} more" if len(units) > MOST_NAMED else ""
                kept = f"{len(units)} units of earlier generations, which were learned from: {listed}{more}"
                self._warn(f"{worker} is shut out; it has played {kept}")
        self._wrong = wrong


class _Playing:
    """Self-play of a generation that workers play while this process may do something else.

    before: games that were there already; accept: takes each unit and returns its file; costs: of the units so far;
    seconds: of the clock until the last; checked: games of units, as far as there is room.
    """

    def __init__(self, batch: Batch, before: int, accept: Callable[[Played], Path]) -> None:
        self.batch, self.games, self.costs = batch, before, list[Mapping[str, float]]()
        self.seconds = 0.0
        self.checked: dict[Path, Games] = {}
        self._room = MOST_CHECKED
        self._accept, self._error = accept, list[Exception]()
        self._thread = threading.Thread(target=self._take, name="self-play", daemon=True)
        self._thread.start()

    def has_ended(self, seconds: float) -> bool:
        """Wait for the last unit at most so many seconds; raise what went wrong."""
        self._thread.join(seconds)
        over = not self._thread.is_alive()
        if self._error:
            raise self._error[0]
        return over

    def _take(self) -> None:
        began = time.perf_counter()
        try:
            for played in self.batch:
                self._keep(self._accept(played), played.games)
                self.costs.append(played.result.facts)
                self.games += 0 if played.replaces else played.unit.games
                self.seconds = time.perf_counter() - began
        except Exception as error:  # raised where the games are waited for
            self._error.append(error)

    def _keep(self, path: Path, games: Games) -> None:
        """Keep games for the replay buffer, so that their file is not read again; not those that were replaced."""
        self._room -= games.nbytes
        self.checked.pop(path, None)
        if self._room >= 0:
            self.checked[path] = games


def _scores(games: Games, planned: PlannedGames) -> list[float]:
    """Return the candidate's score in each game."""
    seats = [planned.plans[index].seats[0] for index in games.index.tolist()]
    signs = np.where(np.array(seats) == CANDIDATE, 1, -1)
    return [float(score) for score in (1 + signs * games.outcome) / 2]


def _cost(costs: Sequence[Mapping[str, float]], seconds: float) -> StepCost:
    evaluations = tuple(int(sum(cost.get(name, 0.0) for cost in costs)) for name in EVALUATIONS)
    return StepCost(summed_facts(costs), (evaluations[0], evaluations[1]), seconds)
