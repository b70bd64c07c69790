"""Workers that a command or call asks for: how many, and where they run."""

from dataclasses import dataclass

MOST_WORKERS = 10_000


@dataclass(frozen=True)
class WorkerOptions:
    """The workers that play games beside this process. ValueError, in one line, for what is not allowed."""

    workers: int = 0
    """Processes that play the games; 0: this process plays them, or with a cluster as many as fit. The games are the
    same."""
    cluster: str | None = None
    """Where workers run: `auto` (the Ray of this machine), or HOST:PORT of the head of a cluster of Ray. Default:
    processes of this machine, without Ray."""
    threads: int = 0
    """Threads of a worker on the processor; 0: local workers share the cores, those of a cluster have one each."""
    gpus: float = 0.0
    """GPUs of a worker of a cluster; 0.5: two share one."""
    seconds: float = 0.0
    """Seconds after which a worker that has not finished a unit is replaced; 0: ten times what the slowest took, and a
    quarter of an hour at least."""

    def __post_init__(self) -> None:
        if not 0 <= self.workers <= MOST_WORKERS:
            raise ValueError(f"workers must be 0 to {MOST_WORKERS}, got {self.workers}")
        if not 0 <= self.threads <= 1024:
            raise ValueError(f"threads of a worker must be 0 to 1024, got {self.threads}")
        if not (0 <= self.gpus <= 1 or self.gpus in range(2, 65)):
            raise ValueError(f"GPUs of a worker must be 0 to 1, or a whole number to 64, got {self.gpus:g}")
        if not 0 <= self.seconds <= 1e7:
            raise ValueError(f"seconds of a worker's unit must be 0 to 10,000,000, got {self.seconds:g}")
        if self.cluster is None and self.gpus:
            raise ValueError("GPUs are for workers of a cluster: name a cluster too")
        if self.cluster is not None and not (self.cluster == "auto" or _is_address(self.cluster)):
            raise ValueError(f"the cluster must be auto or HOST:PORT, got {self.cluster!r}")


def _is_address(text: str) -> bool:
    """Return whether a text is HOST:PORT."""
    host, colon, port = text.rpartition(":")
    return bool(host and colon) and port.isdecimal() and 0 < int(port) < 65536
