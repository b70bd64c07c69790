"""Options of a command about workers: how many, where they run, their size, and when they are compared."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

COMPARE_SHARE = 0.01
"""Share of the units that are played by two workers and compared."""
MOST_WORKERS = 10_000
LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]*=[A-Za-z0-9._-]+")


@dataclass(frozen=True)
class WorkerOptions:
    """Who plays games beside this process. ValueError, in one line, for what is not allowed."""

    workers: int = 0
    """Processes that play the games; 0: this process plays them, or with --cluster as many as there is room for. The
    games are the same."""
    cluster: str | None = None
    """Where workers run: `local` (Ray, started here), `auto` (the Ray of this machine), or HOST:PORT of a cluster.
    Default: processes of this machine, without Ray."""
    threads: int = 0
    """Threads of a worker on the processor; 0: local workers share the cores, those of a cluster have one each."""
    gpus: float = 0.0
    """GPUs of a worker of a cluster; 0.5: two share one."""
    labels: tuple[str, ...] = ()
    """KEY=VALUE: workers of a cluster run on nodes with this label alone. May be given several times."""

    compare: float = COMPARE_SHARE
    """Share of the units of each worker that another one plays again, to compare the games, 0 to 1."""
    seconds: float = 0.0
    """Seconds after which a worker that has not finished a unit is replaced; 0: ten times what units take, and a minute
    at least."""

    def __post_init__(self) -> None:
        if not 0 <= self.workers <= MOST_WORKERS:
            raise ValueError(f"--workers must be 0 to {MOST_WORKERS}, got {self.workers}")
        if not 0 <= self.threads <= 1024:
            raise ValueError(f"--worker-threads must be 0 to 1024, got {self.threads}")
        if not (0 <= self.gpus <= 1 or self.gpus in range(2, 65)):
            raise ValueError(f"--worker-gpus must be 0 to 1, or a whole number to 64, got {self.gpus:g}")
        if not 0 <= self.compare <= 1:
            raise ValueError(f"--worker-compare must be 0 to 1, got {self.compare:g}")
        if not 0 <= self.seconds <= 1e7:
            raise ValueError(f"--worker-seconds must be 0 to 10,000,000, got {self.seconds:g}")
        check_labels("--worker-label", self.labels)
        if self.cluster is None and (self.gpus or self.labels):
            raise ValueError("--worker-gpus and --worker-label are for workers of a cluster: give --cluster too")
        if self.cluster is not None and not (self.cluster in ("local", "auto") or is_address(self.cluster)):
            raise ValueError(f"--cluster must be local, auto or HOST:PORT, got {self.cluster!r}")

    @property
    def wanted(self) -> bool:
        """Whether any workers are asked for."""
        return self.workers > 0 or self.cluster is not None


def check_labels(option: str, labels: Iterable[str]) -> None:
    """Raise ValueError for a label that is not KEY=VALUE."""
    wrong = next((label for label in labels if not LABEL.fullmatch(label)), None)
    if wrong is not None:
        raise ValueError(f"{option} must be KEY=VALUE (letters, digits and . _ - /), got {wrong!r}")


def is_address(text: str) -> bool:
    """Return whether a text has the form HOST:PORT."""
    host, colon, port = text.rpartition(":")
    return bool(host and colon) and port.isdecimal() and 0 < int(port) < 65536
