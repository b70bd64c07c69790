"""Games between players: self-play, gates and matches differ in their players and in what they keep of a game.

The core plays them (`_core.PlayedGames`, crates/core/src/play); here plans go in, players without a forest are asked
for moves, and records come out. `reference/games.py` plays the same games in plain Python, to be read.

A game depends on its plan and the players alone, not on the games beside it, on threads or on batches: its trees have
their own random numbers and never more than one leaf in flight. What remains is arithmetic: a network may round a row
differently in a batch of another size. Learning runs see to it that none does (networks.evaluators.fixed_rows).
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hauteur import _core
from hauteur.matches.openings import opening_state
from hauteur.matches.record import GamePlan, GameRecord, Resignation
from hauteur.mcts.driver import SearchFacts
from hauteur.mcts.own_rules import rule_chain
from hauteur.players.move_player import ChosenMove, EngineResignation, GameLost, MovePlayer, MoveRequest
from hauteur.players.search_player import SearchPlayer
from hauteur.system.seeds import derived_seed

if TYPE_CHECKING:
    from hauteur.networks.evaluators.base import Evaluator


MEASURED_EVERY = 0.2
"""Seconds after which the facts are counted again while nothing happens."""


@dataclass
class ArenaFacts:
    """Counts and seconds of a stretch of games, all players together; see SearchFacts for the three shares of time.

    networks: what each evaluator did.
    """

    games: int = 0
    moves: int = 0
    visits: float = 0.0
    cache_hits: float = 0.0
    cache_lookups: float = 0.0
    tree_bytes: float = 0.0
    search: SearchFacts = field(default_factory=SearchFacts)
    networks: list[tuple[Evaluator, SearchFacts]] = field(default_factory=list)

    @property
    def cache_hit_rate(self) -> float:
        """Share of evaluations that the cache answered, 0 to 1."""
        return self.cache_hits / self.cache_lookups if self.cache_lookups else 0.0


def play_games(
    game: _core.Game,
    players: Sequence[SearchPlayer | MovePlayer],
    plans: Iterable[GamePlan],
    *,
    seed: int,
    purpose: str,
    parallel: int,
    batch_size: int,
    in_flight: int = 2,
    threads: int = 1,
    max_plies: int | None = None,
    max_moves: int | None = None,
    resignation: Resignation | None = None,
    tree_per_side: bool = False,
    facts: ArenaFacts | None = None,
) -> Generator[GameRecord]:
    """Play the planned games, up to `parallel` at a time, and yield each when it ends; `facts` is kept up to date.

    threads: that search and compute nets, each in its part of the games, as many as a net of the core has at least;
    where Python computes a net (on a GPU, say) there are `in_flight`, so that one searches while the net computes for
    another, and more only as far as each has games for two batches.
    max_plies: a game unfinished after these plies, its start included, is a draw; None: no limit. max_moves: the same
    for the moves since its start. resignation: rule of resignation; None: never. tree_per_side: a player on both sides
    has a tree for each (players on one side always have their own). Random numbers derive from (seed, purpose, index of
    the game), or from the plan's seed. Closing the iterator early drops the running games.
    Search rules written in Python are asked by one thread alone.
    """
    searching = [player for player in players if isinstance(player, SearchPlayer)]
    distinct = {id(one): one for player in searching for one in (player.evaluator, player.large) if one is not None}
    evaluators = list(distinct.values())
    computing = [_core.PlayedGames.threads_of(one, game) for one in evaluators]
    if None in computing:
        threads = min(threads, parallel // (2 * batch_size))
    core = _core.PlayedGames(
        game,
        [_for_core(player, evaluators) if isinstance(player, SearchPlayer) else None for player in players],
        evaluators,
        json.dumps(
            {
                "max_plies": max_plies,
                "max_moves": max_moves,
                "resignation": None if resignation is None else resignation.model_dump(),
                "tree_per_side": tree_per_side,
            }
        ),
        parallel=parallel,
        batch_size=batch_size,
        workers=max([threads, 1, *(number or in_flight for number in computing)]),
        seed=seed,
    )
    asked = {number: player for number, player in enumerate(players) if not isinstance(player, SearchPlayer)}
    loop = _Loop(game, core, asked, evaluators, seed, purpose)
    return loop.run(iter(plans), ArenaFacts() if facts is None else facts)


def _for_core(player: SearchPlayer, evaluators: Sequence[Evaluator]) -> tuple[Any, str, int, int | None, Any]:
    """Return what the core has to know of a player: settings, and the places of its evaluators."""
    places = {id(one): place for place, one in enumerate(evaluators)}
    cap = player.playout_cap
    moves = {
        "visits": player.visits,
        "temperature": player.temperature.model_dump(),
        "playout_cap": None if cap is None else cap.model_dump(),
        "learns": player.learns,
    }
    large = None if player.large is None else places[id(player.large)]
    return player.search, json.dumps(moves), places[id(player.evaluator)], large, rule_chain(player.rules)


@dataclass
class _Loop:
    """Gives plans to the core and takes its games; asks players without a forest.

    begun: plans and seeds of the running games, by the number that the core has for each; boards: positions of games in
    which somebody is asked; failure: what a player has raised.
    """

    game: _core.Game
    core: _core.PlayedGames
    asked: dict[int, MovePlayer]
    evaluators: list[Evaluator]
    seed: int
    purpose: str
    begun: dict[int, tuple[GamePlan, int]] = field(default_factory=dict)
    boards: dict[int, _core.State] = field(default_factory=dict)
    pending: dict[int, Future[ChosenMove]] = field(default_factory=dict)
    failure: BaseException | None = None
    count: int = 0

    def run(self, plans: Iterator[GamePlan], facts: ArenaFacts) -> Generator[GameRecord]:
        """Play until no game goes on and there is no plan for another."""
        started = time.perf_counter()
        try:
            self._refill(plans)
            while self.core.running:
                event = self.core.wait(MEASURED_EVERY)
                if self.failure is not None:
                    raise self.failure
                if event is not None and len(event) == 4:
                    self._ask(*event)
                    continue
                record = None
                if event is not None:
                    record = self._record(*event)
                    facts.games += 1
                    facts.moves += len(record.actions)
                    self._refill(plans)
                self._measure(facts, time.perf_counter() - started)
                if record is not None:
                    yield record
        finally:
            self.core.close()
            for future in self.pending.values():
                future.cancel()
            for player in self.asked.values():
                player.close()

    def _refill(self, plans: Iterator[GamePlan]) -> None:
        while self.core.has_room:
            plan = next(plans, None)
            if plan is None:
                self.core.no_more()
                return
            seed = derived_seed(self.seed, self.purpose, plan.index) if plan.seed is None else plan.seed
            state = opening_state(self.game, plan)
            self.begun[self.count] = plan, seed
            if self.asked.keys() & {*plan.sides}:
                self.boards[self.count] = state.copy()
            self.core.begin(self.count, state, plan.sides, len(plan.start), seed)
            self.count += 1

    def _record(self, number: int, found: dict[str, Any]) -> GameRecord:
        plan, seed = self.begun.pop(number)
        self.boards.pop(number, None)
        for player in {*plan.sides} & self.asked.keys():
            self.asked[player].end(plan.index)
        return GameRecord(plan=plan, seed=seed, **found)

    def _ask(self, number: int, player: int, actions: list[int], seed: int) -> None:
        """Request a move; actions: those played since the plan's start."""
        (plan, _), board = self.begun[number], self.boards[number]
        for action in actions[len(board.moves) - self._beginning(plan) :]:
            board.apply(action)
        origin = plan.begin(self.game).notation()
        request = MoveRequest(plan.index, board.copy(), origin, (*plan.start, *actions), seed)
        future = self.asked[player].choose(request)
        self.pending[number] = future
        future.add_done_callback(lambda done: self._reply(number, self.asked[player].name, done))

    @staticmethod
    def _beginning(plan: GamePlan) -> int:
        """Moves of a board before the first search."""
        return len(plan.start) + (0 if plan.origin is None else len(plan.origin.moves))

    def _reply(self, number: int, name: str, done: Future[ChosenMove]) -> None:
        """Hand a player's move on, from the thread that has found it."""
        if done.cancelled():
            return
        try:
            chosen = done.result()
            if chosen.action not in self.boards[number].legal_actions():
                raise ValueError(f"action {chosen.action} is not legal here")
            score = math.nan if chosen.score is None else chosen.score
            extras: dict[str, Any] = {"score": score, "depth": chosen.depth, "seconds": chosen.seconds}
            self.core.answer(number, chosen.action, note=chosen.note, **extras)
        except GameLost as lost:
            self.core.lose(number, lost.reason, lost.detail, isinstance(lost, EngineResignation))
        except ValueError as error:
            self.failure = ValueError(f"player {name}: {error}")
        except Exception as error:
            self.failure = RuntimeError(f"player {name} has failed: {error}")
            self.failure.__cause__ = error

    def _measure(self, facts: ArenaFacts, elapsed: float) -> None:
        found, workers = self.core.facts(), self.core.workers
        facts.visits, facts.cache_hits = found["visits"], found["cache_hits"]
        facts.cache_lookups = found["cache_lookups"]
        facts.tree_bytes = max(facts.tree_bytes, found["tree_bytes"])
        networks, search = [], SearchFacts(network=found["waited"] / workers)
        for evaluator, (rows, batches, capacity, searching, computing) in zip(
            self.evaluators, self.core.network_facts(), strict=True
        ):
            one = SearchFacts(searching / workers, computing / workers, 0.0, rows, batches, capacity)
            networks.append((evaluator, one))
            search.add(one)
        search.total = elapsed
        facts.networks, facts.search = networks, search  # at once: another thread may look
