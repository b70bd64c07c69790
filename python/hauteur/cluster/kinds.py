"""Kinds of units, and what a worker does with them. Rooms above register theirs here by name alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Protocol

from pydantic import Field, StringConstraints

from hauteur import __version__
from hauteur.cluster.unit import Hash, Unit
from hauteur.system.settings import Section, validated

KINDS = {
    "empty": "cluster.model.empty:EmptyJob",
    "self-play": "learning.units:SelfPlayJob",
    "gate": "learning.units:GateJob",
    "match": "matches.units:MatchJob",
}
"""Every kind: the module of the package, and the class of its jobs."""


class Feed(Protocol):
    """Where a job gets its units, and leaves what it has made of them."""

    def next_unit(self) -> Unit | None:
        """Return the next unit of this job; None where none waits now."""

    def done(self, unit: Unit, content: bytes, facts: Mapping[str, float]) -> None:
        """Hand in a unit."""


class UnitJob(Protocol):
    """The units of one job, played side by side by one worker."""

    def play(self, feed: Feed) -> None:
        """Play units until the feed has none and all are handed in."""

    def close(self) -> None:
        """Close nets."""


JobClass = Callable[[Unit, Mapping[str, Path], int], UnitJob]
"""Opens a job. unit: the first of it; files: where its nets are, by sha256; threads: of each net on the processor."""


FileName = Annotated[str, StringConstraints(pattern=r"^[^/\\\x00]{1,255}$")]


class UnitMessage(Section):
    """A unit as it comes from a driver."""

    version: Annotated[str, Field(max_length=100)]
    key: Hash
    kind: Annotated[str, Field(max_length=100)]
    name: Annotated[str, Field(max_length=1000)]
    shared: dict[str, Any]
    own: dict[str, Any]
    files: Annotated[dict[Hash, FileName], Field(max_length=64)]
    games: Annotated[int, Field(ge=1, le=10**6)]
    comparable: bool


def job_class(kind: str) -> JobClass:
    """Return what opens jobs of a kind. ValueError where there is no such kind."""
    if kind not in KINDS:
        raise ValueError(f"there is no kind of units {kind!r}; there are {', '.join(KINDS)}")
    module, _, name = KINDS[kind].partition(":")
    found: JobClass = getattr(import_module(f"hauteur.{module}"), name)
    return found


def preload() -> None:
    """Import what the jobs need; what cannot be imported is an error of the first unit that needs it."""
    for place in KINDS.values():
        with suppress(Exception):
            import_module(f"hauteur.{place.partition(':')[0]}")


def unit_of(fields: Any) -> Unit:
    """Return the unit that `Unit.to_json` wrote. ValueError, in one line, for any other, and another version's."""
    version = fields.get("version") if isinstance(fields, dict) else None
    if isinstance(version, str) and version != __version__:
        raise ValueError(
            f"the driver runs hauteur {version[:100]}, this worker {__version__}: both need the same version"
        )
    checked = dict(validated(UnitMessage, fields, "unit"))
    key = checked.pop("key")
    del checked["version"]
    unit = Unit(**checked)
    if unit.key != key:
        raise ValueError(f"unit {unit.name}: its content is not that of its key")
    return unit
