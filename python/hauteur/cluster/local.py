"""Local workers: processes of this machine."""

from __future__ import annotations

import math
import os
import queue
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from hauteur.cluster.fleet import Event, Failed, Finished, Joined, Left, Sources
from hauteur.cluster.framing import message_bytes
from hauteur.cluster.local_process import LocalProcess
from hauteur.cluster.unit import Unit
from hauteur.system.hardware import usable_cores
from hauteur.system.plugins import VARIABLES, imported

COMMAND = (sys.executable, "-P", "-X", "faulthandler", "-m", "hauteur.cluster.local_worker")
"""Starts a worker; its threads follow."""
THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
"""Libraries that compute beside the nets would else take all cores in every worker."""

MOST_WORKERS = 1024
FIRST_PAUSE, MOST_PAUSE = 0.5, 30.0
"""Seconds between two starts of a worker that ends again and again, without a unit played: doubled each time."""
MOST_STARTS = 4
"""Starts of each worker after which the fleet gives up, where none has ever joined."""
CLOSE_SECONDS = 5.0
"""Seconds that killed processes have to go."""
START_SECONDS = 300.0
"""Seconds that a worker has to join; on a busy machine, or from a cold disk, it takes long."""


@dataclass
class _Place:
    """Room for a worker. deaths: in succession, without a unit played; due: when the next one starts."""

    process: LocalProcess | None = None
    deaths: int = 0
    due: float = 0.0
    started: float = 0.0
    cause: str = ""
    replace: bool = True


class LocalFleet:
    """So many processes of this machine, each with its share of the cores. command: starts a worker.

    All that is known of the workers changes in `wait`, in the thread that uses the fleet; processes are started in one
    other thread, which lives as long as the fleet, because a worker's life ends with the thread that started it.
    """

    def __init__(self, workers: int, *, threads: int = 0, command: Sequence[str] = COMMAND) -> None:
        if not 1 <= workers <= MOST_WORKERS:
            raise ValueError(f"workers of one machine must be 1 to {MOST_WORKERS}, got {workers}; more need --cluster")
        self.name = f"{workers} local worker{'s' if workers > 1 else ''}"
        self._threads = threads or max(1, usable_cores() // workers)
        self._command = (*command, str(self._threads))
        self._events: queue.Queue[Event | None] = queue.Queue()
        self._places = [_Place() for _ in range(workers)]
        self._by_name: dict[str, _Place] = {}
        self._starter = ThreadPoolExecutor(1, "local workers")
        self._count = 0
        self._have_joined = False
        self._last_cause = ""
        self._closed = False
        self._start_due()

    def submit(self, worker: str, unit: Unit, sources: Sources) -> None:
        """Send a unit to a process; one that cannot be sent fails."""
        process = self._by_name[worker].process
        assert process is not None
        try:
            places = {sha256: os.fspath(sources[sha256].resolve()) for sha256 in unit.files}
            message = message_bytes({"key": unit.key, "unit": unit.to_json(), "sources": places})
        except (KeyError, OSError, ValueError) as error:
            self._events.put(Failed(worker, unit.key, f"could not be sent: {type(error).__name__}: {error}"))
        else:
            process.send(unit.key, message)

    def wait(self, seconds: float) -> list[Event]:
        """Return what has happened. ValueError, in one line, where there will never be a worker."""
        self._start_due()
        soonest = min((place.due for place in self._places if place.process is None), default=math.inf)
        found: list[Event] = []
        with suppress(queue.Empty):
            event = self._events.get(timeout=max(0.0, min(seconds, soonest - time.monotonic())))
            while True:
                found += self._handle(event) if event is not None else []
                event = self._events.get_nowait()
        self._start_due()
        return found

    def wake(self) -> None:
        """End a `wait`."""
        self._events.put(None)

    def remove(self, worker: str, cause: str, *, replace: bool = True) -> None:
        """Kill a process."""
        place = self._by_name.get(worker)
        if place is not None and place.process is not None:
            place.replace = place.replace and replace
            place.process.end(cause)

    def shortage(self) -> str | None:
        """Return which workers are not there, and why they ended."""
        total = len(self._places)
        missing = [place for place in self._places if place.process is None or not place.process.has_joined]
        if not missing:
            return None
        text = f"{len(missing)} of {total} local workers to start"
        pauses = [place.due - time.monotonic() for place in missing if place.process is None]
        if pauses and len(pauses) == len(missing):
            text = f"{len(missing)} of {total} local workers to start again in {max(0.0, min(pauses)):.0f} s"
        cause = next((place.cause for place in missing if place.cause), None)
        return f"{text}: the last one {cause}" if cause else text

    def close(self) -> None:
        """End all processes, and wait until they are gone."""
        self._closed = True
        processes = [place.process for place in self._by_name.values() if place.process is not None]
        for process in processes:
            process.end("the fleet was closed")
        self._starter.shutdown(cancel_futures=True)
        for process in processes:
            process.join(CLOSE_SECONDS)

    def _handle(self, event: Event) -> list[Event]:
        """Return what the user of the fleet learns from an event of a process."""
        match event:
            case Joined():
                self._have_joined = True
            case Finished(name) if name in self._by_name:
                place = self._by_name[name]
                place.deaths, place.cause = 0, ""
            case Left(name, cause):
                place = self._by_name.pop(name)
                assert place.process is not None
                has_joined, place.process = place.process.has_joined, None
                self._gone(place, cause)
                return [event] if has_joined else []
        return [event]

    def _gone(self, place: _Place, cause: str) -> None:
        """Arrange what comes after a worker."""
        place.cause = self._last_cause = cause
        place.due = time.monotonic() + min(MOST_PAUSE, FIRST_PAUSE * 2 ** (place.deaths - 1) if place.deaths else 0.0)
        place.deaths += 1
        if not place.replace:
            self._places.remove(place)

    def _start_due(self) -> None:
        """Start the workers whose time has come, and end those that take too long to start."""
        if self._closed:
            return
        if not self._places:
            raise ValueError(f"no local worker is left: the last one {self._last_cause}")
        if not self._have_joined and all(place.deaths >= MOST_STARTS for place in self._places):
            raise ValueError(f"no local worker starts: the last one {self._last_cause}")
        now = time.monotonic()
        for place in self._places:
            if place.process is None and place.due <= now:
                self._count += 1
                process = LocalProcess(f"local-{self._count}", self._command, self._environment(), self._events.put)
                place.process, place.started = process, now
                self._by_name[process.name] = place
                self._starter.submit(process.start)
            elif place.process is not None and not place.process.has_joined and now > place.started + START_SECONDS:
                place.process.end(f"did not start within {START_SECONDS:.0f} s")

    def _environment(self) -> dict[str, str]:
        """Return the driver's environment: its modules, games and networks, and a share of its threads."""
        plugins = [*filter(None, [os.environ.get(VARIABLES[0])]), *imported()]
        return {
            **dict.fromkeys(THREAD_VARIABLES, str(self._threads)),
            **os.environ,
            VARIABLES[0]: ",".join(plugins),
            "PYTHONPATH": os.pathsep.join(str(Path(entry).absolute()) for entry in sys.path),
        }
