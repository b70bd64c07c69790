"""A game while the arena plays it: the position, the trees that belong to it, and what is recorded of its moves."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hauteur import _core
from hauteur.games.end_reasons import PLY_LIMIT, RESIGNATION
from hauteur.matches.record import GamePlan, GameRecord
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
        """Which of its trees the player to move thinks in."""
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
        """Plays and records a move of the player to move."""
        if self.watch is not None:
            self.watch.see(move.mover, float(move.root_wdl[0] - move.root_wdl[2]), self.plies)
        self.moves.append(move)
        self.full = True
        self.state.play(move.action)
        for unplayed in self.unplayed.values():
            unplayed.append(move.action)

    def is_over(self, max_plies: int | None) -> bool:
        """Whether the game has ended, by its rules, by resignation, by a player's failure or by the limit of plies."""
        if self.lost is not None:
            return True
        resigned = self.watch is not None and self.watch.ends_game
        return self.state.outcome() is not None or resigned or (max_plies is not None and self.plies >= max_plies)


@dataclass(frozen=True)
class Move:
    """One searched move, as GameRecord stores it."""

    action: int
    mover: int
    policy_actions: NDArray[np.uint16]
    policy_counts: NDArray[np.uint32]
    root_wdl: NDArray[np.float32]
    net_value: float
    visits: int
    temperature: float
    surprise: float = 0.0
    learn: int = 1
    note: str = ""
    score: float = float("nan")
    depth: int = 0
    seconds: float = 0.0


def unsearched(slot: Slot, chosen: ChosenMove) -> Move:
    """The move of a player without a forest: nothing is known of it but itself and what the player reports."""
    return Move(
        action=chosen.action,
        mover=slot.state.to_move,
        policy_actions=np.array([chosen.action], np.uint16),
        policy_counts=np.ones(1, np.uint32),
        root_wdl=np.full(3, np.nan, np.float32),
        net_value=float("nan"),
        visits=0,
        temperature=0.0,
        surprise=float("nan"),
        learn=0,
        note=chosen.note,
        score=float("nan") if chosen.score is None else chosen.score,
        depth=chosen.depth,
        seconds=time.perf_counter() - slot.begun if chosen.seconds is None else chosen.seconds,
    )


def played(slot: Slot) -> GameRecord:
    """Turns the moves of a game into arrays."""
    moves = slot.moves
    outcome, reason, resigned = _result(slot)
    return GameRecord(
        plan=slot.plan,
        seed=slot.seed,
        actions=np.array([move.action for move in moves], np.uint16),
        movers=np.array([move.mover for move in moves], np.uint8),
        policy_actions=np.concatenate([np.zeros(0, np.uint16), *(move.policy_actions for move in moves)]),
        policy_counts=np.concatenate([np.zeros(0, np.uint32), *(move.policy_counts for move in moves)]),
        policy_lengths=np.array([len(move.policy_actions) for move in moves], np.uint16),
        root_wdl=np.array([move.root_wdl for move in moves], np.float32).reshape(-1, 3),
        net_value=np.array([move.net_value for move in moves], np.float32),
        visits=np.array([move.visits for move in moves], np.uint32),
        temperatures=np.array([move.temperature for move in moves], np.float32),
        surprise=np.array([move.surprise for move in moves], np.float32),
        learn=np.array([move.learn for move in moves], np.uint8),
        outcome=outcome,
        end_reason=reason,
        resigned=resigned,
        notes=_notes(slot),
        scores=np.array([move.score for move in moves], np.float32),
        depths=np.array([move.depth for move in moves], np.uint16),
        seconds=np.array([move.seconds for move in moves], np.float32),
    )


def _notes(slot: Slot) -> dict[int, str]:
    """Return the players' notes on their moves, and on how one has lost, by the number of the move."""
    notes = {number: move.note for number, move in enumerate(slot.moves) if move.note}
    if slot.lost is not None and slot.lost.detail:
        notes[len(slot.moves)] = slot.lost.detail
    return notes


def _result(slot: Slot) -> tuple[int, str, int]:
    """Outcome and end reason of a game that is over, and the seat that resigned or, played out, would have."""
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
