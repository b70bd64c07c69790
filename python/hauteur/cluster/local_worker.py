"""The process of a local worker: units come on stdin, results go to stdout."""

from __future__ import annotations

import os
import sys
import threading
from dataclasses import asdict
from pathlib import Path

from hauteur.cluster.facts import worker_facts
from hauteur.cluster.framing import read_message, write_message
from hauteur.cluster.kinds import unit_of
from hauteur.cluster.unit import UnitResult
from hauteur.cluster.worker import UnitWorker
from hauteur.system.files import sha256_of


def main(threads: int) -> None:
    """Play units until stdin ends."""
    output, lock = os.fdopen(os.dup(1), "wb"), threading.Lock()
    os.dup2(2, 1)  # what else is printed does not mix with the protocol
    places: dict[str, Path] = {}

    def deliver(result: UnitResult) -> None:
        with lock:
            write_message(output, {"done": result.key, "facts": dict(result.facts)}, result.content)

    def fail(key: str, cause: str) -> None:
        with lock:
            write_message(output, {"failed": key, "cause": cause})

    def file(sha256: str, _name: str) -> Path:
        if sha256_of(places[sha256]) != sha256:
            raise ValueError(f"{places[sha256]}: is not the file that was named (its sha256 differs)")
        return places[sha256]

    with lock:
        write_message(output, {"joined": asdict(worker_facts(threads))})
    worker = UnitWorker(file, deliver, fail, threads=threads)
    while (message := read_message(sys.stdin.buffer)) is not None:
        fields, _ = message
        places |= {sha256: Path(place) for sha256, place in fields["sources"].items()}
        worker.submit(unit_of(fields["unit"]))


if __name__ == "__main__":
    main(int(sys.argv[1]))
    sys.stdout.flush()
    os._exit(0)  # games that still run have nobody to report to
