"""Clocks of the GTP engine: no budget is more than what is left, and periods begin and end as the protocol says."""

from gtp_table import Table
from hypothesis import given
from hypothesis import strategies as st

from hauteur.engine.gtp.session import PlayerClock, TimeSettings, after_move, budget_of, full_clock

SECONDS = st.floats(0.0, 1e5)
LIMITED = st.builds(TimeSettings, SECONDS, SECONDS, st.integers(0, 100)).filter(
    lambda settings: not settings.is_unlimited
)


@given(LIMITED, st.floats(0.0, 1.0), st.integers(0, 200), st.integers(1, 200), st.floats(0.0, 5.0))
def test_no_budget_exceeds_the_clock(
    settings: TimeSettings, share: float, ply: int, max_plies: int, overhead: float
) -> None:
    for clock in (full_clock(settings), PlayerClock(settings.main * share), PlayerClock(settings.period * share, 3)):
        budget = budget_of(clock, settings, ply=ply, max_plies=max_plies, overhead=overhead)
        assert budget is not None
        in_period = settings.a_move if clock.stones == 0 else 0.0
        assert 0.0 <= budget.target <= budget.maximum <= max(0.0, clock.left + in_period - overhead) + 1e-9


@given(LIMITED, st.lists(st.floats(0.0, 100.0), max_size=50))
def test_a_clock_never_shows_less_than_nothing(settings: TimeSettings, moves: list[float]) -> None:
    clock = full_clock(settings)
    for seconds in moves:
        clock = after_move(clock, settings, seconds)
        assert clock.left >= 0.0
        assert 0 <= clock.stones <= settings.stones


def test_main_time_then_periods() -> None:
    settings = TimeSettings(10.0, 30.0, 3)
    seen, clock = [], full_clock(settings)
    for seconds in (6.0, 3.0, 5.0, 10.0, 2.0, 31.0):
        seen.append((clock.left, clock.stones))
        clock = after_move(clock, settings, seconds)
    assert seen == [(10.0, 0), (4.0, 0), (1.0, 0), (26.0, 2), (16.0, 1), (30.0, 3)]
    assert clock == PlayerClock(30.0, 3), "an overstepped period is over"
    assert full_clock(TimeSettings(0.0, 5.0, 1)) == PlayerClock(5.0, 1)
    assert after_move(PlayerClock(1.0), TimeSettings(1.0), 2.0) == PlayerClock(0.0)


def test_the_engine_runs_its_own_clocks() -> None:
    table = Table(player="rave:10")
    table.ask("time_settings 100 0 0")
    times = iter([0.0, 0.0, 7.0, 7.0, 7.0, 10.0])  # of each move: begin, the net is there, end
    table.session._now = lambda: next(times)
    table.ask("genmove b")
    table.ask("genmove w")
    assert [clock.left for clock in table.session.clocks] == [93.0, 97.0]
    table.ask("time_left b 50 0")
    assert [clock.left for clock in table.session.clocks] == [50.0, 97.0]
    table.ask("clear_board")
    assert [clock.left for clock in table.session.clocks] == [100.0, 100.0]
