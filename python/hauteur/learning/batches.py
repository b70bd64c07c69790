"""Training batches that several threads make ahead of the one that uses them, handed over in their order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Made = TypeVar("Made")

AHEAD = 4
"""Batches that are made or ready beyond one a worker."""


def in_order(make: Callable[[int], Made], count: int, *, workers: int = 1) -> Iterator[Made]:
    """make(0), make(1) ... make(count - 1), each computed by one of `workers` threads, handed over in this order.

    What `make` raises is raised here, in its place in the order. At most workers + 4 results wait at a time.
    """
    waiting: deque[Future[Made]] = deque()
    with ThreadPoolExecutor(workers, "hauteur-batches") as pool:
        try:
            for number in range(count):
                waiting.append(pool.submit(make, number))
                if len(waiting) >= workers + AHEAD:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
