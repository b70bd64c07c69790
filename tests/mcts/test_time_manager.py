"""Time management: budgets never exceed the clock, and use it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hauteur.mcts.limits import Budget, Clock, fixed, moves_left, plan, remember_lateness

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


@given(clocks, st.integers(0, 1000))
def test_more_time_never_gives_less(clock: Clock, move_number: int) -> None:
    richer = Clock(clock.remaining + 10.0, clock.increment, clock.moves_to_go)
    less = plan(clock, move_number=move_number, overhead=0.1)
    assert plan(richer, move_number=move_number, overhead=0.1).target >= less.target


def test_last_move_before_the_time_control_gets_all() -> None:
    assert plan(Clock(10.0, moves_to_go=1), move_number=39, overhead=0.5) == Budget(9.5, 9.5)


@given(st.integers(0, 2000))
def test_games_always_go_on(move_number: int) -> None:
    assert 0.0 < moves_left(move_number) <= 55.0


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
    remaining, used = time, 0.0
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
