"""Game in progress in the arena: position, trees, and records of its moves."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from hauteur import _core
from hauteur.games.end_reasons import PLY_LIMIT, RESIGNATION
from hauteur.matches.record import GamePlan, GameRecord, recorded_columns
from hauteur.matches.resignation import NOBODY, Watch
from hauteur.players.move_player import ChosenMove, EngineResignation, GameLost, MoveRequest
from hauteur.system.seeds import derived_seed


@dataclass
class Slot:
    """A running game: the position, its trees by number (absent until they are first needed) and what was recorded.

    own_trees: tree 0 is that of the first seat, tree 1 that of the second; otherwise tree 0 serves both. begun: when
    the player to move began to think, seconds of the clock; lost: how the player to move has lost instead of moving.
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
    moves: list[Move] = field(default_factory=list)
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
        return len(self.plan.start) + len(self.moves)

    def move_request(self, game: _core.Game) -> MoveRequest:
        """Return what a player without a forest has to know to find a move."""
        seed = derived_seed(self.seed, "answer", self.state.ply)
        actions = (*self.plan.start, *(move.action for move in self.moves))
        return MoveRequest(self.plan.index, self.state.copy(), self.plan.begin(game).notation(), actions, seed)

    def trees_of(self, player: int) -> list[int]:
        """The ids of this player's trees."""
        return [tree for number, tree in self.trees.items() if self.plan.seats[number] == player]

    def play(self, move: Move) -> None:
        """Play and record a move of the player to move."""
        mover = self.state.to_move
        if self.watch is not None:
            self.watch.see(mover, move.value, self.plies)
        edges = len(move.columns["policy_actions"])
        own = {"actions": move.action, "movers": mover, "policy_lengths": edges}
        self.moves.append(replace(move, columns={**move.columns, **own}))
        self.full = True
        self.state.play(move.action)
        for unplayed in self.unplayed.values():
            unplayed.append(move.action)

    def is_over(self, max_plies: int | None) -> bool:
        """Return whether the game has ended, by its rules, resignation, a player's failure or the ply limit."""
        if self.lost is not None:
            return True
        resigned = self.watch is not None and self.watch.ends_game
        return self.state.outcome() is not None or resigned or (max_plies is not None and self.plies >= max_plies)


@dataclass(frozen=True)
class Move:
    """One move of the player to move: its action, its values in columns of GameRecord by name, what was said of it."""

    action: int
    columns: Mapping[str, Any]
    note: str = ""

    @property
    def value(self) -> float:
        """The value of its search for the mover, -1 to 1; NaN where there was none."""
        win, _, loss = self.columns.get("root_wdl", (math.nan,) * 3)
        return float(win - loss)


def unsearched(slot: Slot, chosen: ChosenMove) -> Move:
    """Return the move of a player without a forest: nothing is known of it but itself and what the player says."""
    found = {
        "policy_actions": np.array([chosen.action]),
        "policy_counts": np.ones(1),
        "learn": 0,
        "scores": math.nan if chosen.score is None else chosen.score,
        "depths": chosen.depth,
        "seconds": time.perf_counter() - slot.begun if chosen.seconds is None else chosen.seconds,
    }
    return Move(chosen.action, found, chosen.note)


def played(slot: Slot) -> GameRecord:
    """Return the record of a game that is over."""
    outcome, reason, resigned = _result(slot)
    return GameRecord(
        plan=slot.plan,
        seed=slot.seed,
        outcome=outcome,
        end_reason=reason,
        resigned=resigned,
        notes=_notes(slot),
        **recorded_columns([move.columns for move in slot.moves]),
    )


def _notes(slot: Slot) -> dict[int, str]:
    """Return the players' notes on their moves, and on how one has lost, by the number of the move."""
    notes = {number: move.note for number, move in enumerate(slot.moves) if move.note}
    if slot.lost is not None and slot.lost.detail:
        notes[len(slot.moves)] = slot.lost.detail
    return notes


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
