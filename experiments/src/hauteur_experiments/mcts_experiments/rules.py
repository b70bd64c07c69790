"""Result table of the MCTS experiments (Videodr0me, lc0 fork, 2018): matches of the search with each rule and without.

One net of chess against itself in every match; won, drawn and lost are those of the player with the setting. The
source's intervals are computed from the counts, which it gives without them. Many settings were tried and these are the
ones that were reported. Matches here begin with four random plies, each opening twice with colours swapped; the source
does not state its openings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import NormalDist
from typing import Any

import hauteur as ht
from hauteur_experiments.deciding import UNSTATED_VISITS
from hauteur_experiments.experiment import Experiment, Finding, Result, SourceClaim, joined
from hauteur_experiments.grid import APART, Match, Played, chosen, play, points, with_net
from hauteur_experiments.measured import (
    CLOSE,
    Interval,
    MatchElo,
    Record,
    contrast,
    elo_above,
    elo_columns,
    elo_text,
    z_of,
)
from hauteur_experiments.setting import Setting
from hauteur_experiments.verdict import Claim, Side

SOURCE = "Videodr0me, MCTS experiments"

OUR_CONSTANTS = "this program's constants, not the fork's"
"""Scope of a match without the fork's c_puct, first-play urgency and policy temperature."""

FORK = "cpuct.init=1.2 cpuct.factor=0 fpu.value=0 policy-temperature=1"
"""The plain search of the fork: c_puct 1.2, an unvisited move is worth the mean of its parent, priors as they are."""


@dataclass(frozen=True)
class Published:
    """One match of the source."""

    setting: str
    """The setting, as the source writes it."""
    visits: int | None
    """Visits a move; None: not stated."""
    games: int
    """Games of the match."""
    record: Record | None
    """Wins, draws and losses; None: only Elo and superiority are given."""
    elo_alone: float = 0.0
    """Elo of the setting, where there is no record."""
    superiority: float = 0.5
    """Chance that the setting is the stronger one, 0 to 1, where there is no record."""

    @property
    def elo(self) -> float:
        """The difference."""
        return self.elo_alone if self.record is None else self.record.elo

    @property
    def interval(self) -> tuple[float, float] | None:
        """95 % interval: from the counts, else from the superiority; None where that is given as 100 %."""
        known = self.record is not None or 0 < self.superiority < 1
        return self.ends(0.95) if known else None

    def ends(self, confidence: float) -> tuple[float, float]:
        """Interval from the counts, else from the superiority; the difference alone where that is given as 100 %."""
        if self.record is not None:
            return self.record.elo_interval(confidence)
        if self.superiority == 1.0:
            return self.elo, self.elo
        half = abs(z_of(confidence) * self.elo / NormalDist().inv_cdf(self.superiority))
        return self.elo - half, self.elo + half

    def __str__(self) -> str:
        visits = "visits not stated" if self.visits is None else f"{self.visits:,} visits"
        bars = "" if self.interval is None else f" [{self.interval[0]:+.0f}, {self.interval[1]:+.0f}]"
        counts = "counts not given" if self.record is None else str(self.record)
        return f"{self.setting}, {visits}, {self.games:,} games: {counts}, Elo {self.elo:+.0f}{bars}"


def _of(*texts: str) -> tuple[Published, ...]:
    """Matches as `setting | visits, - where not stated | won, lost, drawn` with the setting."""
    found = []
    for setting, visits, counts in (text.split(" | ") for text in texts):
        wins, losses, draws = map(int, counts.split())
        record = Record(wins, draws, losses)
        found.append(Published(setting, None if visits == "-" else int(visits), record.games, record))
    return tuple(found)


@dataclass(frozen=True)
class Trial:
    """A match of the reproduction."""

    name: str
    """Name of its folder."""
    a: str
    """Player with the setting as text, without net and visits."""
    b: str = ""
    """Player without it as text, likewise."""
    repeats: tuple[Published, ...] = ()
    """Matches of the source that it repeats, at different visits."""
    states: tuple[str, Side] | None = None
    """What the source says of the setting without a number, and the side of 0 that this is on."""
    shows: str = ""
    """Its purpose, where it repeats and states nothing."""
    control: str = ""
    """Name of the trial with only the setting's side effect, which the setting must exceed."""
    games: int = 1000
    """Games at scale 1."""
    visits: int = 800
    """Visits a move, where no published match gives them."""


