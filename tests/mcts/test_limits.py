"""When a search ends: pure functions of limits and progress."""

from collections.abc import Sequence
from dataclasses import replace
from math import nan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hauteur.mcts.limits import Budget, Limits, Progress, deadline, stop_reason, visits_left

START = Progress(
    seconds=1.0,
    visits=101,
    new_visits=101,
    depth=4.0,
    batch_seconds=0.01,
    look=lambda: ((60, 30, 10), (0.2, 0.1, 0.0)),
)


def with_edges(visits: Sequence[int], q: Sequence[float], /, **changes: Any) -> Progress:
    return replace(START, look=lambda: (visits, q), **changes)


def test_without_limits_it_goes_on() -> None:
    assert stop_reason(Limits(), START) is None


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (Limits(visits=101), "visits"),
        (Limits(visits=102), None),
        (Limits(new_visits=101), "visits"),
        (Limits(new_visits=102), None),
        (Limits(depth=4), "depth"),
        (Limits(depth=5), None),
        (Limits(budget=Budget(1.0, 2.0)), "time"),
        (Limits(budget=Budget(1.005, 2.0)), "time"),
        (Limits(budget=Budget(1.1, 2.0)), None),
        (Limits(visits=101, infinite=True), None),
    ],
)
def test_limits(limits: Limits, reason: str | None) -> None:
    assert stop_reason(limits, START) == reason


def test_time_is_stretched_while_the_most_visited_move_is_not_the_best() -> None:
    unsettled = with_edges((60, 30, 10), (0.1, 0.2, nan))
    assert deadline(Budget(1.0, 2.0), START) == 1.0
    assert deadline(Budget(1.0, 2.0), unsettled) == 2.0
    hardly_visited = with_edges((60, 30, 2), (0.2, 0.1, 0.9))
    assert deadline(Budget(1.0, 2.0), hardly_visited) == 1.0


def test_mate() -> None:
    limits = Limits(mate=3, infinite=True)
    assert stop_reason(limits, START) is None
    assert stop_reason(limits, replace(START, mate=4)) is None
    assert stop_reason(limits, replace(START, mate=-2)) is None
    assert stop_reason(limits, replace(START, mate=3)) == "mate found"
    assert stop_reason(Limits(visits=1000, smart_pruning=1.33), replace(START, mate=7)) == "mate found"


def test_smart_pruning_by_visits() -> None:
    limits = Limits(visits=140, smart_pruning=1.33)
    assert visits_left(limits, START) == 39
    assert stop_reason(limits, START) == "decided"
    assert stop_reason(replace(limits, visits=141), START) is None
    assert stop_reason(replace(limits, smart_pruning=0.0), START) is None


def test_smart_pruning_by_time() -> None:
    """At 101 visits a second 30 visits of lead cannot be caught up in less than 0.395 s (30 * 1.33 / 101)."""
    limits = Limits(budget=Budget(1.39, 1.39), smart_pruning=1.33)
    assert stop_reason(limits, START) == "decided"
    assert stop_reason(replace(limits, budget=Budget(1.40, 1.40)), START) is None


def test_pace_of_the_first_visits_says_nothing() -> None:
    early = with_edges((4, 0), (0.1, nan), visits=5, new_visits=5)
    assert stop_reason(Limits(budget=Budget(1.1, 1.1), smart_pruning=1.33), early) is None


def test_another_rule_of_choice_waits_for_all_visits() -> None:
    limits = Limits(visits=101, smart_pruning=1.0)
    far_ahead = with_edges((90, 9), (0.2, 0.1), visits=100)
    assert stop_reason(limits, far_ahead) == "decided"
    assert stop_reason(limits, replace(far_ahead, by_visits=False)) is None


def test_one_move_needs_no_thought() -> None:
    only = with_edges((0,), (nan,), visits=1, new_visits=1)
    assert stop_reason(Limits(budget=Budget(10.0, 20.0), smart_pruning=1.33), only) == "only move"
    assert stop_reason(Limits(infinite=True, smart_pruning=1.33), only) is None
    assert stop_reason(Limits(budget=Budget(10.0, 20.0)), only) is None


@given(
    st.lists(st.integers(0, 1000), max_size=6),
    st.integers(1, 5000),
    st.floats(0.0, 10.0),
    st.floats(0.5, 10.0),
)
def test_what_is_decided_stays_decided(edges: list[int], limit: int, seconds: float, factor: float) -> None:
    """Where the search stops early, the second move would not catch up with all visits left over the factor."""
    visits = 1 + sum(edges)
    progress = with_edges(edges, [0.0] * len(edges), visits=visits, seconds=seconds)
    limits = Limits(visits=limit, smart_pruning=factor)
    if stop_reason(limits, progress) == "decided":
        first, second = [*sorted(edges, reverse=True), 0, 0][:2]
        assert first >= second + (limit - visits) / factor
