"""Workers that give wrong games are found, and their games replaced."""

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simulated_fleet import Drive, Habits, SimulatedFleet, games, random_habits, right_games, some_units

from hauteur.cluster.comparing import is_drawn
from hauteur.cluster.played import ComparedUnit


def liar(share: float = 1.0, seed: int = 0, **habits: object) -> Habits:
    """A worker that alters a share of its units, in the same way each time."""

    def altered(unit: object, _number: int) -> str:
        return "altered" if random.Random(f"{seed} {unit}").random() < share else ""

    return Habits(altered=altered, **habits)  # type: ignore[arg-type]


def units_of_worker(fleet: SimulatedFleet, name: str) -> int:
    """How many units a worker was given."""
    return sum(one == name for one, _ in fleet.submitted)


@settings(max_examples=20)
@given(seed=st.integers(0, 2**64 - 1), slots=st.integers(3, 6), wrong=st.integers(0, 2))
def test_a_worker_whose_games_are_all_altered_is_found_within_200_units(seed: int, slots: int, wrong: int) -> None:
    fleet = SimulatedFleet(slots, lambda slot, _times: liar() if slot == wrong else Habits())
    drive, units = Drive(fleet, seed=seed), some_units(110 * slots)
    batch = drive.start(units)
    (played,) = drive.finish(batch)
    name = f"worker-{wrong}.0"
    assert {one: replace for one, (_, replace) in fleet.removed.items()} == {name: False}
    assert units_of_worker(fleet, name) <= 110
    assert games(played) == right_games(units)
    assert batch.counts.differing == 1
    assert batch.counts.replaced == sum(one.replaces for one in played) > 0
    (note,) = drive.ledger.notes
    assert note.startswith(f"{name} on host-{wrong} is shut out: its games of unit ")


def test_a_worker_that_alters_some_units_is_found() -> None:
    """One that alters each unit with probability p is found within 200 of its units with 1 - (1 - p)^2 at least.

    More often, because it plays units for comparisons with others too.
    """
    for share, fleets in ((0.1, 12), (0.5, 8)):
        found = sum(is_found(share, seed) for seed in range(fleets))
        assert found / fleets >= 1 - (1 - share) ** 2 - (0.3 if share < 0.5 else 0.2)
        assert found > 0


def is_found(share: float, seed: int) -> bool:
    """Whether a worker that alters a share of its units is shut out before it has been given 200."""
    fleet = SimulatedFleet(3, lambda slot, _times: liar(share, seed) if slot == 0 else Habits())
    drive = Drive(fleet, seed=seed)
    batch = drive.start(some_units(900))
    while fleet.workers["worker-0.0"].given < 200 and not fleet.removed:
        drive.turns(20)
        batch.results.clear()
    assert set(fleet.removed) <= {"worker-0.0"}
    return bool(fleet.removed)


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32), share=st.floats(0.1, 1.0))
def test_with_every_unit_compared_all_games_are_right(seed: int, share: float) -> None:
    """Also where workers die and are slow, and a result that was thought lost arrives late."""

    def habits(slot: int, times: int) -> Habits:
        return liar(share, seed) if slot == 0 else random_habits(seed + slot + 100 * times, death=0.1)

    fleet = SimulatedFleet(5, habits)
    fleet.late_results = True
    drive, units = Drive(fleet, share=1.0, seed=seed), some_units(40)
    batch = drive.start(units)
    (played,) = drive.finish(batch)
    assert games(played) == right_games(units)
    assert set(fleet.removed) <= {"worker-0.0"}


def test_of_two_that_disagree_the_one_that_contradicts_itself_is_wrong() -> None:
    fleet = SimulatedFleet(
        2, lambda slot, _times: Habits(altered=lambda _unit, number: f"draw {number}" if slot == 0 else "")
    )
    drive, units = Drive(fleet, share=0.1), some_units(60)
    batch = drive.start(units)
    (played,) = drive.finish(batch)
    assert games(played) == right_games(units)
    assert fleet.removed["worker-0.0"][1] is False
    assert list(fleet.removed) == ["worker-0.0"]
    assert batch.counts.differing == 1
    assert batch.counts.compared + batch.counts.uncompared >= 4


def test_two_that_disagree_and_both_stand_by_it_stop_the_work() -> None:
    fleet = SimulatedFleet(2, lambda slot, _times: liar() if slot == 0 else Habits())
    drive = Drive(fleet, share=0.1)
    drive.start(some_units(60))
    with pytest.raises(ValueError, match=r"unit \d+: workers of toy processor give different games") as caught:
        drive.until(1000.0)
    line = str(caught.value)
    assert "worker-0.0: " in line
    assert "worker-1.0: " in line
    assert "\n" not in line
    assert max(sum(one is unit for _, one in fleet.submitted) for _, unit in fleet.submitted) == 4


def test_five_different_results_stop_the_work() -> None:
    fleet = SimulatedFleet(8, lambda slot, _times: Habits(altered=lambda _unit, _number: f"mine, {slot}"))
    drive = Drive(fleet, share=0.5)
    drive.start(some_units(20))
    with pytest.raises(ValueError, match="give different games, and there is no other one"):
        drive.until(1000.0)


