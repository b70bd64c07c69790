"""Ends of a search as pure functions of limits and progress; budgets never exceed the clock, and use it."""

from collections.abc import Sequence
from dataclasses import replace
from math import nan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hauteur.mcts.limits import (
    Budget,
    Clock,
    Limits,
    Progress,
    deadline,
    fixed,
    moves_left,
    plan,
    remember_lateness,
    stop_reason,
    visits_left,
)

pytestmark = pytest.mark.quick

START = Progress(
    seconds=1.0, visits=101, new_visits=101, depth=4.0, batch_seconds=0.01, look=lambda: ((60, 30, 10), (0.2, 0.1, 0.0))
)


def with_edges(visits: Sequence[int], q: Sequence[float], /, **changes: Any) -> Progress:
    return replace(START, look=lambda: (visits, q), **changes)


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (Limits(), None),
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


@given(st.lists(st.integers(0, 1000), max_size=6), st.integers(1, 5000), st.floats(0.0, 10.0), st.floats(0.5, 10.0))
def test_what_is_decided_stays_decided(edges: list[int], limit: int, seconds: float, factor: float) -> None:
    """Where the search stops early, the second move would not catch up with all visits left over the factor."""
    visits = 1 + sum(edges)
    progress = with_edges(edges, [0.0] * len(edges), visits=visits, seconds=seconds)
    limits = Limits(visits=limit, smart_pruning=factor)
    if stop_reason(limits, progress) == "decided":
        first, second = [*sorted(edges, reverse=True), 0, 0][:2]
        assert first >= second + (limit - visits) / factor


# The clock.


seconds = st.floats(min_value=0.0, max_value=1e6)
clocks = st.builds(
    Clock,
    remaining=st.floats(min_value=-10.0, max_value=1e6),
    increment=st.floats(min_value=-1.0, max_value=1e4),
    moves_to_go=st.none() | st.integers(min_value=-3, max_value=500),
)


@given(clocks, st.integers(0, 1000), st.floats(0, 60), st.floats(0, 100), st.floats(-1, 100))
def test_never_plans_more_than_is_left(
    clock: Clock, move_number: int, overhead: float, slowmover: float, lateness: float
) -> None:
    budget = plan(clock, move_number=move_number, overhead=overhead, slowmover=slowmover, lateness=lateness)
    assert 0.0 <= budget.target <= budget.maximum <= max(0.0, clock.remaining - overhead)


@given(seconds, seconds)
def test_movetime_is_never_exceeded(time: float, overhead: float) -> None:
    budget = fixed(time, overhead=overhead)
    assert 0.0 <= budget.target == budget.maximum <= time


def test_last_move_before_the_time_control_gets_all() -> None:
    assert plan(Clock(10.0, moves_to_go=1), move_number=39, overhead=0.5) == Budget(9.5, 9.5)


def test_expected_moves_are_the_median_of_what_is_left() -> None:
    def longer(moves: float) -> float:
        return 1.0 / (1.0 + (moves / 55.0) ** 4)

    for played in (0, 10, 40, 55, 100):
        assert longer(played + moves_left(played)) == pytest.approx(longer(played) / 2)


@pytest.mark.parametrize("increment", [0.0, 0.05, 1.0])
@pytest.mark.parametrize("time", [1.0, 5.0, 60.0])
@pytest.mark.parametrize("share", [0.4, 1.0])
def test_a_long_game_never_loses_on_time(time: float, increment: float, share: float) -> None:
    """90 moves that each take `share` of the maximum and lose a tenth of the overhead, or less in a short game."""
    lag = min(0.01, time / 200)
    remaining = time
    used = 0.0
    for move in range(90):
        budget = plan(Clock(remaining, increment), move_number=move, overhead=0.1)
        spent = share * budget.maximum + lag
        remaining -= spent
        used += spent
        assert remaining >= 0.0, f"lost on time at move {move}"
        remaining += increment
    assert used >= 0.7 * (time + 90 * increment - 0.1)


def test_lateness_is_kept_from_the_plan_and_forgotten_slowly() -> None:
    clock = Clock(1.0, 0.05)
    usual = plan(clock, move_number=20, overhead=0.1)
    careful = plan(clock, move_number=20, overhead=0.1, lateness=0.4)
    assert 0.5 * usual.target < careful.target < usual.target
    lateness = remember_lateness(0.0, 0.4)
    assert lateness == 0.4
    for _ in range(20):
        lateness = remember_lateness(lateness, -1.0)
    assert 0.1 < lateness < 0.2
