"""Reports as the page Analyse takes them, and their curves: bounded, even, true to the reports."""

import json
from dataclasses import replace
from itertools import pairwise

import pytest

import hauteur as ht
from hauteur import _core
from hauteur.games.played_game import line_texts, move_text
from hauteur.mcts.report import RootReport

pytestmark = pytest.mark.quick

START = ht.load_game("connect4").new_initial_state()


@pytest.fixture(scope="module")
def reports() -> list[RootReport]:
    """Reports of a growing search."""
    with ht.Analysis("rollout") as analysis:
        return [analysis.go(START, visits=visits).report for visits in range(2, 600, 2)]


def history_of(reports: list[RootReport]) -> _core.SearchHistory:
    """The history of these reports."""
    history = _core.SearchHistory(START)
    for report in reports:
        history.add(report)
    return history


def test_a_report_is_shown_as_it_is(reports: list[RootReport]) -> None:
    report = reports[-1]
    view = json.loads(_core.SearchHistory(START).add(report))
    names = ("visits", "nodes", "memory", "seldepth", "mate", "reason")
    assert {name: view[name] for name in names} == {name: getattr(report, name) for name in names}
    assert view["wdl"] == list(report.wdl)
    assert view["value"] == report.value[0] - report.value[2]
    assert view["visits_per_second"] == report.pace.visits_per_second
    total = sum(move.visits for move in report.moves)
    for shown, move in zip(view["moves"], report.moves, strict=True):
        assert (shown["a"], shown["visits"], shown["prior"]) == (move.action, move.visits, move.prior)
        assert (shown["text"], shown["share"]) == (move_text(START, move.action), move.visits / total)
        assert (shown["q"], shown["value"]) == (move.q, move.value)
        assert shown["wdl"] == (None if move.wdl is None else list(move.wdl))
        assert (shown["proven"], shown["mate"]) == (move.proven, move.mate)
        assert shown["line"] == line_texts(START, move.line[:12])


@pytest.mark.parametrize("count", [1, 2, 199, 200, 201, 202, 299])
def test_samples_are_even_and_bounded(reports: list[RootReport], count: int) -> None:
    visits = json.loads(history_of(reports[:count]).curves())["visits"]
    assert min(count, 100) <= len(visits) <= 201
    assert len({after - before for before, after in pairwise(visits[:-1])}) <= 1
    assert (visits[0], visits[-1]) == (2, reports[count - 1].visits)


def test_curves_are_those_of_the_moves(reports: list[RootReport]) -> None:
    curves = json.loads(history_of(reports[:150]).curves())
    newest = sorted(reports[149].moves, key=lambda move: -move.visits)
    assert [curve["a"] for curve in curves["moves"]] == [move.action for move in newest if move.visits]
    for curve in curves["moves"]:
        moves = [next(move for move in report.moves if move.action == curve["a"]) for report in reports[:150]]
        assert curve["visits"] == [move.visits for move in moves]
        assert curve["q"] == [None if move.wdl is None else move.q for move in moves]


def test_seconds_count_on_in_the_next_search(reports: list[RootReport]) -> None:
    history = _core.SearchHistory(START)
    assert (history.moment(5), json.loads(history.curves())["seconds"]) == (None, [])
    pace = replace(reports[4].pace, seconds=2.0, new_visits=10)
    first = replace(reports[4], pace=pace)
    second = replace(reports[9], pace=pace)
    history.add(first)
    history.begin_search()
    shown = json.loads(history.add(second))
    assert (shown["seconds"], shown["visits_per_second"]) == (4.0, 5.0)
    moment = json.loads(history.moment(first.visits + 1) or "")
    assert (moment["visits"], moment["seconds"], moment["moves"][0]["line"]) == (first.visits, 2.0, [])
