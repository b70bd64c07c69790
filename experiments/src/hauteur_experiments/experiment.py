"""Experiments: what one is, its settings, its findings, and how it is made: run, verdicts, files."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, get_args

import hauteur as ht
from hauteur_experiments.files import read_json
from hauteur_experiments.grid import Match, check
from hauteur_experiments.setting import Choice, Setting
from hauteur_experiments.verdict import END, LOOKS, Claim, Look, Number, Verdict

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
    _check_choices(experiment, setting)
    first_seed = setting.first_seed or experiment.first_seed
    setting = replace(setting, seeds=setting.seeds or experiment.seeds, first_seed=first_seed)
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


def duration(seconds: float) -> str:
    """Return seconds as h:mm:ss or m:ss."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}:{minutes:02}:{rest:02}"
    return f"{minutes}:{rest:02}"
