"""The scheduler: every unit is played once, whatever workers do; what cannot be played ends its batch with a line."""

import pytest
from simulated_fleet import Drive, Habits, SimulatedFleet, assert_played, random_habits, some_units

from hauteur.cluster.scheduler import Scheduler, numbers_in_words, summed_numbers
from hauteur.cluster.unit import Event, Failed, Finished, Joined, Left, UnitResult

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("seed", range(5))
def test_each_unit_is_played_once_by_workers_that_die_fail_and_hang(seed: int) -> None:
    fleet = SimulatedFleet(
        6, lambda slot, times: random_habits(hash((seed, slot, times)), death=0.04, failure=0.01, hang=0.01)
    )
    drive = Drive(fleet, unit_seconds=60.0)
    units = some_units(400)
    (played,) = drive.finish(drive.start(units, {}))
    assert_played(played, units)
    assert fleet.most_in_flight == 2
    counts = drive.counts()
    assert counts["units"] == 400
    assert counts["retried"] >= counts["left"] > 0
    assert counts["failed"] > 0


def test_a_batch_that_is_first_goes_before_others() -> None:
    fleet = SimulatedFleet(2)
    drive = Drive(fleet)
    later = drive.start(some_units(40), {})
    drive.until(5.0)
    before = len(fleet.submitted)
    gate = drive.start(some_units(10, name="gate"), {}, first=True)
    (played,) = drive.finish(gate)
    assert_played(played, some_units(10, name="gate"))
    assert [unit.name[:4] for _, unit in fleet.submitted[before : before + 10]] == ["gate"] * 10
    (played,) = drive.finish(later)
    assert_played(played, some_units(40))


def test_batches_that_are_empty_double_or_closed() -> None:
    fleet = SimulatedFleet(1)
    drive = Drive(fleet)
    units = some_units(20)
    assert drive.finish(drive.start([], {})) == [[]]
    with pytest.raises(ValueError, match="units of a batch must differ, got 40 of which 20 do"):
        drive.start([*units, *units], {})
    batch = drive.start(units, {})
    drive.until(5.0)
    batch.close()
    batch.close()
    assert 0 < len(list(batch)) < 20
    assert list(batch) == []
    again = drive.start(units, {})
    (played,) = drive.finish(again)
    assert_played(played, units)


def test_a_worker_that_is_lost_is_named_and_its_units_go_to_others() -> None:
    fleet = SimulatedFleet(3, lambda slot, times: Habits(dies=lambda _unit, n: (slot, times, n) == (1, 0, 3)))
    drive = Drive(fleet)
    units = some_units(60)
    (played,) = drive.finish(drive.start(units, {}))
    assert_played(played, units)
    (note,) = drive.notes
    assert note == "worker-1.0 on host-1 is gone: it died at once; units that are given to others: 2"
    assert drive.counts()["retried"] == 2


def test_a_host_at_which_everything_fails_ends_no_work() -> None:
    fleet = SimulatedFleet(3, lambda slot, _times: Habits(fails=lambda _unit, _n: "no disk" if slot == 1 else None))
    drive = Drive(fleet)
    units = some_units(200)
    (played,) = drive.finish(drive.start(units, {}))
    assert_played(played, units)
    assert len(drive.notes) == 1  # one line, however many units
    assert drive.notes[0].startswith("worker-1.0 on host-1: unit ")


@pytest.mark.parametrize(
    ("habits", "message"),
    [
        (
            Habits(fails=lambda unit, _n: "no net" if unit.name == "unit 3" else None),
            "unit 3 failed 3 times, at .*: no net",
        ),
        (
            Habits(hangs=lambda unit, _n: unit.name == "unit 3"),
            r"unit 3 failed 3 times, at .*had not ended after 3\d s",
        ),
        (
            Habits(dies=lambda unit, _n: unit.name == "unit 3"),
            r"unit \d+: 10 workers ended while they had it, the last",
        ),
    ],
)
def test_a_unit_that_cannot_be_played_ends_its_batch(habits: Habits, message: str) -> None:
    drive = Drive(SimulatedFleet(3, lambda _slot, _times: habits), unit_seconds=30.0)
    batch = drive.start(some_units(50), {})
    with pytest.raises(ValueError, match=f"^{message}"):
        drive.finish(batch)
    drive.finish(drive.start(some_units(5, name="others"), {}))


def test_a_worker_that_hangs_is_replaced_by_a_limit_that_is_learned() -> None:
    """After ten times what the slowest unit took."""
    fleet = SimulatedFleet(
        3,
        lambda slot, times: Habits(
            hangs=lambda _unit, n: (slot, times, n) == (2, 0, 5), seconds=lambda _unit, _n: 50.0
        ),
    )
    drive = Drive(fleet)
    units = some_units(100)
    (played,) = drive.finish(drive.start(units, {}))
    assert_played(played, units)
    seconds = float(fleet.replaced["worker-2.0"].split(" after ")[1].split()[0])
    assert 1000 <= seconds <= 1050  # two units at a time take 100 s
    assert drive.counts()["retried"] == 2


