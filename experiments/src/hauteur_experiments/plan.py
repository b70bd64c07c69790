"""The laboratory's plan: each experiment at a size that can decide its claims, made one run at a time.

Sizes are stated here before the games are played. A run's folder is its own, so that an interrupted plan resumes where
it was, and runs that are over are not made again. Runs of one game and one setting share their games where they lie
beside each other, as in the folder of a plan. Chess has fewer visits than the papers, since its nets are slow: 100
in the matches of rules, if not stated; minichess has the papers'.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import hauteur as ht
from hauteur_experiments.experiment import SourceClaim, make_experiment
from hauteur_experiments.registry import find
from hauteur_experiments.setting import Setting

KINDS: Mapping[str, Callable[[str], Any]] = {"scale": float, "net": int, "visits": int, "seeds": int, "first_seed": int}
"""Of options in the lines of a plan; the others are texts."""


@dataclass(frozen=True)
class PlannedRun:
    """An experiment at a size that can decide its claims."""

    name: str
    """Name of its folder."""
    experiment: str
    """Name of the experiment."""
    size: str
    """Its size in words."""
    options: Mapping[str, Any]
    """Options of `hauteur experiment`, as `Setting` names them."""
    net: int | None = None
    """Index of its net among the plan's nets for chess; None: it does not play chess."""

    @classmethod
    def from_text(cls, text: str) -> PlannedRun:
        """The run of a line `experiment rest-of-its-name | size | options`, with its net as `--net NUMBER`."""
        name, size, options = (part.strip() for part in text.split("|"))
        words = shlex.split(options)
        values: dict[str, Any] = {}
        if "--looks" in words:
            words.remove("--looks")
            values["looks"] = True
        for option, value in zip(words[::2], words[1::2], strict=True):
            key = option.removeprefix("--").replace("-", "_")
            if key == "only":  # the one option that may stand several times
                values[key] = (*values.get(key, ()), value)
            else:
                values[key] = KINDS.get(key, str)(value)
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
        """The claims that it decides: those of its experiment; where they are of matches, of those that it plays."""
        every = [claim for claim in find(self.experiment).claims if not claim.needs]
        of_matches = [claim for claim in every if claim.key.startswith(tuple(self.options.get("only", ())))]
        return of_matches or every

    def command(self, base: Setting) -> str:
        """The command that makes this run alone."""
        words = ["hauteur", "experiment", self.experiment]
        for key, value in self.options.items():
            if key in ("only", "looks"):
                continue
            text = f"{value:g}" if isinstance(value, float) else str(value)
            words += [f"--{key.replace('_', '-')}", text]
        for name in self.options.get("only", ()):
            words += ["--only", name]
        for net in self.nets(base):
            words += ["--net", net.name.removesuffix(".pb.gz")]
        if "looks" in self.options:
            words.append("--looks")
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

    done: called after each. Return the names of those that failed: the plan continues without them. Raise ValueError
    where another process works on the plan.
    """
    end = time.monotonic() + hours * 3600
    failed = []
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


ODDS = "--game 'minichess(fen=rnbqk/ppppp/5/PPPPP/1NB1K w - - 0 1)'"
"""White gives rook and queen."""

QUEEN_AND_ROOKS = "--game 'chess(fen=rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/1NB1KBN1 w kq - 0 1)'"
"""White gives the queen and both rooks."""

CHESS = "--precision bfloat16 --net 0"
TAKER = '--opponent "net=maia-1900 visits=1 temperature=1 policy_temperature=1"'


def _cells(n_scl: int, *nodes: int) -> str:
    """The cells at odds of PUCT, of the paper's N_scl and of another one at these nodes."""
    return " ".join(f"--only {name}-{number}" for number in nodes for name in ("puct", "n28", f"n{n_scl}"))


