"""The only loop that plays games: self-play, gate and matches differ in their players and in what they keep of a game.

Each player owns a forest. Every turn of the loop each network gathers from the forests of the players that use it, and
the answers are applied; then all trees that are finished choose their moves together. A game that ends makes room for
the next one. Players without a forest are asked for a move, and the games of the others go on until it is there.

A game depends on its plan and the players alone, not on the games beside it: its trees have their own random numbers
and never more than one leaf in flight. What remains is arithmetic: a network may round a row differently in a batch
of another size. Learning runs see to it that none does (hauteur.networks.evaluators.batch_invariant); elsewhere
games agree bit for bit with the same number of parallel games, and with others nearly always.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hauteur import _core
from hauteur.matches.move_log import MoveLog, Moves, policies_of
from hauteur.matches.openings import opening_state
from hauteur.matches.record import GamePlan, GameRecord
from hauteur.matches.resignation import Resignation
from hauteur.matches.running_game import Slot, play_all, played, unsearched
from hauteur.mcts.driver import SearchDriver, Searched, SearchFacts
from hauteur.mcts.scores import pawns
from hauteur.players.move_player import GameLost, MovePlayer, PendingMoves
from hauteur.players.search_player import SearchPlayer
from hauteur.system.seeds import derived_seed, stream

if TYPE_CHECKING:
    from hauteur.networks.evaluators.base import Evaluator


WAITING_SHARE = 16
"""Moves are chosen once one in so many of the trees that think is finished."""

MEASURED_EVERY = 0.2
"""Seconds after which the facts are counted again while no game ends."""


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
    resignation: Resignation | None = None,
    tree_per_side: bool = False,
    facts: ArenaFacts | None = None,
) -> Generator[GameRecord]:
    """Play the planned games, up to `parallel` at a time, and yield each when it ends; `facts` is kept up to date.

    max_plies: a game unfinished after so many plies, its start included, is a draw; None: no limit. resignation: rule
    of resignation; None: never. tree_per_side: a player on both seats has a tree for each (players on one seat always
    have their own). Random numbers derive from (seed, purpose, index of the game), or from the plan's seed. Closing the
    iterator early drops the running games.
    """
    if parallel < 1:
        raise ValueError(f"the number of parallel games must be >= 1, got {parallel}")
    tables = {
        number: _PlayerTable(player, player.forest(game, seed=seed, threads=threads))
        for number, player in enumerate(players)
        if isinstance(player, SearchPlayer)
    }
    others = {number: player for number, player in enumerate(players) if not isinstance(player, SearchPlayer)}
    searched = [Searched(table.forest, table.player.evaluator, table.player.large) for table in tables.values()]
    driver = SearchDriver(searched, batch_size, in_flight, spread=True)
    settings = _GameSettings(seed, purpose, parallel, max_plies, resignation, tree_per_side)
    arena = _Arena(game, tables, others, driver, iter(plans), settings)
    return arena.run(facts if facts is not None else ArenaFacts())


@dataclass(frozen=True)
class _GameSettings:
    """Settings of `play_games` that hold for all games."""

    seed: int
    purpose: str
    parallel: int
    max_plies: int | None
    resignation: Resignation | None
    tree_per_side: bool


@dataclass
class _PlayerTable:
    """A player with its forest, and the games in which it is thinking (by tree)."""

    player: SearchPlayer
    forest: _core.Forest
    thinking: dict[int, Slot] = field(default_factory=dict)


class _Arena:
    """The state of `play_games`."""

    def __init__(
        self,
        game: _core.Game,
        tables: dict[int, _PlayerTable],
        others: dict[int, MovePlayer],
        driver: SearchDriver,
        plans: Iterator[GamePlan],
        settings: _GameSettings,
    ) -> None:
        self.game = game
        self.tables = tables
        self.others = others
        self.log = MoveLog()
        self.pending: PendingMoves[Slot] = PendingMoves()
        self.waited = 0.0
        self.driver = driver
        self.plans = plans
        self.settings = settings
        self.running = 0
        self.ended: list[Slot] = []

    def run(self, facts: ArenaFacts) -> Generator[GameRecord]:
        """Turn until all planned games are over."""
        measured = started = time.perf_counter()
        try:
            self._refill()
            while self.running or self.ended:
                if not self._turn() and not self.ended:
                    raise RuntimeError("the games stand still: no rows, no moves, yet not all are over")
                now = time.perf_counter()
                if self.ended or now - measured >= MEASURED_EVERY:
                    self._refill()
                    self._measure(facts, now - started)
                    measured = now
                    yield from self._collect(facts)
        finally:
            self.pending.cancel()
            for player in self.others.values():
                player.close()
            self.driver.cancel()

    def _turn(self) -> bool:
        """Let every network evaluate once, then choose moves; False if nothing happened."""
        searching = self.driver.turn()
        moved = [self._move(index, may_wait=searching) for index in self.tables]
        played = self._play_replies()
        return searching or any(moved) or played or self._wait_for_a_reply()

    def _play_replies(self) -> bool:
        """Play the moves that players without a forest have found; False when there is none."""
        replies = self.pending.replies()
        for slot, reply in replies:
            if isinstance(reply, GameLost):
                slot.lost = reply
            else:
                play_all(self.log, [slot], unsearched(slot, reply))
        if replies:
            self._go_on([slot for slot, _ in replies])
        return bool(replies)

    def _wait_for_a_reply(self) -> bool:
        """Sleep until a player without a forest has found a move; False where none looks for one."""
        started = time.perf_counter()
        waited = self.pending.wait()
        self.waited += time.perf_counter() - started
        return waited

    def _move(self, player: int, *, may_wait: bool) -> bool:
        """Choose and play a move in each of the player's finished trees; False when there is none, or too few.

        may_wait: others search on. A choice takes nearly as long for one tree as for many, so some wait for company.
        """
        table = self.tables[player]
        ids = [tree for tree in table.forest.finished().tolist() if tree in table.thinking]
        if not ids or (may_wait and len(ids) * WAITING_SHARE < len(table.thinking)):
            return False
        slots = [table.thinking.pop(tree) for tree in ids]
        play_all(self.log, slots, _search_results(table, np.array(ids), slots))
        self._go_on(slots)
        return True

    def _go_on(self, slots: list[Slot]) -> None:
        """End the games that are over; hand the others to the player to move."""
        over = [slot.is_over(self.settings.max_plies) for slot in slots]
        self._seat([slot for slot, ended in zip(slots, over, strict=True) if not ended])
        self._end([slot for slot, ended in zip(slots, over, strict=True) if ended])

    def _seat(self, slots: list[Slot]) -> None:
        """Let the player to move in each of these games think."""
        for slot in slots:
            slot.begun = time.perf_counter()
            if slot.mover in self.others:
                self.pending.request(slot, self.others[slot.mover], slot.move_request(self.game))
        for player, table in self.tables.items():
            here = [slot for slot in slots if slot.mover == player]
            known = [slot for slot in here if slot.tree_number in slot.trees]
            _catch_up(table, known)
            for slot in here:
                if slot.tree_number not in slot.trees:
                    _plant(table, slot, derived_seed(slot.seed, "tree", slot.tree_number))
                table.thinking[slot.trees[slot.tree_number]] = slot
            _set_effort(table, here)

    def _refill(self) -> None:
        """Start planned games while there is room."""
        fresh = []
        while self.running < self.settings.parallel and (plan := next(self.plans, None)) is not None:
            fresh.append(self._start(plan))
            self.running += 1
        if fresh:
            self._go_on(fresh)

    def _start(self, plan: GamePlan) -> Slot:
        seed = derived_seed(self.settings.seed, self.settings.purpose, plan.index) if plan.seed is None else plan.seed
        resignation = self.settings.resignation
        return Slot(
            plan,
            opening_state(self.game, plan),
            seed,
            stream(seed, "moves"),
            own_trees=self.settings.tree_per_side or plan.seats[0] != plan.seats[1],
            watch=None if resignation is None else resignation.watch(seed),
        )

    def _end(self, slots: list[Slot]) -> None:
        """Take these games off the tables."""
        for player, table in self.tables.items():
            ids = [tree for slot in slots for tree in slot.trees_of(player)]
            if ids:
                table.forest.remove(np.array(ids, np.int64))
        for slot in slots:
            for number in {*slot.plan.seats} & self.others.keys():
                self.others[number].end(slot.plan.index)
        self.running -= len(slots)
        self.ended.extend(slots)

    def _collect(self, facts: ArenaFacts) -> Iterator[GameRecord]:
        ended, self.ended = self.ended, []
        for slot in ended:
            facts.games += 1
            facts.moves += len(slot.actions)
            yield played(self.log, slot)

    def _measure(self, facts: ArenaFacts, elapsed: float) -> None:
        stats = [table.forest.stats() for table in self.tables.values()]
        facts.visits = sum(s["visits"] for s in stats)
        facts.cache_hits = sum(s["cache_hits"] for s in stats)
        facts.cache_lookups = sum(s["cache_lookups"] for s in stats)
        facts.tree_bytes = max(facts.tree_bytes, sum(s["bytes"] for s in stats))
        search = SearchFacts()
        for network in self.driver.networks:
            search.add(network.facts)
        search.network += self.waited
        search.total = elapsed
        facts.networks = [(network.evaluator, network.facts) for network in self.driver.networks]
        facts.search = search  # at once: another thread may look


def _catch_up(table: _PlayerTable, slots: list[Slot]) -> None:
    """Play in the trees of the players to move the moves that were made since they last moved."""
    while slots:
        ids = np.array([slot.trees[slot.tree_number] for slot in slots], np.int64)
        actions = np.array([slot.unplayed[slot.tree_number].pop(0) for slot in slots], np.uint16)
        table.forest.advance(ids, actions)
        slots = [slot for slot in slots if slot.unplayed[slot.tree_number]]


def _plant(table: _PlayerTable, slot: Slot, seed: int) -> None:
    """A first tree for the player to move in this game."""
    tree = table.forest.add(slot.state, seed)
    table.forest.set_visit_limits(np.array([tree], np.int64), np.array([table.player.visits], np.uint32))
    slot.trees[slot.tree_number] = tree
    slot.unplayed[slot.tree_number] = []


def _set_effort(table: _PlayerTable, slots: list[Slot]) -> None:
    """Decide, where the player has a playout cap, which of these searches are fast, and limit their trees."""
    cap = table.player.playout_cap
    if cap is None or not slots:
        return
    for slot in slots:
        slot.full = cap.searches_in_full(slot.seed, slot.plies)
    full = np.array([slot.full for slot in slots])
    ids = np.array([slot.trees[slot.tree_number] for slot in slots], np.int64)
    table.forest.set_quiet(ids, ~full)
    table.forest.set_visit_limits(ids, np.where(full, table.player.visits, cap.fast_visits).astype(np.uint32))


def _search_results(table: _PlayerTable, ids: NDArray[np.int64], slots: list[Slot]) -> Moves:
    """The chosen move of each finished tree with what its search found."""
    forest = table.forest
    plies = np.array([slot.state.ply for slot in slots], np.int64)
    choice = table.player.choose(forest, ids, plies, np.array([slot.random.random() for slot in slots]))
    root_wdl, net_wdl = forest.root_values(ids), forest.network_values(ids)
    now = time.perf_counter()
    found = {
        "root_wdl": root_wdl,
        "net_value": net_wdl[:, 0] - net_wdl[:, 2],
        "visits": forest.root_node_visits(ids),
        "learn": [table.player.learns and slot.full for slot in slots],
        "scores": [pawns(value) for value in (root_wdl[:, 0] - root_wdl[:, 2]).tolist()],
        "seconds": [now - slot.begun for slot in slots],
    }
    return Moves(choice.actions.tolist(), {**found, **choice.columns}, policies_of(choice.targets))
