"""Whole games, driven by python-chess: against Stockfish, against itself, on the clock."""

import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import chess
import chess.engine
import pytest

STOCKFISH = shutil.which("stockfish") or "/usr/games/stockfish"
HAUTEUR = [sys.executable, "-m", "hauteur.cli.main", "uci", "--weights"]
OPENING_PLIES = 4

needs_stockfish = pytest.mark.skipif(
    not Path(STOCKFISH).exists(), reason="stockfish is not installed (Debian: apt-get install stockfish)"
)


@dataclass
class Clocks:
    """Two clocks in seconds, White's first."""

    left: list[float]
    increment: float
    used: list[float]

    def limit(self) -> chess.engine.Limit:
        """Return the options of `go` for the player to move."""
        increment = self.increment
        return chess.engine.Limit(
            white_clock=self.left[0], black_clock=self.left[1], white_inc=increment, black_inc=increment
        )

    def charge(self, side: chess.Color, seconds: float) -> None:
        """Takes the time of a move off the clock; a clock below zero loses."""
        index = 0 if side == chess.WHITE else 1
        self.left[index] -= seconds
        self.used[index] += seconds
        assert self.left[index] >= 0.0, f"{'White' if side else 'Black'} lost on time"
        self.left[index] += self.increment


@contextmanager
def opened(command: list[str] | str, **options: object) -> Iterator[chess.engine.SimpleEngine]:
    """An engine for the length of a block."""
    with chess.engine.SimpleEngine.popen_uci(command, timeout=120) as player:
        player.configure(options)  # type: ignore[arg-type]
        yield player


def start_position(number: int) -> chess.Board:
    """The position after a few plies, another one for each number."""
    board = chess.Board()
    for ply in range(OPENING_PLIES):
        moves = sorted(board.legal_moves, key=lambda move: move.uci())
        board.push(moves[(7 * number + 3 * ply) % len(moves)])
    return board


def play_game(
    players: tuple[chess.engine.SimpleEngine, chess.engine.SimpleEngine],
    board: chess.Board,
    *,
    limit: chess.engine.Limit | None = None,
    clocks: Clocks | None = None,
    plies: int = 400,
) -> str:
    """Plays a game with White first in `players`; every move is legal or python-chess raises."""
    game = object()
    for _ in range(plies):
        if board.is_game_over(claim_draw=True):
            break
        side = board.turn
        player = players[0] if side == chess.WHITE else players[1]
        began = time.monotonic()
        move = player.play(board, clocks.limit() if clocks else limit or chess.engine.Limit(nodes=20), game=game).move
        if clocks:
            clocks.charge(side, time.monotonic() - began)
        assert move is not None
        board.push(move)
    return board.result(claim_draw=True)


def match_with_stockfish(net: str, games: int, nodes: int, *, plies: int) -> list[str]:
    """Plays with both colours in turn."""
    results = []
    with opened([*HAUTEUR, net]) as hauteur, opened(STOCKFISH, Threads=1, Hash=16) as stockfish:
        for number in range(games):
            players = (hauteur, stockfish) if number % 2 == 0 else (stockfish, hauteur)
            limit = chess.engine.Limit(nodes=nodes)
            results.append(play_game(players, start_position(number // 2), limit=limit, plies=plies))
    return results


@needs_stockfish
def test_two_games_against_stockfish() -> None:
    results = match_with_stockfish("uniform", 2, 200, plies=120)
    assert len(results) == 2


def test_game_on_the_clock_against_itself() -> None:
    clocks = Clocks(left=[3.0, 3.0], increment=0.1, used=[0.0, 0.0])
    with opened([*HAUTEUR, "uniform"], Temperature=1.0) as white, opened([*HAUTEUR, "uniform"]) as black:
        play_game((white, black), start_position(3), clocks=clocks, plies=40)
    assert min(clocks.used) > 0, "the clock is used"


def test_chess960_games() -> None:
    with opened([*HAUTEUR, "uniform"]) as player:
        for number in (0, 518, 959):
            board = chess.Board.from_chess960_pos(number)
            play_game((player, player), board, limit=chess.engine.Limit(nodes=30), plies=60)
