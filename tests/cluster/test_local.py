"""Local workers that die, hang or send garbage, and what the driver makes of it."""

import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import fake_local_worker
import pytest

from hauteur.cluster import local
from hauteur.cluster.local import LocalFleet
from hauteur.cluster.unit import Event, Finished, Joined, Left, Unit

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into the system's tables of processes")
LONG = 60.0


class Watched(LocalFleet):
    """A fleet of fake workers. events: all until now."""

    def __init__(self, workers: int = 1, start: str = "good") -> None:
        self.events: list[Event] = []
        super().__init__(workers, command=(sys.executable, "-I", "-S", fake_local_worker.__file__, start))

    def until(self, kind: type[Event], count: int = 1) -> Any:
        """Wait until `count` events of a kind have come; return the last of them."""
        end = time.monotonic() + LONG
        while len(found := [event for event in self.events if isinstance(event, kind)]) < count:
            assert time.monotonic() < end, f"{self.events} {self.shortage()}"
            self.events += self.wait(0.1)
        return found[count - 1]

    def give(self, worker: str, act: str, **own: Any) -> Unit:
        """Give a worker a unit that has it do something."""
        unit = Unit("self-play", act, {}, {"act": act, "number": len(self.events), **own})
        self.submit(worker, unit, {})
        return unit


@pytest.fixture
def fleets() -> Iterator[Callable[..., Watched]]:
    """Opens fleets that are closed at the end, and leave no process, thread or descriptor behind."""
    before = held()
    opened = list[Watched]()

    def opens(*args: Any, **settings: Any) -> Watched:
        opened.append(Watched(*args, **settings))
        return opened[-1]

    yield opens
    for fleet in opened:
        fleet.close()
        fleet.close()
    assert_held(before)


def held() -> Mapping[str, int]:
    """Processes below this one, threads, and open files."""
    children = sum(
        int(stat.rpartition(")")[2].split()[1]) == os.getpid() for stat in (text(path) for path in stats()) if stat
    )
    return {"children": children, "threads": threading.active_count(), "files": len([*Path("/proc/self/fd").iterdir()])}


def stats() -> Iterator[Path]:
    return Path("/proc").glob("[0-9]*/stat")


def text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def assert_held(before: Mapping[str, int]) -> None:
    """Threads end a moment after what they report."""
    end = time.monotonic() + LONG
    while any(now > before[name] for name, now in held().items()) and time.monotonic() < end:
        time.sleep(0.02)
    assert all(now <= before[name] for name, now in held().items()), (before, held())


def test_units_are_played(fleets: Callable[..., Watched]) -> None:
    fleet = fleets(2)
    fleet.until(Joined, 2)
    assert fleet.shortage() is None
    units = [fleet.give(name, "play", size=size) for name, size in (("local-1", 0), ("local-2", 3_000_000))]
    fleet.until(Finished, 2)
    sizes = {event.result.key: len(event.result.content) for event in fleet.events if isinstance(event, Finished)}
    assert sizes == {units[0].key: 0, units[1].key: 3_000_000}


DEATHS = {
    "kill": r"was killed by SIGKILL, as happens where memory is short",
    "segfault": r"was killed by SIGSEGV",
    "exit": r"ended with exit status 3",
    "garbage": r"sent what is no report: not a message: b'Segmentation fault",
    "list": r"sent what is no report: not a message: b'\[1, 2, 3\]",
    "half": r"was killed by SIGKILL",
    "no report": r"sent what is no report: .*key",
    "close output": r"closed its output",
}


@pytest.mark.parametrize("act", DEATHS)
def test_a_worker_that_goes_wrong_is_named_and_replaced(
    fleets: Callable[..., Watched], act: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "CLOSE_SECONDS", 0.5)
    fleet = fleets(1)
    fleet.until(Joined)
    fleet.give("local-1", act)
    left = fleet.until(Left)
    assert left.worker == "local-1"
    assert re.search(DEATHS[act], left.cause), left.cause
    assert fleet.until(Joined, 2).worker == "local-2"
    unit = fleet.give("local-2", "play")
    assert fleet.until(Finished).result.key == unit.key


def test_a_worker_that_hangs_is_replaced(fleets: Callable[..., Watched]) -> None:
    fleet = fleets(1)
    fleet.until(Joined)
    fleet.give("local-1", "hang")
    fleet.replace("local-1", "has played one unit for an hour")
    fleet.replace("local-1", "another cause")
    assert fleet.until(Left) == Left("local-1", "has played one unit for an hour")
    fleet.replace("local-1", "gone already")
    assert fleet.until(Joined, 2).worker == "local-2"


def test_a_full_pipe_does_not_block_the_driver(fleets: Callable[..., Watched]) -> None:
    fleet = fleets(1, start="stop")
    fleet.until(Joined)
    for number in range(3):
        fleet.give("local-1", "play", text="x" * 4_000_000, number=number)
    fleet.replace("local-1", "was too slow")
    assert fleet.until(Left).cause == "was too slow"


@pytest.mark.parametrize(
    ("start", "cause"),
    [("exit", "ended with exit status 7"), ("garbage", "sent what is no report: not a message: b'Welcome!")],
)
def test_workers_that_never_start_end_the_work(fleets: Callable[..., Watched], start: str, cause: str) -> None:
    with pytest.raises(ValueError, match=f"local workers end again and again: the last one {cause}"):
        fleets(2, start=start).until(Joined)


def test_restarts_leave_nothing_behind(fleets: Callable[..., Watched]) -> None:
    fleet = fleets(3)
    fleet.until(Joined, 3)
    before = held()
    acts = ["kill", "garbage", "half", "exit"]
    for number in range(30):
        joined = fleet.until(Joined, number + 1)
        fleet.give(joined.worker, "play")
        fleet.until(Finished, number + 1)
        fleet.give(joined.worker, acts[number % len(acts)])
    fleet.until(Joined, 33)
    assert_held(before)
