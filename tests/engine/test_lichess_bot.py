"""The UCI engine as python-chess drives it for lichess-bot."""

import sys
from collections.abc import Iterator

import chess
import chess.engine
import pytest
from chess.engine import Limit, PlayResult

pytestmark = pytest.mark.quick

COMMAND = [sys.executable, "-m", "hauteur.cli.main", "uci", "--weights", "uniform"]
DEFAULT_OPTIONS = {"Move Overhead": 100, "Threads": 1, "Hash": 64, "UCI_ShowWDL": True}
"""The names that lichess-bot's configuration sets as it comes."""
CHESS960 = "1rk3r1/pppppppp/8/8/8/8/PPPPPPPP/1RK3R1 w GBgb - 0 1"


@pytest.fixture(scope="module")
def driven() -> Iterator[chess.engine.SimpleEngine]:
    """The engine with lichess-bot's options."""
    with chess.engine.SimpleEngine.popen_uci(COMMAND, timeout=60) as player:
        player.configure(DEFAULT_OPTIONS)
        yield player


def clocks(seconds: float) -> Limit:
    """Return what lichess-bot sends in a game on the clock."""
    return Limit(white_clock=seconds, black_clock=seconds, white_inc=0.1, black_inc=0.1, clock_id="real time")


def move_of(result: PlayResult) -> chess.Move:
    """The move of a result, which must have one."""
    assert result.move is not None
    return result.move


def test_a_game_on_the_clock_with_pondering(driven: chess.engine.SimpleEngine) -> None:
    board = chess.Board()
    opponent = chess.engine.Opponent(name="Somebody", title="GM", rating=2800, is_engine=False)
    driven.send_opponent_information(opponent=opponent, engine_rating=2500)
    for _ in range(5):
        result = driven.play(
            board, clocks(2), info=chess.engine.INFO_ALL, ponder=True, game="game 1", draw_offered=True
        )
        assert result.move is not None
        assert result.move in board.legal_moves
        assert {"score", "pv", "wdl", "nodes", "nps", "depth", "time", "hashfull", "tbhits"} <= result.info.keys()
        assert result.info["score"].turn == board.turn
        assert sum(result.info["wdl"].relative) == 1000
        board.push(result.move)
        reply = result.ponder if len(board.move_stack) % 4 == 1 else next(iter(board.legal_moves))
        board.push(reply or next(iter(board.legal_moves)))


def test_first_move_and_correspondence_limits(driven: chess.engine.SimpleEngine) -> None:
    for limit in (Limit(time=0.05, clock_id="first move"), Limit(time=0.05, clock_id="correspondence", depth=3)):
        assert move_of(driven.play(chess.Board(), limit)) in chess.Board().legal_moves


def test_chess960_is_managed_by_python_chess(driven: chess.engine.SimpleEngine) -> None:
    for board in (chess.Board(CHESS960, chess960=True), chess.Board.from_chess960_pos(959)):
        for _ in range(30):
            if not board.is_game_over():
                board.push(move_of(driven.play(board, Limit(nodes=30), game=board.root().fen())))


def test_a_wrong_option_is_an_error_of_python_chess_and_the_engine_lives(driven: chess.engine.SimpleEngine) -> None:
    with pytest.raises(chess.engine.EngineError):
        driven.configure({"No Such Option": 1})
    assert move_of(driven.play(chess.Board(), Limit(nodes=10))) in chess.Board().legal_moves