@dataclass(frozen=True)
class RuleTrials:
    """An experiment: the trials of one rule."""

    name: str
    title: str
    trials: tuple[Trial, ...]


_CONTROL = "plain search with the exploration that an average move keeps under the setting"


def _balanced(scale: float, left: float, right: float, match: str, control: str) -> tuple[Trial, Trial]:
    """A setting of tree balance with its published match, and its control."""
    words = f"tree-balance.scale={scale} tree-balance.left={left} tree-balance.right={right}"
    repeats = _of(match)
    rule = Trial(f"balance-{scale}", f"tree-balance.mode=legacy {words}", "", repeats, control=f"control-{scale}")
    shows = f"{_CONTROL} {scale}/{left}/{right}"
    games = repeats[0].games
    visits = repeats[0].visits or 800
    return rule, Trial(f"control-{scale}", control, shows=shows, games=games, visits=visits)


_FIRST = _balanced(1.5, 1.5, 0.01, "tree 1.5/1.5/0.01 | 800 | 212 122 666", "cpuct.init=0.94")
TREE_BALANCE = RuleTrials(
    "tree-balance",
    "five published settings, each with a control of equal mean c_puct",
    (
        *_FIRST,
        Trial("balance-1.5-v-control", _FIRST[0].a, _FIRST[1].a, shows="the balance without the level"),
        Trial("normalised", "tree-balance=on", shows="balance that leaves the mean c_puct unchanged"),
        *_balanced(1.4, 2.0, 0.1, "tree 1.4/2.0/0.1 | 2000 | 90 80 477", "cpuct.init=0.89 cpuct.factor=1.99"),
        *_balanced(1.1, 2.0, 0.3, "tree 1.1/2.0/0.3 | 2000 | 140 120 740", "cpuct.init=1.44 cpuct.factor=3.22"),
        *_balanced(1.07, 2.0, 0.2, "tree 1.07/2.0/0.2 | 2000 | 136 111 753", "cpuct.init=1.52 cpuct.factor=3.4"),
        *_balanced(1.3, 1.5, 0.01, "tree 1.3/1.5/0.01 | 10000 | 49 42 409", "cpuct.init=1.18 cpuct.factor=2.63"),
    ),
)

_PROOFS = "solver.lookahead=1 solver.clamp-to-bounds=false solver.retro-fix=false"
_V1 = _of("certainty-prop alone, version 1 | 100 | 2937 2849 4214")
_EXTEND = _of("auto-extend alone | 100 | 2974 2925 4101")
SOLVER = RuleTrials(
    "solver",
    "certainty propagation with forced moves, alone, and forced moves alone",
    (
        Trial("solver", "solver=on", "", _of("certainty-prop, version 2 | - | 181 152 667")),
        Trial("certainty", f"{_PROOFS} solver.auto-extend=false", "", _V1),
        Trial("auto-extend", "solver=on", "solver.auto-extend=false", _EXTEND),
    ),
)

_SHARE = "a share of 0.1 that halves with depth"
_COMPRESSION = "prior-mixing.mode=legacy prior-mixing.compression=0.06"
PRIOR_MIXING = RuleTrials(
    "prior-mixing",
    "policy compression as published, and a tenth of the policy at the root",
    (
        Trial("share-0.1", "prior-mixing=on", shows=_SHARE, games=625, visits=10_000),
        Trial("compression-0.06", _COMPRESSION, "", _of("policy-compression 0.06 | 10000 | 65 39 521")),
    ),
)

_BETA = (
    Published("beta 0.49", 100, 10_000, None, 45.04, 1.0),
    Published("beta 0.49", 800, 1000, None, 4.17, 0.724),
    Published("beta 0.49", 10_000, 500, None, -11.12, 0.049),
)
_POWER = "q-average.mode=power q-average.gamma=0.75"
Q_AVERAGE = RuleTrials(
    "q-average",
    "moving average: beta 0.49 and gamma 0.75 by visits",
    (
        Trial("beta-0.49", "q-average=on", "", _BETA),
        Trial("gamma-0.75", _POWER, "", _of("gamma 0.75 | 100 | 3138 2431 4431", "gamma 0.75 | 800 | 180 193 627")),
    ),
)

