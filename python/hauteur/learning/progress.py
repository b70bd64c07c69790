"""How far a run is within a generation: a small file that the run renews while it works, and others read."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, FiniteFloat

from hauteur.system.files import read_json, write_bytes
from hauteur.system.settings import Section, validated

SECONDS = 1.0
"""The file is written at most so often, besides the beginning of a step."""

Whole = Annotated[int, Field(ge=0)]
Moment = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class RunProgress(Section):
    """A step of a generation: what is done (games, steps of training), of how much (None: not known).

    first: what was done when this process began to count, at `begun`; written: when the file was. Both in seconds since
    1970. workers: who plays games for the run, and what they wait for, in words; numbers: what they did in this
    generation, as the metrics have it. None: this process alone.
    """

    generation: Whole
    generations: Whole
    step: Annotated[str, Field(max_length=100)]
    done: Whole
    total: Whole | None
    first: Whole
    begun: Moment
    written: Moment
    workers: Annotated[str, Field(max_length=10_000)] | None = None
    numbers: Annotated[dict[str, FiniteFloat], Field(max_length=100)] | None = None

    def seconds_left(self, now: float) -> float | None:
        """Return the seconds that the step still takes at the pace of this process; None where it cannot be known."""
        if self.total is None or self.done <= self.first:
            return None
        pace = (self.written - self.begun) / (self.done - self.first)
        return max(0.0, pace * (self.total - self.done) - (now - self.written))

    def __str__(self) -> str:
        count = f"{self.done:,}" if self.total is None else f"{self.done:,} of {self.total:,}"
        workers = "" if self.workers is None else f" ({self.workers})"
        return f"generation {self.generation} of {self.generations}: {self.step}, {count}{workers}"


def read_progress(path: Path) -> RunProgress | None:
    """Return the content of a file; None where there is none. ValueError when it is damaged."""
    try:
        return validated(RunProgress, read_json(path), str(path))
    except FileNotFoundError:
        return None


@contextmanager
def progress_of_step(
    path: Path,
    generation: int,
    generations: int,
    step: str,
    total: int | None,
    show: Callable[[int], object],
    facts: Callable[[], Mapping[str, Any]] = dict,
) -> Iterator[Callable[[int], None]]:
    """Yield the function that takes the count so far, shows it, and keeps the file up to it.

    facts: returns more that the file has.
    """
    begun = last = time.time()
    first: int | None = None

    def write(done: int) -> None:
        found = RunProgress.model_construct(
            generation=generation,
            generations=generations,
            step=step,
            done=done,
            total=total,
            first=done if first is None else first,
            begun=begun,
            written=last,
            **facts(),
        )
        write_bytes(path, json.dumps(found.model_dump()).encode(), lasting=False)

    def count(done: int) -> None:
        nonlocal begun, last, first
        show(done)
        now = time.time()
        if first is None:
            first, begun = done, now
        if now - last >= SECONDS:
            last = now
            write(done)

    write(0)
    yield count


@contextmanager
def removed_at_the_end(path: Path) -> Iterator[None]:
    """Delete the file when the body ends, however it ends."""
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
