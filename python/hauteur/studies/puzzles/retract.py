"""A move that could have led to a position of chess, for positions that come without their past."""

from __future__ import annotations

from collections.abc import Iterator

import chess

from hauteur import _core
from hauteur.games.registry import load_game, parse_spec, with_fen


def last_move(state: _core.State) -> tuple[_core.State, int | None]:
    """A position and a quiet move of it that gives `state`; `state` itself and None where there is none.

    Of chess alone. The pieces' order decides which of many moves it is: king, queen, rooks ... from square to square.
    """
    if state.game.name != "chess":
        return state, None
    board = chess.Board(state.notation(), chess960="chess960" in parse_spec(state.game.spec)[1])
    for before, move in _candidates(board):
        fen = before.fen(en_passant="fen")
        if before.is_valid() and before.is_legal(move) and _leads_to(before, move, board):
            plain = "chess(chess960=true)" if board.chess960 else "chess"
            origin = load_game(with_fen(plain, fen)).new_initial_state()
            return origin, origin.parse(move.uci())
    return state, None


def _candidates(board: chess.Board) -> Iterator[tuple[chess.Board, chess.Move]]:
    """Positions with one piece of the side that has just moved on another square, and the move that brings it back."""
    mover = not board.turn
    if board.ep_square is not None:
        step = 8 if mover == chess.WHITE else -8
        yield _moved_back(board, chess.Move(board.ep_square - step, board.ep_square + step))
        return
    for piece in (chess.KING, chess.QUEEN, chess.ROOK, chess.BISHOP, chess.KNIGHT, chess.PAWN):
        for square in board.pieces(piece, mover):
            for origin in _origins(board, piece, square, mover):
                yield _moved_back(board, chess.Move(origin, square))


def _origins(
    board: chess.Board, piece: chess.PieceType, square: chess.Square, mover: chess.Color
) -> list[chess.Square]:
    """The empty squares that the piece could have come from without capturing."""
    if piece == chess.PAWN:
        behind = square - (8 if mover == chess.WHITE else -8)
        return [behind] if 8 <= behind < 56 and board.piece_at(behind) is None else []
    return [origin for origin in board.attacks(square) if board.piece_at(origin) is None]


def _moved_back(board: chess.Board, move: chess.Move) -> tuple[chess.Board, chess.Move]:
    before = board.copy(stack=False)
    before.turn = not board.turn
    before.ep_square = None
    before.set_piece_at(move.from_square, before.remove_piece_at(move.to_square))
    before.halfmove_clock = max(0, board.halfmove_clock - 1)
    before.fullmove_number = max(1, board.fullmove_number - (board.turn == chess.WHITE))
    return before, move


def _leads_to(before: chess.Board, move: chess.Move, board: chess.Board) -> bool:
    """Return whether the move leads to the position: pieces, castling rights, en passant."""
    after = before.copy(stack=False)
    after.push(move)
    return after.epd(en_passant="legal") == board.epd(en_passant="legal")
