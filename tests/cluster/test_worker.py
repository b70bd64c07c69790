"""The part of a worker that plays, with jobs that do as their units say."""

import builtins
import queue
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest

from hauteur import __version__
from hauteur.cluster import worker as worker_module
from hauteur.cluster.unit import TakeUnit, Unit, UnitResult
from hauteur.cluster.worker import MOST_CAUSE, MOST_JOBS, UnitWorker

pytestmark = pytest.mark.quick

LONG = 60.0


class ToyJob:
    """Does with each unit what its `act` is. log: what all jobs have done."""

    log: ClassVar[list[str]] = []

    def __init__(self, unit: Unit, files: Mapping[str, Path], threads: int) -> None:
        self.name = unit.shared["job"]
        self.log.append(f"open {self.name}")
        if "broken" in self.name:
            raise ValueError("net.safetensors: no network file")
        assert threads == 2
        assert set(files) == set(unit.files)

    def play(self, take: TakeUnit) -> Iterator[UnitResult]:
        """Do what each unit says."""
        while (unit := take()) is not None:
            act = unit.own["act"]
            if hasattr(builtins, act):
                raise getattr(builtins, act)(unit.own.get("text", ""))
            self.log.append(f"play {self.name} {unit.own['number']}")
            yield UnitResult(unit.key, b"games", {"games": 1.0})

    def close(self) -> None:
        """Close."""
        self.log.append(f"close {self.name}")
        if "self-play" in self.name:
            raise RuntimeError("cannot close, which stops nothing")


class ToyWorker(UnitWorker):
    """A worker whose results and failures are collected."""

    def __init__(self) -> None:
        self.reported: queue.Queue[tuple[str, Any]] = queue.Queue()
        self.traces: dict[str, str] = {}
        self.may_play = threading.Event()
        super().__init__(self.place, self.delivered, self.failed, threads=2)

    def place(self, sha256: str, _name: str) -> Path:
        """Return the place of a net, once the test lets it; hashes that begin with f are wrong."""
        assert self.may_play.wait(LONG)
        if sha256[0] == "f":
            raise ValueError("net.safetensors: is not the file that was named")
        return Path(sha256)

    def delivered(self, result: UnitResult) -> None:
        """Keep a result."""
        self.reported.put((result.key, result))

    def failed(self, key: str, cause: str, trace: str) -> None:
        """Keep a failure."""
        self.traces[key] = trace
        self.reported.put((key, cause))

    def outcomes(self, units: list[Unit]) -> list[Any]:
        """Return what came of units, in their order."""
        self.may_play.set()
        found = dict(self.reported.get(timeout=LONG) for _ in units)
        assert self.reported.empty()
        return [found[unit.key] for unit in units]


def end_of(worker: ToyWorker) -> None:
    """Wait until a worker's thread has ended."""
    worker.thread.join(LONG)
    assert not worker.thread.is_alive()


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[ToyWorker]:
    """A worker that plays toy jobs."""
    monkeypatch.setattr(worker_module, "job_class", lambda _kind: ToyJob)
    ToyJob.log.clear()
    opened = ToyWorker()
    yield opened
    opened.may_play.set()
    opened.close()
    end_of(opened)


def toy(job: str, number: int = 0, act: str = "done", net: str = "a", **own: Any) -> Unit:
    """A unit of a job, which has one net. act: also the name of an exception to raise."""
    files = {net * 64: "net.safetensors"}
    return Unit("toy", f"{job} {number}", {"job": job}, {"number": number, "act": act, **own}, files)


def test_two_jobs_take_turns_and_stay_open(worker: ToyWorker) -> None:
    units = [toy(job, number) for number in range(20) for job in ("self-play", "gate")]
    for unit in units:
        worker.receive(unit.to_json())
    assert all(isinstance(found, UnitResult) for found in worker.outcomes(units))
    played = [f"play {unit.shared['job']} {unit.own['number']}" for unit in units]
    assert [line for line in ToyJob.log if line.startswith("play")] == played
    assert [line for line in ToyJob.log if not line.startswith("play")] == ["open self-play", "open gate"]
    old = [toy(f"job {number}") for number in range(MOST_JOBS)]
    for unit in old:
        worker.receive(unit.to_json())
    worker.outcomes(old)
    assert [line for line in ToyJob.log if line.startswith("close")] == ["close self-play", "close gate"]


def test_a_job_that_cannot_be_opened_fails_by_name_and_others_go_on(worker: ToyWorker) -> None:
    units = [toy("broken"), toy("good", 0), toy("broken", 1), toy("good", 1), toy("wrong file", net="f")]
    for unit in units:
        worker.receive(unit.to_json())
    found = worker.outcomes(units)
    assert found[0] == found[2] == "toy cannot begin: net.safetensors: no network file"
    assert found[4] == "toy cannot begin: net.safetensors: is not the file that was named"
    assert isinstance(found[1], UnitResult)
    assert isinstance(found[3], UnitResult)


@pytest.mark.parametrize(
    ("error", "text", "line"),
    [
        ("ValueError", "no\nsuch  move", "no such move"),
        ("KeyError", "plans", "KeyError: 'plans'"),
        ("RuntimeError", "x" * 10_000, "RuntimeError: " + "x" * (MOST_CAUSE - 14)),
        ("MemoryError", "", "MemoryError: "),
        ("SystemExit", "a game that ends the program", "SystemExit: a game that ends the program"),
        ("KeyboardInterrupt", "", "KeyboardInterrupt: "),
    ],
)
def test_whatever_is_raised_is_a_failure_of_one_line(worker: ToyWorker, error: str, text: str, line: str) -> None:
    units = [toy("self-play", 0), toy("self-play", 1, error, text=text), toy("gate", 0)]
    for unit in units:
        worker.receive(unit.to_json())
    found = worker.outcomes(units)
    assert isinstance(found[0], UnitResult)
    assert found[1] == line
    assert ("raise getattr" in worker.traces[units[1].key]) == (error != "ValueError")
    assert isinstance(found[2], UnitResult)
    assert ToyJob.log.count("close self-play") == 1


def message(**changes: Any) -> dict[str, Any]:
    """A unit as sent, with changes."""
    return {**toy("self-play").to_json(), **changes}


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"version": "99.0"}, f"the driver runs hauteur 99.0, this worker {__version__}: both need the same version"),
        ({"key": "0" * 64}, "its content is not that of its key"),
        ({"own": {"number": 1}}, "its content is not that of its key"),
    ],
)
def test_units_that_are_not_right_fail_under_their_key(
    worker: ToyWorker, changes: dict[str, Any], problem: str
) -> None:
    unit = toy("self-play")
    wrong = message(**changes)
    worker.receive(wrong)
    key, cause = worker.reported.get(timeout=LONG)
    assert key == wrong["key"]
    assert problem in cause
    assert "\n" not in cause
    worker.receive(unit.to_json())
    assert isinstance(worker.outcomes([unit])[0], UnitResult)
