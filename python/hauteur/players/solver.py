"""The player `solver`: exact play where a game is small enough to be solved.

It never gives away the value of a position that it has solved. In a win it plays a winning move. In a draw or loss it
plays the move after which the fewest replies hold the opponent's result, so that the opponent has the most ways to err.
NoGo and Connect Four are solved with a budget of positions per move. Where it does not suffice, a search by random
games chooses the move, in NoGo among those not proven to lose, and a note on the move reports it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

from hauteur import _core
from hauteur.games.registry import load_game
from hauteur.players.move_player import ChosenMove, MoveFunction, most_simulated

NODES = 2_000_000
"""Most positions that are searched for a move, unless another number is given."""

FALLBACK = 10_000
"""Simulations of mcts or rave where the position was not solved."""

TABLE_BITS = (10, 22)
"""Least and greatest size of a solver's table, as powers of two: as many entries as positions are searched."""

MoveValues = Callable[[_core.State], Sequence[int]]
"""Values of all legal moves of a position, in ascending order: +1 the mover wins by it, 0 draw, -1 loses."""


def solver_rule(game: _core.Game, nodes: int | None) -> MoveFunction:
    """Return the rule of the player; raise ValueError for a game not solved here."""
    if game.name == "nogo":
        return _NoGo(game, nodes or NODES)
    if game.name == "connect4":
        return _Connect4(game, nodes or NODES)
    if game.name != "tictactoe":
        raise ValueError(f"solver plays connect4, nogo and tictactoe, got {game.spec}")
    if nodes is not None:
        raise ValueError(f"solver:NODES is for connect4 and nogo, got {game.spec}, which is searched to the end")
    values = _tictactoe()
    return lambda state, _seed: ChosenMove(_best_move(state, values(state), values))


def exact_values(game: _core.Game | str, *, table_bits: int = TABLE_BITS[1]) -> MoveValues:
    """Return a function that gives the exact value of each legal move of a position, in the order of `legal_actions()`.

    game: tictactoe, or connect4 of any size; of another one ValueError. Values: +1 the mover wins by it, 0 draw, -1
    loses. table_bits: the table has 2^table_bits entries of 8 bytes (connect4).

    >>> import hauteur as ht
    >>> values = ht.exact_values("tictactoe")
    >>> list(values(ht.position("tictactoe", "a1 b1 a2 b2")))
    [1, 0, -1, -1, -1]
    """
    game = load_game(game) if isinstance(game, str) else game
    if game.name == "tictactoe":
        return _tictactoe()
    if game.name != "connect4":
        raise ValueError(f"exact values are those of connect4 and tictactoe, got {game.spec}")
    solver = _core.Connect4Solver(table_bits, game.feature_shape[2], game.feature_shape[1])
    return lambda state: solver.move_values(state).tolist()


def _best_move(
    state: _core.State, values: Sequence[int], reply_values: Callable[[_core.State], Sequence[int] | None]
) -> int:
    """The first move that wins, else the best one that leaves the opponent the fewest replies of the same worth.

    reply_values: None where they are not known; then all replies count.
    """
    best = max(values)
    moves = [int(action) for action, value in zip(state.legal_actions(), values, strict=True) if value == best]
    if best == 1:
        return moves[0]

    def held(action: int) -> int:
        child = _after(state, action)
        if child.outcome() is not None:
            return 0
        replies = reply_values(child)
        return len(child.legal_actions()) if replies is None else list(replies).count(-best)

    return min(moves, key=held)


def _tictactoe() -> MoveValues:
    """Plain negamax; few positions, each of them once."""
    known: dict[int, int] = {}

    def value(state: _core.State) -> int:
        if state.key not in known:
            outcome = state.outcome()
            known[state.key] = max(values(state)) if outcome is None else outcome * (1 if state.to_move == 0 else -1)
        return known[state.key]

    def values(state: _core.State) -> list[int]:
        return [-value(_after(state, action)) for action in state.legal_actions().tolist()]

    return values


