"""Graph search: core and reference make the same visits, and the laws of a graph hold."""

from __future__ import annotations

import pytest
from forests import make_forest, search
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from search_pairs import Pair, agree_after_each, calls, pairs, wandering
from search_toys import hash_evaluator, uniform_evaluator

from hauteur._core import Forest, Game
from hauteur.mcts.params import Cpuct, Fpu, Gumbel, Repetition, SearchContempt, SearchParams, Solver
from reference.graph import GraphSearch
from reference.tree import reachable

GRAPH = SearchParams(graph=True)
NOT_WITH_GRAPH = ("variance", "tree_balance", "q_average", "lower_bound", "second_net")
STICKY = Solver(clamp_to_bounds=False, auto_extend=False)


def as_graph(pair: Pair) -> Pair:
    """The same pair as a graph search, without the rules that do not go with it."""
    params = pair.params.model_copy(update=dict.fromkeys(NOT_WITH_GRAPH))
    solver = params.solver and params.solver.model_copy(update={"clamp_to_bounds": False, "auto_extend": False})
    rules = {"solver": solver, "repetition": params.repetition and Repetition()}
    params = SearchParams.model_validate({**dict(params), **rules, "graph": True})
    return Pair(pair.state, params, pair.evaluator, pair.seed)


graphs = pairs(wandering(st.just(False))).map(as_graph)
"""Moves that are legal in a position stay so by whatever way it is reached, so a third occurrence ends no game here."""


@given(graphs, calls)
def test_any_sequence_of_calls_agrees(pair: Pair, calls: list[tuple[str, int]]) -> None:
    agree_after_each(pair, calls)


ENDGAME = "chess(fen=7k/8/8/p1p1p1p1/P1P1P1P1/8/8/K7 w - - 0 1)"
RULES = SearchParams(
    graph=True, solver=STICKY, repetition=Repetition(), search_contempt=SearchContempt(n_scl=8), cache_key="position"
)


@pytest.mark.parametrize(
    "params", [GRAPH, RULES, SearchParams(graph=True, gumbel=Gumbel())], ids=("plain", "rules", "gumbel")
)
@pytest.mark.parametrize("game", ["tictactoe", "connect4", "minichess", "chess", ENDGAME])
def test_games_agree_and_use_what_other_moves_have_found(game: str, params: SearchParams) -> None:
    state = Game(game).new_initial_state()
    pair = Pair(state, params, hash_evaluator(state.game.num_actions, sharpness=0.5), seed=1)
    for move in range(3):
        pair.run(250 + 50 * move, rows=6)
        pair.check()
        assert int(pair.forest.stats()["nodes"]) == len(reachable(pair.search.root))
        pair.advance(move)
        pair.check()
    stats = pair.forest.stats()
    assert game == "chess" or stats["transpositions"] > 20
    assert stats["rows"] + stats["transpositions"] <= stats["visits"]


def test_the_means_are_those_of_the_edges_and_lines_to_a_node_have_one_length() -> None:
    state = Game("connect4").new_initial_state()
    reference = GraphSearch(state, GRAPH)
    evaluate = hash_evaluator(state.game.num_actions, sharpness=0.5)
    reference.run(evaluate, 400)
    nodes = reachable(reference.root)
    parents = [edge.child for node in nodes for edge in node.edges if edge.child in nodes]
    assert len(parents) > len(set(parents)) == len(nodes) - 1
    for node in nodes:
        edges = [edge for edge in node.edges if edge.child]
        assert node.visits == 1 + sum(edge.visits for edge in edges)
        total = node.network.wl - sum(edge.visits * edge.value.wl for edge in edges)
        assert node.value.wl == pytest.approx(total / node.visits, abs=1e-6)
        for edge in edges:
            assert edge.child
            assert edge.child.state.ply == node.state.ply + 1
            assert edge.child.exact or edge.visits <= edge.child.visits


def test_proofs_are_the_games_results() -> None:
    """The empty board of tic-tac-toe is a draw, and is proven with fewer positions than it has in a tree."""
    nodes = {}
    for graph in (False, True):
        params = SearchParams(graph=graph, cpuct=Cpuct(init=3.0), fpu=Fpu(kind="absolute", value=0.0), solver=STICKY)
        forest = make_forest(Game("tictactoe"), params)
        search(forest, uniform_evaluator(9), visits=200_000, rows=1)
        assert forest.root_bounds(0)[:2] == (0, 0)
        nodes[graph] = forest.stats()["nodes"]
    assert nodes[True] <= 5478 < nodes[False]


def test_a_draw_by_repetition_is_no_proof() -> None:
    """Nothing but repetition and the fifty-move rule ends this game, and other lines may reach the same positions."""
    game = Game(ENDGAME.replace("0 1)", "96 60)"))
    forest = make_forest(game, SearchParams(graph=True, solver=STICKY))
    search(forest, uniform_evaluator(game.num_actions), visits=3000, rows=1)
    forest.check_invariants(0)
    assert forest.stats()["terminal_visits"] > 0
    assert {(edge["lower"], edge["upper"]) for edge in forest.root_edges(0)} == {(-1, 1)}


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"second_net": {}}, "second_net"),
        ({"variance": {}}, "variance"),
        ({"lower_bound": {}}, "lower_bound"),
        ({"q_average": {}}, "q_average"),
        ({"tree_balance": {}}, "tree_balance"),
        ({"solver": {}}, "solver.clamp_to_bounds"),
        ({"solver": {"clamp_to_bounds": False}}, "solver.auto_extend"),
        ({"repetition": {"mode": "legacy_certain"}}, "repetition.mode legacy_certain"),
    ],
)
def test_rules_that_need_every_visit_of_a_node_are_refused(settings: dict[str, object], named: str) -> None:
    words = f"graph and {named} cannot be used together"
    with pytest.raises(ValidationError, match=words):
        SearchParams.model_validate({"graph": True, **settings})
    unchecked = SearchParams.model_validate(settings).model_copy(update={"graph": True})
    with pytest.raises(ValueError, match=words):
        Forest(Game("tictactoe"), unchecked)
