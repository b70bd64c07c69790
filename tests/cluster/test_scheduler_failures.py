"""What fails is tried elsewhere, replaced, or ends the work in one line."""

import pytest
from simulated_fleet import Drive, Habits, SimulatedFleet, check, content_of, games, right_games, some_units

from hauteur.cluster.fleet import Failed, Left
from hauteur.cluster.scheduler import CheckedResult, Scheduler
from hauteur.cluster.unit import Unit


@pytest.mark.parametrize("slots", [1, 2, 5])
def test_a_unit_that_fails_everywhere_ends_its_batch(slots: int) -> None:
    fleet = SimulatedFleet(
        slots, lambda _slot, _times: Habits(fails=lambda unit, _n: "out of memory" if unit.name == "unit 7" else None)
    )
    drive, others = Drive(fleet), some_units(30, games="others", name="other")
    batch, other = drive.start(some_units(30)), drive.start(others)
    (played,) = drive.finish(other)
    assert games(played) == right_games(others)
    with pytest.raises(ValueError, match=r"^unit 7 failed 3 times, at worker-.*: out of memory$"):
        list(batch)
    tried = [name for name, unit in fleet.submitted if unit.name == "unit 7" and not unit.shared["games"]]
    assert len(tried) == 3
    assert len(set(tried)) == min(slots, 3)
    assert batch.counts.failed == 3


def test_a_worker_that_ends_is_named() -> None:
    fleet = SimulatedFleet(2, lambda slot, times: Habits(dies=lambda _unit, n: (slot, times, n) == (1, 0, 3)))
    drive, units = Drive(fleet), some_units(60)
    (played,) = drive.finish(drive.start(units))
    assert games(played) == right_games(units)
    (note,) = drive.ledger.notes
    assert note.startswith("worker-1.0 on host-1 is gone: ")
    assert note.endswith(f"; units that are given to others: {drive.ledger.counts.retried}")
    assert drive.ledger.counts.retried > 0


def test_a_worker_at_which_everything_fails_is_replaced() -> None:
    fleet = SimulatedFleet(
        3, lambda slot, times: Habits(fails=lambda _unit, _n: "no disk" if (slot, times) == (1, 0) else None)
    )
    drive, units = Drive(fleet), some_units(60)
    batch = drive.start(units)
    (played,) = drive.finish(batch)
    assert games(played) == right_games(units)
    assert fleet.removed == {"worker-1.0": ("3 units in a row failed, the last: no disk", True)}
    assert "worker-1.1" in batch.counts.workers
    assert batch.counts.causes["failed"] == 3
    assert drive.ledger.notes == ["worker-1.0 on host-1 is replaced: 3 units in a row failed, the last: no disk"]


def test_a_host_at_which_everything_fails_ends_no_work() -> None:
    """However often its worker is replaced: what failed there goes to a worker that has finished something."""
    fleet = SimulatedFleet(
        3,
        lambda slot, _times: (
            Habits(fails=lambda _unit, _n: "no disk", seconds=lambda _unit, _n: 0.1) if slot == 1 else Habits()
        ),
    )
    drive, units = Drive(fleet), some_units(200)
    batch = drive.start(units)
    (played,) = drive.finish(batch)
    assert games(played) == right_games(units)
    assert len(fleet.removed) > 10


def test_wrong_content_is_a_failure() -> None:
    fleet = SimulatedFleet(2, lambda slot, times: Habits(wrong=lambda _unit, n: slot == 0 and n == 4))
    drive, units = Drive(fleet), some_units(40)
    batch = drive.start(units)
    (played,) = drive.finish(batch)
    assert games(played) == right_games(units)
    assert batch.counts.causes == {"wrong content": 1}
    assert not fleet.removed


def test_a_check_that_breaks_ends_the_batch_with_its_error() -> None:
    def broken(unit: Unit, content: bytes) -> CheckedResult:
        raise KeyError("no such game")

    fleet = SimulatedFleet(2)
    scheduler = Scheduler(fleet, clock=lambda: fleet.now, on_note=lambda _line: None)
    with pytest.raises(ValueError, match=r"failed 3 times, at worker-.*no such game"):
        list(scheduler.start(some_units(5), {}, broken))
    scheduler.close()


