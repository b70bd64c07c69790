"""Memory of a driver and its workers while they play many units."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from unit_toys import small_units

from hauteur.cluster.fleet import Finished, Joined
from hauteur.cluster.local import LocalFleet
from hauteur.cluster.unit import Unit
from hauteur.system.hardware import resident_bytes

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="reads the memory of other processes"),
]


def other_job(unit: Unit, seed: int) -> Unit:
    """The same games in a job of its own, whose nets are opened for it."""
    recipe = {**unit.shared["recipe"], "run": {"seed": seed}}
    return replace(unit, shared={**unit.shared, "recipe": recipe})


def memory_while_playing(units: list[Unit], sources: dict[str, Path], at: list[int]) -> list[dict[str, int]]:
    """Play units by two workers; return the memory of the driver and of each worker after so many of them."""
    fleet, found, played = LocalFleet(2, threads=1), list[dict[str, int]](), 0
    waiting, processes = units[::-1], dict[str, int | None](driver=None)
    try:
        while played < len(units):
            for event in fleet.wait(0.2):
                assert isinstance(event, Joined | Finished), event
                if isinstance(event, Joined):
                    processes[event.worker] = event.facts.process
                    fleet.submit(event.worker, waiting.pop(), sources)
                else:
                    played += 1
                    if played in at:
                        found.append({name: resident_bytes(pid) or 0 for name, pid in processes.items()})
                if waiting:
                    fleet.submit(event.worker, waiting.pop(), sources)
    finally:
        fleet.close()
    return found


def test_memory_stays_flat_over_many_units() -> None:
    units, sources = small_units(1000, games=2, visits=8)
    early, late = memory_while_playing(units, sources, [200, 1000])
    assert set(early) == {"driver", "local-1", "local-2"}
    assert all(late[name] < 1.05 * early[name] for name in early), (early, late)


def test_memory_stays_flat_over_many_jobs() -> None:
    units, sources = small_units(200, games=2, visits=8)
    jobs = [other_job(unit, seed) for seed, unit in enumerate(units)]
    early, late = memory_while_playing(jobs, sources, [60, 200])
    assert all(late[name] < 1.05 * early[name] for name in early), (early, late)
