"""Experiments: what one is, its settings, its findings, and how it is made: run, verdicts, files."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from cyclopts import Parameter

import hauteur as ht
from hauteur_experiments.verdict import END, LOOKS, Claim, Look, Number, Verdict

if TYPE_CHECKING:
    from hauteur_experiments.grid import Match

FIRST_LOOK = 2
"""An eighth of the games decides nothing: 5.9 standard errors would be needed."""

SEPARATOR = "; "
"""Between the things in which a measurement differs from the source's."""

STOPPED = "stopped at a look"
"""In the scope of a verdict that was taken before all planned games: its interval is the one of a single look."""

OTHER_SIDE = "its 95 % lie on the other side of no effect"
"""In the scope of an effect that is excluded, by an interval that lies wholly on the other side."""

NO_PREMISE = "its premise is not shown"
"""In the scope of a claim that its quantities decide and that is open for its premise."""

Choice = Literal["nets", "visits", "game", "opponent", "cost", "side", "precision", "only", "positions", "constants"]
Show = Callable[[str], None]


@dataclass(frozen=True)
class SourceClaim:
    """A statement of a source with the source's figure, decided by the findings of its experiment that have its key."""

    key: str
    """Key, by which findings name it."""
    source: str
    """Where the source states it, such as `Table 2`."""
    statement: str
    """The statement in words."""
    figure: str
    """The source's figure."""
    needs: str = ""
    """Games or seeds that would decide it, where no planned run does."""

    @property
    def text(self) -> str:
        """The statement with its source and the source's figure."""
        return f"{self.source}: {self.statement} ({self.figure})"


COMPUTED = (OTHER_SIDE, STOPPED, NO_PREMISE)
"""Parts of a scope that follow from the verdict and its look."""


def joined(*scopes: str) -> str:
    """Return the scopes that are there as one."""
    return SEPARATOR.join(filter(None, scopes))


def stated(source: str, *lines: str) -> tuple[SourceClaim, ...]:
    """Return the claims of a source, a line each: `key | statement | figure`, and `| needs` where no run decides it."""
    claims = []
    for line in lines:
        key, *rest = (part.strip() for part in line.split("|"))
        claims.append(SourceClaim(key, source, *rest))
    return tuple(claims)


@dataclass(frozen=True)
class Finding:
    """A claim, and what was measured for it, with its interval."""

    key: str
    """Key of the claim that it decides."""
    measured: str
    """The measured figures, in words."""
    verdict: Verdict
    """Whether the claim is shown, refuted or open."""
    missing: int | None = None
    """Units that would decide an open claim if the measured value is the true one; None: decided, or not known."""
    scope: str = ""
    """How the measurement differs from the source's other than in size, such as "another game"."""
    units: str = ""
    """Number of units of the quantity with the fewest, such as "400 games"."""
    quantities: str = ""
    """Quantities that the verdict rests on, with their intervals."""
    test: str = ""
    """Hypotheses that are tested."""
    decides: str = ""
    """The one quantity that decides it."""
    times: float | None = None
    """The deciding quantity over the value of the source; None: not known."""
    paper: str = ""
    """The claim as the source states it, filled in by its experiment."""
    numbers: tuple[Number, ...] = ()
    """The quantities as numbers."""
    claim: Claim | None = field(default=None, compare=False, repr=False)
    """Inequalities that the finding was made from; None: there are none."""
    shown: str = field(default="", compare=False, repr=False)
    """The measured figures that it was made from."""

    @classmethod
    def of(cls, key: str, claim: Claim, shown: str = "", scope: str = "") -> Finding:
        """The statement as the measured quantities decide it. shown: more to read before the measured quantities."""
        measured = f"{shown}; {claim.text}" if shown else claim.text
        scope = joined(scope, OTHER_SIDE if claim.on_the_other_side else "", NO_PREMISE if claim.lacks_premise else "")
        decisive = claim.decisive
        single = all(one.measured is decisive.measured for one in claim.inequalities)
        named = decisive.ours if single else f"{decisive.what} {decisive.ours}"
        return cls(
            key,
            measured,
            claim.verdict,
            missing=claim.missing,
            scope=scope,
            units=claim.units_text,
            quantities=claim.quantities,
            test=claim.test,
            decides=named,
            times=decisive.times,
            numbers=tuple(claim.numbers),
            claim=claim,
            shown=shown,
        )

    def at(self, look: Look) -> Finding:
        """The finding for its verdict at a look."""
        if self.claim is None:
            return self
        scope = joined(*(part for part in self.scope.split(SEPARATOR) if part not in COMPUTED))
        scope = joined(scope, STOPPED if look.share < 1 else "")
        found = Finding.of(self.key, self.claim.at(look), self.shown, scope)
        return replace(found, paper=self.paper)

    def to_json(self) -> dict[str, Any]:
        """Return it as result.json has it."""
        texts = ("key", "paper", "measured", "verdict", "missing", "scope", "units", "quantities")
        decisive = ("test", "decides", "times")
        return {name: getattr(self, name) for name in (*texts, *decisive, "numbers")}

    @property
    def text(self) -> str:
        """The finding in three lines."""
        scope = f" ({self.scope})" if self.scope else ""
        return f"paper:    {self.paper}\nhere:     {self.measured}\nverdict:  {self.verdict}{scope}"


