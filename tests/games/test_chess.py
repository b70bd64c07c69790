"""Chess agrees with python-chess along random games and with lc0's planes and policy on the reference positions."""

import json
import random
from pathlib import Path
from typing import Any

import chess
import numpy as np
import pytest

from hauteur._core import Game, State

STARTS = {
    "start": chess.STARTING_FEN,
    "kiwipete": "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "en passant": "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "promotions": "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
    "many queens": "3qk3/2qqq3/8/8/8/8/2QQQ3/3QK3 w - - 0 1",
    "few pieces": "8/8/3k4/8/2pP4/8/4K1B1/8 b - d3 0 1",
}


def start_state(fen: str, *, chess960: bool = False) -> State:
    """The state of a FEN."""
    return Game(f"chess(fen={fen}, chess960={str(chess960).lower()})").new_initial_state()


def expected_outcome(board: chess.Board) -> int | None:
    """lc0's rules: mate, stalemate, bare material, a hundred plies, the third occurrence."""
    if not any(board.legal_moves):
        return 0 if not board.is_check() else (-1 if board.turn == chess.WHITE else 1)
    is_draw = is_bare(board) or board.halfmove_clock >= 100 or board.is_repetition(3)
    return 0 if is_draw else None


def is_bare(board: chess.Board) -> bool:
    """No pawns, rooks, queens; at most one minor piece, or bishops of one square colour only."""
    if board.pawns | board.rooks | board.queens:
        return False
    minor = chess.popcount(board.knights | board.bishops)
    one_colour = not (board.bishops & chess.BB_LIGHT_SQUARES and board.bishops & chess.BB_DARK_SQUARES)
    return minor <= 1 or (not board.knights and one_colour)


def check_position(state: State, board: chess.Board) -> None:
    """Moves, notations, FEN and result of one position."""
    actions = [int(action) for action in state.legal_actions()]
    assert actions == sorted(set(actions))
    moves = {action: board.parse_san(state.action_to_text(action, "san")) for action in actions}
    assert set(moves.values()) == set(board.legal_moves)
    for action, move in moves.items():
        assert state.action_to_text(action, "san") == board.san(move)
        assert state.action_to_text(action) == board.uci(move)
        assert state.parse(board.uci(move)) == action
    assert state.notation() == board.fen(en_passant="xfen")
    assert state.to_move == (0 if board.turn == chess.WHITE else 1)
    assert state.outcome() == expected_outcome(board)


def play_random_game(state: State, board: chess.Board, rng: random.Random, plies: int) -> int:
    """Compares both along a game; returns the number of positions."""
    for ply in range(plies):
        check_position(state, board)
        if state.outcome() is not None:
            return ply + 1
        move = rng.choice(sorted(board.legal_moves, key=chess.Move.uci))
        state.apply(state.parse(board.uci(move)))
        board.push(move)
    return plies


@pytest.mark.parametrize("name", STARTS)
def test_random_games_agree_with_python_chess(name: str) -> None:
    positions = 0
    for seed in range(6):
        fen = STARTS[name]
        rng = random.Random(f"{name} {seed}")
        positions += play_random_game(start_state(fen), chess.Board(fen), rng, 120)
    assert positions >= 60


def test_chess960_games_agree_with_python_chess() -> None:
    castled = 0
    for seed in range(12):
        rng = random.Random(seed)
        board = chess.Board.from_chess960_pos(rng.randrange(960))
        fen = board.fen()
        play_random_game(start_state(fen, chess960=True), board, rng, 80)
        castled += sum(1 for move in board.move_stack if was_castling(fen, board, move))
    assert castled > 0


def was_castling(fen: str, board: chess.Board, move: chess.Move) -> bool:
    """Return whether a move of the game was castling (king takes own rook)."""
    replay = chess.Board(fen, chess960=True)
    for played in board.move_stack:
        if played == move and replay.is_castling(move):
            return True
        replay.push(played)
    return False


def reference(shared_data: Path, name: str) -> list[dict[str, Any]]:
    """The positions of a reference file."""
    positions: list[dict[str, Any]] = json.loads((shared_data / "lc0" / name).read_text())["positions"]
    return positions


def reached(position: dict[str, Any]) -> State:
    """The state that a reference position describes."""
    spec = "chess" if position["fen"] == "startpos" else f"chess(fen={position['fen']})"
    state = Game(spec).new_initial_state()
    for move in position["moves"]:
        state.apply(state.parse(move))
    return state


def unpacked(planes: dict[str, tuple[str, float]]) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Listed planes as float32 [112, 8, 8]."""
    features = np.zeros((112, 64), np.float32)
    for plane, (mask, value) in planes.items():
        bits = np.array([int(mask, 16) >> square & 1 for square in range(64)], np.float32)
        features[int(plane)] = bits * np.float32(value)
    return features.reshape(112, 8, 8)


def test_planes_are_those_of_lc0(shared_data: Path) -> None:
    for position in reference(shared_data, "input_planes.json"):
        state = reached(position)
        planes = unpacked(position["planes"])
        assert np.array_equal(state.features(), planes), position["id"]
        masks, values = state.features_packed()
        bits = (masks[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
        assert np.array_equal((bits * values[:, None]).reshape(112, 8, 8), planes), position["id"]


def test_policy_indices_are_those_of_lc0(shared_data: Path) -> None:
    moves = 0
    for position in reference(shared_data, "nn_outputs.json"):
        state = reached(position)
        pairs = zip(position["legal_moves"], position["nn_index"], strict=True)
        indices = dict(pairs)
        assert sorted(indices.values()) == state.legal_actions().tolist(), position["id"]
        for move, index in indices.items():
            assert state.parse(move) == index, (position["id"], move)
            assert state.action_to_text(index, "lc0") == position.get("lc0_move_names", {}).get(
                move, move
            ).removesuffix("n")
        moves += len(indices)
    assert moves > 2000
