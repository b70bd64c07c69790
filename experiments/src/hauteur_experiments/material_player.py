"""A chess program that sees one ply: it mates where it can, else takes the most material, at random among equals.

    hauteur match "net=NET visits=100" "uci:python -m hauteur_experiments.material_player nodes=1" --games 100

Pieces are worth 9, 5, 3, 3, 1; a promotion gains what the pawn becomes. The choice among equals follows from seed and
position alone, so a game is the same under any load. Argument: the seed, default 1.
"""

from __future__ import annotations

import random
import sys

import chess

VALUES = {chess.PAWN: 1, chess.KNIGHT: 3, chess.BISHOP: 3, chess.ROOK: 5, chess.QUEEN: 9, chess.KING: 0}


def gain(board: chess.Board, move: chess.Move) -> int:
    """Return the material that a legal move wins at once; 100 for mate."""
    taken = board.piece_type_at(move.to_square) or (chess.PAWN if board.is_en_passant(move) else chess.KING)
    won = (0 if board.is_castling(move) else VALUES[taken]) + (VALUES[move.promotion] - 1 if move.promotion else 0)
    board.push(move)
    mates = board.is_checkmate()
    board.pop()
    return 100 if mates else won


def choose(board: chess.Board, seed: int) -> chess.Move:
    """Return a move of the greatest gain."""
    gains = [(gain(board, move), move) for move in board.legal_moves]
    greatest = max(won for won, _ in gains)
    choices = random.Random(f"{seed} {board.fen()}")
    return choices.choice([move for won, move in gains if won == greatest])


def main() -> None:
    """Speak UCI."""
    board = chess.Board()
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    for line in sys.stdin:
        command, *words = line.split() or [""]
        if command == "uci":
            print("id name material\nuciok", flush=True)
        elif command == "isready":
            print("readyok", flush=True)
        elif command == "position":
            moves = words.index("moves") if "moves" in words else len(words)
            board = chess.Board() if words[0] == "startpos" else chess.Board(" ".join(words[1:moves]))
            for move in words[moves + 1 :]:
                board.push_uci(move)
        elif command == "go":
            print(f"bestmove {choose(board, seed)}", flush=True)
        elif command == "quit":
            return


if __name__ == "__main__":
    main()