VARIANCE = RuleTrials(
    "variance",
    "noise of a hundredth of the spread of results",
    (Trial("half-normal-0.01", "variance=on", "", _of("variance-scaling 0.01 | 2000 | 159 139 702")),),
)

INITIAL_TRUST = RuleTrials(
    "initial-trust",
    "don't trust initial visits: for ever, below 3 and below 2 visits",
    (
        Trial("always", f"initial-trust=on {FORK}", FORK, _of("don't trust, all n | 1000 | 157 192 651")),
        Trial("below-3", f"initial-trust.until=3 {FORK}", FORK, _of("don't trust, n < 3 | 1000 | 178 177 645")),
        Trial("below-2", f"initial-trust.until=2 {FORK}", FORK, _of("don't trust, n < 2 | 1000 | 145 211 644")),
    ),
)

_REST = FORK.replace("fpu.value=0 ", "")
_FIRSTS = _of("FPU 1.1 | - | 6 905 89")
_PARENT = _of("FPU -parent_v | - | 262 307 431")
FPU = RuleTrials(
    "fpu",
    "an unvisited move is worth 0, 1.1 or the net's value, against the mean of the parent",
    (
        Trial("zero", f"fpu.kind=absolute fpu.value=0 {_REST}", FORK, _of("FPU 0 | - | 125 443 432")),
        Trial("every-move-first", f"fpu.kind=absolute fpu.value=1.1 {_REST}", FORK, _FIRSTS),
        Trial("parent-value", f"fpu.kind=parent_value fpu.value=0 {_REST}", FORK, _PARENT),
        Trial("reduction-0.33", f"fpu.value=0.33 {_REST}", FORK, shows="the reduction of today"),
    ),
)

_WIDE = FORK.replace("cpuct.init=1.2", "cpuct.init=3")
CPUCT = RuleTrials(
    "cpuct", "1.2 against 3.0", (Trial("1.2-v-3.0", FORK, _WIDE, _of("cpuct 1.2 v 3.0 | 10000 | 181 32 487")),)
)

_TOGETHER = _of("validation: CP, AE, gamma 0.75 | 100 | 3220 2343 4437")
VALIDATION = RuleTrials(
    "validation",
    "certainty propagation, forced moves and gamma 0.75 together",
    (Trial("together", f"{_PROOFS} {_POWER}", "", _TOGETHER),),
)

_LIGHTER = f"early-visits.mode=legacy early-visits.ease=1 {FORK}"
EARLY_VISITS = RuleTrials(
    "early-visits",
    "easy early visits: second and third visits made more probable",
    (Trial("ease-1", _LIGHTER, FORK, states=("easy early visits: self-play might suffer (untested there)", "below")),),
)

_TWO_FOLD = f"{_PROOFS} repetition.mode=legacy_certain {FORK}"
TWO_FOLD_DRAWS = RuleTrials(
    "two-fold-draws",
    "the second occurrence of a position is a draw: as published, and in the line of the search alone",
    (
        Trial("certain", _TWO_FOLD, f"{_PROOFS} {FORK}", states=("two-fold draw scoring: a slight gain", "above")),
        Trial("in-the-line", f"repetition=on {FORK}", FORK, shows="the rule of lc0 since, without proofs"),
    ),
)

RULES = (
    TREE_BALANCE,
    SOLVER,
    PRIOR_MIXING,
    Q_AVERAGE,
    VARIANCE,
    INITIAL_TRUST,
    FPU,
    CPUCT,
    EARLY_VISITS,
    TWO_FOLD_DRAWS,
    VALIDATION,
)

RANDOM_PLIES = 4
LEAST_ELO = 1.0
"""Elo below which ours are not counted in times the source's."""


@dataclass(frozen=True)
class TrialMatch:
    """A match that was played: what it is, at how many visits, the matches of the source that it repeats."""

    trial: Trial
    visits: int
    published: tuple[Published, ...]
    played: Played

    @property
    def name(self) -> str:
        """The match's."""
        return self.played.match.name

    @property
    def elo(self) -> MatchElo:
        """The difference."""
        return MatchElo(self.played.tally)