def test_a_worker_that_hangs_is_replaced() -> None:
    """After ten times what units take, and a minute at least."""
    fleet = SimulatedFleet(
        3,
        lambda slot, times: Habits(
            hangs=lambda _unit, n: (slot, times, n) == (2, 0, 5), seconds=lambda _unit, _n: 20.0
        ),
    )
    drive, units = Drive(fleet), some_units(300)
    batch = drive.start(units)
    (played,) = drive.finish(batch)
    assert games(played) == right_games(units)
    cause, replace = fleet.removed["worker-2.0"]
    seconds = float(cause.split(" after ")[1].split()[0])
    assert replace
    assert 300 <= seconds <= 410
    assert batch.counts.causes == {"time limit": 2}


def test_a_unit_that_hangs_everywhere_ends_its_batch() -> None:
    fleet = SimulatedFleet(3, lambda _slot, _times: Habits(hangs=lambda unit, _n: unit.name == "unit 3"))
    drive = Drive(fleet, unit_seconds=30.0)
    batch = drive.start(some_units(50))
    with pytest.raises(ValueError, match=r"^unit 3 failed 3 times, at .*: unit 3 had not ended after 3\d s$"):
        drive.finish(batch)


def test_while_the_driver_was_stopped_nobody_is_late() -> None:
    fleet = SimulatedFleet(2)
    drive, units = Drive(fleet, unit_seconds=30.0), some_units(40)
    batch = drive.start(units)
    drive.until(10.0)
    fleet.now += 3600.0
    (played,) = drive.finish(batch)
    assert games(played) == right_games(units)
    assert not fleet.removed


def test_a_unit_that_kills_workers_ends_its_batch() -> None:
    """It is named, and not the one that a worker had beside it."""
    fleet = SimulatedFleet(3, lambda _slot, _times: Habits(dies=lambda unit, _n: unit.name == "unit 3"))
    drive = Drive(fleet)
    batch = drive.start(some_units(100))
    with pytest.raises(ValueError, match=r"^unit 3: 10 workers ended while they had it, the last worker-.*it died"):
        drive.finish(batch)


def test_workers_that_never_start_end_the_work() -> None:
    drive = Drive(SimulatedFleet(2, lambda _slot, _times: None))
    for seconds in range(60):
        drive.fleet.deliver(Left("worker-x", "it cannot start"), after=float(seconds))
    drive.start(some_units(5))
    with pytest.raises(ValueError, match=r"no worker starts; .* ended before they joined: it cannot start"):
        drive.until(100.0)
    assert drive.fleet.now >= 10.0


def test_workers_that_start_late_are_waited_for() -> None:
    fleet = SimulatedFleet(1)
    for number in range(20):
        fleet.deliver(Left(f"early-{number}", "it cannot start"), after=0.05)
    drive, units = Drive(fleet), some_units(50)
    (played,) = drive.finish(drive.start(units))
    assert games(played) == right_games(units)


def test_what_nobody_asked_for_is_ignored() -> None:
    fleet = SimulatedFleet(1)
    drive, units = Drive(fleet), some_units(5)
    fleet.deliver(Failed("worker-0.0", "no key", "no reason"), after=1.0)
    fleet.deliver(Left("nobody", "no reason"), after=1.0)
    (played,) = drive.finish(drive.start(units))
    assert games(played) == right_games(units)


class BrokenFleet(SimulatedFleet):
    """A fleet that breaks after a while."""

    def wait(self, seconds: float):  # type: ignore[no-untyped-def]
        """As always, for five seconds."""
        if self.now > 5.0:
            raise OSError(5, "the cluster is gone", "cluster")
        return super().wait(seconds)


def test_an_error_of_the_fleet_reaches_every_consumer() -> None:
    fleet = BrokenFleet(1)
    scheduler = Scheduler(fleet, clock=lambda: fleet.now)
    for name in "ab":
        with pytest.raises(OSError, match="the cluster is gone"):
            list(scheduler.start(some_units(1000, games=name), {}, check))
    with pytest.raises(OSError, match="the cluster is gone"):
        scheduler.start(some_units(1), {}, check)
    scheduler.close()
    assert fleet.closed


def test_content_is_what_is_checked() -> None:
    (unit,) = some_units(1)
    assert check(unit, content_of(unit)).digest == right_games([unit])[unit.key]
