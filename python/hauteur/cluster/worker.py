"""A worker: plays the units that it is given, those of one job side by side, in a thread of its own.

As a program it is the process of a local worker: units come on stdin, results go to stdout, as JSON and bytes.
"""

import ctypes
import json
import os
import signal
import sys
import threading
import traceback
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from hauteur.cluster.unit import Unit, UnitJob, UnitResult, job_class, unit_of
from hauteur.system.errors import explain
from hauteur.system.files import sha256_of

PR_SET_PDEATHSIG = 1
"""Of Linux's prctl: the signal that a process gets when the thread that started it ends."""
MOST_JOBS = 3
"""Jobs whose nets stay open: self-play of two generations and a gate may take turns."""
MOST_CAUSE = 2000
"""Characters of a line that says why a unit could not be played."""
MOST_TRACE = 20_000
"""Characters of a traceback."""
MOST_CONTENT = 2**30
"""Bytes behind a message."""


class UnitWorker:
    """Plays units.

    files: returns the place of a net, by its sha256 and file name; deliver: takes results; fail: takes the key of a
    unit, why it could not be played, as one line, and its `trace_of`. Both are called from the worker's thread.
    """

    def __init__(
        self,
        files: Callable[[str, str], Path],
        deliver: Callable[[UnitResult], None],
        fail: Callable[[str, str, str], None],
        *,
        threads: int = 1,
    ) -> None:
        self._files = files
        self._deliver = deliver
        self._fail = fail
        self._threads = threads
        self._waiting: deque[Unit] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._jobs: OrderedDict[str, UnitJob] = OrderedDict()
        self.thread = threading.Thread(target=self._work, name="units", daemon=True)
        self.thread.start()

    def receive(self, message: Mapping[str, Any]) -> None:
        """Take a unit as the driver sends it; one that is not right fails."""
        try:
            unit = unit_of(message)
        except ValueError as error:
            self._fail(message["key"], described(error), trace_of(error))
            return
        with self._changed:
            self._waiting.append(unit)
            self._changed.notify()

    def close(self) -> None:
        """End when the present job has nothing to do any more."""
        with self._changed:
            self._waiting.clear()
            self._closed = True
            self._changed.notify()

    def _take(self, job: str) -> Unit | None:
        """Take the next unit of a job; None where the next one is of another, which has its turn, or there is none."""
        with self._changed:
            if self._waiting and self._waiting[0].job == job:
                return self._waiting.popleft()
            return None

    def _work(self) -> None:
        """Play units until the worker is closed, then close all jobs."""
        with suppress(Exception):  # what cannot be imported is an error of the first unit
            job_class("match")  # the other kind's module imports it
        while (unit := self._first()) is not None:
            self._play(unit)
        while self._jobs:
            self._drop(next(iter(self._jobs)))

    def _first(self) -> Unit | None:
        """Wait for a unit, which stays in the queue."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closed)
            return self._waiting[0] if self._waiting else None

    def _play(self, unit: Unit) -> None:
        """Play the units of a job that wait now; each of them is delivered or fails."""
        taken: dict[str, Unit] = {}

        def take() -> Unit | None:
            """Take the next unit of this job, and remember it until it is delivered."""
            if (found := self._take(unit.job)) is not None:
                taken[found.key] = found
            return found

        try:
            for result in self._job(unit).play(take):
                self._deliver(result)
                del taken[result.key]
        except BaseException as error:  # panics of the core are no Exception
            line = described(error)
            if unit.job not in self._jobs:
                line = f"{unit.kind} cannot begin: {line}"
            self._drop(unit.job)
            if not taken:
                take()
            for key in taken:
                self._fail(key, line, trace_of(error))

    def _job(self, unit: Unit) -> UnitJob:
        """Return the job of a unit, opened where it is not; the one that was used longest ago makes room."""
        if unit.job not in self._jobs:
            while len(self._jobs) >= MOST_JOBS:
                self._drop(next(iter(self._jobs)))
            files = {sha256: self._files(sha256, name) for sha256, name in unit.files.items()}
            self._jobs[unit.job] = job_class(unit.kind)(unit, files, self._threads)
        self._jobs.move_to_end(unit.job)
        return self._jobs[unit.job]

    def _drop(self, job: str) -> None:
        """Close a job, if it is open."""
        if (dropped := self._jobs.pop(job, None)) is not None:
            try:
                dropped.close()
            except Exception:  # of a job that has failed already, or is done
                traceback.print_exc()


def described(error: BaseException) -> str:
    """Return an error as one line; that of a fault of the program names its type."""
    if line := _explained(error):
        return line[:MOST_CAUSE]
    message = " ".join(str(error).split())
    return f"{type(error).__name__}: {message}"[:MOST_CAUSE]


def trace_of(error: BaseException) -> str:
    """Return the traceback of a fault of the program, in lines; empty for what a line explains."""
    # For the driver: printed here it would stand there once for each worker and attempt, or, with Ray, not at all.
    if _explained(error):
        return ""
    return "".join(traceback.format_exception(error)).strip()[-MOST_TRACE:]


def _explained(error: BaseException) -> str:
    """Return the line that explains what a user can mend; empty for a fault of the program."""
    if not isinstance(error, ValueError | OSError | ImportError):
        return ""
    return explain(error) or ""


def write_message(stream: IO[bytes], fields: Mapping[str, Any], content: bytes = b"") -> None:
    """Write a line of JSON, and the bytes behind it that it announces."""
    stream.write(json.dumps({**fields, "bytes": len(content)}).encode() + b"\n")
    stream.write(content)
    stream.flush()


def read_message(stream: IO[bytes]) -> tuple[dict[str, Any], bytes] | None:
    """Read a message; None where the stream ends. ValueError for what is none."""
    line = stream.readline()
    if not line.endswith(b"\n"):
        return None
    try:
        fields = json.loads(line)
        size = fields.pop("bytes")
        if type(size) is not int or not 0 <= size <= MOST_CONTENT:
            raise ValueError
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        raise ValueError(f"not a message: {line[:80]!r}") from None
    content = stream.read(size)
    if len(content) != size:
        return None
    return (fields, content)


def main(threads: int) -> None:
    """Play units until stdin ends, which it does when the driver ends."""
    end_with_driver()
    # A request to end may go to all processes of a job: it is for the driver, which waits for the units in work. A
    # handler, not SIG_IGN, so that programs that are started here do not inherit it.
    signal.signal(signal.SIGTERM, lambda *_: None)
    units, output = private_pipes()
    lock = threading.Lock()  # results come from the worker's thread, refusals from this one
    places: dict[str, Path] = {}

    def report(fields: Mapping[str, Any], content: bytes = b"") -> None:
        """Write a message to the driver."""
        try:
            with lock:
                write_message(output, fields, content)
        except OSError:  # no driver reads
            os._exit(0)

    def deliver(result: UnitResult) -> None:
        report({"report": "done", "key": result.key, "facts": dict(result.facts)}, result.content)

    def fail(key: str, cause: str, trace: str) -> None:
        report({"report": "failed", "key": key, "cause": cause, "trace": trace})

    def file(sha256: str, name: str) -> Path:
        """Return the place of a net. ValueError where another file is there now."""
        if sha256_of(places[sha256]) != sha256:
            raise ValueError(f"{places[sha256]}: is not the {name} that the unit names (its sha256 differs)")
        return places[sha256]

    worker = UnitWorker(file, deliver, fail, threads=threads)
    report({"report": "joined"})
    while (message := read_message(units)) is not None:
        fields, _ = message
        places |= {sha256: Path(place) for sha256, place in fields["sources"].items()}
        worker.receive(fields["unit"])


def end_with_driver() -> None:
    """Have the system end this process when the driver ends, also where it was stopped or hangs."""
    if sys.platform != "linux":
        return
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    with suppress(OSError):  # where memory is short, the system should end a worker, not the driver
        Path("/proc/self/oom_score_adj").write_text("500", encoding="ascii")


def private_pipes() -> tuple[IO[bytes], IO[bytes]]:
    """Return stdin and stdout under other numbers: what is printed or read here, or by a program that is started here,
    does not mix with the messages.
    """
    units = os.fdopen(os.dup(0), "rb")
    output = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return units, output


if __name__ == "__main__":
    status = 1
    try:
        main(int(sys.argv[1]))
        status = 0
    except Exception:
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stderr.flush()
        os._exit(status)  # games that still run have no driver to report to
