"""The laboratory's plan: the claims of the sources, the runs that decide them, one at a time, and the table of both."""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hauteur.studies.papers.experiment import ExperimentSetting, make_experiment, search_speed
from hauteur.studies.papers.experiment import REFERENCE_SPEED
from hauteur.studies.papers.registry import find
from hauteur.system.files import write_bytes
from hauteur.system.formatting import duration

ATTEMPTS = "attempts.jsonl"
"""Seconds of every attempt at a run, in its folder."""


@dataclass(frozen=True)
class PlannedRun:
    """An experiment at a size that can decide its claims.

    name: of its folder; nets: files or names, () = those that ship; decides: so many claims, for the order.
    """

    name: str
    experiment: str
    scale: float = 1.0
    seeds: int | None = None
    first_seed: int | None = None
    visits: int | None = None
    game: str | None = None
    opponent: str | None = None
    only: tuple[str, ...] = ()
    decides: int = 1

    def setting(self, base: ExperimentSetting) -> ExperimentSetting:
        """Its setting; base: folder of all runs, threads, nets for chess, and where lines go."""
        known = find(self.experiment)
        chess = "nets" in known.uses and (self.game or "chess").startswith("chess")
        return replace(
            base,
            folder=base.folder / self.name,
            scale=self.scale,
            seeds=known.seeds if self.seeds is None else self.seeds,
            first_seed=known.first_seed if self.first_seed is None else self.first_seed,
            nets=base.nets if chess else (),
            visits=self.visits,
            game=self.game,
            opponent=self.opponent,
            only=self.only,
        )

    def command(self, nets: Sequence[Path]) -> str:
        """The command that makes this run alone."""
        words = ["hauteur", "experiment", self.experiment]
        words += [] if self.scale == 1 else ["--scale", f"{self.scale:g}"]
        options = {"seeds": self.seeds, "first-seed": self.first_seed, "visits": self.visits, "game": self.game}
        options |= {"opponent": self.opponent}
        for option, value in options.items():
            words += [] if value is None else [f"--{option}", str(value)]
        for name in self.only:
            words += ["--only", name]
        if "nets" in find(self.experiment).uses and (self.game or "chess").startswith("chess"):
            words += [word for net in nets for word in ("--net", net.name)]
        return shlex.join(words)