def test_while_the_driver_was_stopped_no_worker_is_late() -> None:
    fleet = SimulatedFleet(2)
    drive = Drive(fleet, unit_seconds=30.0)
    units = some_units(40)
    batch = drive.start(units, {})
    drive.until(10.0)
    fleet.now += 3600.0
    (played,) = drive.finish(batch)
    assert_played(played, units)
    assert not fleet.replaced


def test_events_of_unknown_workers_and_units_are_ignored() -> None:
    fleet = SimulatedFleet(1)
    drive = Drive(fleet)
    units = some_units(5)
    events: list[Event] = [Failed("worker-0.0", "no key", "x"), Left("stranger", "x")]
    for event in [*events, Finished("stranger", UnitResult(units[0].key, b"late"))]:
        fleet.deliver(event, after=1.0)
    (played,) = drive.finish(drive.start(units, {}))
    assert_played(played, units)
    assert drive.notes == []


def test_a_fault_of_the_program_is_shown_once() -> None:
    """Each worker wrote its traceback at each attempt."""
    drive = Drive(SimulatedFleet(3))
    places = ((7, 1), (7, 2), (8, 1))
    traces = [f'Traceback:\n  File "game.py", line {line}, in apply\nKeyError: {key}' for line, key in places]
    units = some_units(5)
    batch = drive.start(units, {})
    drive.until(1.0)
    for (worker, unit), trace in zip(drive.simulated.submitted, [*traces, ""], strict=False):
        drive._take(Failed(worker, unit.key, "KeyError: 1", trace))
    assert [note for note in drive.notes if "failed" not in note] == [traces[0], traces[2]]
    assert len([note for note in drive.notes if "failed: KeyError: 1" in note]) == 3
    batch.close()


def test_a_worker_with_another_processor_is_named_once() -> None:
    drive = Drive(SimulatedFleet(1))
    for number, processor in enumerate(("Xeon", "EPYC", "EPYC", "Xeon")):
        drive._take(Joined(f"node-{number}", f"host-{number}", 0, processor))
    (note,) = drive.notes
    assert note.startswith("node-1 on host-1 has another processor, EPYC, than Xeon: games in float32 are the same")


def test_numbers_are_those_of_the_work() -> None:
    fleet = SimulatedFleet(2, lambda slot, _times: Habits(seconds=lambda _unit, _n: 1.0 + slot))
    drive = Drive(fleet)
    before = drive.counts()
    drive.finish(drive.start(some_units(60), {}))
    numbers = summed_numbers([drive.counts(before)])
    assert numbers["units"] == 60
    assert numbers["present"] == pytest.approx(2, abs=0.1)
    assert 3 < numbers["in_flight"] <= 4
    assert 0 <= numbers["idle_share"] < 0.1
    assert numbers["worker_seconds"] == pytest.approx(numbers["present"] * numbers["work_seconds"], rel=0.01)
    twice = summed_numbers([numbers, numbers, {}])
    assert (twice["units"], twice["present"]) == (120, numbers["present"])
    assert summed_numbers([])["idle_share"] == 0
    assert ("60", "units played") in numbers_in_words(numbers)
    assert drive.status() == "2 workers, 0 units in flight, 0 waiting"


class BrokenFleet(SimulatedFleet):
    """A fleet that is gone once `broken` is set."""

    broken = False

    def wait(self, seconds: float) -> list[Event]:
        """As always, until it is broken."""
        if self.broken:
            raise ValueError("the cluster is gone")
        return super().wait(seconds)


def test_a_fleet_that_is_gone_ends_all_batches_and_refuses_others() -> None:
    fleet = BrokenFleet(2, lambda _slot, _times: Habits(hangs=lambda _unit, _n: True))
    scheduler = Scheduler(fleet, clock=lambda: 0.0, on_note=lambda _line: None)
    batches = [scheduler.start(some_units(1000, name=name), {}) for name in ("first", "second")]
    fleet.broken = True
    for batch in batches:
        with pytest.raises(ValueError, match="the cluster is gone"):
            list(batch)
    with pytest.raises(ValueError, match="the cluster is gone"):
        scheduler.start(some_units(5), {})
    scheduler.close()
    assert fleet.closed


def test_the_end_of_a_scheduler_ends_its_batches() -> None:
    fleet = SimulatedFleet(1, lambda _slot, _times: Habits(hangs=lambda _unit, _n: True))
    scheduler = Scheduler(fleet, clock=lambda: 0.0)
    batch = scheduler.start(some_units(5), {})
    scheduler.close()
    with pytest.raises(RuntimeError, match="the scheduler was closed"):
        list(batch)
