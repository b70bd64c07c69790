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

from hauteur import __version__
from hauteur.cluster import local, local_process
from hauteur.cluster.fleet import Event, Failed, Finished, Joined, Left
from hauteur.cluster.local import LocalFleet
from hauteur.cluster.unit import Unit

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into the system's tables of processes")
LONG = 60.0


class Watched(LocalFleet):
    """A fleet of fake workers. events: all until now."""

    def __init__(self, workers: int = 1, start: str = "good", command: tuple[str, ...] | None = None) -> None:
        self.events: list[Event] = []
        fake = (sys.executable, "-I", "-S", fake_local_worker.__file__, start, __version__)
        super().__init__(workers, command=command or fake)

    def until(self, kind: type[Event], count: int = 1) -> Any:
        """Wait until so many events of a kind have come; return the last of them."""
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
def fleets(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Watched]]:
    """Opens fleets that are closed at the end, and leave no process, thread or descriptor behind."""
    monkeypatch.setattr(local, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(local_process, "PATIENCE", 0.5)
    before, opened = held(), list[Watched]()

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
    "exit": r"ended with exit status 3: the reason",
    "end": r"ended with exit status 0",
    "garbage": r"sent what is no report: not a message: b'Segmentation fault",
    "list": r"not a message of at most \d+ bytes: b'\[1, 2, 3\]",
    "deep": r"not a message: b'\[\[\[",
    "long": r"a line of more than 65536 bytes: b'xxx",
    "half line": r"was killed by SIGKILL",
    "half content": r"was killed by SIGKILL",
    "huge": r"not a message of at most \d+ bytes",
    "negative": r"not a message of at most \d+ bytes",
    "unknown key": r"it has no unit 000000000000",
    "twice": r"it has no unit [0-9a-f]{12}",
    "join again": r"it joined twice",
    "no report": r"sent what is no report: .*report",
    "more keys": r"sent what is no report: .*extra",
    "wrong facts": r"sent what is no report: .*visits",
    "infinite facts": r"sent what is no report: .*visits",
    "many facts": r"sent what is no report: .*facts",
    "close output": r"closed its output",
    "close input": r"closed its input",
}


@pytest.mark.parametrize("act", DEATHS)
def test_a_worker_that_goes_wrong_is_named_and_replaced(fleets: Callable[..., Watched], act: str) -> None:
    fleet = fleets(1)
    fleet.until(Joined)
    fleet.give("local-1", act)
    if act == "close input":
        fleet.give("local-1", "play", text="x" * 1_000_000)
    left = fleet.until(Left)
    assert left.worker == "local-1"
    assert re.search(DEATHS[act], left.cause), left.cause
    assert fleet.until(Joined, 2).worker == "local-2"
    unit = fleet.give("local-2", "play")
    while fleet.until(Finished).result.key != unit.key:
        fleet.events = [event for event in fleet.events if not isinstance(event, Finished)]


def test_noise_ends_workers_and_nothing_else(fleets: Callable[..., Watched]) -> None:
    fleet = fleets(2)
    for seed in range(20):
        joined = fleet.until(Joined, seed + 1)
        fleet.give(joined.worker, "noise", seed=seed)
    fleet.until(Left, 20)
    assert all("sent what is no report: " in event.cause for event in fleet.events if isinstance(event, Left))


def test_a_worker_that_hangs_is_removed(fleets: Callable[..., Watched]) -> None:
    fleet = fleets(1)
    fleet.until(Joined)
    fleet.give("local-1", "hang")
    fleet.remove("local-1", "has played one unit for an hour")
    fleet.remove("local-1", "another cause")
    assert fleet.until(Left) == Left("local-1", "has played one unit for an hour")
    fleet.remove("local-1", "gone already")
    assert fleet.until(Joined, 2).worker == "local-2"


def test_a_full_pipe_blocks_nobody(fleets: Callable[..., Watched]) -> None:
    fleet = fleets(1, start="stop")
    fleet.until(Joined)
    for number in range(3):
        fleet.give("local-1", "play", text="x" * 4_000_000, number=number)
    fleet.remove("local-1", "was too slow")
    assert fleet.until(Left).cause == "was too slow"


def test_a_stopped_fleet_is_closed(fleets: Callable[..., Watched]) -> None:
    children = held()["children"]
    fleet = fleets(2, start="stop")
    fleet.until(Joined, 2)
    fleet.give("local-2", "play", text="x" * 4_000_000)
    fleet.close()
    assert held()["children"] == children


