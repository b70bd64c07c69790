"""Batches beside each other, consumers that are slow or go away, what is counted, and why nothing moves."""

import gc
import json
import re
import threading
import weakref
from dataclasses import replace

import pytest
from simulated_fleet import Drive, Habits, SimulatedFleet, check, games, right_games, some_units

from hauteur.cluster.records import summed_numbers, worker_numbers
from hauteur.cluster.scheduler import Scheduler
from hauteur.cluster.status import status_line


def test_a_batch_that_is_first_goes_before_others() -> None:
    fleet = SimulatedFleet(2)
    drive = Drive(fleet, share=0.0)
    later = drive.start(some_units(40))
    drive.until(5.0)
    before = len(fleet.submitted)
    gate = drive.start(some_units(10, name="gate"), first=True)
    drive.finish(gate)
    assert [unit.name[:4] for _, unit in fleet.submitted[before : before + 10]] == ["gate"] * 10
    (played,) = drive.finish(later)
    assert games(played) == right_games(some_units(40))


def test_equal_units_of_two_batches_are_played_for_each() -> None:
    fleet = SimulatedFleet(1)
    drive, units = Drive(fleet, share=0.5), some_units(20)
    batches = [drive.start(units), drive.start(units)]
    for played in drive.finish(*batches):
        assert games(played) == right_games(units)
    assert len(fleet.submitted) == 40


def test_no_units_are_a_batch_that_ends() -> None:
    drive = Drive(SimulatedFleet(1))
    assert drive.finish(drive.start([])) == [[]]


def test_results_that_nobody_takes_are_limited() -> None:
    """And they do not keep other batches from going on."""
    fleet = SimulatedFleet(3)
    drive, units, others = Drive(fleet, share=0.0), some_units(1000), some_units(200, games="others")
    slow, other = drive.start(units), drive.start(others)
    (played,) = drive.finish(other)
    assert games(played) == right_games(others)
    assert 64 <= len(slow.results) <= 64 + 1 + 2 * 3
    drive.until(fleet.now + 100)
    assert f"{len(slow.results)} results wait to be taken" in status_line(drive.dispatcher)
    (played,) = drive.finish(slow)
    assert games(played) == right_games(units)


def test_a_slow_consumer_holds_what_waits_flat() -> None:
    fleet = SimulatedFleet(20)
    drive, units, most = Drive(fleet), some_units(3000), 0
    batch = drive.start(units)
    seen = []
    while batch in drive.ledger.batches or batch.results:
        drive.turns(4)
        most = max(most, len(batch.results))
        seen += [one for one in [batch.results.popleft() if batch.results else None] if one is not None]
    assert games(seen) == right_games(units)
    assert most <= 4 * 20 + 1 + 2 * 20


def test_a_consumer_that_takes_lets_the_work_go_on() -> None:
    fleet = SimulatedFleet(2)
    scheduler = Scheduler(fleet, clock=lambda: fleet.now)
    units = some_units(500)
    assert games(list(scheduler.start(units, {}, check))) == right_games(units)
    scheduler.close()


def test_a_batch_that_is_closed_leaves_nothing() -> None:
    fleet = SimulatedFleet(3)
    drive, units = Drive(fleet, share=0.5), some_units(200)
    batch = drive.start(units)
    drive.until(20.0)
    assert batch.results
    assert batch.comparisons
    batch.close()
    batch.close()
    assert batch.take() is None
    drive.until(40.0)
    gone = weakref.ref(batch)
    del batch
    gc.collect()
    assert gone() is None
    assert not drive.ledger.batches
    assert drive.ledger.crew.in_flight() == 0
    again = drive.start(units)
    (played,) = drive.finish(again)
    assert games(played) == right_games(units)


def test_closing_ends_who_waits() -> None:
    fleet = SimulatedFleet(1, lambda _slot, _times: Habits(hangs=lambda _unit, _n: True))
    scheduler = Scheduler(fleet, unit_seconds=1e9, clock=lambda: fleet.now)
    batch, errors = scheduler.start(some_units(3), {}, check), list[str]()

    def consume() -> None:
        with pytest.raises(RuntimeError, match="the scheduler was closed") as caught:
            list(batch)
        errors.append(str(caught.value))

    thread = threading.Thread(target=consume)
    thread.start()
    scheduler.close()
    scheduler.close()
    thread.join(30)
    assert errors == ["the scheduler was closed"]


def test_an_error_of_whoever_takes_notes_reaches_the_consumer() -> None:
    def on_note(line: str) -> None:
        raise OSError(28, "No space left on device", "notes")

    fleet = SimulatedFleet(1, lambda _slot, times: Habits(fails=lambda _unit, _n: "x" if times == 0 else None))
    scheduler = Scheduler(fleet, on_note=on_note, clock=lambda: fleet.now)
    with pytest.raises(OSError, match="No space left"):
        list(scheduler.start(some_units(2000), {}, check))
    scheduler.close()