@dataclass(frozen=True)
class _Connect4:
    """Player of Connect Four that searches at most `nodes` positions a move.

    Every move has its own table, so that its budget reaches equally far in every game.
    """

    game: _core.Game
    nodes: int

    def __call__(self, state: _core.State, seed: int) -> ChosenMove:
        _, rows, columns = self.game.feature_shape
        solver = _core.Connect4Solver(_table_bits(self.nodes), columns, rows)
        values = solver.move_values_within(state, self.nodes)
        if values is None:
            move = most_simulated(_core.mcts_search(state, FALLBACK, seed), state.legal_actions().tolist())
            return ChosenMove(move, _unsolved(self.nodes, "mcts"))

        def reply_values(child: _core.State) -> list[int] | None:
            return solver.move_values_within(child, max(0, self.nodes - solver.nodes))

        return ChosenMove(_best_move(state, values, reply_values))


def _table_bits(nodes: int) -> int:
    return min(max(nodes.bit_length(), TABLE_BITS[0]), TABLE_BITS[1])


def _unsolved(nodes: int, player: str) -> str:
    return f"not solved within {nodes:,} positions: move of {player}:{FALLBACK}"


@dataclass(frozen=True)
class _NoGo:
    """Player of NoGo that searches at most `nodes` positions a move.

    Every move has its own table, so that it does not depend on the moves searched before it.
    """

    game: _core.Game
    nodes: int

    def __call__(self, state: _core.State, seed: int) -> ChosenMove:
        search = _NoGoSearch.begin(self.game, self.nodes)
        moves = sorted(state.legal_actions().tolist(), key=lambda action: len(_after(state, action).legal_actions()))
        values = search.move_values(state, moves)
        winning = [action for action, value in values.items() if value == 1]
        if winning:
            return ChosenMove(winning[0])
        if None in values.values():
            open_moves = [action for action, value in values.items() if value is None]
            return self._by_rave(state, open_moves, seed)
        return ChosenMove(min(moves, key=lambda action: search.winning_replies(_after(state, action))))

    def _by_rave(self, state: _core.State, moves: list[int], seed: int) -> ChosenMove:
        move = most_simulated(_core.rave_search(state, FALLBACK, seed), moves)
        return ChosenMove(move, _unsolved(self.nodes, "rave"))


@dataclass
class _NoGoSearch:
    """The searches for one move. most: positions that they may search together."""

    solver: _core.NoGoSolver
    most: int

    @classmethod
    def begin(cls, game: _core.Game, nodes: int) -> Self:
        """Create the search with an empty table that has about one entry per position."""
        _, rows, columns = game.feature_shape
        return cls(_core.NoGoSolver(rows, columns, _table_bits(nodes)), nodes)

    def move_values(self, state: _core.State, moves: list[int]) -> dict[int, int | None]:
        """+1 wins, -1 loses, None not known, for each move or until one wins.

        Each move gets a small part of the budget first: a win is often found behind a move that takes long.
        """
        values: dict[int, int | None] = dict.fromkeys(moves)
        for share in (self.most // (4 * len(moves)), self.most):
            for action in [action for action, value in values.items() if value is None]:
                reply = self._value(_after(state, action), share)
                values[action] = None if reply is None else -reply
                if reply == -1:
                    return values
        return values

    def winning_replies(self, state: _core.State) -> int:
        """Replies that win for the mover of this position; those not solved any more count too."""
        values = [self._value(_after(state, action), self.most) for action in state.legal_actions().tolist()]
        return sum(value != 1 for value in values)

    def _value(self, state: _core.State, share: int) -> int | None:
        """Return the value for the mover, if a share of the remaining budget suffices."""
        return self.solver.solve(state, max(0, min(share, self.most - self.solver.nodes)))


def _after(state: _core.State, action: int) -> _core.State:
    child = state.copy()
    child.apply(action)
    return child
