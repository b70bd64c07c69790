"""Local workers: processes of this machine."""

from __future__ import annotations

import os
import queue
import subprocess
import sys
import threading
from contextlib import suppress

from hauteur.cluster.fleet import Event, Failed, Finished, Joined, Left, Sources, WorkerFacts
from hauteur.cluster.framing import read_message, write_message
from hauteur.cluster.unit import Unit, UnitResult
from hauteur.system.hardware import usable_cores
from hauteur.system.plugins import VARIABLES, imported


class LocalFleet:
    """So many processes of this machine, each with its share of the cores."""

    def __init__(self, workers: int, *, threads: int = 0) -> None:
        if not 1 <= workers <= 1024:
            raise ValueError(f"workers must be 1 to 1024, got {workers}")
        self.name = f"{workers} local workers"
        self._threads = threads or max(1, usable_cores() // workers)
        self._events: queue.Queue[Event | None] = queue.Queue()
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._causes: dict[str, str] = {}
        self._closed = False
        self._count = 0
        for _ in range(workers):
            self._start()

    def submit(self, worker: str, unit: Unit, sources: Sources) -> None:
        """Send a unit to a process."""
        places = {sha256: os.fspath(sources[sha256].resolve()) for sha256 in unit.files}
        stdin = self._processes[worker].stdin
        assert stdin is not None
        with suppress(BrokenPipeError):  # it has ended: its reader reports it
            write_message(stdin, {"unit": unit.to_json(), "sources": places})

    def wait(self, seconds: float) -> list[Event]:
        """Return what has happened."""
        found: list[Event] = []
        with suppress(queue.Empty):
            event = self._events.get(timeout=seconds)
            while True:
                found += [event] if event is not None else []
                event = self._events.get_nowait()
        return found

    def wake(self) -> None:
        """End a `wait`."""
        self._events.put(None)

    def remove(self, worker: str, cause: str, *, replace: bool = True) -> None:
        """Kill a process."""
        self._causes[worker] = cause
        if not replace:
            self._closed = True
        self._processes[worker].kill()

    def shortage(self) -> str | None:
        """Local workers are always there, or on their way."""
        return None

    def close(self) -> None:
        """End all processes."""
        self._closed = True
        for process in self._processes.values():
            process.kill()
            process.wait()

    def _start(self) -> None:
        self._count += 1
        name = f"local-{self._count}"
        environment = {
            **os.environ,
            VARIABLES[0]: ",".join([*filter(None, [os.environ.get(VARIABLES[0])]), *imported()]),
        }
        command = (sys.executable, "-m", "hauteur.cluster.local_worker", str(self._threads))
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        self._processes[name] = process
        threading.Thread(target=self._read, args=(name, process), name=name, daemon=True).start()

    def _read(self, name: str, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        while (message := read_message(process.stdout)) is not None:
            fields, content = message
            if "joined" in fields:
                self._events.put(Joined(name, WorkerFacts(**fields["joined"])))
            elif "failed" in fields:
                self._events.put(Failed(name, fields["failed"], fields["cause"]))
            else:
                self._events.put(Finished(name, UnitResult(fields["done"], content, fields["facts"])))
        status = process.wait()
        self._events.put(Left(name, self._causes.get(name, f"the process ended with status {status}")))
        if not self._closed:
            self._start()
