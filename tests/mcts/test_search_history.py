"""Curves of a search: bounded, even, and true to the reports."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hauteur as ht
from hauteur.mcts.report import RootReport, SearchHistory

pytestmark = pytest.mark.quick


@pytest.fixture(scope="module")
def reports() -> list[RootReport]:
    """Reports of a growing search."""
    state = ht.load_game("connect4").new_initial_state()
    with ht.Analysis("rollout") as analysis:
        return [analysis.go(state, visits=visits).report for visits in range(2, 400, 2)]


@given(count=st.integers(1, 199), most=st.integers(2, 60))
def test_samples_are_even_and_bounded(reports: list[RootReport], count: int, most: int) -> None:
    history = SearchHistory(most)
    for report in reports[:count]:
        history.add(report)
    visits = [report.visits for report in history.samples]
    steps = {after - before for before, after in pairwise(visits[:-1])}
    assert len(visits) <= most + 1
    assert len(visits) >= min(count, most // 2)
    assert len(steps) <= 1
    assert (visits[0], visits[-1]) == (2, reports[count - 1].visits)


def test_curves_are_those_of_the_moves(reports: list[RootReport]) -> None:
    history = SearchHistory(30)
    assert history.curves() == []
    for report in reports:
        history.add(report)
    curves = history.curves(3)
    assert [curve.action for curve in curves] == [
        move.action for move in sorted(reports[-1].moves, key=lambda move: -move.visits)[:3]
    ]
    for number, report in enumerate(history.samples):
        by_action = {move.action: move for move in report.moves}
        for curve in curves:
            move = by_action[curve.action]
            assert curve.visits[number] == move.visits
            assert curve.q[number] == (None if move.wdl is None else move.q)
    history.clear()
    assert not history.samples
