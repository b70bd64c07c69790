"""Definition and execution of experiments: estimate, run, write, report beside the paper's statements."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from hauteur import _core
from hauteur.games.registry import load_game
from hauteur.mcts.params import SearchParams
from hauteur.networks.bundled import net_or_shipped
from hauteur.plots import Figure
from hauteur.studies.experiments import ExperimentFolder
from hauteur.system.files import read_json, sha256_of
from hauteur.system.formatting import duration
from hauteur.system.hardware import usable_cores
from hauteur_experiments.looks import END, LOOKS, Look
from hauteur_experiments.verdict import Claim, Verdict

if TYPE_CHECKING:
    from hauteur.cluster.scheduler import Scheduler

REFERENCE_SPEED = 600_000
"""Visits a second of `search_speed` on one core of the machine that `Experiment.seconds` are of (AMD Zen 3)."""

FIRST_LOOK = 2
"""An eighth of the games decides nothing: 5.9 standard errors would be needed."""

Choice = Literal["nets", "visits", "game", "opponent", "cost", "seat", "only"]
Show = Callable[[str], None]


@dataclass(frozen=True)
class Finding:
    """A statement of the paper beside what was measured, with its interval. missing: units that would decide it where
    it is open, if what was measured is the truth; None: decided, or unknown. scope: in what else than its size the
    measurement differs from the source's, such as "another game"; empty: in nothing. units: what was measured with, of
    the quantity with the fewest, such as "400 games"; empty: unknown. quantities: what the verdict rests on, with
    intervals. claim, shown: what it was made of, None: the verdict was not made by a claim.
    """

    paper: str
    measured: str
    verdict: Verdict
    missing: int | None = None
    scope: str = ""
    units: str = ""
    quantities: str = ""
    claim: Claim | None = field(default=None, compare=False, repr=False)
    shown: str = field(default="", compare=False, repr=False)

    @classmethod
    def of(cls, paper: str, claim: Claim, shown: str = "", scope: str = "") -> Finding:
        """The statement as the claim decides it. shown: more to read before the measured quantities."""
        measured = f"{shown}; {claim.text}" if shown else claim.text
        texts = (scope, claim.units_text, claim.quantities)
        return cls(paper, measured, claim.verdict, claim.missing, *texts, claim=claim, shown=shown)

    def at(self, look: Look) -> Finding:
        """The finding as it is judged at a look."""
        return self if self.claim is None else Finding.of(self.paper, self.claim.at(look), self.shown, self.scope)

    def to_json(self) -> dict[str, Any]:
        """Return it as result.json has it."""
        names = ("paper", "measured", "verdict", "missing", "scope", "units", "quantities")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True)
class Result:
    """The findings of an experiment.

    rows: the table that becomes result.csv, one dictionary a row, all with the same keys; facts: more for result.json;
    figures: drawn as PNG and on the page, and written as CSV; texts: shown on the page and on the terminal as they are;
    look: at which the findings are judged.
    """

    rows: Sequence[dict[str, Any]]
    findings: Sequence[Finding]
    figures: Sequence[Figure] = ()
    texts: Sequence[str] = ()
    facts: dict[str, Any] = field(default_factory=dict)
    look: Look = END

    def at(self, look: Look) -> Result:
        """The result with findings that are judged at a look."""
        return replace(self, findings=[finding.at(look) for finding in self.findings], look=look)

    @property
    def may_decide(self) -> bool:
        """Return whether a finding has as many units as may decide it."""
        claims = [finding.claim for finding in self.findings if finding.claim is not None]
        return any(one.measured.units >= one.least for claim in claims for one in claim.inequalities)


@dataclass(frozen=True)
class ExperimentSetting:
    """Settings of an experiment.

    folder: of its results and of the state to resume from; scale: factor of its sizes (1: the full size); seeds: so
    many, from `first_seed` on; threads: processor cores to use; show: receives progress lines. nets: net files, for
    experiments using some; visits: per move, instead of the paper's; game: instead of the paper's, where an experiment
    supports several; opponent: a player as text, where it has a fixed opponent; cost: declared work of an evaluation of
    the large net, in those of the small one; seat: who gives odds by the rules of the game alone, where an experiment
    plays at odds; parallel: concurrent games; only: the matches to play now (() = all); others count if complete.
    scheduler: of workers that play games, instead of this process; workers: how many were asked for, 0: as many as
    there is room for. looks: whether to judge at every eighth of the games, and stop when nothing is open.
    """

    folder: Path
    scale: float = 1.0
    seeds: int = 3
    first_seed: int = 1
    threads: int = 2
    show: Show = print
    nets: tuple[Path, ...] = ()
    visits: int | None = None
    game: str | None = None
    opponent: str | None = None
    cost: float | None = None
    seat: Literal["first", "second"] | None = None
    parallel: int = 64
    only: tuple[str, ...] = ()
    scheduler: Scheduler | None = None
    workers: int = 0
    looks: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.scale <= 100:
            raise ValueError(f"scale must be above 0 and at most 100, got {self.scale}")
        if not (1 <= self.seeds <= 1000 and 1 <= self.threads <= 1024):
            raise ValueError(f"seeds must be 1 to 1000 and threads 1 to 1024, got {self.seeds} and {self.threads}")
        if not 1 <= self.first_seed <= 1_000_000:
            raise ValueError(f"first_seed must be 1 to 1,000,000, got {self.first_seed}")
        if self.visits is not None and not 1 <= self.visits <= 1_000_000_000:
            raise ValueError(f"visits must be 1 to 1,000,000,000, got {self.visits}")
        if self.cost is not None and not 1 < self.cost <= 10_000:
            raise ValueError(f"cost must be above 1 and at most 10,000, got {self.cost:g}")

    def net(self, game: str = "chess") -> str:
        """The one net that was given, else the one that there is for the game; ValueError where there is none."""
        if len(self.nets) > 1:
            raise ValueError(f"this experiment uses one net, got {len(self.nets)}: {', '.join(map(str, self.nets))}")
        rules = load_game(game)
        net = str(self.nets[0]) if self.nets else None
        return net_or_shipped(net, rules)

    def stored(self, experiment: str) -> dict[str, Any]:
        """Return what decides the results of an experiment, as experiment.json holds it; nets by name and content."""
        nets = [f"{net.name} sha256 {sha256_of(net)}" for net in self.nets if net.is_file()]
        others: dict[str, Any] = {"nets": nets or None, "visits": self.visits, "game": self.game}
        others |= {"opponent": self.opponent, "cost": self.cost, "seat": self.seat}
        others["first_seed"] = self.first_seed if self.first_seed != 1 else None
        given = {key: value for key, value in others.items() if value is not None}
        return {"experiment": experiment, "scale": self.scale, **given}

    @property
    def seed_numbers(self) -> range:
        """The seeds."""
        return range(self.first_seed, self.first_seed + self.seeds)

    def visits_or(self, paper: int) -> int:
        """Return visits per move: as requested, else the paper's."""
        return paper if self.visits is None else self.visits

    def scaled(self, full: int, least: int = 1) -> int:
        """A size at this scale."""
        return max(least, round(full * self.scale))


