"""What was spent on the runs of a plan: a line in attempts.jsonl for each attempt, also for one that was killed."""

from __future__ import annotations

import os
import platform
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from hauteur.system import hardware
from hauteur.system.jsonl import Journal

BEAT = 10.0
"""Seconds between two updates of an attempt that goes on, which are what one that is killed loses."""


class Attempt(BaseModel):
    """An attempt at a run, on a machine.

    load: processes that wanted a core, mean of the minute before it began, None where the system does not report it;
    processor_seconds: of this process and those that it started and that have ended; state: "running" is also that of
    an attempt that was killed.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    run: str
    begun: str
    host: str
    processor: str
    cores: int
    load: float | None
    seconds: float
    processor_seconds: float
    state: Literal["running", "over", "failed", "interrupted"]


class AttemptLog:
    """The attempts at the runs of a plan. folder: of the plan, which one process at a time may work on."""

    def __init__(self, folder: Path) -> None:
        self._journal: Journal[Attempt] = Journal(folder / "attempts.jsonl", Attempt, "an attempt at a run")

    def entries(self) -> list[Attempt]:
        """Return all attempts, in their order; ValueError for a damaged line."""
        return list(self._journal.entries())

    def of(self, run: str) -> list[Attempt]:
        """Return the attempts at a run."""
        return [attempt for attempt in self.entries() if attempt.run == run]

    def seconds(self, run: str) -> float:
        """Return the clock seconds of all attempts at a run."""
        return sum(attempt.seconds for attempt in self.of(run))

    @contextmanager
    def attempt(self, run: str) -> Iterator[None]:
        """Record an attempt while the body runs: at its beginning, every BEAT seconds, and at its end."""
        before, clock, processor = self.entries(), time.monotonic(), _processor_seconds()
        first = Attempt(
            run=run,
            begun=datetime.now(UTC).isoformat(timespec="seconds"),
            host=platform.node(),
            processor=hardware.processor_name(),
            cores=hardware.usable_cores(),
            load=_load(),
            seconds=0.0,
            processor_seconds=0.0,
            state="running",
        )

        def write(state: str) -> None:
            spent = {"seconds": round(time.monotonic() - clock, 1)}
            spent["processor_seconds"] = round(_processor_seconds() - processor, 1)
            self._journal.rewrite([*before, first.model_copy(update={**spent, "state": state})])

        write("running")
        over = threading.Event()
        beat = threading.Thread(target=_beating, args=(over, write), daemon=True)
        beat.start()
        state = "interrupted"
        try:
            yield
            state = "over"
        except Exception:
            state = "failed"
            raise
        finally:
            over.set()
            beat.join()
            write(state)


def _beating(over: threading.Event, write: Callable[[str], None]) -> None:
    while not over.wait(BEAT):
        write("running")


def _processor_seconds() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _load() -> float | None:
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None