def stored_findings(result: Mapping[str, Any]) -> list[Finding]:
    """Return the findings of a result, as in result.json."""
    found = []
    for stored in result["findings"]:
        texts = {name: value for name, value in stored.items() if name != "numbers"}
        found.append(Finding(**texts, numbers=tuple(stored["numbers"])))
    return found


@dataclass(frozen=True)
class Result:
    """The findings of an experiment."""

    rows: Sequence[dict[str, Any]]
    """Table that becomes result.csv, one dictionary a row, all with the same keys."""
    findings: Sequence[Finding]
    """Findings, in the order of the claims."""
    figures: Sequence[ht.Figure] = ()
    """Figures, drawn as PNG and on the page, and written as CSV."""
    texts: Sequence[str] = ()
    """Texts shown unchanged on the page and on the terminal."""
    facts: dict[str, Any] = field(default_factory=dict)
    """Further entries of result.json."""
    look: Look = END
    """Interim look, or the end, at which the findings are judged."""

    def at(self, look: Look) -> Result:
        """The result with findings that are judged at a look."""
        return replace(self, findings=[finding.at(look) for finding in self.findings], look=look)

    def scoped(self, *scopes: str) -> Result:
        """The result of whose findings all differ from the source in these things, besides their own; "": nothing."""
        found = [replace(one, scope=joined(*scopes, one.scope)) for one in self.findings]
        return replace(self, findings=found)

    @property
    def may_decide(self) -> bool:
        """Return whether a finding has as many units as may decide it."""
        claims = [finding.claim for finding in self.findings if finding.claim is not None]
        return any(one.measured.units >= one.least for claim in claims for one in claim.inequalities)


