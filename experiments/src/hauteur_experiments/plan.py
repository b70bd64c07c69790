"""The laboratory's plan: runs that decide the claims of the sources, one at a time.

A run is an experiment at a size that can decide. Its folder is its own, so that an interrupted plan goes on where it
was, and runs that are over are not made again.
"""

from __future__ import annotations

import math
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import hauteur as ht
from hauteur_experiments.experiment import Setting, SourceClaim, duration, make_experiment
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


@dataclass(frozen=True)
class Step:
    """A run with its estimated seconds, the claims that it decides, and whether it is over.

    problem: why it cannot be made here; empty: it can.
    """

    run: PlannedRun
    seconds: float
    claims: int
    over: bool
    problem: str = ""

    @property
    def text(self) -> str:
        """Its name, what it decides, what it costs."""
        cost = "over" if self.over else f"cannot be made: {self.problem}" if self.problem else duration(self.seconds)
        return f"{self.run.name:32} {self.claims:3} claims  {cost}"


def steps(runs: Sequence[PlannedRun], base: Setting) -> list[Step]:
    """Return the runs in the order in which they are made: most claims an hour first."""
    found = [_step(run, base) for run in runs]
    return sorted(found, key=lambda step: (not step.over, bool(step.problem), step.seconds / step.claims))


def _step(run: PlannedRun, base: Setting) -> Step:
    if (base.folder / run.name / "result.json").exists():
        return Step(run, 0.0, max(1, len(run.claims)), over=True)
    try:
        seconds = find(run.experiment).estimate(run.setting(base))
        return Step(run, seconds, max(1, len(run.claims)), over=False)
    except (ValueError, OSError, ImportError) as error:
        return Step(run, math.inf, 1, over=False, problem=str(error))


def make_plan(planned: Sequence[Step], base: Setting, hours: float, done: Callable[[], object]) -> list[str]:
    """Make the runs that fit into this number of hours, one after another; return the names of those that failed.

    done: called after each. Raise ValueError where another process works on the plan.
    """
    end, failed = time.monotonic() + hours * 3600, []
    with PlanFolder(base.folder).locked():
        for step in planned:
            if step.over or not _fits(step, end - time.monotonic(), base):
                continue
            base.show(f"{step.run.name}: {step.run.command(base)}")
            failed += [] if _attempt(step.run, base) else [step.run.name]
            done()
    return failed


def _fits(step: Step, left: float, base: Setting) -> bool:
    """Return whether a run can be made in `left` seconds; report where it cannot."""
    if step.problem:
        base.show(f"{step.run.name}: left out: {step.problem}")
    elif step.seconds > left:
        base.show(f"{step.run.name}: left out, {duration(step.seconds)} do not fit into {duration(max(0.0, left))}")
    return not step.problem and step.seconds <= left


def _attempt(run: PlannedRun, base: Setting) -> bool:
    """Make a run, or go on with it; return whether it succeeded. The plan goes on without one that fails."""
    try:
        make_experiment(find(run.experiment), run.setting(base))
    except (ValueError, OSError, RuntimeError, ImportError) as error:
        base.show(f"{run.name}: failed: {error!s}")
        return False
    return True
