"""The solver: formulas, proofs that are right, mates, tablebases, forced moves, re-use of the tree."""

from __future__ import annotations

import json
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
from hauteur._core import Game, State
from hauteur.mcts.params import Cpuct, SearchParams, Solver
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
    child(node, 1).bounds, child(node, 2).bounds = Bounds(0, 0), Bounds(1, 1)
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
        child(node, k).visits, child(node, k).value = visits, reference.Value(-q, 0.0)
        child(node, k).bounds = bounds or Bounds()
    params = SearchParams(solver=Solver(draw_preference=preference))
    assert reference.final_choice(node, params) is node.edges[best]