def make(rule: RuleTrials, setting: Setting) -> Result:
    """Play the matches of a rule, and compare them with the published ones."""
    plan = list(planned(rule, setting))
    played = play(setting, [match for _, _, _, match in plan])
    measured = []
    cells = 0
    for trial, n, beside, match in plan:
        if match.name not in played:
            continue
        measured.append(TrialMatch(trial, n, beside, played[match.name]))
        cells += len(beside)
        if trial.states is not None:
            cells += 1
    rows: list[dict[str, Any]] = []
    findings: list[Finding] = []
    texts = []
    for one in measured:
        rows += _rows(one)
        findings += _findings(one, measured, max(1, cells), setting)
        if one.trial.shows:
            texts.append(f"{one.name}: {one.trial.shows}\n{_text(one)}")
    return Result(rows, findings, [figure(rule, measured)], texts)


def planned(rule: RuleTrials, setting: Setting) -> Iterator[tuple[Trial, int, tuple[Published, ...], Match]]:
    """Each match with its trial, its visits, and the published matches that it repeats.

    With `setting.visits` a trial is one match, however many visits the source tried; else one for each of them.
    """
    for trial in rule.trials:
        if setting.visits is not None:
            yield trial, setting.visits, trial.repeats, _match(trial, setting, setting.visits, trial.name)
            continue
        for published in trial.repeats:
            visits = published.visits or trial.visits
            match = _match(trial, setting, visits, f"{trial.name}-{visits}", published.games)
            yield trial, visits, (published,), match
        if not trial.repeats:
            yield trial, trial.visits, (), _match(trial, setting, trial.visits, f"{trial.name}-{trial.visits}")


def _match(trial: Trial, setting: Setting, visits: int, name: str, games: int = 0) -> Match:
    a = trial.a
    b = trial.b
    if setting.constants:
        a = at_the_forks(a)
        b = at_the_forks(b)
    if not games:
        games = trial.repeats[0].games if trial.repeats else trial.games
    return Match(
        name,
        with_net(f"visits={visits} {a}", setting.net, setting.precision),
        with_net(f"visits={visits} {b}", setting.net, setting.precision),
        setting.pairs(games),
        game=setting.game or "chess",
        random_plies=RANDOM_PLIES,
    )


def at_the_forks(words: str) -> str:
    """A player at the fork's constants; the c_puct of a control keeps its ratio to that of plain search."""
    if "cpuct.factor=0" in words:
        return words
    own = re.match(r"cpuct\.init=([\d.]+)", words)
    if own is None:
        return f"{FORK} {words}".rstrip()
    ratio = float(own.group(1)) / ht.SearchParams().cpuct.init
    return FORK.replace("cpuct.init=1.2", f"cpuct.init={1.2 * ratio:.3g}")


def _text(one: TrialMatch) -> str:
    return f"{Record.of(one.played.tally)}  Elo {elo_text(one.elo)}"


def _rows(one: TrialMatch) -> Iterator[dict[str, Any]]:
    """A row for every published match beside it, or one."""
    record = Record.of(one.played.tally)
    mine: dict[str, Any] = {"match": one.name, "a": one.trial.a, "b": one.trial.b or "plain", "visits": one.visits}
    mine |= {"games": record.games, **record._asdict(), **elo_columns(one.elo)}
    mine |= {"superiority": one.played.tally.superiority}
    for there in one.published or (None,):
        ends = (there and there.interval) or (None, None)
        yield {
            **mine,
            "paper_setting": there and there.setting,
            "paper_visits": there and there.visits,
            "paper_games": there and there.games,
            "paper_elo": there and there.elo,
            "paper_elo_low": ends[0],
            "paper_elo_high": ends[1],
        }


def _findings(one: TrialMatch, others: Sequence[TrialMatch], cells: int, setting: Setting) -> Iterator[Finding]:
    """Yield each published match that this one repeats. cells: published matches in the table."""
    trial = one.trial
    shown = f"{one.name}, {one.visits:,} visits"
    other_game = "" if (setting.game or "chess") == "chess" else "another game"
    constants = constants_scope(trial, setting)
    if trial.states is not None:
        side = elo_above("difference", one.elo, side=trial.states[1])
        yield Finding.of(trial.name, Claim((side,), cells=cells), shown, joined(other_game, constants))
    control = None
    if trial.control:
        control = next((other for other in others if other.name.startswith(trial.control)), None)
    without = f"without its control {trial.control}" if trial.control and control is None else ""
    for published in one.published:
        if published.visits is None:
            other_visits = UNSTATED_VISITS
        else:
            other_visits = "" if published.visits == one.visits else "other visits"
        claim = claim_of(published, one.elo, None if control is None else control.elo, cells)
        scope = joined(other_game, other_visits, constants, without)
        yield Finding.of(key_of(trial, published), claim, shown, scope)


