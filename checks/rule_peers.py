"""Games by other implementations, as fuzz_rules.py compares them with the core.

python-chess for chess, Fairy-Stockfish for minichess, OpenSpiel for most others, and NoGo as its rules are written.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, Protocol

import chess

from hauteur._core import State


class Peer(Protocol):
    """A position of the other implementation; actions are the core's."""

    def check(self, state: State) -> None:
        """Raise AssertionError where the position differs."""

    def apply(self, action: int, state: State) -> None:
        """Play a move; state: before it."""


def same(what: str, own: object, other: object) -> None:
    """Raise AssertionError that says what differs."""
    if own != other:
        raise AssertionError(f"{what}: {own} here, {other} there")


class ChessPeer:
    """python-chess; ends by lc0's rules, which claim draws at once."""

    def __init__(self, fen: str, *, chess960: bool) -> None:
        self.board = chess.Board(fen, chess960=chess960)

    def outcome(self) -> int | None:
        """Return +1, 0, -1, or None while the game goes on."""
        board = self.board
        if not any(board.legal_moves):
            return 0 if not board.is_check() else -1 if board.turn else 1
        is_draw = board.is_insufficient_material() or board.halfmove_clock >= 100 or board.is_repetition(3)
        return 0 if is_draw else None

    def check(self, state: State) -> None:
        """Compare moves in both notations, FEN, end and earlier occurrences."""
        board = self.board
        same("FEN", state.notation(), board.fen(en_passant="xfen"))
        actions = state.legal_actions().tolist()
        same("moves", sorted(state.uci(action) for action in actions), sorted(map(board.uci, board.legal_moves)))
        for action in actions:
            move = board.parse_uci(state.uci(action))
            same("SAN", state.san(action), board.san(move))
            same("action", state.parse(board.san(move)), action)
        same("end", state.outcome(), self.outcome())
        again = state.repetition()
        same("occurrences", 0 if again is None else again[0], self.earlier())

    def earlier(self) -> int:
        """Return the number of earlier occurrences of the position."""
        count = 1
        while self.board.is_repetition(count + 1):
            count += 1
        return count - 1

    def apply(self, action: int, state: State) -> None:
        """Play the move of this text."""
        self.board.push(self.board.parse_uci(state.uci(action)))


class MinichessPeer:
    """Fairy-Stockfish's variant gardner."""

    def __init__(self, fen: str) -> None:
        self.library: Any = importlib.import_module("pyffish")
        self.fen = fen
        self.moves = list[str]()

    def check(self, state: State) -> None:
        """Compare moves and end; neither FEN nor moves where the game is over."""
        here = ("gardner", self.fen, self.moves)
        legal = sorted(self.library.legal_moves(*here))
        over = any(self.library.is_optional_game_end(*here)[:1])
        bare = all(self.library.has_insufficient_material(*here))
        won = (0 if over or bare else None) if legal else self.library.game_result(*here)
        outcome = won if not won else (1 if (won > 0) == (state.to_move == 0) else -1)
        same("moves", sorted(state.action_to_text(action) for action in state.legal_actions().tolist()), legal)
        same("end", state.outcome(), outcome)

    def apply(self, action: int, state: State) -> None:
        """Play the move of this text."""
        self.moves.append(state.action_to_text(action))


class SpielPeer:
    """A game of OpenSpiel. own: its action for each of the core's."""

    def __init__(self, name: str, own: Callable[[int], int]) -> None:
        library: Any = importlib.import_module("pyspiel")
        game = library.load_game(name)
        self.state = game.new_initial_state()
        self.own = own
        self.count = game.num_distinct_actions()
        self.back = {own(action): action for action in range(self.count)}

    def legal(self) -> list[int]:
        """Return the legal actions, as the core numbers them."""
        return sorted(self.back[action] for action in self.state.legal_actions())

    def check(self, state: State) -> None:
        """Compare mover, moves and end."""
        over = self.state.is_terminal()
        same("end", state.outcome(), round(self.state.returns()[0]) if over else None)
        if not over:
            same("mover", state.to_move, self.state.current_player())
            same("moves", state.legal_actions().tolist(), self.legal())

    def apply(self, action: int, _state: State) -> None:
        """Play the move."""
        self.state.apply_action(self.own(action))


class GoPeer(SpielPeer):
    """OpenSpiel's Go, which ends a game as drawn where a board comes back, and calls the move legal."""

    def __init__(self, size: int, komi: float) -> None:
        points = size * size
        name = f"go(board_size={size},komi={komi},max_game_length="
        middle = size - 1  # its rows are counted from the other side
        actions = {a: (middle - a // size) * size + a % size for a in range(points)} | {points: points}
        super().__init__(f"{name}{3 * points})", actions.__getitem__)
        self.longer = importlib.import_module("pyspiel").load_game(f"{name}{6 * points})").new_initial_state()

    def legal(self) -> list[int]:
        """Return the legal actions without those that bring a board back: stones that end a game without a last ply."""
        passed = self.count - 1
        return [a for a in super().legal() if a == passed or not self.longer.child(self.own(a)).is_terminal()]

    def apply(self, action: int, state: State) -> None:
        """Play the move."""
        super().apply(action, state)
        self.longer.apply_action(self.own(action))


class NoGoPeer:
    """NoGo as its rules say: no capture, no suicide, no pass; who cannot move loses."""

    def __init__(self, rows: int, columns: int) -> None:
        self.rows = rows
        self.columns = columns
        self.mover = 0
        self.board = dict[tuple[int, int], int]()

    def breathes(self, point: tuple[int, int]) -> bool:
        """Return whether the chain of a stone has a liberty."""
        open_ = [point]
        seen = {point}
        while open_:
            row, column = open_.pop()
            for near in ((row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1)):
                if 0 <= near[0] < self.rows and 0 <= near[1] < self.columns and near not in seen:
                    if near not in self.board:
                        return True
                    if self.board[near] == self.board[point]:
                        seen.add(near)
                        open_.append(near)
        return False

    def is_legal(self, action: int) -> bool:
        """Return whether a point is free and all chains breathe after the move."""
        point = divmod(action, self.columns)
        if point in self.board:
            return False
        self.board[point] = self.mover
        legal = all(map(self.breathes, list(self.board)))
        del self.board[point]
        return legal

    def check(self, state: State) -> None:
        """Compare mover, moves and end."""
        legal = [action for action in range(self.rows * self.columns) if self.is_legal(action)]
        same("mover", state.to_move, self.mover)
        same("moves", state.legal_actions().tolist(), legal)
        same("end", state.outcome(), None if legal else (-1, 1)[self.mover])

    def apply(self, action: int, _state: State) -> None:
        """Play the move."""
        self.board[divmod(action, self.columns)] = self.mover
        self.mover = 1 - self.mover
