"""Game in progress in the arena: position, trees, and records of its moves."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from hauteur import _core
from hauteur.games.end_reasons import PLY_LIMIT, RESIGNATION
from hauteur.matches.move_log import MoveLog, Moves, Policy, joined_policies
from hauteur.matches.record import GamePlan, GameRecord
from hauteur.matches.resignation import NOBODY, Watch
from hauteur.players.move_player import ChosenMove, EngineResignation, GameLost, MoveRequest
from hauteur.system.seeds import derived_seed


@dataclass
class Slot:
    """A running game: the position, its trees by number (absent until they are first needed) and what was played.

    own_trees: tree 0 is that of the first seat, tree 1 that of the second; otherwise tree 0 serves both. actions: from
    the first searched position; rows: of these moves in the log, policies: edges and counts of each, notes: on them, by
    their number. begun: when the player to move began to think, seconds of the clock; lost: how the player to move has
    lost instead of moving.
    """

    plan: GamePlan
    state: _core.State
    seed: int
    random: np.random.Generator
    own_trees: bool
    watch: Watch | None = None
    full: bool = True
    trees: dict[int, int] = field(default_factory=dict)
    unplayed: dict[int, list[int]] = field(default_factory=dict)
    actions: list[int] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    policies: list[Policy] = field(default_factory=list)
    notes: dict[int, str] = field(default_factory=dict)
    begun: float = 0.0
    lost: GameLost | None = None

    @property
    def mover(self) -> int:
        """Index of the player to move."""
        return self.plan.seats[self.state.to_move]

    @property
    def tree_number(self) -> int:
        """Number of the tree that the player to move searches."""
        return self.state.to_move if self.own_trees else 0

    @property
    def plies(self) -> int:
        """Plies of the game until now, those of its start included."""
        return len(self.plan.start) + len(self.actions)

    def move_request(self, game: _core.Game) -> MoveRequest:
        """Return what a player without a forest has to know to find a move."""
        seed = derived_seed(self.seed, "answer", self.state.ply)
        actions = (*self.plan.start, *self.actions)
        return MoveRequest(self.plan.index, self.state.copy(), self.plan.begin(game).notation(), actions, seed)

    def trees_of(self, player: int) -> list[int]:
        """The ids of this player's trees."""
        return [tree for number, tree in self.trees.items() if self.plan.seats[number] == player]

    def play(self, action: int, value: float) -> None:
        """Play a move of the player to move; value: of its search for the mover, NaN where there was none."""
        if self.watch is not None:
            self.watch.see(self.state.to_move, value, self.plies)
        self.actions.append(action)
        self.full = True
        self.state.apply(action)
        for unplayed in self.unplayed.values():
            unplayed.append(action)

    def is_over(self, max_plies: int | None) -> bool:
        """Return whether the game has ended, by its rules, resignation, a player's failure or the ply limit."""
        if self.lost is not None:
            return True
        resigned = self.watch is not None and self.watch.ends_game
        return self.state.outcome() is not None or resigned or (max_plies is not None and self.plies >= max_plies)


def play_all(log: MoveLog, slots: Sequence[Slot], moves: Moves) -> None:
    """Play and record a move in each of these games."""
    rows = log.add(moves, [slot.state.to_move for slot in slots])
    for slot, row, policy, action, value in zip(slots, rows, moves.policies, moves.actions, moves.values, strict=True):
        slot.rows.append(row)
        slot.policies.append(policy)
        slot.play(action, value)
    for slot, note in zip(slots, moves.notes, strict=False):
        if note:
            slot.notes[len(slot.actions) - 1] = note


def unsearched(slot: Slot, chosen: ChosenMove) -> Moves:
    """Return the move of a player without a forest: nothing is known of it but itself and what the player says."""
    found = {
        "learn": 0,
        "scores": math.nan if chosen.score is None else chosen.score,
        "depths": chosen.depth,
        "seconds": time.perf_counter() - slot.begun if chosen.seconds is None else chosen.seconds,
    }
    return Moves([chosen.action], found, [(np.array([chosen.action]), np.ones(1))], [chosen.note])


def played(log: MoveLog, slot: Slot) -> GameRecord:
    """Return the record of a game that is over; its rows of the log are free then."""
    outcome, reason, resigned = _result(slot)
    if slot.lost is not None and slot.lost.detail:
        slot.notes[len(slot.actions)] = slot.lost.detail
    return GameRecord(
        plan=slot.plan,
        seed=slot.seed,
        outcome=outcome,
        end_reason=reason,
        resigned=resigned,
        notes=slot.notes,
        **log.take(slot.rows),
        **joined_policies(slot.policies),
    )


def _result(slot: Slot) -> tuple[int, str, int]:
    """Return outcome, end reason, and the seat that resigned (or would have, if played out) of a finished game."""
    if slot.lost is not None:
        loser = slot.state.to_move
        resigned = loser if isinstance(slot.lost, EngineResignation) else NOBODY
        return -1 if loser == 0 else 1, slot.lost.reason, resigned
    outcome, reason = slot.state.outcome(), slot.state.end_reason()
    seat = NOBODY if slot.watch is None else slot.watch.seat
    resigns = slot.watch is not None and slot.watch.ends_game
    if outcome is not None:
        return outcome, reason or "", NOBODY if resigns else seat
    if resigns:
        return -1 if seat == 0 else 1, RESIGNATION, seat
    return 0, PLY_LIMIT, seat
