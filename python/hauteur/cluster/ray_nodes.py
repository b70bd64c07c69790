"""What is known of the nodes of a cluster: room for workers, why there is not more, whether its head is there."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from hauteur.cluster.ray_session import Session, answers

PULSE = 1.0
"""Seconds between two looks."""
LOST_SECONDS = 10.0
"""Seconds after which a head that nobody listens at is taken for gone."""
FROZEN_SECONDS = 120.0
"""Seconds after which one is that listens and does not answer; workers go on meanwhile."""


@dataclass(frozen=True)
class WorkerNeed:
    """What each worker needs of its node."""

    threads: int
    gpus: float
    labels: Mapping[str, str]

    def room(self, node: Mapping[str, Any]) -> int:
        """Return how many workers a node, as Ray describes it, has room for."""
        if not node["Alive"] or any(node.get("Labels", {}).get(name) != value for name, value in self.labels.items()):
            return 0
        of_cpus = int(node["Resources"].get("CPU", 0) // self.threads)
        gpus = node["Resources"].get("GPU", 0)
        if not self.gpus:
            return of_cpus
        return min(of_cpus, int(gpus) * int(1 / self.gpus) if self.gpus < 1 else int(gpus // self.gpus))

    def __str__(self) -> str:
        parts = [f"{self.threads} CPU{'s' * (self.threads > 1)}"]
        parts += [f"{self.gpus:g} GPU"] if self.gpus else []
        parts += [f"the label {name}={value}" for name, value in self.labels.items()]
        return " and ".join(parts)


@dataclass
class ClusterView:
    """Looks at the nodes every second, in a thread of its own: Ray may take a minute to answer."""

    session: Session
    need: WorkerNeed
    room: int = 0
    _cpus: float = 0.0
    _free: float = 0.0
    _lost: str | None = None
    _closed: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self._look()
        for look in (self._watch_nodes, self._watch_head):
            threading.Thread(target=look, name="cluster", daemon=True).start()

    def lost(self) -> str | None:
        """Return why there is no cluster any more; None while there is."""
        return self._lost

    def shortage(self, joined: int, wanted: int, most: float) -> str | None:
        """Return why there are not more workers than have joined; None where all are there."""
        if wanted <= 0:
            return f"no node of the cluster has {self.need}"
        if joined < wanted and self._free < self.need.threads:
            return f"{wanted - joined} workers wait: the cluster has {self._cpus:g} CPUs, all in use"
        if joined < wanted:
            return f"{wanted - joined} workers are starting"
        return f"the cluster has room for {self.room} of {most:.0f} workers" if self.room < most < 1e9 else None

    def close(self) -> None:
        """Look no more."""
        self._closed.set()

    def _watch_nodes(self) -> None:
        while not self._closed.wait(PULSE):
            with suppress(Exception):  # a head that is gone is noticed below
                self._look()

    def _look(self) -> None:
        nodes = self.session.ray.nodes()
        self._free = self.session.ray.available_resources().get("CPU", 0.0)
        self._cpus = sum(node["Resources"].get("CPU", 0.0) for node in nodes if node["Alive"])
        self.room = sum(map(self.need.room, nodes))
        if any(node["NodeID"] == self.session.node and not node["Alive"] for node in nodes):
            self._lost = "the node of this machine has left it"

    def _watch_head(self) -> None:
        listened = answered = time.monotonic()
        while not self._closed.wait(PULSE):
            refused = answers(self.session.address, LOST_SECONDS / 3)
            silent = refused or answers(self.session.address, LOST_SECONDS / 3, greet=True)
            now = time.monotonic()
            listened, answered = listened if refused else now, answered if silent else now
            if now - listened > LOST_SECONDS or now - answered > FROZEN_SECONDS:
                self._lost = f"its head does not answer: {silent}"
