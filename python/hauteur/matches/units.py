"""Units of games that workers play: plans as JSON, the games of those that a worker has at a time, and the units of
matches.
"""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from hauteur import _core
from hauteur.cluster.unit import TakeUnit, Unit, UnitResult
from hauteur.games.registry import load_game
from hauteur.matches.arena import ArenaFacts, GameRules, Layout, play_games
from hauteur.matches.record import GamePlan, GameRecord
from hauteur.matches.results import MatchGame
from hauteur.networks.names import ResolvedNet
from hauteur.players.build import Evaluators, Resources, as_played, build_player, player_nets
from hauteur.players.player import Player
from hauteur.players.settings import PlayerSettings
from hauteur.system.stopping import Stopped, stop

if TYPE_CHECKING:
    from hauteur.cluster.scheduler import Played, Scheduler, UnitBatch
    from hauteur.matches.settings import GamesSettings

OF_GAMES = ("visits", "cache_hits", "cache_lookups")
"""Counts of ArenaFacts that units report."""
OF_SEARCH = ("rows", "batches", "network", "search", "capacity", "total")
"""Counts of its SearchFacts that units report."""

SHARES = 8
"""Units that the games of a short match make at least."""
WAVE = 32
"""Units that a scheduler is given at a time; two waves are open, so that no worker waits at a seam."""

GAMES = TypeAdapter(list[MatchGame])


def plan_to_json(plan: GamePlan) -> dict[str, Any]:
    """Return a plan as JSON; its origin must be the start of a game's spec."""
    start = {"start": plan.start, "origin": plan.origin_spec}
    return {"index": plan.index, "sides": plan.sides, **start, "seed": plan.seed}


def plan_from_json(fields: Mapping[str, Any]) -> GamePlan:
    """Return the plan that `plan_to_json` wrote."""
    spec = fields["origin"]
    first, second = fields["sides"]
    origin = None if spec is None else load_game(spec).new_initial_state()
    return GamePlan(
        index=int(fields["index"]),
        sides=(int(first), int(second)),
        start=tuple(fields["start"]),
        origin=origin,
        seed=fields["seed"],
    )


class UnitPlans:
    """The plans of units, as far as there are any now; `ended` sorts the games by unit."""

    def __init__(self, take: TakeUnit) -> None:
        self._take = take
        self._plans: list[GamePlan] = []
        self._running: dict[int, tuple[Unit, list[GameRecord]]] = {}

    def __iter__(self) -> Iterator[GamePlan]:
        return self

    def __next__(self) -> GamePlan:
        if not self._plans:
            if (unit := self._take()) is None:
                raise StopIteration
            # Reversed, since they are taken from the end.
            self._plans = [plan_from_json(fields) for fields in reversed(unit.own["plans"])]
            running = unit, list[GameRecord]()
            self._running |= {plan.index: running for plan in self._plans}
        return self._plans.pop()

    def ended(self, record: GameRecord) -> tuple[Unit, list[GameRecord]] | None:
        """Take a game; return its unit with all games, by number, once it is the last of them."""
        unit, records = self._running.pop(record.plan.index)
        records.append(record)
        if len(records) < unit.games:
            return None
        # By number and not as they ended: a unit's content is the same however long each game takes.
        return unit, sorted(records, key=lambda record: record.plan.index)


def counts_of(facts: ArenaFacts) -> dict[str, float]:
    """Return what was counted of games and searches until now, by name."""
    counts = {name: getattr(facts, name) for name in OF_GAMES}
    counts |= {name: getattr(facts.search, name) for name in OF_SEARCH}
    counts["tree_bytes"] = facts.tree_bytes
    return counts


def ended_units(
    games: Generator[GameRecord],
    plans: UnitPlans,
    counts: Callable[[], Mapping[str, float]],
    on_game: Callable[[], object] = lambda: None,
) -> Generator[tuple[Unit, list[GameRecord], dict[str, float]]]:
    """Yield each unit with its games, by number, and what it has cost, once its last game has ended.

    counts: returns what was counted until now, by name. Units are played side by side, so that what one has cost is
    what came since the last one ended. on_game: called after every game.
    """
    before: Mapping[str, float] = {}
    with closing(games):
        for record in games:
            on_game()
            ended = plans.ended(record)
            if ended is None:
                continue
            now = counts()
            spent = {name: count - before.get(name, 0.0) for name, count in now.items()}
            before = now
            yield *ended, spent


