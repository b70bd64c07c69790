"""Syzygy probing agrees with python-chess; the moves kept at the root keep the result."""

import random
from collections.abc import Iterator
from pathlib import Path

import chess
import chess.syzygy
import pytest

from hauteur._core import Game, State, Tablebase

POSITIONS = 250


@pytest.fixture(scope="module")
def folder(shared_data: Path) -> Path:
    """Tables of up to four pieces."""
    return shared_data / "syzygy"


@pytest.fixture(scope="module")
def tables(folder: Path) -> Tablebase:
    """The tables, by the core."""
    return Tablebase(str(folder))


@pytest.fixture(scope="module")
def python_tables(folder: Path) -> Iterator[chess.syzygy.Tablebase]:
    """The tables, by python-chess."""
    with chess.syzygy.open_tablebase(str(folder)) as opened:
        yield opened


def state_of(board: chess.Board) -> State:
    """The state of a board."""
    return Game(f"chess(fen={board.fen(en_passant='xfen')})").new_initial_state()


def random_board(rng: random.Random) -> chess.Board:
    """A legal position of three or four pieces in which the game is not over."""
    while True:
        board = chess.Board(None)
        squares = rng.sample(range(64), 4)
        pieces = [chess.Piece(chess.KING, chess.WHITE), chess.Piece(chess.KING, chess.BLACK)]
        for _ in range(rng.randint(1, 2)):
            pieces.append(chess.Piece(rng.choice(range(chess.PAWN, chess.KING)), rng.choice(chess.COLORS)))
        for square, piece in zip(squares, pieces, strict=False):
            board.set_piece_at(square, piece)
        board.turn = rng.choice(chess.COLORS)
        board.halfmove_clock = rng.choice([0, 0, 5, 40, 90])
        if board.is_valid() and not board.is_game_over():
            return board


def boards(seed: int, count: int = POSITIONS) -> Iterator[chess.Board]:
    """Random positions."""
    rng = random.Random(seed)
    for _ in range(count):
        yield random_board(rng)


def test_results_and_distances_agree_with_python_chess(
    tables: Tablebase, python_tables: chess.syzygy.Tablebase
) -> None:
    seen = set()
    for board in boards(1):
        wdl = python_tables.probe_wdl(board)
        dtz = python_tables.probe_dtz(board)
        assert tables.probe_wdl(state_of(board)) == wdl, board.fen()
        assert tables.probe_dtz(state_of(board)) == dtz, board.fen()
        seen.add(wdl)
    assert {-2, 0, 2} <= seen


def result_after(board: chess.Board, move: chess.Move, opened: chess.syzygy.Tablebase) -> int:
    """Sign of the mover's result after a move, with the fifty-move rule counted on."""
    board.push(move)
    try:
        if board.is_checkmate():
            return 1
        if board.is_stalemate() or board.is_insufficient_material() or board.halfmove_clock >= 100:
            return 0
        dtz = -opened.probe_dtz(board)
        in_time = board.halfmove_clock == 0 or abs(dtz) + board.halfmove_clock <= 100
        return (dtz > 0) - (dtz < 0) if in_time else 0
    finally:
        board.pop()


def test_root_actions_keep_the_result(tables: Tablebase, python_tables: chess.syzygy.Tablebase) -> None:
    narrowed = 0
    for board in boards(2, 60):
        state = state_of(board)
        kept = tables.root_actions(state)
        assert kept, board.fen()
        results = {move: result_after(board, move, python_tables) for move in board.legal_moves}
        best = max(results.values())
        for action in kept:
            assert results[board.parse_uci(state.action_to_text(action))] == best, (board.fen(), action)
        narrowed += len(kept) < len(results)
    assert narrowed > 10


def test_fast_play_keeps_only_the_shortest_wins(tables: Tablebase) -> None:
    for board in boards(3, 60):
        state = state_of(board)
        kept = tables.root_actions(state)
        fast = tables.root_actions(state, fast_play=True)
        assert kept
        assert fast, board.fen()
        assert set(fast) <= set(kept), board.fen()


def test_damaged_tables_are_refused(folder: Path, tmp_path: Path) -> None:
    whole = (folder / "KQvK.rtbw").read_bytes()
    (tmp_path / "KQvK.rtbw").write_bytes(whole[:-3])
    with pytest.raises(ValueError, match="file size"):
        Tablebase(str(tmp_path))
    (tmp_path / "KQvK.rtbw").write_bytes(b"x" * len(whole))
    state = Game("chess(fen=8/8/8/3k4/8/8/8/KQ6 w - - 0 1)").new_initial_state()
    with pytest.raises(ValueError, match="Syzygy tables"):
        Tablebase(str(tmp_path)).probe_wdl(state)