CONTEMPT = f"""
contempt-wdl minichess | 400 games a set, 1,000 visits | --scale 4 --game minichess
contempt-wdl chess | 400 games a set, 200 visits | --scale 4 --visits 200 {CHESS}
contempt-wdl second-net | 200 games a set, 200 visits | --scale 2 --visits 200 --precision bfloat16 --net 1
contempt-nature chess | 400 games a set, 200 visits | --scale 4 --visits 200 {CHESS}
temperature-wdl minichess | 400 games a set, 1,000 visits | --scale 4 --game minichess
temperature-wdl chess | 200 games a set, 200 visits | --scale 2 --visits 200 {CHESS}
temperature-wdl second-net | 200 games a set, 200 visits | --scale 2 --visits 200 --precision bfloat16 --net 1
contempt-vs-temperature minichess | tuned with 500 games a point, 1,000 games, 1,000 visits | --scale 5 --game minichess
contempt-vs-temperature chess | tuned with 200 games a point, 400 games, 200 visits | --scale 2 --visits 200 {CHESS}
contempt-vs-temperature-alone chess | 400 games a match, 200 visits | --scale 2 --visits 200 {CHESS}
contempt-wdl endings | 200 games a set from even endings of chess, 200 visits | \
    --scale 2 --visits 200 --positions endings {CHESS}
contempt-vs-temperature endings | tuned with 200 games a point, 400 games from even endings of chess, 200 visits | \
    --scale 2 --visits 200 --positions endings {CHESS}
contempt-odds minichess | 400 games a cell, 100 to 6,400 nodes, an odds taker of 10 visits | \
    --scale 2 --visits 6400 {ODDS}
contempt-odds minichess-1 | 400 games a cell, 100 to 1,600 nodes, an odds taker of 1 visit | \
    --scale 2 --visits 1600 {ODDS} --opponent "visits=1 temperature=0.5"
contempt-odds queen-1 | 150 games a cell, 100 and 800 nodes, an odds taker of 1 visit | \
    --scale 0.75 {_cells(3, 100, 800)} --opponent "net=maia-1900 visits=1 temperature=0.5" --net 0
contempt-odds queen-10 | 60 games a cell, 100 to 20,000 nodes, an odds taker of 10 visits | \
    --scale 0.3 {_cells(10, 100, 800, 20_000)} --opponent "net=maia-1900 visits=10 temperature=0.5" --net 0
odds-models chess | 200 games a player, 100 nodes, an odds taker of 1 visit | \
    --visits 100 {QUEEN_AND_ROOKS} {TAKER} {CHESS}
odds-models-even chess | 120 games a player, 100 nodes, the model maia-1500 | \
    --scale 0.6 --visits 100 --opponent "net=maia-1500 visits=1 temperature=1 policy_temperature=1" {CHESS}
odds-model-strength chess | 200 games a model, 100 nodes, an odds taker of 1 visit | \
    --visits 100 {QUEEN_AND_ROOKS} {TAKER} {CHESS}
repeats minichess | 2,000 games a set, 50 visits | --scale 20 --visits 50 --game minichess
repeats chess | 500 games a set, 50 visits | --scale 5 --visits 50 {CHESS}
contempt-positions minichess | 400 games and 2,000 positions a set | --scale 4 --game minichess
contempt-positions chess | 200 games and 1,000 positions a set | --scale 2 --visits 200 {CHESS}
contempt-training equal | 8 seeds an arm, 1,500,000 evaluations a run | --scale 0.25
chess-thesis | 8 runs an arm, 9,000 games a run, about 80 core hours with AVX2 | --seeds 8
chess-thesis-small | 8 runs an arm, 3,000 games a run | --seeds 8
chess-thesis-control | 8 pairs of runs, 3,000 games a run | --seeds 8
chess-thesis-pairs | 8 pairs of runs, 3,000 games a run | --seeds 8
"""
RULES = f"""
tree-balance | 400 games of the first setting, 260 to 400 of the others | --scale 0.4 --visits 100 {CHESS} --looks
solver | 600 games a match, 60 of the second version | --scale 0.06 --visits 100 {CHESS} --looks
prior-mixing | 600 games | --scale 0.96 --visits 100 --only compression-0.06 {CHESS} --looks
q-average | 1,600 games a match | --scale 0.16 --visits 100 {CHESS} --looks
variance | 800 games | --scale 0.8 --visits 100 {CHESS} --looks
initial-trust | 600 games a match | --scale 0.6 --visits 100 {CHESS} --looks
fpu | 400 games a match | --scale 0.4 --visits 100 {CHESS} --looks
cpuct | 400 games | --scale 0.57 --visits 100 {CHESS} --looks
early-visits | 400 games | --scale 0.4 --visits 100 {CHESS} --looks
two-fold-draws | 400 games a match | --scale 0.4 --visits 100 {CHESS} --looks
tactics | 167 mates in 2 to 5, up to 1,600 nodes | --net 0
validation | 1,600 games | --scale 0.16 --visits 100 {CHESS} --looks
"""
BY_GAME = f"""
rules-by-game connect4 | 1,000 games a cell | --visits 100 --only connect4
rules-by-game minichess | 1,000 games a cell | --visits 100 --only minichess
rules-by-game nogo7 | 1,000 games a cell | --visits 100 --only nogo7
rules-by-game chess | 400 games a cell | --visits 100 --only chess {CHESS}
"""
REPORT = """
report-fig3 | 10 seeds | --seeds 10 --first-seed 11
report-fig4 | 30 seeds | --seeds 30 --first-seed 11
report-fig5 | 10 seeds | --seeds 10 --first-seed 11
report-fig6 | 10 seeds | --seeds 10 --first-seed 11
"""
LEARNING = """
learning-methods | 8 seeds an arm, 1,000,000 evaluations a run, 250,000 at few visits | --scale 0.25
learning-again | 8 seeds an arm, 1,000,000 evaluations a run | --scale 0.25
learning-targets | 8 seeds an arm, 1,000,000 evaluations a run | --scale 0.25
learning-search | 8 seeds an arm, 1,000,000 evaluations a run, 250,000 at few visits | --scale 0.25
"""
"""A line a run: experiment and the rest of the run's name | its size in words | options, the net as its number."""


def _runs(lines: str) -> tuple[PlannedRun, ...]:
    texts = lines.replace("\\\n", "").strip().splitlines()
    return tuple(PlannedRun.from_text(text) for text in texts)


def _experiments(lines: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(run.experiment for run in _runs(lines)))


RUNS = _runs(CONTEMPT) + _runs(RULES) + _runs(BY_GAME) + _runs(REPORT) + _runs(LEARNING)


def run_named(name: str) -> PlannedRun:
    """The run of this name; ValueError where there is none."""
    for run in RUNS:
        if run.name == name:
            return run
    raise ValueError(f"the plan has no run {name!r}; it has {', '.join(run.name for run in RUNS)}")


SUBJECTS = {
    "Search-contempt": (*_experiments(CONTEMPT), "contempt-schedule"),
    "Two nets in one tree": (
        "mpv-regime-nets",
        "mpv-allocation",
        "mpv-midsize",
        "mpv-az-pairs",
        "mpv-training",
        "mpv-options",
    ),
    "The MCTS experiments": _experiments(RULES),
    "The AlphaZero implementation report": _experiments(REPORT),
    "Learning": _experiments(LEARNING),
}
"""The experiments whose claims stand in the table, by subject."""