class MatchUnits:
    """The units of a match's missing games, or of those of all matches of a tournament.

    ValueError for a player that only this process has.
    """

    def __init__(
        self,
        game: _core.Game,
        settings: GamesSettings,
        players: Mapping[str, PlayerSettings],
        resources: Resources,
        missing: int,
    ) -> None:
        # A worker plays two units side by side, whose games share its batches.
        pairs = min(resources.parallel // 4, missing // SHARES) // 2
        self._size = 2 * max(1, pairs)
        self.sources: dict[str, Path] = {}
        self._shared = {
            "game": game.spec,
            "players": [self._player(game, label, player) for label, player in players.items()],
            "seed": settings.seed,
            "max_plies": settings.max_plies,
            "parallel": 2 * self._size,
            "batch_size": resources.batch_size,
            "backend": resources.backend,
        }
        self._files = {sha256: path.name for sha256, path in self.sources.items()}

    def units(self, plans: Iterator[GamePlan]) -> Iterator[Unit]:
        """Yield the units of these games, made as they are asked for."""
        number = 0
        while some := list(islice(plans, self._size)):
            own = {"number": number, "plans": [plan_to_json(plan) for plan in some]}
            yield Unit("match", f"match, unit {number}", self._shared, own, self._files, games=len(some))
            number += 1

    def _player(self, game: _core.Game, label: str, settings: PlayerSettings) -> dict[str, Any]:
        """Return a player as JSON: its settings, and its nets by sha256, or by name those without a file."""
        if isinstance(settings, Player) and (settings.function or settings.rules or settings.evaluator is not None):
            raise ValueError(
                f"player {label} holds an object of this process, which workers have not: give a net as a file, or "
                "leave workers out"
            )
        nets = player_nets(game, settings)
        named = {}
        for setting, net in nets.items():
            named[setting] = net.path
            if net.has_file:
                named[setting] = net.sha256
                self.sources[net.sha256] = Path(net.path)
        values = as_played(game, settings).model_dump(mode="json", exclude_unset=True)  # nets have other files there
        return {"label": label, "settings": values, "nets": named}


def games_of_workers(
    scheduler: Scheduler,
    units: MatchUnits,
    plans: Iterator[GamePlan],
    facts: ArenaFacts,
) -> Generator[MatchGame]:
    """Yield the games of units as workers have played them; `facts` is kept up to date. Closing it gives no more away.

    After a request to end those of units in work come yet, then it raises Stopped. ValueError where a unit has not the
    games that were planned, or cannot be played.
    """
    began = time.perf_counter()
    waiting = units.units(plans)
    waves: deque[UnitBatch] = deque()
    try:
        with stop.put_off():
            while True:
                while len(waves) < 2 and not stop.requested:
                    wave = list(islice(waiting, WAVE))
                    if not wave:
                        break
                    waves.append(scheduler.start(wave, units.sources))
                if not waves:
                    return
                for played in _until_stopped(waves[0]):
                    games = checked_games(played)
                    _add(facts, played.result.facts, time.perf_counter() - began)
                    yield from games
                waves.popleft()
    finally:
        for batch in waves:
            batch.close()


def _until_stopped(batch: UnitBatch) -> Iterator[Played]:
    """Yield what comes of a batch; a request to end ends it early."""
    with suppress(Stopped):
        yield from batch


def checked_games(played: Played) -> list[MatchGame]:
    """Return the games of a unit. ValueError where they are not those that were planned."""
    try:
        # From another process, maybe of another version: nothing of it is taken on trust.
        games = GAMES.validate_json(played.result.content)
    except ValidationError as error:
        reason = str(error).splitlines()[0]
        raise ValueError(f"{played.unit.name}: its games cannot be read: {reason}") from None
    planned = [plan["index"] for plan in played.unit.own["plans"]]
    if [game.index for game in games] != planned:
        raise ValueError(f"{played.unit.name}: its games are not those that were planned")
    return games


def _add(facts: ArenaFacts, spent: Mapping[str, float], seconds: float) -> None:
    """Add what a unit has cost. seconds: of the clock, since the games began."""
    facts.games += int(spent["games"])
    facts.moves += int(spent["moves"])
    for name in OF_GAMES:
        setattr(facts, name, getattr(facts, name) + spent[name])
    for name in OF_SEARCH:
        count = getattr(facts.search, name)
        # JSON has made floats of the counts.
        setattr(facts.search, name, count + type(count)(spent[name]))
    facts.search.total = seconds


class MatchJob:
    """Games of a match or a tournament, played by a worker. files: of the nets, by sha256; threads: of each net."""

    def __init__(self, unit: Unit, files: Mapping[str, Path], threads: int) -> None:
        shared = unit.shared
        self._shared = shared
        self._game = load_game(shared["game"])
        resources = Resources(shared["parallel"], shared["batch_size"], threads, shared["backend"])
        self._layout = Layout(resources.parallel, resources.rows)
        with ExitStack() as stack:
            evaluators = stack.enter_context(Evaluators(self._game, resources))
            self._players = []
            for one in shared["players"]:
                settings = PlayerSettings.model_validate(one["settings"])
                nets = {setting: _net(name, files) for setting, name in one["nets"].items()}
                self._players.append(build_player(self._game, settings, evaluators, one["label"], nets))
            # Only now: where a player cannot be built, the nets that were opened are closed again.
            self._stack = stack.pop_all()

    def play(self, take: TakeUnit) -> Iterator[UnitResult]:
        """Play units side by side until there are none; yield each once its last game has ended."""
        plans = UnitPlans(take)
        facts = ArenaFacts()
        games = play_games(
            self._game,
            self._players,
            plans,
            seed=self._shared["seed"],
            purpose="match",
            layout=self._layout,
            rules=GameRules(max_plies=self._shared["max_plies"]),
            facts=facts,
        )
        with closing(ended_units(games, plans, lambda: counts_of(facts))) as ended:
            for unit, records, spent in ended:
                yield self._result(unit, records, spent)

    def _result(self, unit: Unit, records: Sequence[GameRecord], spent: Mapping[str, float]) -> UnitResult:
        """Return a unit's games as JSON, with what they took."""
        moves = 0
        games = []
        for record in records:
            moves += len(record.actions)
            game = MatchGame.of(self._game, record)
            games.append(game.model_dump(mode="json", exclude_defaults=True))
        facts = {"games": len(records), "moves": moves, **spent}
        return UnitResult(unit.key, json.dumps(games).encode(), facts)

    def close(self) -> None:
        """Close the nets."""
        self._stack.close()


def _net(name: str, files: Mapping[str, Path]) -> ResolvedNet:
    """Return a net by its sha256, or by the name of an evaluator without a file."""
    return ResolvedNet(str(files.get(name, name)))
