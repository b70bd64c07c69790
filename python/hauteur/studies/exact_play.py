"""Measures of a player by exact play: tic-tac-toe against every reply, Connect Four against solved positions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hauteur import _core
from hauteur.games.positions import position
from hauteur.mcts.driver import run_searches
from hauteur.mcts.report import choose_move, root_moves
from hauteur.networks.names import data_path
from hauteur.players.search_player import SearchPlayer

SIDES = (0, 1)
PROVABLE = ("tictactoe", "connect4")
"""Games whose exact values are at hand."""


@dataclass
class Exhaustion:
    """The results of a player's games against every possible reply, as one side.

    Every count is of different positions: positions: met, the ended ones too; searched: the player had to move;
    wins, draws, losses: ended that way for the player; lost: the moves of the lost ones.
    """

    side: int
    positions: int = 1
    searched: int = 0
    wins: int = 0
    draws: int = 0
    losses: int = 0
    lost: list[str] = field(default_factory=list)


def play_against_every_reply(player: SearchPlayer, game: _core.Game, *, seed: int = 0) -> list[Exhaustion]:
    """Let `player` answer every possible play of its opponent, once as each side.

    All positions of one ply are searched together. A position that several orders of moves lead to counts once.
    """
    return [_exhaust(player, game, side, seed) for side in SIDES]


def _exhaust(player: SearchPlayer, game: _core.Game, side: int, seed: int) -> Exhaustion:
    result = Exhaustion(side)
    chooser = MoveChooser(player, game, seed=seed)
    level = [game.new_initial_state()]
    while level:
        ended: dict[int, _core.State] = {}
        going_on: dict[int, _core.State] = {}
        for child in _children(level, side, chooser, result):
            (going_on if child.outcome() is None else ended)[child.key] = child
        result.positions += len(ended) + len(going_on)
        for state in ended.values():
            _count_end(result, state)
        level = list(going_on.values())
    return result


def _children(
    level: Sequence[_core.State], side: int, chooser: MoveChooser, result: Exhaustion
) -> Iterator[_core.State]:
    """The positions after the player's choice where it is to move, after every legal reply elsewhere."""
    own = [state for state in level if state.to_move == side]
    result.searched += len(own)
    for state, action in zip(own, chooser.choose(own), strict=True):
        yield state.child(int(action))
    for state in level:
        if state.to_move != side:
            yield from (state.child(action) for action in state.legal_actions().tolist())


def _count_end(result: Exhaustion, state: _core.State) -> None:
    own_outcome = (state.outcome() or 0) * (1 if result.side == 0 else -1)
    if own_outcome > 0:
        result.wins += 1
    elif own_outcome == 0:
        result.draws += 1
    else:
        result.losses += 1
        result.lost.append(state.notation())


class MoveChooser:
    """A player's choices in many positions at once. Every search is sequential: one leaf at a time in a tree."""

    def __init__(self, player: SearchPlayer, game: _core.Game, *, seed: int = 0) -> None:
        """`seed` keys the random draws of the searches."""
        search = player.search.model_copy(update={"max_in_flight": 1})
        self._player = player
        self._forest = _core.Forest(game, search, seed)

    def choose(self, states: Sequence[_core.State]) -> NDArray[np.uint16]:
        """Return the player's moves in these unfinished positions, uint16 [T]."""
        if not states:
            return np.zeros(0, np.uint16)
        forest, player = self._forest, self._player
        ids = np.array([forest.add(state) for state in states], np.int64)
        forest.set_visit_limits(ids, np.full(len(ids), player.visits, np.uint32))
        run_searches(forest, player.evaluator, large=player.large, batch_size=player.evaluator.batch_size)
        found = [root_moves(forest, tree, lines=0) for tree in ids.tolist()]
        moves = [choose_move(one, player.temperature, state.ply, 0.0) for one, state in zip(found, states, strict=True)]
        forest.remove(ids)
        return np.array([move.action for move in moves], np.uint16)


@dataclass(frozen=True)
class SolvedPosition:
    """A Connect Four position and the exact value of each legal column for the mover: +1 win, 0 draw, -1 loss."""

    state: _core.State
    values: tuple[int, ...]

    @property
    def choice_matters(self) -> bool:
        """True where some legal move is worse than another."""
        return len(set(self.values)) > 1

    def preserved_by(self, action: int) -> bool:
        """Return whether the move preserves the position's value."""
        legal: list[int] = self.state.legal_actions().tolist()
        return self.values[legal.index(action)] == max(self.values)


def solved_connect4_positions() -> list[SolvedPosition]:
    """The fixed set that ships with the package, made by benchmarks/connect4_values.py."""
    document = json.loads(data_path("connect4_values.json").read_text(encoding="utf-8"))
    return [
        SolvedPosition(position("connect4", list(entry["moves"])), tuple(entry["values"]))
        for entry in document["positions"]
    ]


@dataclass(frozen=True)
class Preserved:
    """Moves that kept the value of their position, of `positions`; and of those where the choice matters."""

    positions: int
    preserved: int
    choices: int
    choices_preserved: int

    @property
    def share(self) -> float:
        """Share of all positions."""
        return self.preserved / self.positions if self.positions else 1.0

    @property
    def choices_share(self) -> float:
        """Share of the positions where the choice matters."""
        return self.choices_preserved / self.choices if self.choices else 1.0


def value_preserving_moves(
    player: SearchPlayer, positions: Sequence[SolvedPosition], *, seed: int = 0
) -> tuple[dict[int, Preserved], Preserved]:
    """Return, by ply and in all, how often the player's move preserves the value of the position; all of one game."""
    actions = MoveChooser(player, positions[0].state.game, seed=seed).choose([p.state for p in positions])
    found = [(p, p.preserved_by(int(action))) for p, action in zip(positions, actions, strict=True)]
    plies = sorted({p.state.ply for p in positions})
    return {ply: _preserved([pair for pair in found if pair[0].state.ply == ply]) for ply in plies}, _preserved(found)


def _preserved(found: Sequence[tuple[SolvedPosition, bool]]) -> Preserved:
    choices = [kept for position, kept in found if position.choice_matters]
    return Preserved(len(found), sum(kept for _, kept in found), len(choices), sum(choices))
