"""For tests of the solver: exhaustive search of small games, forced mates by brute force, many searches at once."""

from __future__ import annotations

from collections.abc import Sequence

import chess
import numpy as np
from forests import search
from numpy.typing import NDArray
from search_toys import uniform_evaluator

from hauteur._core import Forest, Game, State
from hauteur.mcts.params import Cpuct, SearchParams, Solver

PROVING = SearchParams(
    cpuct=Cpuct(init=0.6, factor=0), policy_temperature=1.0, cache_size=1_000_000, solver=Solver(lookahead=1)
)
"""Settings that prove results soon: little exploration, and a look one ply ahead."""

MATES = (
    ("5k2/3R3R/2p5/8/7K/6p1/2p5/8 w - - 0 1", 1),
    ("8/8/4r3/2P2n2/3P4/2k4P/8/2K5 b - - 0 1", 1),
    ("8/k1P2r2/P7/8/8/6n1/3P4/4K3 b - - 0 1", 1),
    ("8/2P5/2P2k1P/3q4/8/8/r7/6K1 b - - 0 1", 1),
    ("2k5/5p2/7R/1p2p3/8/8/8/3K1R2 w - - 0 1", 2),
    ("7k/4p3/5p2/3p4/8/8/R7/3KR3 w - - 0 1", 2),
    ("3k4/1Q6/1P6/3p4/1B3p2/7K/8/5r2 w - - 0 1", 2),
    ("7k/5n2/1p5N/8/8/2p4K/5Q2/8 w - - 0 1", 2),
    ("k7/1R1p4/7p/4K3/8/8/1R5p/8 w - - 0 1", 3),
    ("5k2/8/8/8/1R1p3p/1K4p1/3R4/8 w - - 0 1", 3),
    ("1r6/5P2/2b1P3/8/1n6/1k6/3P4/K7 b - - 0 1", 3),
    ("8/5PP1/1r6/6r1/6k1/8/4P3/7K b - - 0 1", 3),
    ("5k2/P2P4/8/5b1p/8/8/p2K4/7Q w - - 0 1", 4),
    ("8/8/5P2/1p5q/2k5/5R2/1Pb5/4K3 b - - 0 1", 4),
    ("k7/3K4/4p3/5p2/8/B2p4/8/3R4 w - - 0 1", 4),
    ("3k4/8/8/2K5/6p1/4p3/8/7Q w - - 0 1", 4),
)
"""Positions in which the side to move mates in this number of moves and no fewer."""


def state_of(fen: str) -> State:
    """A position of chess."""
    return Game(f"chess(fen={fen})").new_initial_state()


def reachable(state: State) -> list[State]:
    """All positions that play can come to in which the game goes on, each once."""
    seen: set[tuple[int, bytes]] = set()
    found: list[State] = []

    def visit(position: State) -> None:
        key = (position.to_move, position.features().tobytes())
        if key in seen or position.outcome() is not None:
            return
        seen.add(key)
        found.append(position)
        for action in position.legal_actions():
            visit(after(position, int(action)))

    visit(state)
    return found


def best_result(state: State, known: dict[tuple[int, bytes], int] | None = None) -> int:
    """-1, 0, 1: what the player to move gets with best play. `known` keeps results of games without a past."""
    outcome = state.outcome()
    if outcome is not None:
        return int(outcome) if state.to_move == 0 else -int(outcome)
    key = (state.to_move, state.features().tobytes())
    if known is not None and key in known:
        return known[key]
    best = -1
    for action in state.legal_actions():
        best = max(best, result_after(state, int(action), known))
        if best == 1:
            break
    if known is not None:
        known[key] = best
    return best


def result_after(state: State, action: int, known: dict[tuple[int, bytes], int] | None = None) -> int:
    """`best_result` behind a move, for the player who makes it."""
    following = after(state, action)
    result = best_result(following, known)
    return result if following.to_move == state.to_move else -result


def after(state: State, action: int) -> State:
    """The position behind a move."""
    following = state.copy()
    following.apply(action)
    return following


def search_all(
    states: Sequence[State], params: SearchParams, visits: int, rows: int = 256
) -> tuple[Forest, NDArray[np.int64]]:
    """Searches every position with the uniform evaluator, to `visits` visits or until nothing is left to find out."""
    forest = Forest(states[0].game, params)
    ids = np.array([forest.add(state) for state in states])
    search_on(forest, visits, rows)
    return forest, ids


def search_on(forest: Forest, visits: int, rows: int = 256) -> None:
    """Searches all trees on to `visits` visits."""
    search(forest, uniform_evaluator(forest.game.num_actions), visits=visits, rows=rows)


def proven_result(forest: Forest, tree: int) -> int | None:
    """The proven result of a root; None without a proof."""
    lower, upper, _ = forest.root_bounds(tree)
    return lower if lower == upper else None


def _mates(board: chess.Board, moves: int) -> bool:
    for move in board.legal_moves:
        if moves == 1 and not board.gives_check(move):
            continue
        board.push(move)
        found = board.is_checkmate() or (moves > 1 and _is_lost(board, moves - 1))
        board.pop()
        if found:
            return True
    return False


def _is_lost(board: chess.Board, moves: int) -> bool:
    """Return whether every reply (there is one) runs into a mate in `moves`."""
    replies = list(board.legal_moves)
    for reply in replies:
        board.push(reply)
        found = _mates(board, moves)
        board.pop()
        if not found:
            return False
    return bool(replies)
