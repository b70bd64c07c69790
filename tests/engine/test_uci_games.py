"""Whole games against itself, driven by python-chess."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import chess
import chess.engine

HAUTEUR = [sys.executable, "-m", "hauteur.cli.main", "uci", "--weights"]


@contextmanager
def opened(command: list[str] | str, **options: object) -> Iterator[chess.engine.SimpleEngine]:
    """An engine for the length of a block."""
    with chess.engine.SimpleEngine.popen_uci(command, timeout=120) as player:
        player.configure(options)  # type: ignore[arg-type]
        yield player


def play_game(player: chess.engine.SimpleEngine, board: chess.Board, *, nodes: int, plies: int) -> str:
    """Let the engine play both sides; every move is legal, or python-chess raises."""
    game = object()
    for _ in range(plies):
        if board.is_game_over(claim_draw=True):
            break
        move = player.play(board, chess.engine.Limit(nodes=nodes), game=game).move
        assert move is not None
        board.push(move)
    return board.result(claim_draw=True)


def test_a_game_with_random_moves_and_one_that_ends() -> None:
    with opened([*HAUTEUR, "uniform"], Temperature=1.0) as player:
        play_game(player, board := chess.Board(), nodes=20, plies=40)
        assert board.ply() == 40
        assert play_game(player, chess.Board("6k1/5ppp/8/8/8/8/8/R6K w - - 0 1"), nodes=200, plies=1) == "1-0"


def test_chess960_games() -> None:
    with opened([*HAUTEUR, "uniform"]) as player:
        for number in (0, 518, 959):
            board = chess.Board.from_chess960_pos(number)
            play_game(player, board, nodes=30, plies=60)
