"""The laboratory's plan: runs that decide the claims of the sources, one at a time.

A run is an experiment at a size that can decide. Its folder is its own, so that an interrupted plan goes on where it
was, and runs that are over are not made again.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import hauteur as ht
from hauteur_experiments.experiment import Setting, SourceClaim, make_experiment
from hauteur_experiments.registry import find


@dataclass(frozen=True)
class PlannedRun:
    """An experiment at a size that can decide its claims.

    name: of its folder; size: what it plays, in words; options: of `hauteur experiment`, as `Setting` names them; net:
    which of the plan's nets for chess it uses, the first one is 0, None: it plays no chess.
    """

    name: str
    experiment: str
    size: str
    options: Mapping[str, Any]
    net: int | None = None

    @classmethod
    def from_text(cls, text: str) -> PlannedRun:
        """The run of a line `experiment rest-of-its-name | size | options`, with its net as `--net NUMBER`."""
        name, size, options = (part.strip() for part in text.split("|"))
        words, values = shlex.split(options), dict[str, Any]()
        for option, value in zip(words[::2], words[1::2], strict=True):
            key = option.removeprefix("--").replace("-", "_")
            number = float if key == "scale" else str if key in ("game", "opponent", "side", "only") else int
            values[key] = (*values.get("only", ()), value) if key == "only" else number(value)
        net = values.pop("net", None)
        return cls("-".join(name.split()), name.split()[0], size, values, net)

    def nets(self, base: Setting) -> tuple[Path, ...]:
        """Return its net for chess, of those that the plan was given; other games have theirs in the package.

        ValueError where it needs another net than the first one and the plan has none.
        """
        if self.net is None:
            return ()
        if self.net and self.net >= len(base.nets):
            raise ValueError(f"it needs {self.net + 1} nets for chess, got {len(base.nets)}: --net, once for each")
        return base.nets[self.net : self.net + 1]

    def setting(self, base: Setting) -> Setting:
        """Its setting. base: folder of all runs, threads, nets for chess, and where lines go."""
        return replace(base, folder=base.folder / self.name, nets=self.nets(base), **self.options)

    @property
    def claims(self) -> list[SourceClaim]:
        """The claims that it decides: those of its experiment, of the matches that it plays."""
        only = self.options.get("only", ())
        every = [claim for claim in find(self.experiment).claims if not claim.needs]
        return [claim for claim in every if not only or any(claim.key.startswith(one) for one in only)]

    def command(self, base: Setting) -> str:
        """The command that makes this run alone."""
        words = ["hauteur", "experiment", self.experiment]
        values = [(key, value) for key, value in self.options.items() if key != "only"]
        values += [("only", name) for name in self.options.get("only", ())]
        values += [("net", net.name) for net in self.nets(base)]
        for option, value in values:
            words += [f"--{option.replace('_', '-')}", f"{value:g}" if isinstance(value, float) else str(value)]
        return shlex.join(words)


@dataclass(frozen=True)
class PlanFolder(ht.ExperimentFolder):
    """The folder of a plan's runs."""

    WORK = "making a plan"


def is_over(run: PlannedRun, base: Setting) -> bool:
    """Return whether a run has its result."""
    return (base.folder / run.name / "result.json").exists()


def make_plan(runs: Sequence[PlannedRun], base: Setting, hours: float, done: Callable[[], object]) -> list[str]:
    """Make the runs that are not over in their order, beginning none after this number of hours.

    done: called after each. Return the names of those that failed: the plan goes on without them. Raise ValueError
    where another process works on the plan.
    """
    end, failed = time.monotonic() + hours * 3600, []
    with PlanFolder(base.folder).locked():
        for run in runs:
            if is_over(run, base) or time.monotonic() >= end:
                continue
            try:
                base.show(f"{run.name}: {run.command(base)}")
                make_experiment(find(run.experiment), run.setting(base))
            except (ValueError, OSError, RuntimeError, ImportError) as error:
                base.show(f"{run.name}: failed: {error!s}")
                failed.append(run.name)
            done()
    return failed
