"""Games of units: those of all units that a worker has at a time are played side by side."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from hauteur.cluster.unit import Unit
from hauteur.games.registry import load_game
from hauteur.matches.arena import ArenaFacts
from hauteur.matches.record import GamePlan, GameRecord

PlayPlans = Callable[[Iterator[GamePlan], ArenaFacts], Generator[GameRecord]]
"""Plays games as `play_games` does; asks the iterator again after it has ended, while games go on."""
Count = Callable[[ArenaFacts], Mapping[str, float]]
"""Returns more that games have cost until now, by name."""


def plan_to_json(plan: GamePlan) -> dict[str, Any]:
    """Return a plan as JSON; its origin must be the start of a game's spec."""
    start = {"start": plan.start, "origin": plan.origin_spec}
    return {"index": plan.index, "sides": plan.sides, **start, "seed": plan.seed}


def plan_from_json(fields: Mapping[str, Any]) -> GamePlan:
    """Return the plan that `plan_to_json` wrote."""
    spec = fields["origin"]
    first, second = fields["sides"]
    return GamePlan(
        int(fields["index"]),
        (int(first), int(second)),
        tuple(map(int, fields["start"])),
        None if spec is None else load_game(spec).new_initial_state(),
        fields["seed"],
    )


@dataclass
class _Running:
    unit: Unit
    missing: int
    records: list[GameRecord] = field(default_factory=list)


class UnitPlans:
    """The plans of units, as far as there are any now; `ended` sorts the games by unit."""

    def __init__(self, units: Iterator[Unit]) -> None:
        self._units = units
        self._plans: list[GamePlan] = []
        self._running: dict[int, _Running] = {}

    def __iter__(self) -> Iterator[GamePlan]:
        return self

    def __next__(self) -> GamePlan:
        if not self._plans:
            unit = next(self._units)
            self._plans = [plan_from_json(fields) for fields in reversed(unit.own["plans"])]
            running = _Running(unit, len(self._plans))
            self._running |= {plan.index: running for plan in self._plans}
        return self._plans.pop()

    def ended(self, record: GameRecord) -> tuple[Unit, list[GameRecord]] | None:
        """Take a game; return its unit with all games once it is the last of them."""
        running = self._running.pop(record.plan.index)
        running.records.append(record)
        running.missing -= 1
        if running.missing:
            return None
        return running.unit, sorted(running.records, key=lambda one: one.plan.index)


class UnitRecords(NamedTuple):
    """The games of a unit, in the order of their numbers, and what they have cost (see `add_counts`)."""

    unit: Unit
    records: list[GameRecord]
    facts: dict[str, float]


def play_units(
    units: Iterator[Unit],
    play: PlayPlans,
    count: Count = lambda _: {},
    on_game: Callable[[], object] = lambda: None,
) -> Generator[UnitRecords]:
    """Play units side by side until there are none; yield each once its last game has ended.

    on_game: called after every game.
    """
    plans, facts, before = UnitPlans(units), ArenaFacts(), dict[str, float]()
    with closing(play(plans, facts)) as played:
        for record in played:
            on_game()
            ended = plans.ended(record)
            if ended is not None:
                now = {**_counts(facts), **count(facts)}
                unit, records = ended
                spent = {name: now[name] - before.get(name, 0.0) for name in now}
                own = {"games": len(records), "moves": sum(len(one.actions) for one in records)}
                yield UnitRecords(unit, records, {**own, **spent})
                before = now


OF_GAMES = ("visits", "cache_hits", "cache_lookups")
OF_SEARCH = ("rows", "batches", "network", "search", "capacity", "total")
"""Counts of ArenaFacts and of its SearchFacts that units report."""


def _counts(facts: ArenaFacts) -> dict[str, float]:
    """Return what games have cost until now: between the ends of two units is what counts for the second."""
    return {name: getattr(facts, name) for name in OF_GAMES} | {name: getattr(facts.search, name) for name in OF_SEARCH}


def add_counts(facts: ArenaFacts, counts: Mapping[str, float]) -> None:
    """Add what a unit has cost, as `play_units` yields it; seconds are those of its worker."""
    for name in ("games", "moves", *OF_GAMES, "tree_bytes"):
        setattr(facts, name, getattr(facts, name) + type(getattr(facts, name))(counts.get(name, 0)))
    search = replace(facts.search)
    for name in OF_SEARCH:
        setattr(search, name, getattr(search, name) + type(getattr(search, name))(counts.get(name, 0)))
    facts.search = search  # at once: another thread may look
