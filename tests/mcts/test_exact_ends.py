"""Values of the root's moves that the solver finds by an exact search (`solver.exact`)."""

import random

import pytest

import hauteur as ht
from hauteur import _core
from hauteur.mcts.limits import Limits
from hauteur.mcts.params import Solver
from hauteur.mcts.result import SearchResult


def random_position(spec: str, plies: int, seed: int) -> ht.State:
    """Return an unfinished position after this many random moves."""
    chance = random.Random(seed)
    while True:
        state = ht.load_game(spec).new_initial_state()
        while state.ply < plies and not state.is_terminal:
            state = state.child(chance.choice(state.legal_actions()))
        if not state.is_terminal:
            return state


def exact_values(state: ht.State) -> dict[int, int]:
    """Return the value of each legal action by the solver itself."""
    values = _core.ExactSolver(state.game).move_values(state)
    assert values is not None
    return dict(zip(state.legal_actions(), values, strict=True))


def searched(state: ht.State, exact: int, visits: int = 1) -> SearchResult:
    """Search a position without a net."""
    return ht.search(state, "uniform", ht.SearchParams(solver=Solver(exact=exact)), visits=visits)


@pytest.mark.parametrize(
    ("spec", "plies"), [("othello(size=6)", 22), ("connect4", 26), ("hex(size=5)", 14), ("tictactoe", 2)]
)
def test_the_best_move_keeps_the_exact_value(spec: str, plies: int) -> None:
    for seed in range(12):
        state = random_position(spec, plies, seed)
        values = exact_values(state)
        assert values[searched(state, 1_000_000, visits=4).best_action] == max(values.values())


def test_moves_that_differ_are_proven_and_equal_ones_are_not() -> None:
    proven_moves = 0
    for seed in range(12):
        state = random_position("othello(size=6)", 22, seed)
        values = exact_values(state)
        best = max(values.values())
        differ = len(set(values.values())) > 1
        for move in searched(state, 1_000_000).moves:
            value = values[move.action]
            is_known = differ and (value < best or best == 1)
            assert move.proven == (value if is_known else None)
            proven_moves += is_known
    assert proven_moves > 10


def test_a_tree_that_follows_the_game_learns_at_its_new_roots() -> None:
    state = random_position("othello(size=6)", 18, 3)
    with ht.Analysis(ht.evaluator(state.game, "uniform"), ht.SearchParams(solver=Solver(exact=100_000))) as analysis:
        while not state.is_terminal:
            analysis.set_position(state)
            found = analysis.search(Limits(visits=30))
            assert found.best is not None
            values = exact_values(state)
            assert values[found.best.action] == max(values.values())
            state = state.child(found.best.action)


def test_games_whose_values_rest_on_the_past_have_no_such_search() -> None:
    for game in ("chess", "go(size=5)", "minichess"):
        plain, exact = (
            ht.search(ht.position(game), "uniform", ht.SearchParams(solver=Solver(exact=number)), visits=20)
            for number in (0, 1_000_000)
        )
        assert [move.visits for move in plain.moves] == [move.visits for move in exact.moves]
