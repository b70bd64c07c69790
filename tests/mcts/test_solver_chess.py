"""The solver in chess: mates with their lengths, test suites, tablebases, the fifty-move rule."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import chess
import chess.syzygy
import pytest
from solver_toys import MATES, PROVING, proven_result, search_all, state_of

from hauteur._core import Forest
from hauteur.mcts.params import Cpuct
from hauteur.mcts.report import Pace, root_report

MATING = PROVING.model_copy(update={"cpuct": Cpuct(init=1.745, factor=0), "max_in_flight": 1})
"""Wider: the first proof is that of the shortest mate more often."""


def test_mates_are_reported() -> None:
    forest, ids = search_all([state_of(fen) for fen, _ in MATES], MATING, 30_000)
    for tree, (fen, moves) in zip(ids.tolist(), MATES, strict=True):
        report = root_report(forest, tree, pace=Pace())
        assert report.mate == moves, fen
        assert forest.root_bounds(tree) == (1, 1, 2 * moves - 1)
        board = chess.Board(fen)
        assert report.best is not None
        place = report.state.copy()
        for action in report.best.line:
            board.push_uci(place.action_to_text(action, "uci"))
            place.apply(action)
        assert board.is_checkmate(), fen


EPD_MATES = {
    2: (1, 4, 5, 12, 27, 54, 60, 61, 84, 99, 154, 156, 160, 184, 188, 246),
    3: (50, 97, 102, 132, 136, 143, 158, 173, 177, 179, 191, 197, 203, 225, 295),
    4: (263, 283, 290, 293),
    6: (222,),
}
"""Positions of "Win at Chess" whose mates the uniform evaluator proves within 5000 visits, by length."""


def win_at_chess(shared_data: Path, numbers: Sequence[int]) -> list[tuple[chess.Board, list[chess.Move]]]:
    """Positions of the suite with their best moves."""
    lines = (shared_data / "epd" / "wacnew.epd").read_text(encoding="utf-8").splitlines()
    found = []
    for number in numbers:
        board, operations = chess.Board.from_epd(lines[number - 1])
        assert operations["id"] == f"WAC.{number:03}"
        moves = operations["bm"]
        assert isinstance(moves, list)
        found.append((board, list(moves)))
    return found


def assert_mates(shared_data: Path, moves: int) -> None:
    """The suite's mates of this length are reported, with the suite's move."""
    problems = win_at_chess(shared_data, EPD_MATES[moves])
    forest, ids = search_all([state_of(board.fen()) for board, _ in problems], MATING, 5000)
    for (board, best), tree in zip(problems, ids.tolist(), strict=True):
        report = root_report(forest, tree, pace=Pace())
        assert report.best is not None
        assert report.mate == moves, board.fen()
        assert chess.Move.from_uci(report.state.action_to_text(report.best.action, "uci")) in best


def test_mates_of_a_test_suite_are_reported(shared_data: Path) -> None:
    assert_mates(shared_data, 2)


@pytest.mark.slow
@pytest.mark.parametrize("moves", [3, 4, 6])
def test_longer_mates_of_a_test_suite_are_reported(shared_data: Path, moves: int) -> None:
    assert_mates(shared_data, moves)


def few_pieces(rng: random.Random, names: list[str]) -> chess.Board:
    """A random legal position of a table's pieces in which the game goes on."""
    while True:
        board = chess.Board(None)
        white, black = rng.choice(names).split("v")
        if rng.random() < 0.5:
            white, black = black, white
        places = rng.sample(range(64), len(white) + len(black))
        for piece, square in zip(white + black.lower(), places, strict=True):
            board.set_piece_at(square, chess.Piece.from_symbol(piece))
        board.turn = rng.random() < 0.5
        if board.is_valid() and any(board.legal_moves):
            return board


def check_against_tables(folder: Path, count: int, visits: int) -> int:
    """Bounds never contradict the tables; returns how many roots were proven."""
    names = sorted(path.stem for path in folder.glob("*.rtbw"))
    rng = random.Random(count)
    boards = [few_pieces(rng, names) for _ in range(count)]
    forest, ids = search_all([state_of(board.fen()) for board in boards], PROVING, visits)
    proven = 0
    with chess.syzygy.open_tablebase(str(folder)) as tables:
        for board, tree in zip(boards, ids.tolist(), strict=True):
            lower, upper, _ = forest.root_bounds(tree)
            proven += lower == upper
            assert lower <= table_result(tables, board) <= upper, board.fen()
            check_edges(tables, board, forest, tree)
    return proven


def check_edges(tables: chess.syzygy.Tablebase, board: chess.Board, forest: Forest, tree: int) -> None:
    """Return what is proven of the moves does not contradict the tables."""
    state = forest.state(tree)
    for edge in forest.root_edges(tree):
        if (edge["lower"], edge["upper"]) != (-1, 1):
            board.push_uci(state.action_to_text(edge["action"], "uci"))
            result = -table_result(tables, board)
            board.pop()
            assert edge["lower"] <= result <= edge["upper"], (board.fen(), edge)


def table_result(tables: chess.syzygy.Tablebase, board: chess.Board) -> int:
    """-1, 0, 1 for the side to move; wins that the fifty-move rule spoils are draws."""
    wdl = tables.probe_wdl(board)
    return (wdl > 1) - (wdl < -1)


def test_proofs_do_not_contradict_tablebases(shared_data: Path) -> None:
    assert check_against_tables(shared_data / "syzygy", 300, 300) > 20


def test_the_fifty_move_rule_belongs_to_a_line() -> None:
    """The only move is a mate in one for the opponent, unless the rule is first."""
    for clock, result in [(0, -1), (98, -1), (99, 0)]:
        forest, _ = search_all([state_of(f"8/8/8/8/8/5k2/7q/5K2 w - - {clock} 100")], PROVING, 2000)
        assert proven_result(forest, 0) == result