def test_time_is_counted_for_each_batch() -> None:
    """A worker that has units of two batches is busy with each for half of the time; idle is who has none."""
    fleet = SimulatedFleet(4, lambda _slot, _times: Habits(seconds=lambda _unit, _n: 10.0))
    drive = Drive(fleet, share=0.0)
    drive.until(1.0)
    one, two = drive.start(some_units(2)), drive.start(some_units(4, games="others"))
    drive.finish(one, two)
    for counts in (one.counts, two.counts):
        assert counts.idle_seconds + counts.busy_seconds <= counts.present_seconds + 1e-6
        assert counts.most_present == counts.present == 4
    total = drive.ledger.counts
    assert total.units == total.finished == 6
    assert one.counts.busy_seconds + two.counts.busy_seconds == pytest.approx(total.busy_seconds)
    assert total.busy_seconds + total.idle_seconds == pytest.approx(total.present_seconds)
    assert total.busy_seconds == pytest.approx(60.0, abs=1.0)
    before = total.present_seconds
    drive.until(fleet.now + 100)
    assert total.present_seconds == before  # there is no work


def test_numbers_of_workers() -> None:
    fleet = SimulatedFleet(4, lambda _slot, _times: Habits(seconds=lambda _unit, _n: 10.0))
    drive = Drive(fleet, share=0.25)
    drive.until(1.0)
    since = replace(drive.ledger.counts)
    batch = drive.start(some_units(80))
    drive.finish(batch)
    numbers = worker_numbers(since, drive.ledger.counts)
    assert numbers["units"] == 80
    assert numbers["replayed"] == numbers["compared"] == batch.counts.compared >= 16
    assert numbers["present"] == 4
    assert numbers["in_flight"] == pytest.approx(numbers["unit_seconds"] / numbers["work_seconds"], abs=1e-3)
    assert numbers["unit_seconds"] == pytest.approx(batch.counts.unit_seconds, abs=1e-3)
    assert numbers["idle_share"] == pytest.approx(drive.ledger.counts.idle_share, abs=1e-3)
    again = summed_numbers([numbers, numbers])
    assert [again[name] for name in ("present", "in_flight", "units", "replayed")] == [
        *(numbers[name] for name in ("present", "in_flight")),
        160,
        2 * numbers["replayed"],
    ]


def test_counts_are_json() -> None:
    fleet = SimulatedFleet(2, lambda slot, times: Habits(dies=lambda _unit, n: n == 3 and times == 0))
    drive = Drive(fleet)
    batch = drive.start(some_units(30))
    drive.finish(batch)
    counts = json.loads(json.dumps(batch.counts.to_json()))
    assert counts["joined"] == counts["workers"] == 4
    assert counts["left"] == counts["most_present"] == counts["present"] == 2
    assert counts["causes"] == {"worker lost": counts["retried"]}
    assert 0 <= counts["idle_share"] <= 1
    assert counts["in_flight"] == 0


def test_the_line_has_a_reason() -> None:
    fleet = SimulatedFleet(2, lambda _slot, _times: Habits(hangs=lambda _unit, _number: True))
    drive = Drive(fleet, unit_seconds=1000.0)
    assert status_line(drive.dispatcher) == "0 workers, 0 units in flight, 0 waiting; no work"
    batch = drive.start(some_units(4))
    assert status_line(drive.dispatcher).endswith("4 waiting; no workers: none has joined")
    drive.until(60.0)
    line = status_line(drive.dispatcher)
    assert re.search("; nothing has moved for (59|60) s; all units are in flight, the oldest for (59|60) s$", line)
    drive.start(some_units(20, name="other"))
    drive.until(70.0)
    assert "all workers are busy" in status_line(drive.dispatcher)
    batch.close()
    assert "all units are in flight" not in status_line(drive.dispatcher)


def test_the_line_says_what_a_comparison_waits_for() -> None:
    fleet = SimulatedFleet(2, lambda slot, _times: Habits(hangs=lambda unit, n: slot == 1 and n > 1))
    drive = Drive(fleet, share=1.0, unit_seconds=1000.0)
    drive.start(some_units(4))
    drive.until(50.0)
    line = status_line(drive.dispatcher)
    assert "is compared at worker-1.0" in line
    assert "\n" not in line


def test_a_user_learns_that_there_is_no_worker() -> None:
    """Once for each time without workers, and only while there is work."""
    fleet = SimulatedFleet(1)
    drive = Drive(fleet)
    drive.until(1)
    fleet.end("worker-0.0", replace=False)
    drive.until(100)
    assert drive.ledger.notes == ["worker-0.0 on host-0 is gone: it was killed"]
    drive.ledger.notes.clear()
    batch = drive.start(some_units(4))
    drive.until(125)
    assert drive.ledger.notes == []
    drive.until(300)
    assert drive.ledger.notes == ["waiting for workers for 30 s: none has joined"]
    fleet.start(0)
    drive.finish(batch)
    assert drive.ledger.notes[1:] == ["there are workers again"]
