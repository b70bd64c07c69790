"""Reading a tree while it is searched: in the searching thread, between two batches, with nothing changed by it."""

import threading
from concurrent.futures import Future

import pytest
from search_toys import hash_evaluator

import hauteur as ht
from hauteur.mcts.limits import Limits
from hauteur.mcts.report import RootReport
from hauteur.mcts.search_tree import SearchTree

pytestmark = pytest.mark.quick

GAME = ht.load_game("connect4")


def searching(visits: int | None) -> tuple[ht.Analysis, Future[RootReport]]:
    """An analysis with a running search."""
    analysis = ht.Analysis(hash_evaluator(GAME.num_actions), batch_size=16, seed=1)
    analysis.set_position(GAME.new_initial_state())
    return analysis, analysis.start(Limits(visits=visits, infinite=visits is None))


VISITS = 6_000
"""Of a search that is asked between its batches."""


def digest(analysis: ht.Analysis) -> int:
    return analysis._tree.forest.digest(analysis._tree.number)


def test_functions_run_in_the_searching_thread_and_see_the_tree_grow() -> None:
    analysis, search = searching(None)

    def look(tree: SearchTree) -> tuple[int, str]:
        return tree.root.visits, threading.current_thread().name

    seen = [analysis.ask(look).result(10) for _ in range(30)]
    assert analysis.searching
    analysis.stop()
    search.result(10)
    visits = [count for count, _ in seen]
    assert visits == sorted(visits)
    assert 0 < visits[0] < visits[-1]
    assert {name for _, name in seen} == {"search"}
    at_rest = analysis.ask(look).result(0)
    assert at_rest == (analysis.result().tree.root.visits, threading.current_thread().name)


def test_asking_changes_no_visit() -> None:
    quiet, search = searching(VISITS)
    search.result(60)
    asked, search = searching(VISITS)
    answers = []
    while not search.done():
        future = asked.ask(lambda tree: [child.visits for child in tree.root.children])
        answers.append(future.result(30))
    assert len(answers) > 3
    assert all(sum(answer) < VISITS for answer in answers)
    assert digest(asked) == digest(quiet)


def test_a_tree_that_can_grow_no_more_is_answered_for_too() -> None:
    state = ht.load_game("tictactoe").new_initial_state()
    for move in ("a1", "b1", "a2", "b2", "c3", "a3", "b3"):
        state.apply_text(move)
    analysis = ht.Analysis("uniform", ht.SearchParams.model_validate({"solver": {}}))
    analysis.set_position(state.start, state.moves)
    search = analysis.start(Limits(infinite=True))
    while analysis.ask(lambda tree: tree.root.proven).result(10) is None:
        assert not search.done()
    later = analysis.ask(lambda tree: tree)
    tree = later.result(10)
    analysis.stop()
    search.result(10)
    assert tree.root.children
    analysis.set_position(GAME.new_initial_state())
    with pytest.raises(ValueError, match="this tree is gone"):
        tree.root  # noqa: B018
