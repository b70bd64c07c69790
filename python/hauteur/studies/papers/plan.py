"""The laboratory's plan: runs that decide the claims of the sources, one at a time.

A run is an experiment at a size that can decide. Its folder is its own, so that an interrupted plan goes on where it
was, and runs that are over are not made again.
"""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hauteur.studies.papers.experiment import REFERENCE_SPEED, ExperimentSetting, make_experiment, search_speed
from hauteur.studies.papers.registry import find
from hauteur.system.files import write_bytes
from hauteur.system.formatting import duration
from hauteur.system.jsonl import append_line

ATTEMPTS = "attempts.jsonl"
"""Processor and clock seconds of every attempt at a run, in its folder."""


@dataclass(frozen=True)
class PlannedRun:
    """An experiment at a size that can decide its claims.

    name: of its folder; claims: so many of the source that it decides, for the order; the rest as the options of
    `hauteur experiment`.
    """

    name: str
    experiment: str
    claims: int = 1
    scale: float = 1.0
    seeds: int | None = None
    first_seed: int | None = None
    visits: int | None = None
    game: str | None = None
    opponent: str | None = None
    only: tuple[str, ...] = ()

    @property
    def takes_chess_nets(self) -> bool:
        """Whether it plays chess with nets, which the plan is given; other games have theirs in the package."""
        return "nets" in find(self.experiment).uses and (self.game or "chess").startswith("chess")

    def setting(self, base: ExperimentSetting) -> ExperimentSetting:
        """Its setting. base: folder of all runs, threads, nets for chess, and where lines go."""
        known = find(self.experiment)
        return replace(
            base,
            folder=base.folder / self.name,
            scale=self.scale,
            seeds=known.seeds if self.seeds is None else self.seeds,
            first_seed=known.first_seed if self.first_seed is None else self.first_seed,
            nets=base.nets if self.takes_chess_nets else (),
            visits=self.visits,
            game=self.game,
            opponent=self.opponent,
            only=self.only,
        )

    def command(self, nets: Sequence[Path]) -> str:
        """The command that makes this run alone."""
        words = ["hauteur", "experiment", self.experiment]
        values = {
            "scale": None if self.scale == 1 else f"{self.scale:g}",
            "seeds": self.seeds,
            "first-seed": self.first_seed,
            "visits": self.visits,
            "game": self.game,
            "opponent": self.opponent,
        }
        for option, value in values.items():
            words += [] if value is None else [f"--{option}", str(value)]
        words += [word for name in self.only for word in ("--only", name)]
        words += [word for net in (nets if self.takes_chess_nets else ()) for word in ("--net", net.name)]
        return shlex.join(words)

    def estimate(self, base: ExperimentSetting, speed: float) -> float:
        """Seconds from the beginning, on this machine."""
        known = find(self.experiment)
        return known.estimate(self.setting(base), speed)


@dataclass(frozen=True)
class Step:
    """A run with its estimated seconds; spent: those of the attempts so far; over: whether its result is there."""

    run: PlannedRun
    seconds: float
    spent: float
    over: bool


def steps(runs: Sequence[PlannedRun], base: ExperimentSetting) -> list[Step]:
    """Return the runs in the order in which they are made: most claims an hour first."""
    speed = search_speed() / REFERENCE_SPEED
    found = []
    for run in runs:
        folder = base.folder / run.name
        found.append(Step(run, run.estimate(base, speed), spent_on(folder), (folder / "result.json").exists()))
    return sorted(found, key=lambda step: step.seconds / step.run.claims)


def spent_on(folder: Path) -> float:
    """Return the clock seconds of all attempts at a run."""
    path = folder / ATTEMPTS
    if not path.exists():
        return 0.0
    return sum(float(json.loads(line)["seconds"]) for line in path.read_text().splitlines())


def make_plan(planned: Sequence[Step], base: ExperimentSetting, hours: float, done: Callable[[], object]) -> None:
    """Make the runs that fit into so many hours, one after another. done: called after each."""
    end = time.monotonic() + hours * 3600
    for step in planned:
        left = end - time.monotonic()
        if step.over:
            continue
        rest = max(0.0, step.seconds - step.spent)
        if rest > left:
            base.show(f"{step.run.name}: left out, {duration(rest)} do not fit into {duration(max(0.0, left))}")
            continue
        base.show(f"{step.run.name}: {step.run.command(base.nets)}")
        _attempt(step.run, base)
        done()


def _attempt(run: PlannedRun, base: ExperimentSetting) -> None:
    setting = run.setting(base)
    clock, processor = time.monotonic(), time.process_time()
    try:
        make_experiment(find(run.experiment), setting)
    finally:
        if setting.folder.is_dir():
            spent = {"seconds": time.monotonic() - clock, "processor_seconds": time.process_time() - processor}
            append_line(setting.folder / ATTEMPTS, spent)


def table_rows(runs: Sequence[PlannedRun], base: ExperimentSetting) -> Iterator[dict[str, str]]:
    """Yield the rows of the table: a claim each, in the order of the plan."""
    for run in runs:
        path = base.folder / run.name / "result.json"
        command = f"`{run.command(base.nets)}`"
        if not path.exists():
            yield {"claim": find(run.experiment).title, "verdict": "open: not made yet", "command": command}
            continue
        result = json.loads(path.read_text(encoding="utf-8"))
        for finding in result["findings"]:
            yield _row(finding, duration(spent_on(path.parent)), command)


def _row(finding: dict[str, Any], cost: str, command: str) -> dict[str, str]:
    scope = f" ({finding['scope']})" if finding.get("scope") else ""
    verdict = f"**{finding['verdict']}**{scope}"
    return {
        "claim": finding["paper"],
        "here": finding["measured"],
        "verdict": verdict,
        "cost": cost,
        "command": command,
    }


def write_table(path: Path, text: str, runs: Sequence[PlannedRun], base: ExperimentSetting) -> None:
    """Write the table as Markdown. text: what stands before it."""
    names = ("claim", "here", "verdict", "cost", "command")
    lines = [text, "", "| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    for row in table_rows(runs, base):
        lines.append("| " + " | ".join(row.get(name, "").replace("|", "\\|") for name in names) + " |")
    write_bytes(path, ("\n".join(lines) + "\n").encode())