@dataclass(frozen=True)
class Experiment:
    """Experiment of a paper.

    name: on the command line; paper: place in the paper; title: a line for the list; seconds: per seed at full size on
    one core of the reference machine, multiplied by scale to the power `growth`; run: runs it, resuming an earlier
    attempt in the same folder; seeds, first_seed: by default; uses: those of the settings `nets`, `visits`, `game`,
    `opponent`, `cost`, `seat` and `only` it supports; estimate_here: seconds of a setting on this machine, instead of
    `seconds` (for experiments bound by a net); looks: whether its size is its games alone, so that it may be judged
    while they come in.
    """

    name: str
    paper: str
    title: str
    seconds: float
    run: Callable[[ExperimentSetting], Result]
    seeds: int = 3
    first_seed: int = 1
    growth: float = 1.0
    uses: tuple[Choice, ...] = ()
    estimate_here: Callable[[ExperimentSetting], float] | None = None
    looks: bool = False

    def estimate(self, setting: ExperimentSetting, speed: float) -> float:
        """Seconds that it takes on a machine with this speed (1: the reference); seeds run beside each other."""
        if self.estimate_here is not None:
            return self.estimate_here(setting)
        rounds = -(-setting.seeds // min(setting.threads, setting.seeds))
        return self.seconds * math.pow(setting.scale, self.growth) * rounds / speed


def make_experiment(experiment: Experiment, setting: ExperimentSetting) -> Result:
    """Run the experiment and write its results; report estimate, findings and files by `setting.show`.

    Raise ValueError if the folder holds another experiment, or the same with other settings.
    """
    _check_choices(experiment, setting)
    speed = 1.0 if experiment.estimate_here else search_speed() / REFERENCE_SPEED
    estimate = experiment.estimate(setting, speed)  # first: it also finds nets and players that do not fit
    with ExperimentFolder(setting.folder).open(setting.stored(experiment.name)):
        return _made(experiment, setting, estimate, speed)


def _made(experiment: Experiment, setting: ExperimentSetting, estimate: float, speed: float) -> Result:
    """Make the experiment in its folder; speed: of this machine, 1 = the reference."""
    from hauteur_experiments.results import write_results

    setting.show(f"{experiment.name}: {experiment.title} ({experiment.paper})")
    machine = "measured here" if experiment.estimate_here else f"this machine at {speed:.0%} of the reference"
    cores = f"{setting.seeds} {'seed' if setting.seeds == 1 else 'seeds'}, {setting.threads} threads, {machine}"
    setting.show(f"estimate: {duration(estimate)} from the beginning ({cores})")
    started = time.perf_counter()
    result = _judged(experiment, setting)
    seconds = time.perf_counter() - started
    for text in (*result.texts, *(finding_text(finding) for finding in result.findings)):
        setting.show(text)
    for path in write_results(experiment, setting, result, seconds):
        setting.show(f"written: {path}")
    setting.show(f"took {duration(seconds)}")
    return result


def _judged(experiment: Experiment, setting: ExperimentSetting) -> Result:
    """Run the experiment, at once or from look to look until nothing is open."""
    extensions = earlier_ends(setting, setting.stored(experiment.name))
    if not setting.looks:
        return experiment.run(setting).at(Look(1.0, extensions))
    if extensions:
        raise ValueError("--looks is for a first run: this one has games that a verdict was taken with before")
    for step in range(FIRST_LOOK, LOOKS + 1):
        look = Look(step / LOOKS)
        result = experiment.run(replace(setting, scale=setting.scale * look.share)).at(look)
        still = sum(finding.verdict == "open" for finding in result.findings)
        setting.show(f"after {look.share:.0%} of the games {still} of {len(result.findings)} findings are open")
        if not still:
            break
    return result


def earlier_ends(setting: ExperimentSetting, stored: Mapping[str, Any]) -> int:
    """Return how often some of these games were judged before as a whole experiment.

    That is so where the folder, or one beside it with the same settings, has the result of fewer seeds or of a smaller
    scale, with units enough to decide something. stored: as experiment.json has it.
    """
    found = 0
    for path in sorted(setting.folder.absolute().parent.glob("*/result.json")):
        result = read_json(path)
        before = result.get("settings")
        if not before or {**before, "scale": 0} != {**stored, "scale": 0} or not result.get("may_decide", True):
            continue
        size, now = (result["seeds"], result["scale"]), (setting.seeds, setting.scale)
        smaller = size != now and size[0] <= now[0] and size[1] <= now[1]
        own = path.parent == setting.folder.absolute() and size == now
        found = max(found, result.get("extensions", 0) + smaller if smaller or own else 0)
    return found


def _check_choices(experiment: Experiment, setting: ExperimentSetting) -> None:
    """ValueError for a choice that would mean nothing."""
    for choice in get_args(Choice):
        if getattr(setting, choice) not in (None, ()) and choice not in experiment.uses:
            raise ValueError(f"{experiment.name} takes no --{choice.removesuffix('s') if choice == 'nets' else choice}")
    if setting.looks and not experiment.looks:
        raise ValueError(f"{experiment.name} takes no --looks: it has more to do than to play its games")


def finding_text(finding: Finding) -> str:
    """A finding in three lines."""
    scope = f" ({finding.scope})" if finding.scope else ""
    return f"paper:    {finding.paper}\nhere:     {finding.measured}\nverdict:  {finding.verdict}{scope}"


def search_speed(seconds: float = 0.3) -> float:
    """Visit a second of bare search in Connect Four on one core, right now."""
    visits, started = 0, time.perf_counter()
    while time.perf_counter() - started < seconds:
        forest = _core.Forest(_core.Game("connect4"), SearchParams(), visits)
        visits += _search_once(forest)
    return visits / (time.perf_counter() - started)


def _search_once(forest: _core.Forest) -> int:
    """Visits of a search of 32 trees, 200 each, with equal priors."""
    import numpy as np

    from hauteur.mcts.driver import run_searches
    from hauteur.networks.evaluators.base import UniformEvaluator

    ids = np.array([forest.add(forest.game.new_initial_state()) for _ in range(32)], np.int64)
    forest.set_visit_limits(ids, np.full(len(ids), 200, np.uint32))
    run_searches(forest, UniformEvaluator(forest.game), batch_size=32)
    return int(forest.root_node_visits(ids).sum())


def default_folder(experiment: Experiment, scale: float) -> Path:
    """Return the default results folder."""
    suffix = "" if scale == 1 else f"-scale-{scale:g}"
    return Path("runs") / "experiments" / f"{experiment.name}{suffix}"


def cores() -> int:
    """Threads by default: two, or one where there is no second core."""
    return min(2, usable_cores())