def constants_scope(trial: Trial, setting: Setting) -> str:
    """Say so where a trial does not have the source's c_puct, first-play urgency and policy temperature."""
    if setting.constants or at_the_forks(trial.a) == trial.a:
        return ""
    return OUR_CONSTANTS


def key_of(trial: Trial, published: Published) -> str:
    """Key of the claim of a published match."""
    if published.visits is None:
        return trial.name
    return f"{trial.name}-{published.visits}"


def claim_of(published: Published, elo: MatchElo, control: MatchElo | None, cells: int) -> Claim:
    """Return what a published match claims of the match here.

    Where the source's interval is on one side of 0, the difference is on that side, and beyond that of the control,
    which has the setting's c_puct alone; half of the source's difference matters. Else the source found nothing, and
    the two results differ by nothing.
    """
    low, high = published.interval or (published.elo, published.elo)
    if low <= 0 <= high:
        there = Interval(published.elo, elo.units, published.ends)
        less = contrast((1, elo), (-1, there))
        known = published.elo if abs(published.elo) >= LEAST_ELO else None
        equal = replace(elo_above("difference", less, CLOSE, side="at"), source=known, here=elo)
        return Claim((equal,), cells=cells)
    side: Side = "above" if low > 0 else "below"
    half = published.elo / 2
    sides = [replace(elo_above("difference", elo, half, side=side), source=published.elo)]
    if control is not None:
        beyond = contrast((1, elo), (-1, control))
        sides.append(elo_above("beyond the control", beyond, half, side=side))
    return Claim(tuple(sides), cells=cells)


def figure(rule: RuleTrials, measured: Sequence[TrialMatch]) -> ht.Figure:
    """Elo differences with their intervals, here and as published, match by match."""
    names = []
    elos = []
    source_xs = []
    source_elos = []
    visits = set()
    for number, one in enumerate(measured, 1):
        names.append(one.name)
        elos.append(one.elo)
        visits.add(f"{one.visits:,}")
        for place, published in enumerate(one.published, 1):
            source_xs.append(number + APART * place)
            source_elos.append(Interval(published.elo, published.games, published.ends))
    lines = [points("here", range(1, len(measured) + 1), elos, "blue")]
    if source_xs:
        lines.append(points("source", source_xs, source_elos, "orange"))
    return ht.Figure(
        rule.name,
        f"{rule.name}: {rule.title}",
        f"{' and '.join(sorted(visits))} visits here; bars are 95 % intervals.",
        "Elo",
        "match",
        lines=tuple(lines),
        threshold=0.0,
        threshold_name="no difference",
        x_names=names,
    )


def claims_of(rule: RuleTrials) -> Iterator[SourceClaim]:
    """Yield each published match of a rule, and what is stated of it without a number."""
    for trial in rule.trials:
        for one in trial.repeats:
            record = "" if one.record is None else f" {one.record}"
            visits = "" if one.visits is None else f", {one.visits:,} visits"
            figure = f"{one.elo:+.0f} Elo{record}, {one.games:,} games"
            yield SourceClaim(key_of(trial, one), SOURCE, f"{one.setting}{visits}", figure)
        if trial.states is not None:
            yield SourceClaim(trial.name, SOURCE, trial.states[0], "no number")


def matches(rule: RuleTrials, setting: Setting) -> list[Match]:
    """The matches that will be played."""
    return chosen(setting, [match for *_, match in planned(rule, setting)])


EXPERIMENTS = tuple(
    Experiment(
        rule.name,
        SOURCE,
        rule.title,
        partial(make, rule),
        claims=tuple(claims_of(rule)),
        matches=partial(matches, rule),
        uses=("nets", "visits", "game", "precision", "only", "constants"),
        looks=True,
    )
    for rule in RULES
)
