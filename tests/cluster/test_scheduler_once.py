"""Every unit is handed out once, whatever the workers do."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulated_fleet import Drive, Habits, SimulatedFleet, games, random_habits, right_games, some_units

from hauteur.cluster.fleet import Finished
from hauteur.cluster.scheduler import CheckedResult, Scheduler
from hauteur.cluster.unit import UnitResult


def test_units_are_handed_out_once() -> None:
    fleet = SimulatedFleet(3)
    drive, units = Drive(fleet), some_units(50)
    batch = drive.start(units)
    (played,) = drive.finish(batch)
    assert games(played) == right_games(units)
    assert len(played) == len(units)
    assert {one.attempts for one in played} == {1}
    assert fleet.most_in_flight == 2


@given(seed=st.integers(0, 2**32), slots=st.integers(1, 5), death=st.sampled_from([0.0, 0.1, 0.3]), late=st.booleans())
def test_units_are_handed_out_once_whatever_dies(seed: int, slots: int, death: float, late: bool) -> None:
    fleet = SimulatedFleet(
        slots, lambda slot, times: random_habits(seed + slot + 100 * times, death=death, failure=0.02, hang=0.02)
    )
    fleet.late_results = late
    drive = Drive(fleet, unit_seconds=20.0, share=0.2)
    batches = [(units, drive.start(units)) for units in (some_units(40), some_units(20, games="others"))]
    for (units, batch), played in zip(batches, drive.finish(*(batch for _, batch in batches)), strict=True):
        assert games(played) == right_games(units)
        assert batch.counts.finished == len(units) == len(played)
        assert sum(one.attempts for one in played) <= len(units) + batch.counts.retried
        assert batch.counts.in_flight == 0
        assert batch.counts.replaced == 0
    assert not drive.ledger.batches


def test_lost_units_go_first() -> None:
    fleet = SimulatedFleet(2)
    drive, units = Drive(fleet), some_units(20)
    batch = drive.start(units)
    drive.until(0.5)
    fleet.end("worker-0.0", replace=False)
    lost = [unit.name for name, unit in fleet.submitted if name == "worker-0.0"]
    before = len(fleet.submitted)
    drive.until(3.0)
    assert [unit.name for _, unit in fleet.submitted[before:]][: len(lost)] == lost
    (played,) = drive.finish(batch)
    assert games(played) == right_games(units)
    assert batch.counts.causes == {"worker lost": 2}
    assert sorted(one.unit.name for one in played if one.attempts == 2) == sorted(lost)


def test_a_result_that_comes_twice_is_counted() -> None:
    fleet = SimulatedFleet(2)
    drive, units = Drive(fleet), some_units(20)
    batch = drive.start(units)
    drive.until(1.2)
    name, unit = fleet.submitted[0]
    fleet.deliver(Finished(name, UnitResult(unit.key, b"anything")))
    (played,) = drive.finish(batch)
    assert games(played) == right_games(units)
    assert drive.ledger.counts.duplicates == 1


def test_threads() -> None:
    fleet = SimulatedFleet(3, lambda slot, times: random_habits(slot + times, death=0.1))
    scheduler = Scheduler(fleet, clock=lambda: fleet.now)
    units = some_units(200)
    batch = scheduler.start(units, {}, lambda unit, content: CheckedResult(str(len(content))))
    assert {one.unit.key for one in batch} == {unit.key for unit in units}
    assert batch.counts.to_json()["finished"] == 200
    scheduler.close()
    assert fleet.closed
    with pytest.raises(RuntimeError, match="closed"):
        scheduler.start(units, {}, lambda unit, content: CheckedResult(""))


def test_equal_units_are_refused() -> None:
    first, *_ = some_units(1)
    with pytest.raises(ValueError, match="units of a batch must differ: unit 0 and unit 0"):
        Drive(SimulatedFleet(1)).start([first, first])


def test_settings_out_of_range() -> None:
    with pytest.raises(ValueError, match="compare_share must be 0 to 1"):
        Drive(SimulatedFleet(1), share=1.5)
    with pytest.raises(ValueError, match="unit_seconds must be"):
        Drive(SimulatedFleet(1), unit_seconds=-1.0)


def test_a_worker_at_which_units_take_long_is_left_alone() -> None:
    """A slow worker among quick ones does not exceed limits that were learned from them."""
    fleet = SimulatedFleet(3, lambda slot, _times: Habits(seconds=lambda _unit, _number: 200.0 if slot == 0 else 2.0))
    drive, units = Drive(fleet), some_units(1000)
    (played,) = drive.finish(drive.start(units))
    assert games(played) == right_games(units)
    assert not fleet.removed
