"""The process of a local worker: units come on stdin, results go to stdout. Messages are JSON and bytes."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from hauteur.cluster.unit import UnitResult
from hauteur.cluster.worker import UnitWorker
from hauteur.system.files import sha256_of

PR_SET_PDEATHSIG = 1
"""Of Linux's prctl: the signal that a process gets when the thread that started it ends."""


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
    except (ValueError, TypeError, AttributeError, KeyError):
        raise ValueError(f"not a message: {line[:80]!r}") from None
    content = stream.read(size)
    return (fields, content) if len(content) == size else None


def main(threads: int) -> None:
    """Play units until stdin ends, which it does when the driver ends."""
    end_with_driver()
    units, output = private_pipes()
    lock = threading.Lock()
    places: dict[str, Path] = {}

    def report(fields: Mapping[str, Any], content: bytes = b"") -> None:
        try:
            with lock:
                write_message(output, fields, content)
        except OSError:  # no driver reads
            os._exit(0)

    def deliver(result: UnitResult) -> None:
        report({"report": "done", "key": result.key, "facts": dict(result.facts)}, result.content)

    def fail(key: str, cause: str) -> None:
        report({"report": "failed", "key": key, "cause": cause})

    def file(sha256: str, name: str) -> Path:
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
    units, output = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
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
