"""Result table of the MCTS experiments: matches of the search with each rule against the search without it.

`published` defines the matches and the source's results. Matches here begin with four random plies, each opening twice
with colours swapped; the source does not state its openings.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import hauteur as ht
from hauteur_experiments.experiment import Experiment, Finding, Result, Setting, SourceClaim
from hauteur_experiments.grid import APART, Match, Played, chosen, play, points, with_net
from hauteur_experiments.mcts_experiments.published import RULES, SOURCE, Published, RuleTrials, Trial
from hauteur_experiments.measured import CLOSE, Interval, MatchElo, Record, contrast, elo_above, elo_columns, elo_text
from hauteur_experiments.verdict import Claim, Side

RANDOM_PLIES = 4


@dataclass(frozen=True)
class Measured:
    """A match that was played: what it is, at how many visits, the matches of the source beside it."""

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
    """Play the matches of a rule, and put them beside the published ones."""
    plan = list(planned(rule, setting))
    played = play(setting, [match for _, _, _, match in plan])
    measured = [Measured(trial, n, beside, played[one.name]) for trial, n, beside, one in plan if one.name in played]
    cells = max(1, sum(len(one.published) for one in measured))
    findings = [finding for one in measured for finding in _findings(one, measured, cells, setting)]
    texts = [f"{one.name}: {one.trial.shows}\n{_text(one)}" for one in measured if one.trial.shows]
    return Result([row for one in measured for row in _rows(one)], findings, [figure(rule, measured)], texts)


def planned(rule: RuleTrials, setting: Setting) -> Iterator[tuple[Trial, int, tuple[Published, ...], Match]]:
    """Each match with its trial, its visits, and the published matches beside it.

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
    full = games or (trial.repeats[0].games if trial.repeats else trial.games)
    a, b = (with_net(f"visits={visits} {words}", setting.net) for words in (trial.a, trial.b))
    return Match(name, a, b, setting.pairs(full), game=setting.game or "chess", random_plies=RANDOM_PLIES)


def _text(one: Measured) -> str:
    return f"{Record.of(one.played.tally)}  Elo {elo_text(one.elo)}"


def _rows(one: Measured) -> Iterator[dict[str, Any]]:
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


def _findings(one: Measured, others: Sequence[Measured], cells: int, setting: Setting) -> Iterator[Finding]:
    """Yield each published match beside this one. cells: published matches in the table."""
    control = next((other for other in others if other.name.startswith(one.trial.control or "-")), None)
    for published in one.published:
        scope = ["another game"] if (setting.game or "chess") != "chess" else []
        scope += ["other visits"] if published.visits != one.visits else []
        if one.trial.control and control is None:
            scope.append(f"without its control {one.trial.control}")
        claim = claim_of(published, one.elo, None if control is None else control.elo, cells)
        shown = f"{one.name}, {one.visits:,} visits"
        yield Finding.of(key_of(one.trial, published), claim, shown, ", ".join(scope))


def key_of(trial: Trial, published: Published) -> str:
    """Key of the claim of a published match."""
    return trial.name if published.visits is None else f"{trial.name}-{published.visits}"


def claim_of(published: Published, elo: MatchElo, control: MatchElo | None, cells: int) -> Claim:
    """Return what a published match claims of the match here.

    Where the source's interval is on one side of 0, the difference is on that side, and beyond that of the control,
    which has the setting's c_puct alone; half of the source's difference matters. Else the source found nothing, and
    the two results differ by nothing.
    """
    there = published.interval or (published.elo, published.elo)
    if there[0] <= 0 <= there[1]:
        less = contrast((1, elo), (-1, Interval(published.elo, elo.units, published.ends)))
        return Claim((elo_above("less the source's difference", less, CLOSE, side="at"),), cells=cells)
    side: Side = "above" if there[0] > 0 else "below"
    half = published.elo / 2
    sides = [elo_above("difference", elo, half, side=side)]
    if control is not None:
        sides.append(elo_above("beyond the control", contrast((1, elo), (-1, control)), half, side=side))
    return Claim(tuple(sides), cells=cells)


def figure(rule: RuleTrials, measured: Sequence[Measured]) -> ht.Figure:
    """Elo differences with their intervals, here and as published, match beside match."""
    places = range(1, len(measured) + 1)
    there = [
        (number + APART * (1 + place), Interval(published.elo, published.games, published.ends))
        for number, one in zip(places, measured, strict=True)
        for place, published in enumerate(one.published)
    ]
    lines = [points("here", places, [one.elo for one in measured], "blue")]
    if there:
        lines.append(points("source", [x for x, _ in there], [elo for _, elo in there], "orange"))
    visits = sorted({f"{one.visits:,}" for one in measured})
    text = f"{' and '.join(visits)} visits here; bars are 95 % intervals."
    style: Any = {"lines": tuple(lines), "threshold": 0.0, "threshold_name": "no difference"}
    names = [one.name for one in measured]
    return ht.Figure(rule.name, f"{rule.name}: {rule.title}", text, "Elo", "match", x_names=names, **style)


def claims_of(rule: RuleTrials) -> Iterator[SourceClaim]:
    """Yield each published match of a rule."""
    for trial in rule.trials:
        for one in trial.repeats:
            record = "" if one.record is None else f" {one.record}"
            visits = "" if one.visits is None else f", {one.visits:,} visits"
            figure = f"{one.elo:+.0f} Elo{record}, {one.games:,} games"
            yield SourceClaim(key_of(trial, one), SOURCE, f"{one.setting}{visits}", figure)


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
        uses=("nets", "visits", "game", "only"),
        looks=True,
    )
    for rule in RULES
)
