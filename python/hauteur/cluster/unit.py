"""A unit of work: some games, decided by its content alone, whichever worker plays them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any

from pydantic import StringConstraints

from hauteur import __version__

MOST_CONTENT = 256 * 2**20
"""Bytes of a result."""
Hash = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


@dataclass(frozen=True)
class Unit:
    """Some games that one worker plays.

    kind: one of `kinds.KINDS`; name: for people; shared: what the units of a job have in common, JSON; own: what is of
    this one alone, JSON; files: the nets that it needs, their file names by sha256; games: how many it has; comparable:
    whether playing it again gives the same games, on workers of the same device class.
    """

    kind: str
    name: str
    shared: Mapping[str, Any]
    own: Mapping[str, Any]
    files: Mapping[str, str] = field(default_factory=dict)
    games: int = 1
    comparable: bool = True

    @cached_property
    def job(self) -> str:
        """Hash of what it shares: units with the same one are played side by side."""
        return _hash([self.kind, self.shared, self.files])

    @cached_property
    def key(self) -> str:
        """Hash of all that decides its games."""
        return _hash([self.job, self.own])

    def to_json(self) -> dict[str, Any]:
        """Return the unit for a worker, which needs the same version, with the key that it must find."""
        fields = ("kind", "name", "shared", "own", "files", "games", "comparable", "key")
        return {"version": __version__} | {name: getattr(self, name) for name in fields}


@dataclass(frozen=True)
class UnitResult:
    """What a worker has made of a unit. content: of the kind's own form; facts: counts and seconds of the work."""

    key: str
    content: bytes
    facts: Mapping[str, float] = field(default_factory=dict)


def _hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
