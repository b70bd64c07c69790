"""The solver: formulas, right proofs, forced moves, re-use; in chess mates, tablebases, the fifty-move rule."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import chess
import chess.syzygy
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from search_pairs import random_state, search_params, solvers
from search_toys import ToyGame
from solver_toys import (
    MATES,
    PROVING,
    best_result,
    proven_result,
    reachable,
    result_after,
    search_all,
    search_on,
    state_of,
)
from worked_example import EXAMPLE, fixture_node

import reference
from hauteur._core import Forest, Game, State
from hauteur.mcts.params import Cpuct, SearchParams, Solver
from hauteur.mcts.report import Pace, root_report
from reference.solver import Climb, node_bounds
from reference.tree import Bounds

ONE = np.array([0])


# -- formulas ----------------------------------------------------------------------------------------------------------


def child(node: reference.Node, k: int) -> reference.Node:
    """The node behind edge k."""
    found = node.edges[k].child
    assert found is not None
    return found


def proven_fixture() -> reference.Node:
    """The node of the worked example with its second edge proven drawn and its third one proven lost."""
    node = fixture_node()
    child(node, 1).bounds = Bounds(0, 0)
    child(node, 2).bounds = Bounds(1, 1)
    return node


@pytest.mark.parametrize(
    ("name", "mode", "depth"),
    [
        ("mode1 depth2", "visit", 2),
        ("mode2 depth2", "avoid", 2),
        ("mode3 depth2", "damp", 2),
        ("mode4 depth1", "damp_by_depth", 1),
        ("mode4 depth2", "damp_by_depth", 2),
        ("mode4 depth4", "damp_by_depth", 4),
        ("mode4 depth6", "damp_by_depth", 6),
        ("root", "visit", 1),
    ],
)
def test_scores_of_proven_edges(shared_data: Path, name: str, mode: Any, depth: int) -> None:
    expected = examples(shared_data)["cert"][name]["score"]
    params = EXAMPLE.model_copy(update={"solver": Solver(lost_child_mode=mode)})
    scores = reference.Scores(proven_fixture(), params, at_root=name == "root", depth=depth).all()
    assert scores == pytest.approx([expected[letter] for letter in "ABCD"], abs=1e-6)


def examples(shared_data: Path) -> dict[str, Any]:
    """The numbers of the worked examples."""
    path = shared_data / "mcts_experiments_examples.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def test_bounds_of_a_parent(shared_data: Path) -> None:
    """The examples see parent and children as those who moved there do."""
    for text, expected in examples(shared_data)["bounds"].items():
        node = fixture_node()
        node.edges = node.edges[:2]
        for edge, (lower, upper) in zip(node.edges, json.loads(text.replace("(", "[").replace(")", "]")), strict=True):
            assert edge.child is not None
            edge.child.bounds = Bounds(-upper, -lower)
        lower, upper, _ = node_bounds(node)
        assert [-upper, -lower] == expected, text


def test_a_proof_corrects_the_visits_before_it(shared_data: Path) -> None:
    expected = examples(shared_data)["turbo"]
    for retro_fix, value in [(True, expected["mover_turbo"]), (False, expected["mover_plain"])]:
        params = EXAMPLE.model_copy(update={"solver": Solver(retro_fix=retro_fix)})
        node = fixture_node()
        lost = child(node, 1)
        lost.bounds = Bounds(1, 1)
        climb = Climb(reference.Value(-1.0, 0.0), node.mover, params)
        climb.turn_to(lost.mover)
        climb.pass_proven(lost)
        climb.turn_to(node.mover)
        climb.meet(node)
        reference.update_node(node, climb.value, params)
        assert (lost.visits, lost.value) == (7, reference.Value(1.0, 0.0))
        assert node.value.wl == pytest.approx(value, abs=1e-6)


# -- proofs are right --------------------------------------------------------------------------------------------------


def assert_solved(states: list[State], params: SearchParams, visits: int) -> None:
    """Every position is proven, with the right result, and the move played keeps it."""
    forest, ids = search_all(states, params, visits)
    known: dict[tuple[int, bytes], int] = {}
    best = forest.best_actions(ids)
    for state, tree, action in zip(states, ids.tolist(), best.tolist(), strict=True):
        assert proven_result(forest, tree) == best_result(state, known), state
        assert result_after(state, action, known) == best_result(state, known), state
        forest.check_invariants(tree)


@pytest.mark.parametrize("lookahead", [0, 1])
def test_every_position_of_tictactoe_is_solved(lookahead: int) -> None:
    changes = {"solver": Solver(lookahead=lookahead), "cpuct": Cpuct(init=1.5, factor=0)}
    assert_solved(reachable(Game("tictactoe").new_initial_state()), PROVING.model_copy(update=changes), 1_000_000)


@pytest.mark.parametrize("size", [(2, 2), (2, 3), (3, 2), (2, 4), (4, 2), (3, 3)])
def test_every_position_of_small_nogo_is_solved(size: tuple[int, int]) -> None:
    states = reachable(Game(f"nogo(rows={size[0]},cols={size[1]})").new_initial_state())
    assert_solved(states, PROVING, 300_000)


toys = st.builds(ToyGame, seed=st.integers(0, 2**32), width=st.sampled_from([0, 3]), max_plies=st.integers(1, 5)).map(
    Game.from_python
)


@given(toys, search_params, solvers, st.integers(1, 400), st.integers(1, 16))
def test_bounds_hold_whatever_the_settings(
    game: Game, params: SearchParams, rule: Solver, visits: int, rows: int
) -> None:
    """Also where players do not take turns, with many leaves in flight and any other settings."""
    state = game.new_initial_state()
    forest, _ = search_all([state], params.model_copy(update={"solver": rule, "repetition": None}), visits, rows)
    forest.check_invariants(0)
    lower, upper, _ = forest.root_bounds(0)
    assert lower <= best_result(state) <= upper
    for edge in forest.root_edges(0):
        assert edge["lower"] <= result_after(state, edge["action"]) <= edge["upper"]


# -- forced moves, the root, re-use ------------------------------------------------------------------------------------


def test_proven_moves_of_the_root_wait_for_the_others() -> None:
    forest, _ = search_all([random_state(Game("tictactoe"), [0, 4, 0])], PROVING, 1)
    proven: set[int] = set()
    while not proven:
        search_on(forest, int(forest.root_node_visits(ONE)[0]) + 1, rows=1)
        proven = {edge["action"] for edge in forest.root_edges(0) if edge["lower"] == edge["upper"]}
    counts = forest.root_visits(ONE)[0]
    assert proven_result(forest, 0) is None
    search_on(forest, int(forest.root_node_visits(ONE)[0]) + 5, rows=1)
    grown = set(np.flatnonzero(forest.root_visits(ONE)[0] > counts).tolist())
    assert grown
    assert not grown & proven


def test_a_proven_node_that_becomes_the_root_is_searched_again() -> None:
    board = chess.Board(MATES[14][0])
    forest, _ = search_all([state_of(board.fen())], PROVING, 30_000)
    line = forest.principal_variation(0)
    assert proven_result(forest, 0) == 1
    forest.advance(ONE, np.array(line[:1], np.uint16))
    assert proven_result(forest, 0) == -1
    edges = forest.root_edges(0)
    assert int(forest.root_node_visits(ONE)[0]) == 1 + sum(edge["visits"] for edge in edges)
    assert forest.principal_variation(0) == line[1:]
    forest.check_invariants(0)


@pytest.mark.parametrize(
    ("edges", "preference", "best"),
    [
        ([(50, -1.0, Bounds(1, 1, 4)), (30, -0.2, None), (1, 0.0, Bounds(0, 0, 3))], "q_based", 2),
        ([(50, -1.0, Bounds(1, 1, 4)), (30, 0.1, None), (1, 0.0, Bounds(0, 0, 3))], "q_based", 1),
        ([(50, -1.0, Bounds(1, 1, 4)), (30, -0.2, None), (1, 0.0, Bounds(0, 0, 3))], "never", 1),
        ([(50, -1.0, Bounds(1, 1, 4)), (30, 0.1, None), (1, 0.0, Bounds(0, 0, 3))], "always", 2),
        ([(50, 0.9, None), (1, 1.0, Bounds(-1, -1, 4)), (1, 1.0, Bounds(-1, -1, 2))], "q_based", 2),
        ([(50, -1.0, Bounds(1, 1, 1)), (30, -1.0, Bounds(1, 1, 5)), (1, -1.0, Bounds(1, 1, 3))], "always", 1),
    ],
)
def test_final_choice(edges: list[tuple[int, float, Bounds | None]], preference: Any, best: int) -> None:
    """Bounds are those of the nodes behind the edges, where the opponent moves."""
    node = fixture_node()
    node.edges = node.edges[:3]
    for k, (visits, q, bounds) in enumerate(edges):
        child(node, k).visits = visits
        child(node, k).value = reference.Value(-q, 0.0)
        child(node, k).bounds = bounds or Bounds()
    params = SearchParams(solver=Solver(draw_preference=preference))
    assert reference.final_choice(node, params) is node.edges[best]


# -- chess -------------------------------------------------------------------------------------------------------------


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


def check_against_tables(folder: Path, count: int, visits: int, threats: int) -> int:
    """Bounds never contradict the tables; returns how many roots were proven."""
    solver = PROVING.solver
    assert solver is not None
    params = PROVING.model_copy(update={"solver": solver.model_copy(update={"threats": threats})})
    names = sorted(path.stem for path in folder.glob("*.rtbw"))
    rng = random.Random(count)
    boards = [few_pieces(rng, names) for _ in range(count)]
    forest, ids = search_all([state_of(board.fen()) for board in boards], params, visits)
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


@pytest.mark.parametrize("threats", [0, 50])
def test_proofs_do_not_contradict_tablebases(threats: int, shared_data: Path) -> None:
    assert check_against_tables(shared_data / "syzygy", 300, 300, threats) > 20


def test_the_fifty_move_rule_belongs_to_a_line() -> None:
    """The only move is a mate in one for the opponent, unless the rule is first."""
    for clock, result in [(0, -1), (98, -1), (99, 0)]:
        forest, _ = search_all([state_of(f"8/8/8/8/8/5k2/7q/5K2 w - - {clock} 100")], PROVING, 2000)
        assert proven_result(forest, 0) == result