def test_who_left_is_waited_for() -> None:
    """Of two workers that disagree one has died; the one in its place decides, half a minute later."""
    fleet = SimulatedFleet(2, lambda slot, times: liar() if (slot, times) == (0, 0) else Habits())
    drive, units = Drive(fleet, share=1.0), some_units(2)
    batch = drive.start(units)
    while not any(one.differs for one in batch.comparisons.values()):
        drive.turns(1)
    fleet.end("worker-0.0", replace=False)
    drive.until(fleet.now + 30)
    assert batch in drive.ledger.batches
    assert "waits for another worker of the same kind as worker-" in status(drive)
    fleet.start(0)
    (played,) = drive.finish(batch)
    assert games(played) == right_games(units)


def test_nobody_is_compared_with_itself() -> None:
    fleet = SimulatedFleet(1)
    drive, units = Drive(fleet, share=0.1), some_units(50)
    batch = drive.start(units)
    (played,) = drive.finish(batch)
    assert len(fleet.submitted) == len(units) == len(played)
    assert (batch.counts.compared, batch.counts.uncompared) == (0, 5)


def test_device_classes_are_not_compared_with_each_other() -> None:
    def habits(slot: int, _times: int) -> Habits:
        kind = f"processor {slot % 2}"
        return Habits(altered=lambda _unit, _number: kind, device_class=kind)

    fleet = SimulatedFleet(4, habits)
    drive, units = Drive(fleet, share=0.2), some_units(100)
    batch = drive.start(units)
    (played,) = drive.finish(batch)
    assert set(games(played)) == set(right_games(units))
    assert batch.counts.compared > 10
    assert batch.counts.differing == 0
    alone = SimulatedFleet(2, habits)
    drive = Drive(alone, share=0.2)
    drive.finish(batch := drive.start(units))
    assert batch.counts.compared == 0
    assert batch.counts.uncompared > 10


def test_another_host_is_asked_where_there_is_one() -> None:
    fleet = SimulatedFleet(4, lambda slot, _times: Habits(host="twins" if slot < 3 else "other"))
    drive = Drive(fleet, share=1.0)
    (played,) = drive.finish(drive.start(some_units(40)))
    first = {one.unit.key: one.worker for one in played}
    second = [(first[unit.key], name) for name, unit in fleet.submitted if first[unit.key] != name]
    assert len(second) == 40
    assert all("worker-3.0" in pair for pair in second)


def test_units_that_cannot_be_compared_are_not() -> None:
    fleet = SimulatedFleet(3, lambda slot, _times: Habits(altered=lambda _unit, number: f"{slot} {number}"))
    drive, units = Drive(fleet, share=1.0), some_units(30, comparable=False)
    batch = drive.start(units)
    drive.finish(batch)
    assert len(fleet.submitted) == 30
    assert batch.counts.compared == batch.counts.uncompared == 0


@pytest.mark.parametrize("share", [1.0, 0.5, 0.1, 0.01])
def test_one_unit_of_each_block_is_drawn(share: float) -> None:
    block = round(1 / share)
    for worker in ("a", "b"):
        drawn = [is_drawn(share, 7, worker, number) for number in range(20 * block)]
        assert [sum(drawn[start : start + block]) for start in range(0, 20 * block, block)] == [1] * 20
    assert not any(is_drawn(0.0, 7, "a", number) for number in range(500))


def status(drive: Drive) -> str:
    """The line of the scheduler."""
    from hauteur.cluster.status import status_line

    return status_line(drive.dispatcher)


def test_comparisons_are_handed_out_with_who_took_part() -> None:
    compared: list[ComparedUnit] = []
    fleet = SimulatedFleet(3, lambda slot, _times: liar(0.3) if slot == 0 else Habits())
    drive, units = Drive(fleet, share=1.0), some_units(30)
    batch = drive.start(units, on_compared=compared.append)
    (played,) = drive.finish(batch)
    assert len(compared) == batch.counts.compared
    first = {one.unit.key: one.worker for one in reversed(played)}
    assert all(first[one.unit.key] == one.workers[0] and len(one.workers) >= 2 for one in compared)
    assert [one.wrong for one in compared if one.wrong] == [("worker-0.0",)]


def test_comparisons_that_have_not_ended_with_the_work_are_counted_and_named() -> None:
    fleet = SimulatedFleet(3, lambda slot, _times: liar() if slot == 0 else Habits())
    drive = Drive(fleet, share=1.0)
    batch = drive.start(some_units(30))
    while not any(one.differs for one in batch.comparisons.values()):
        drive.turns(1)
    missing, ended = len(batch.comparisons), batch.counts.compared
    differing = sum(one.differs for one in batch.comparisons.values())
    batch.close()
    assert (batch.counts.compared, batch.counts.uncompared) == (ended, missing)
    wanted = r"unit \d+: worker-.* and worker-.* give different games; the work ended before it was known who is right"
    assert len(drive.ledger.notes) == differing
    assert all(re.fullmatch(wanted, note) for note in drive.ledger.notes)