def test_one_worker_leaves_for_good_and_the_others_are_replaced(fleets: Callable[..., Watched]) -> None:
    fleet = fleets(2)
    fleet.until(Joined, 2)
    fleet.remove("local-1", "its games were not those of others", replace=False)
    fleet.until(Left)
    fleet.remove("local-2", "took too long")
    fleet.until(Left, 2)
    assert fleet.until(Joined, 3).worker == "local-3"
    assert fleet.shortage() is None
    fleet.remove("local-3", "its games were not those of others", replace=False)
    with pytest.raises(ValueError, match="no local worker is left: the last one its games were not those of others"):
        fleet.until(Joined, 4)


@pytest.mark.parametrize(
    ("start", "cause"),
    [
        ("exit", "ended with exit status 7: no module named so"),
        ("garbage", "sent what is no report: not a message: b'Welcome!"),
        ("other version", f"sent what is no report: it runs hauteur 99.0, the driver {__version__}"),
    ],
)
def test_workers_that_never_start_end_the_work(fleets: Callable[..., Watched], start: str, cause: str) -> None:
    with pytest.raises(ValueError, match=f"no local worker starts: the last one {cause}"):
        fleets(2, start=start).until(Joined)


def test_a_program_that_is_not_there(fleets: Callable[..., Watched], tmp_path: Path) -> None:
    fleet = fleets(1, command=(str(tmp_path / "absent"),))
    with pytest.raises(ValueError, match=r"no local worker starts: the last one could not be started: .*absent"):
        fleet.until(Joined)


def test_a_worker_that_does_not_start_in_time(fleets: Callable[..., Watched], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "START_SECONDS", 0.2)
    with pytest.raises(ValueError, match="no local worker starts: the last one did not start within 0 s"):
        fleets(1, start="silent").until(Joined)


def test_pauses_between_starts_grow(fleets: Callable[..., Watched], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "FIRST_PAUSE", 1000.0)
    fleet = fleets(2)
    fleet.until(Joined, 2)
    fleet.give("local-1", "kill")
    fleet.until(Joined, 3)  # the first time at once
    fleet.give("local-3", "exit")
    fleet.until(Left, 2)
    shortage = fleet.shortage()
    assert shortage is not None
    assert shortage.startswith("1 of 2 local workers to start again in ")
    assert shortage.endswith(" s: the last one ended with exit status 3: the reason")


def test_a_unit_that_is_played_ends_the_pauses(fleets: Callable[..., Watched], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "FIRST_PAUSE", 1000.0)
    fleet = fleets(1)
    for number in range(1, 4):
        fleet.until(Joined, number)
        fleet.give(f"local-{number}", "play")
        fleet.until(Finished, number)
        fleet.give(f"local-{number}", "kill")
    fleet.until(Joined, 4)


def test_what_cannot_be_sent_fails(fleets: Callable[..., Watched]) -> None:
    fleet = fleets(1)
    fleet.until(Joined)
    fleet.submit("local-1", Unit("self-play", "no net", {}, {}, {"a" * 64: "net.safetensors"}), {})
    assert "could not be sent" in fleet.until(Failed).cause
    fleet.give("local-1", "play", text="x" * 20_000_000)
    assert "at most" in fleet.until(Failed, 2).cause
    fleet.give("local-1", "fail")
    assert fleet.until(Failed, 3).cause == "no such game"


def test_a_flood_on_stderr_is_limited(fleets: Callable[..., Watched], capsys: pytest.CaptureFixture[str]) -> None:
    fleet = fleets(1)
    fleet.until(Joined)
    fleet.give("local-1", "flood")
    fleet.until(Finished)
    fleet.close()
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "local-1: line 0  [31m of many"
    assert 100 <= len(lines) < 400
    assert any("lines left out" in line for line in lines)


def test_wake_ends_a_wait(fleets: Callable[..., Watched]) -> None:
    fleet = fleets(1)
    fleet.until(Joined)
    threading.Timer(0.05, fleet.wake).start()
    assert fleet.wait(LONG) == []


@pytest.mark.parametrize("restarts", [30, pytest.param(1000, marks=pytest.mark.slow)])
def test_restarts_leave_nothing_behind(fleets: Callable[..., Watched], restarts: int) -> None:
    fleet = fleets(3)
    fleet.until(Joined, 3)
    before = held()
    acts = ["kill", "garbage", "half content", "exit"]
    for number in range(restarts):
        joined = fleet.until(Joined, number + 1)
        fleet.give(joined.worker, "play")
        fleet.until(Finished, number + 1)
        fleet.give(joined.worker, acts[number % len(acts)])
    fleet.until(Joined, restarts + 3)
    assert_held(before)


def test_numbers_of_workers() -> None:
    with pytest.raises(ValueError, match="workers of one machine must be 1 to 1024, got 0"):
        LocalFleet(0)
