"""Games of units: those of all units that a worker has at a time are played side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hauteur.cluster.kinds import Feed
from hauteur.cluster.unit import Unit
from hauteur.games.registry import load_game
from hauteur.matches.arena import ArenaFacts
from hauteur.matches.record import GamePlan, GameRecord
from hauteur.mcts.driver import SearchFacts

Encode = Callable[[Sequence[GameRecord]], bytes]
"""Returns the content of a unit's result from its games, in the order of their numbers."""
Count = Callable[[ArenaFacts], Mapping[str, float]]
"""Returns more that games have cost until now, by name."""
PlayPlans = Callable[[Iterator[GamePlan], ArenaFacts], Iterator[GameRecord]]
"""Plays games as `play_games` does; asks the iterator again after it has ended, while games go on."""


def plan_to_json(plan: GamePlan) -> dict[str, Any]:
    """Return a plan as JSON; its origin must be the start of a game's spec."""
    start = {"start": plan.start, "origin": plan.origin_spec}
    return {"index": plan.index, "seats": plan.seats, **start, "seed": plan.seed}


def plan_from_json(fields: Mapping[str, Any]) -> GamePlan:
    """Return the plan that `plan_to_json` wrote."""
    spec = fields["origin"]
    first, second = fields["seats"]
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
    """The plans of the units of a feed, as far as it has any now; the games are handed in unit by unit."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._plans: list[GamePlan] = []
        self._running: dict[int, _Running] = {}

    def __iter__(self) -> Iterator[GamePlan]:
        return self

    def __next__(self) -> GamePlan:
        if not self._plans:
            unit = self._feed.next_unit()
            if unit is None:
                raise StopIteration
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


def play_units(feed: Feed, play: PlayPlans, encode: Encode, count: Count = lambda _: {}) -> None:
    """Play the units of a feed until it has none, and hand in each once its last game has ended."""
    plans, facts, before = UnitPlans(feed), ArenaFacts(), dict[str, float]()
    for record in play(plans, facts):
        ended = plans.ended(record)
        if ended is not None:
            now = {**_counts(facts), **count(facts)}
            unit, records = ended
            spent = {name: now[name] - before.get(name, 0.0) for name in now}
            own = {"games": len(records), "moves": sum(len(record.actions) for record in records)}
            feed.done(unit, encode(records), {**own, **spent})
            before = now


def _counts(facts: ArenaFacts) -> dict[str, float]:
    """Return what games have cost until now: between the ends of two units is what counts for the second."""
    search = facts.search
    return {
        "visits": facts.visits,
        "cache_hits": facts.cache_hits,
        "cache_lookups": facts.cache_lookups,
        "rows": search.rows,
        "batches": search.batches,
        "network": search.network,
        "search": search.search,
        "capacity": search.capacity,
        "total": search.total,
    }


def add_counts(facts: ArenaFacts, counts: Mapping[str, float]) -> None:
    """Add what a unit has cost, as `play_units` hands it in; seconds are those of its worker."""
    facts.games += int(counts.get("games", 0))
    facts.moves += int(counts.get("moves", 0))
    facts.visits += counts.get("visits", 0.0)
    facts.cache_hits += counts.get("cache_hits", 0.0)
    facts.cache_lookups += counts.get("cache_lookups", 0.0)
    facts.tree_bytes += counts.get("tree_bytes", 0.0)
    search = replace(facts.search)
    search.add(
        SearchFacts(
            search=counts.get("search", 0.0),
            network=counts.get("network", 0.0),
            total=counts.get("total", 0.0),
            rows=int(counts.get("rows", 0)),
            batches=int(counts.get("batches", 0)),
            capacity=int(counts.get("capacity", 0)),
        )
    )
    facts.search = search  # at once: another thread may look