@Parameter(name="*")
@dataclass(frozen=True)
class Setting:
    """Settings of an experiment, which are its options on the command line."""

    folder: Annotated[Path, Parameter(parse=False)] = Path()
    """Folder of its results and of the state to resume from."""
    scale: float = 1.0
    """Scale factor of games, trainings and positions; 1 is the paper's size."""
    seeds: int = 0
    """Number of runs with different random seeds; 0: the experiment's."""
    first_seed: int = 0
    """First of these seeds; 0: the experiment's, which its settings were not chosen with."""
    nets: Annotated[tuple[Path, ...], Parameter(name="--net", negative=())] = ()
    """Net file or name of a net, for experiments that play with one; repeat for the second where two are used.
    Default: the net that ships for the game; for chess the one that HAUTEUR_NET names goes before it."""
    visits: int | None = None
    """Visits per move instead of the paper's, for a smaller machine."""
    game: str | None = None
    """Game instead of the paper's, where an experiment supports several."""
    opponent: str | None = None
    """Fixed opponent, where an experiment has one, as a player of `hauteur match`."""
    cost: float | None = None
    """Declared work of an evaluation of the large net, in those of the small one, where an experiment has two nets;
    default: by their sizes."""
    side: Literal["first", "second"] | None = None
    """Giver of the odds in a game without pieces to take away: the first or the second player, from the start."""
    precision: Literal["float32", "bfloat16"] | None = None
    """Precision of the nets of players that do not name one; default: the backend's."""
    constants: Literal["source"] | None = None
    """Search with the source's c_puct, first-play urgency and policy temperature instead of this program's."""
    only: Annotated[tuple[str, ...], Parameter(negative=())] = ()
    """Play only this match of an experiment that has several; may be repeated. The others are reported if they are
    complete."""
    positions: str | None = None
    """File of positions (an EPD or FEN a line), or one of this distribution's: `endings`, even ones of chess, or
    `mates`. Games begin there; an experiment that solves positions needs their best moves."""
    looks: Annotated[bool, Parameter(negative="")] = False
    """Take verdicts at every eighth of the games and stop when no finding is open, where a size is of games."""
    parallel: int = 64
    """Concurrent games."""
    workers: int = 0
    """Processes that play the games of matches; 0: this process plays them. The games are the same."""
    threads: int = 0
    """Processor cores to use; 0: two, or one where there is no second core."""
    show: Annotated[Show, Parameter(parse=False)] = print
    """Receives lines of progress."""
    borrowed: Annotated[dict[str, str], Parameter(parse=False)] = field(default_factory=dict)
    """Matches whose games are those of an experiment in a neighbouring folder, with the path of each."""

    def __post_init__(self) -> None:
        if not self.threads:
            object.__setattr__(self, "threads", cores())
        ranges = {
            "scale": (self.scale, 1e-9, 100),
            "seeds": (self.seeds, 0, 1000),
            "threads": (self.threads, 1, 1024),
            "workers": (self.workers, 0, 1024),
            "first_seed": (self.first_seed, 0, 1_000_000),
            "visits": (self.visits, 1, 1_000_000_000),
            "cost": (self.cost, 1 + 1e-9, 10_000),
        }
        for name, (value, least, most) in ranges.items():
            if value is not None and not least <= value <= most:
                raise ValueError(f"{name} must be {least:,g} to {most:,g}, got {value}")

    def of(self, experiment: Experiment) -> Setting:
        """Return the setting with the seeds of an experiment, where it has none."""
        first = self.first_seed or experiment.first_seed
        return replace(self, seeds=self.seeds or experiment.seeds, first_seed=first)

    @property
    def seed_numbers(self) -> range:
        """The seeds; without others the first one."""
        first = max(1, self.first_seed)
        return range(first, first + max(1, self.seeds))

    def visits_or(self, paper: int) -> int:
        """Return visits per move: as requested, else the paper's."""
        return paper if self.visits is None else self.visits

    def scaled(self, full: int, least: int = 1) -> int:
        """A size at this scale."""
        return max(least, round(full * self.scale))

    def pairs(self, full: int) -> int:
        """An even number of games at this scale."""
        return 2 * self.scaled(full // 2)

    @property
    def net(self) -> Path | None:
        """The one net that was given; None: players have that of their game. ValueError for several."""
        if len(self.nets) > 1:
            raise ValueError(f"this experiment uses one net, got {len(self.nets)}: {', '.join(map(str, self.nets))}")
        return self.nets[0] if self.nets else None

    def stored(self, experiment: str) -> dict[str, Any]:
        """Return what decides the results of an experiment, as experiment.json holds it."""
        nets = []
        for net in self.nets:
            if net.is_file():
                sha256 = hashlib.sha256(net.read_bytes()).hexdigest()
                nets.append(f"{net.name} sha256 {sha256}")
        settings = {
            "experiment": experiment,
            "scale": self.scale,
            "nets": nets or None,
            "visits": self.visits,
            "game": self.game,
            "opponent": self.opponent,
            "cost": self.cost,
            "side": self.side,
            "precision": self.precision,
            "constants": self.constants,
            "positions": positions_name(self.positions),
            "first_seed": self.first_seed if self.first_seed != 1 else None,
        }
        return {key: value for key, value in settings.items() if value is not None}


POSITION_SETS = ("endings", "mates")
"""The sets of positions of this distribution."""


def position_lines(name: str | None) -> list[str]:
    """Lines of a set of positions of this distribution, or of a file; none for None. ValueError where there is none."""
    if name is None:
        return []
    path = Path(__file__).with_name(f"{name}.epd") if name in POSITION_SETS else Path(name)
    if not path.is_file():
        raise ValueError(f"--positions {name}: no such file, and the sets are {', '.join(POSITION_SETS)}")
    return [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip() and line[0] != "#"]


def positions_name(name: str | None) -> str | None:
    """A set of positions by its name and content."""
    content = "".join(f"{line}\n" for line in position_lines(name))
    if name is None:
        return None
    return f"{Path(name).name} sha256 {hashlib.sha256(content.encode()).hexdigest()}"


@dataclass(frozen=True)
class Experiment:
    """An experiment of a paper."""

    name: str
    """Name on the command line."""
    paper: str
    """Place in the paper, such as `Figure 3`."""
    title: str
    """One line for the list."""
    run: Callable[[Setting], Result]
    """Runs it, resuming an earlier attempt in the same folder."""
    claims: Sequence[SourceClaim] = ()
    """Claims of the source, which findings decide by their key."""
    matches: Callable[[Setting], Iterable[Match]] | None = None
    """Matches that it plays, as far as they are known beforehand; their players are checked before the first game."""
    seeds: int = 1
    """Number of runs with different random seeds, by default."""
    first_seed: int = 1
    """First of these seeds, by default."""
    uses: tuple[Choice, ...] = ()
    """Optional settings that it supports."""
    looks: bool = False
    """Its size is its games alone, so that it may be judged while they are played."""


def make_experiment(experiment: Experiment, setting: Setting) -> Result:
    """Run the experiment and write its results; report findings and files by `setting.show`.

    Raise ValueError if the folder holds another experiment, or the same with other settings.
    """
    from hauteur_experiments.grid import check

    _check_choices(experiment, setting)
    setting = setting.of(experiment)
    if experiment.matches is not None:
        check(experiment.matches(setting))
    folder = ht.ExperimentFolder(setting.folder)
    with folder.open(setting.stored(experiment.name)):
        cores = f"{setting.seeds} {'seed' if setting.seeds == 1 else 'seeds'}, {setting.threads} threads"
        setting.show(f"{experiment.name}: {experiment.title} ({experiment.paper}; {cores})")
        started = time.perf_counter()
        result = _judged(experiment, setting)
        seconds = time.perf_counter() - started
        for text in (*result.texts, *(finding.text for finding in result.findings)):
            setting.show(text)
        for path in folder.write_results(_facts(experiment, setting, result, seconds), result.figures):
            setting.show(f"written: {path}")
        setting.show(f"took {duration(seconds)}")
        return result


def _facts(experiment: Experiment, setting: Setting, result: Result, seconds: float) -> dict[str, Any]:
    return {
        "experiment": experiment.name,
        "title": experiment.title,
        "paper": experiment.paper,
        "scale": setting.scale,
        "seeds": setting.seeds,
        "threads": setting.threads,
        "seconds_of_last_attempt": seconds,
        "findings": [finding.to_json() for finding in result.findings],
        "share": result.look.share,
        "extensions": result.look.extensions,
        "may_decide": result.may_decide,
        "facts": result.facts,
        "texts": list(result.texts),
        "rows": list(result.rows),
        "games_of_others": dict(sorted(setting.borrowed.items())),
        "settings": setting.stored(experiment.name),
    }


def _judged(experiment: Experiment, setting: Setting) -> Result:
    """Run the experiment, at once or from look to look until nothing is open."""
    extensions = earlier_ends(setting, setting.stored(experiment.name))
    if not setting.looks:
        return _made(experiment, setting).at(Look(1.0, extensions))
    if extensions:
        raise ValueError("--looks is for a first run: this one has games that a verdict was taken with before")
    for step in range(FIRST_LOOK, LOOKS + 1):
        look = Look(step / LOOKS)
        result = _made(experiment, replace(setting, scale=setting.scale * look.share)).at(look)
        still = sum(finding.verdict == "open" for finding in result.findings)
        setting.show(f"after {look.share:.0%} of the games {still} of {len(result.findings)} findings are open")
        if not still:
            break
    return result


def _made(experiment: Experiment, setting: Setting) -> Result:
    """Run the experiment; its findings with the claims that they decide. ValueError for a key of no claim."""
    result = experiment.run(setting)
    claims = {claim.key: claim for claim in experiment.claims}
    for finding in result.findings:
        if finding.key not in claims:
            raise ValueError(f"{experiment.name} has no claim with the key {finding.key!r} of a finding")
    return replace(result, findings=[replace(one, paper=claims[one.key].text) for one in result.findings])


def earlier_ends(setting: Setting, stored: Mapping[str, Any]) -> int:
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
        size = (result["seeds"], result["scale"])
        now = (setting.seeds, setting.scale)
        smaller = size != now and size[0] <= now[0] and size[1] <= now[1]
        own = path.parent == setting.folder.absolute() and size == now
        if smaller or own:
            found = max(found, result.get("extensions", 0) + smaller)
    return found


def _check_choices(experiment: Experiment, setting: Setting) -> None:
    """ValueError for a choice that would mean nothing."""
    for choice in get_args(Choice):
        if getattr(setting, choice) not in (None, ()) and choice not in experiment.uses:
            option = "net" if choice == "nets" else choice
            raise ValueError(f"{experiment.name} takes no --{option}")
    if setting.looks and not experiment.looks:
        raise ValueError(f"{experiment.name} takes no --looks: it has more to do than to play its games")


def read_json(path: Path) -> dict[str, Any]:
    """Read an object; ValueError, with the file's name, where there is none."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: not JSON: {error}") from None
    if not isinstance(found, dict):
        raise ValueError(f"{path}: not a JSON object")
    return found


def write_whole(path: Path, text: str) -> None:
    """Write a file whole or not at all; other processes see the one before until then."""
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = path.with_name(f"{path.name}.tmp")
    whole.write_text(text, encoding="utf-8")
    whole.replace(path)


def duration(seconds: float) -> str:
    """Return seconds as h:mm:ss or m:ss."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}:{minutes:02}:{rest:02}"
    return f"{minutes}:{rest:02}"


def cores() -> int:
    """Threads by default: two, or one where there is no second core."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(2, usable)
