"""The speed of games that are under way: what a stretch in their middle does, without waiting for a game to end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from hauteur.matches.arena import USUAL_RULES, GameRules, Layout, games_of_core
from hauteur.matches.openings import opening_state, random_opening
from hauteur.matches.record import GamePlan
from hauteur.system.seeds import derived_seed, stream

if TYPE_CHECKING:
    from hauteur import _core
    from hauteur.players.search_player import SearchPlayer

RANDOM_PLIES = 12
"""Games begin with up to this many random plies, so that they differ at once, as games in their middle do."""

LOOKED_EVERY = 0.05
"""Seconds after which places of games that have ended are filled."""


@dataclass(frozen=True)
class Speed:
    """What the threads of games have done in a stretch of time."""

    seconds: float
    """Length of the stretch."""
    visits: int
    """Visits of all trees."""
    rows: int
    """Rows that the evaluator has answered."""
    batches: int
    """Batches of these rows."""
    capacity: int
    """Rows that the batches had room for."""
    searching: float
    """Share of the threads' time in gather and apply, 0 to 1; time without a processor included."""
    waiting: float
    """Share of the threads' time in the evaluator, 0 to 1."""

    @property
    def rows_per_second(self) -> float:
        """Rows a second."""
        return self.rows / self.seconds

    @property
    def fill(self) -> float:
        """Mean share of a batch that held rows, 0 to 1."""
        return self.rows / self.capacity if self.capacity else 0.0


def speed_of_games(
    game: _core.Game,
    player: SearchPlayer,
    layout: Layout,
    *,
    seconds: float,
    warm_up: float,
    rules: GameRules = USUAL_RULES,
    seed: int = 0,
    random_plies: int = RANDOM_PLIES,
    on_begin: Callable[[], object] = lambda: None,
    on_end: Callable[[], object] = lambda: None,
) -> Speed:
    """Let a player with one evaluator play itself; return what was done in `seconds` after a time of `warm_up`.

    All games are dropped. random_plies: the most that a game begins with. on_begin, on_end: called where the stretch
    begins and ends.
    """
    core, _ = games_of_core(game, [player], layout=layout, rules=rules, seed=seed)
    plans = _varied_plans(game, seed, random_plies)
    try:
        _play(core, game, plans, warm_up)
        on_begin()
        before = _Counts.of(core)
        _play(core, game, plans, seconds)
        after = _Counts.of(core)
        on_end()
        return after.since(before, core.workers)
    finally:
        core.close()


@dataclass(frozen=True)
class _Counts:
    """What the threads of games have reported until a moment."""

    time: float
    visits: int
    rows: int
    batches: int
    capacity: int
    searching: float
    waiting: float

    @classmethod
    def of(cls, core: _core.PlayedGames) -> _Counts:
        """Read the counts of games with one evaluator now."""
        visits = int(core.facts()["visits"])
        return cls(time.perf_counter(), visits, *core.network_facts()[0])

    def since(self, before: _Counts, threads: int) -> Speed:
        """Return what these threads have done since an earlier moment."""
        seconds = self.time - before.time
        return Speed(
            seconds=seconds,
            visits=self.visits - before.visits,
            rows=self.rows - before.rows,
            batches=self.batches - before.batches,
            capacity=self.capacity - before.capacity,
            searching=(self.searching - before.searching) / (threads * seconds),
            waiting=(self.waiting - before.waiting) / (threads * seconds),
        )


def _play(core: _core.PlayedGames, game: _core.Game, plans: Iterator[GamePlan], seconds: float) -> None:
    """Play for this time, once all places of games are taken."""
    _fill(core, game, plans)
    end = time.perf_counter() + seconds
    while (left := end - time.perf_counter()) > 0:
        core.wait(min(left, LOOKED_EVERY))
        _fill(core, game, plans)


def _fill(core: _core.PlayedGames, game: _core.Game, plans: Iterator[GamePlan]) -> None:
    """Begin games while there is room."""
    while core.has_room:
        plan = next(plans)
        seed = derived_seed(0, "speed", plan.index)
        core.begin(plan.index, opening_state(game, plan), plan.sides, len(plan.start), seed)


def _varied_plans(game: _core.Game, seed: int, random_plies: int) -> Iterator[GamePlan]:
    """Yield games without end, each with its own opening of 0 to this many random plies."""
    random = stream(seed, "speed")
    for index in count():
        plies = int(random.integers(random_plies + 1))
        yield GamePlan(index, start=random_opening(game, plies, random))
