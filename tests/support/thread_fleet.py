"""A fleet whose workers are threads of this process: real units, without the time that processes take to begin."""

import queue
from pathlib import Path

from hauteur.cluster.unit import Event, Failed, Finished, Joined, Left, Sources, Unit, drained
from hauteur.cluster.worker import UnitWorker


class ThreadFleet:
    """Some threads."""

    def __init__(self, workers: int) -> None:
        self.events: queue.Queue[Event] = queue.Queue()
        self.places: dict[str, Path] = {}
        self.workers = {f"thread-{number}": self.worker(f"thread-{number}") for number in range(1, workers + 1)}
        for name in self.workers:
            self.events.put(Joined(name, "here"))

    def worker(self, name: str) -> UnitWorker:
        return UnitWorker(
            lambda sha256, _: self.places[sha256],
            lambda result: self.events.put(Finished(name, result)),
            lambda key, cause, trace: self.events.put(Failed(name, key, cause, trace)),
        )

    def submit(self, worker: str, unit: Unit, sources: Sources) -> None:
        self.places |= sources
        self.workers[worker].receive(unit.to_json())

    def wait(self, seconds: float) -> list[Event]:
        return drained(self.events, seconds)

    def replace(self, worker: str, cause: str) -> None:
        self.workers.pop(worker).close()
        self.events.put(Left(worker, cause))

    def shortage(self) -> str | None:
        return None

    def close(self) -> None:
        for worker in self.workers.values():
            worker.close()
