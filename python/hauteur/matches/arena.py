"""Games between players: self-play, gates and matches differ in their players and in what they keep of a game.

The core plays them (`_core.PlayedGames`, crates/core/src/play); here plans go in, players without a forest are asked
for moves, and records come out. `reference/games.py` plays the same games in plain Python, to be read.

A game depends on its plan and the players alone, not on the other games, on threads or on batches: its trees have
their own random numbers and never more than one leaf in flight. What remains is arithmetic: a network may round a row
differently in a batch of another size. Learning runs see to it that none does (networks.evaluators.fixed_rows).
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from hauteur import _core
from hauteur.matches.openings import opening_state
from hauteur.matches.record import GamePlan, GameRecord, Resignation
from hauteur.mcts.driver import SearchFacts
from hauteur.mcts.own_rules import rule_chain
from hauteur.players.move_player import ChosenMove, CountingPlayer, EngineResignation, GameLost, MovePlayer, MoveRequest
from hauteur.players.search_player import SearchPlayer
from hauteur.system.seeds import derived_seed

if TYPE_CHECKING:
    from hauteur.networks.evaluators.base import Evaluator


MEASURED_EVERY = 0.2
"""Seconds after which the facts are counted again while nothing happens."""


@dataclass
class ArenaFacts:
    """Counts and seconds of a stretch of games, all players together."""

    games: int = 0
    """Finished games."""
    moves: int = 0
    """Searched moves of the finished games; those of openings do not count."""
    visits: float = 0.0
    """Completed tree visits of all players."""
    cache_hits: float = 0.0
    """Evaluations that a cache of evaluations answered."""
    cache_lookups: float = 0.0
    """Evaluations that were looked up in a cache, found or not."""
    tree_bytes: float = 0.0
    """Memory of all trees in bytes, the largest measured so far."""
    search: SearchFacts = field(default_factory=SearchFacts)
    """Seconds of search, of networks and in total, and the fill of batches; mean of the threads."""
    networks: list[tuple[Evaluator, SearchFacts]] = field(default_factory=list)
    """The same for each evaluator."""

    @property
    def cache_hit_rate(self) -> float:
        """Share of evaluations that the cache answered, 0 to 1."""
        return self.cache_hits / self.cache_lookups if self.cache_lookups else 0.0


@dataclass(frozen=True)
class GameRules:
    """Rules of all games, in addition to those of the game itself."""

    max_plies: int | None = None
    """A game that is unfinished after these plies, its start included, is a draw; None: no limit."""
    max_moves: int | None = None
    """The same for the moves since its start."""
    resignation: Resignation | None = None
    """When players resign; None: never."""
    tree_per_side: bool = False
    """A player on both sides has a tree for each. Two players always have their own."""

    def for_core(self) -> str:
        """The rules as JSON that the core reads (`GameRules` in crates/core/src/play/settings.rs)."""
        return json.dumps(
            {
                "max_plies": self.max_plies,
                "max_moves": self.max_moves,
                "resignation": None if self.resignation is None else self.resignation.model_dump(),
                "tree_per_side": self.tree_per_side,
            }
        )


@dataclass(frozen=True)
class Layout:
    """How games share batches and threads. As far as evaluators are exact, no game depends on it."""

    parallel: int
    """Maximum of games at a time."""
    batch_size: int
    """Maximum of rows in a batch."""
    in_flight: int = 2
    """Threads where Python computes a net (on a GPU, say), so that one searches while the net computes for another."""
    threads: int = 1
    """Threads that search and compute nets, each in its part of the games; at least as many as a net of the core has.

    Where Python computes a net, there are more than `in_flight` only as far as each has games for two batches.
    """

    def workers(self, computing: Sequence[int | None]) -> int:
        """The number of threads. computing: of each evaluator the threads that it was made for; None: Python's."""
        threads = self.threads
        if None in computing:
            threads = min(threads, self.parallel // (2 * self.batch_size))
        of_nets = [number or self.in_flight for number in computing]
        return max([threads, 1, *of_nets])


USUAL_RULES = GameRules()


def play_games(
    game: _core.Game,
    players: Sequence[SearchPlayer | MovePlayer],
    plans: Iterable[GamePlan],
    *,
    seed: int,
    purpose: str,
    layout: Layout,
    rules: GameRules = USUAL_RULES,
    facts: ArenaFacts | None = None,
) -> Generator[GameRecord]:
    """Play the planned games and yield each when it ends; `facts` is kept up to date.

    Random numbers derive from (seed, purpose, index of the game), or from the plan's seed. Closing the iterator early
    drops the running games. Search rules written in Python are asked by one thread alone.
    """
    core, evaluators = games_of_core(game, players, layout=layout, rules=rules, seed=seed)
    asked = {number: player for number, player in enumerate(players) if not isinstance(player, SearchPlayer)}
    loop = _Loop(game, core, asked, evaluators, seed, purpose)
    return loop.run(iter(plans), ArenaFacts() if facts is None else facts)


def games_of_core(
    game: _core.Game,
    players: Sequence[SearchPlayer | MovePlayer],
    *,
    layout: Layout,
    rules: GameRules,
    seed: int,
) -> tuple[_core.PlayedGames, list[Evaluator]]:
    """Return the threads that play games of these players, and the evaluators in the order of their counts."""
    evaluators = _evaluators_of(players)
    core = _core.PlayedGames(
        game,
        [_for_core(player, evaluators) if isinstance(player, SearchPlayer) else None for player in players],
        evaluators,
        rules.for_core(),
        parallel=layout.parallel,
        batch_size=layout.batch_size,
        workers=layout.workers([_core.PlayedGames.threads_of(one, game) for one in evaluators]),
        seed=seed,
    )
    return core, evaluators


def _evaluators_of(players: Sequence[SearchPlayer | MovePlayer]) -> list[Evaluator]:
    """Return the evaluators of the players that search, each once."""
    found: dict[int, Evaluator] = {}
    for player in players:
        if isinstance(player, SearchPlayer):
            # By identity: players with one evaluator share its batches.
            found[id(player.evaluator)] = player.evaluator
            if player.large is not None:
                found[id(player.large)] = player.large
            found |= {id(one): one for one in player.more}
    return list(found.values())


_ForCore = tuple[Any, str, int, int | None, list[int], Any]
"""Settings of the search, of the choice of moves, the indices of the player's evaluators, and its rules."""


def _for_core(player: SearchPlayer, evaluators: Sequence[Evaluator]) -> _ForCore:
    """Return what the core has to know of a player: settings, and the indices of its evaluators."""
    places = {id(one): place for place, one in enumerate(evaluators)}
    cap = player.playout_cap
    moves = {
        "visits": player.visits,
        "temperature": player.temperature.model_dump(),
        "playout_cap": None if cap is None else cap.model_dump(),
        "learns": player.learns,
    }
    large = None if player.large is None else places[id(player.large)]
    more = [places[id(one)] for one in player.more]
    own = places[id(player.evaluator)]
    return player.search, json.dumps(moves), own, large, more, rule_chain(player.rules)


@dataclass
class _Loop:
    """Gives plans to the core and takes its games; asks players without a forest."""

    game: _core.Game
    """The game that is played."""
    core: _core.PlayedGames
    """The running games."""
    asked: dict[int, MovePlayer]
    """Players without a forest, by their index."""
    evaluators: list[Evaluator]
    """Networks of the other players, each once."""
    seed: int
    """Of all random draws."""
    purpose: str
    """Keeps the draws apart from those of other work with the same seed."""
    begun: dict[int, tuple[GamePlan, int]] = field(default_factory=dict)
    """Plan and seed of each running game, by the number that the core has for it."""
    boards: dict[int, _core.State] = field(default_factory=dict)
    """Positions of the games in which a player without a forest is asked, by the same number."""
    pending: dict[int, Future[ChosenMove]] = field(default_factory=dict)
    """Moves that were requested and have not come, by the same number."""
    failure: BaseException | None = None
    """The first error of a player, raised by `run`."""
    count: int = 0
    """Games begun so far, which is the number of the next one."""

    def run(self, plans: Iterator[GamePlan], facts: ArenaFacts) -> Generator[GameRecord]:
        """Play until no game is left and there is no plan for another."""
        started = time.perf_counter()
        try:
            self._refill(plans)
            while self.core.running:
                event = self.core.wait(MEASURED_EVERY)
                # Raised here, since the thread in which an answer came has nobody to raise it to.
                if self.failure is not None:
                    raise self.failure
                if isinstance(event, _core.MoveDue):
                    self._ask(event)
                    continue
                record = None
                if isinstance(event, _core.GameOver):
                    record = self._record(event)
                    facts.games += 1
                    facts.moves += len(record.actions)
                    # Before the record is handed on: who takes it may be slow, and batches are full only while all
                    # places are taken.
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
        """Begin games until the core has no room or there is no further plan."""
        while self.core.has_room:
            plan = next(plans, None)
            if plan is None:
                self.core.no_more()
                return
            seed = plan.seed
            if seed is None:
                seed = derived_seed(self.seed, self.purpose, plan.index)
            state = opening_state(self.game, plan)
            self.begun[self.count] = plan, seed
            if self.asked.keys() & {*plan.sides}:
                self.boards[self.count] = state.copy()
            self.core.begin(self.count, state, plan.sides, len(plan.start), seed)
            self.count += 1

    def _record(self, over: _core.GameOver) -> GameRecord:
        """Return the record of a finished game, and tell the players without a forest that it is over."""
        plan, seed = self.begun.pop(over.number)
        board = self.boards.pop(over.number, None)
        record = GameRecord(plan=plan, seed=seed, **over.record)
        if board is None:
            return record
        players = [self.asked[player] for player in {*plan.sides} & self.asked.keys()]
        counting = [player for player in players if isinstance(player, CountingPlayer)]
        disputes = self._disputes(counting, record, board) if counting else []
        for player in players:
            player.end(plan.index)
        if not disputes:
            return record
        last = len(record.actions) - 1
        if last in record.notes:
            disputes = [record.notes[last], *disputes]
        return replace(record, notes={**record.notes, last: "; ".join(disputes)})

    def _disputes(self, players: Sequence[CountingPlayer], record: GameRecord, board: _core.State) -> list[str]:
        """Return what players say against the result of a game that has ended by its rules. board: some way into it."""
        plan = record.plan
        actions = record.actions.tolist()
        known = len(board.moves) - self._beginning(plan)
        for action in actions[known:]:
            board.apply(action)
        if not board.is_terminal:
            return []
        origin = plan.begin(self.game).notation()
        over = MoveRequest(plan.index, board, origin, (*plan.start, *actions), record.seed)
        notes = [player.dispute(over) for player in players]
        return [note for note in notes if note]

    def _ask(self, due: _core.MoveDue) -> None:
        """Request a move."""
        plan, _ = self.begun[due.number]
        board = self.boards[due.number]
        known = len(board.moves) - self._beginning(plan)
        for action in due.actions[known:]:
            board.apply(action)
        origin = plan.begin(self.game).notation()
        moves = (*plan.start, *due.actions)
        player = self.asked[due.player]
        # A copy, as the player thinks in a thread of its own and may play on it.
        request = MoveRequest(plan.index, board.copy(), origin, moves, due.seed)
        future = player.choose(request)
        self.pending[due.number] = future
        future.add_done_callback(lambda done: self._reply(due.number, player.name, done))

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
        """Bring the facts up to date."""
        found = self.core.facts()
        workers = self.core.workers
        facts.visits = found["visits"]
        facts.cache_hits = found["cache_hits"]
        facts.cache_lookups = found["cache_lookups"]
        facts.tree_bytes = max(facts.tree_bytes, found["tree_bytes"])
        networks = []
        search = SearchFacts(network=found["waited"] / workers)
        for evaluator, (rows, batches, capacity, searching, computing) in zip(
            self.evaluators, self.core.network_facts(), strict=True
        ):
            one = SearchFacts(searching / workers, computing / workers, 0.0, rows, batches, capacity)
            networks.append((evaluator, one))
            search.add(one)
        search.total = elapsed
        facts.networks = networks
        facts.search = search
