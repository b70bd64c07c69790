"""Local workers: processes of this machine, each with its share of the cores."""

import os
import platform
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from hauteur.cluster.unit import Event, Failed, Finished, Joined, Left, Sources, Unit, UnitResult, drained
from hauteur.cluster.worker import read_message, write_message
from hauteur.system.formatting import ended_with
from hauteur.system.hardware import usable_cores
from hauteur.system.plugins import environment_for_processes

COMMAND = (sys.executable, "-P", "-X", "faulthandler", "-m", "hauteur.cluster.worker")
"""Starts a worker; its threads follow."""
THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
"""Libraries that compute beside the nets would else take all cores in every worker."""

MOST_WORKERS = 1024
MOST_DEATHS = 4
"""Workers that may end for each place, one after another without a unit played; then the fleet gives up."""
CLOSE_SECONDS = 5.0
"""Seconds that killed processes have to go."""


class LocalFleet:
    """Processes of this machine, as many as `workers` says. threads: of each, 0: a share of the cores; command: starts
    a worker.

    All that is known of the workers changes in `wait`, in the one thread that uses the fleet; it must live as long as
    the workers, which the system ends with the thread that started them.
    """

    def __init__(self, workers: int, *, threads: int = 0, command: Sequence[str] = COMMAND) -> None:
        if not 1 <= workers <= MOST_WORKERS:
            raise ValueError(f"workers of one machine must be 1 to {MOST_WORKERS}, got {workers}; more need a cluster")
        self._threads = threads or max(1, usable_cores() // workers)
        self._command = (*command, str(self._threads))
        self._events: queue.Queue[Event] = queue.Queue()
        self._processes: dict[str, _Process] = {}
        self._workers = workers
        self._count = 0
        self._deaths = 0
        self._cause = ""

    @property
    def names(self) -> list[str]:
        """The processes that run, those that have not joined yet too."""
        return list(self._processes)

    def submit(self, worker: str, unit: Unit, sources: Sources) -> None:
        """Send a unit to a process; one that cannot be sent fails."""
        try:
            places = {sha256: os.fspath(sources[sha256].resolve()) for sha256 in unit.files}
        except OSError as error:
            self._events.put(Failed(worker, unit.key, f"could not be sent: {error}"))
        else:
            self._processes[worker].outgoing.put({"unit": unit.to_json(), "sources": places})

    def wait(self, seconds: float) -> list[Event]:
        """Return what has happened, after at most this time; start the workers that are missing."""
        self._start()
        found: list[Event] = []
        for event in drained(self._events, seconds):
            found += self._handled(event)
        return found

    def replace(self, worker: str, cause: str) -> None:
        """Kill a worker; the next `wait` starts another."""
        if worker in self._processes:
            self._processes[worker].end(cause)

    def shortage(self) -> str | None:
        """Return how many workers have not joined, and why the last one ended; None where all have."""
        processes = list(self._processes.values())
        missing = self._workers - sum(process.has_joined for process in processes)
        cause = f": the last one {self._cause}" if self._cause else ""
        if not missing:
            return None
        return f"{missing} of {self._workers} local workers to start{cause}"

    def close(self) -> None:
        """Kill all workers, and wait a little for their end."""
        processes = list(self._processes.values())
        for process in processes:
            process.end("the fleet was closed")
        for process in processes:
            process.join(CLOSE_SECONDS)

    def _handled(self, event: Event) -> list[Event]:
        """Return the event for the caller; the end of a process that never joined is none."""
        match event:
            case Finished():
                self._deaths = 0
            case Left(name, cause):
                self._deaths += 1
                self._cause = cause
                if not self._processes.pop(name).has_joined:
                    return []
                return [event]
        return [event]

    def _start(self) -> None:
        """Start the workers that are missing. ValueError where they end again and again, without a unit played."""
        if self._deaths >= MOST_DEATHS * self._workers:
            raise ValueError(f"local workers end again and again: the last one {self._cause}")
        while len(self._processes) < self._workers:
            self._count += 1
            name = f"local-{self._count}"
            self._processes[name] = _Process(name, self._command, self._environment(), self._events.put)

    def _environment(self) -> dict[str, str]:
        """Return the driver's environment: its modules, games and networks, and a share of its threads."""
        return {**dict.fromkeys(THREAD_VARIABLES, str(self._threads)), **environment_for_processes()}


class _Process:
    """A process and the threads at its pipes: whatever it does, the caller never waits for it.

    put: takes what happens, from the thread that reads; the last event is `Left`. OSError where it cannot be started.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        environment: Mapping[str, str],
        put: Callable[[Event], None],
    ) -> None:
        self.name = name
        self.has_joined = False
        self.outgoing: queue.SimpleQueue[dict[str, object] | None] = queue.SimpleQueue()
        self._put = put
        self._cause = ""
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            start_new_session=True,  # Ctrl-C in a terminal is for the driver, which then ends its workers
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
        self._reader = threading.Thread(target=self._read, name=name, daemon=True)
        self._reader.start()
        threading.Thread(target=self._write, name=f"{name} input", daemon=True).start()

    def end(self, cause: str) -> None:
        """Kill the process, and what it started in its group. cause: why, where it is the first one."""
        self._cause = self._cause or cause
        with suppress(ProcessLookupError, PermissionError):
            if sys.platform == "win32":
                self._process.kill()
            elif self._process.returncode is None:
                os.killpg(self._process.pid, signal.SIGKILL)

    def join(self, seconds: float) -> None:
        """Wait for the end, at most this time."""
        self._reader.join(seconds)

    def _read(self) -> None:
        """Report what the process writes, until it ends; then that, and why."""
        assert self._process.stdout is not None
        with self._process.stdout as output:
            try:
                while (message := read_message(output)) is not None:
                    self._put(self._event(*message))
            except (OSError, ValueError, KeyError) as error:
                self.end(f"sent what is no report: {error}")
        # Its output has ended, the process perhaps not: one that has closed its output can report nothing any more.
        try:
            status = self._process.wait(CLOSE_SECONDS)
        except subprocess.TimeoutExpired:
            self.end("closed its output")
            status = self._process.wait()
        self.outgoing.put(None)
        self._put(Left(self.name, self._cause or ended_with(status)))

    def _event(self, fields: Mapping[str, object], content: bytes) -> Event:
        """Return the event that a report is. ValueError for what is none."""
        match fields:
            case {"report": "joined"}:
                self.has_joined = True
                return Joined(self.name, platform.node(), self._process.pid)
            case {"report": "done", "key": str(key), "facts": dict(facts)}:
                return Finished(self.name, UnitResult(key, content, facts))
            case {"report": "failed", "key": str(key), "cause": str(cause), "trace": str(trace)}:
                return Failed(self.name, key, cause, trace)
        raise ValueError(f"{str(fields)[:80]}")

    def _write(self) -> None:
        """Write units to the process as they come. A thread of its own: a full pipe must not stop the driver."""
        assert self._process.stdin is not None
        with suppress(OSError), self._process.stdin as units:  # it may be gone
            while (message := self.outgoing.get()) is not None:
                write_message(units, message)
