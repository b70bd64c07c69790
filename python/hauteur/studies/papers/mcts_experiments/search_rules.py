"""Result table of the MCTS experiments: matches of the search with each rule against the search without it.

`published_matches` defines the matches and the source's results. Matches here begin with four random plies, each
opening twice with colours swapped; the source does not state its openings.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from hauteur.matches.ratings.elo import elo_of_interval, elo_of_score
from hauteur.matches.results import summary
from hauteur.players.settings import PlayerSettings, parse_player
from hauteur.plots import Figure, Series
from hauteur.studies.papers.experiment import Experiment, ExperimentSetting, Finding, Result, Verdict
from hauteur.studies.papers.matches import MatchSpec, PlayedMatch, match_seconds, play_matches, wanted
from hauteur.studies.papers.mcts_experiments.published_matches import RULES, SOURCE, Published, RuleTrials, Trial
from hauteur.system.formatting import finite

RANDOM_PLIES = 4

PLIES = {"chess": 120, "minichess": 60}
"""Of a game, for the estimate; others are taken to be short."""


@dataclass(frozen=True)
class MeasuredMatch:
    """A match that was played: what it is, at how many visits, the matches of the source beside it."""

    trial: Trial
    visits: int
    published: tuple[Published, ...]
    played: PlayedMatch

    @property
    def name(self) -> str:
        """The match's."""
        return self.played.spec.name

    @property
    def elo(self) -> float:
        """The difference; infinite where every game was won or lost."""
        return elo_of_score(self.played.tally.record.score)

    @property
    def interval(self) -> tuple[float, float]:
        """95 %, from pairs of games."""
        return elo_of_interval(self.played.tally.score_interval)


def make(rule: RuleTrials, setting: ExperimentSetting) -> Result:
    """Play the matches of a rule, and put them beside the published ones."""
    plan = list(planned(rule, setting))
    played = play_matches(setting, [spec for _, _, spec in plan])
    measured = [
        MeasuredMatch(trial, spec.a.visits, published, played[spec.name])
        for trial, published, spec in plan
        if spec.name in played
    ]
    rows = [row for one in measured for row in _rows(one)]
    findings = [finding for one in measured for finding in _findings(one)]
    texts = [f"{one.name}: {one.trial.shows}\n{summary(one.played.tally)}" for one in measured if one.trial.shows]
    return Result(rows, findings, [figure(rule, measured)], texts)


def planned(rule: RuleTrials, setting: ExperimentSetting) -> Iterator[tuple[Trial, tuple[Published, ...], MatchSpec]]:
    """Each match with its trial and the published matches beside it.

    With `setting.visits` a trial is one match, however many visits the source tried; else one for each of them.
    """
    for trial in rule.trials:
        if setting.visits is not None:
            yield trial, trial.repeats, _spec(trial, setting, setting.visits, trial.name)
            continue
        for published in trial.repeats:
            visits = published.visits or trial.visits
            yield trial, (published,), _spec(trial, setting, visits, f"{trial.name}-{visits}", published.games)
        if not trial.repeats:
            yield trial, (), _spec(trial, setting, trial.visits, f"{trial.name}-{trial.visits}")


def _spec(trial: Trial, setting: ExperimentSetting, visits: int, name: str, games: int = 0) -> MatchSpec:
    full = games or (trial.repeats[0].games if trial.repeats else trial.games)
    game = setting.game or "chess"
    a, b = (_player(words, setting.net(game), visits) for words in (trial.a, trial.b))
    even = 2 * setting.scaled(full // 2)
    return MatchSpec(name, a, b, even, game=game, random_plies=RANDOM_PLIES)


def _player(words: str, net: str, visits: int) -> PlayerSettings:
    return parse_player(f"visits={visits} {words}").model_copy(update={"net": net})


def _rows(one: MeasuredMatch) -> Iterator[dict[str, Any]]:
    """A row for every published match beside it, or one."""
    record, (low, high) = one.played.tally.record, one.interval
    mine = {
        "match": one.name,
        "a": one.trial.a,
        "b": one.trial.b or "plain",
        "visits": one.visits,
        "games": record.games,
        "wins": record.wins,
        "draws": record.draws,
        "losses": record.losses,
        "elo": finite(one.elo),
        "elo_low": finite(low),
        "elo_high": finite(high),
        "superiority": one.played.tally.superiority,
    }
    for published in one.published or (None,):
        yield {**mine, **_paper_columns(published)}


def _paper_columns(published: Published | None) -> dict[str, Any]:
    low, high = (published and published.interval) or (None, None)
    return {
        "paper_setting": published and published.setting,
        "paper_visits": published and published.visits,
        "paper_games": published and published.games,
        "paper_elo": published and published.elo,
        "paper_elo_low": low,
        "paper_elo_high": high,
    }


def _findings(one: MeasuredMatch) -> Iterator[Finding]:
    measured = (
        f"{one.name}, {one.visits:,} visits, {one.played.tally.record.games:,} games: {summary(one.played.tally)}"
    )
    for published in one.published:
        yield Finding(str(published), measured, verdict(published, one.interval))


def verdict(published: Published, here: tuple[float, float]) -> Verdict:
    """Compare a match with the published one, by their 95 % intervals.

    holds: both are significant, on the same side; does not hold: the intervals are disjoint, or both are significant on
    opposite sides; open: otherwise. Without an interval of the source its Elo serves as one.
    """
    there = published.interval or (published.elo, published.elo)
    sides = _side(there), _side(here)
    if sides[0] and sides[0] == sides[1]:
        return "holds"
    apart = here[1] < there[0] or there[1] < here[0]
    return "does not hold" if apart or sides[0] * sides[1] < 0 else "open"


def _side(interval: tuple[float, float]) -> int:
    """1 above 0, -1 below, 0 around it."""
    return (interval[0] > 0) - (interval[1] < 0)


def figure(rule: RuleTrials, measured: list[MeasuredMatch]) -> Figure:
    """Elo differences with their intervals, here and as published, match beside match."""
    here = [(float(number), one.elo, *one.interval) for number, one in enumerate(measured, 1)]
    there = [
        (number + 0.12 * (1 + place), published.elo, *(published.interval or (published.elo, published.elo)))
        for number, one in enumerate(measured, 1)
        for place, published in enumerate(one.published)
    ]
    lines = [
        _points(name, points, colour) for name, points, colour in (("here", here, "blue"), ("source", there, "orange"))
    ]
    visits = sorted({one.visits for one in measured})
    text = f"{_range(visits)} visits here; bars are 95 % intervals."
    return Figure(
        rule.name,
        f"{rule.name}: {rule.title}",
        text,
        "Elo",
        "match",
        lines=tuple(line for line in lines if line.xs),
        threshold=0.0,
        threshold_name="no difference",
        x_names=[one.name for one in measured],
    )


def _points(name: str, points: list[tuple[float, float, float, float]], colour: str) -> Series:
    xs, *rows = zip(*points, strict=True) if points else ((), (), (), ())
    values, low, high = ([finite(value) for value in row] for row in rows)
    return Series(name, xs, values, colour, low=low, high=high, joined=False)


def _range(numbers: list[int]) -> str:
    return f"{numbers[0]:,}" if len(numbers) == 1 else f"{numbers[0]:,} to {numbers[-1]:,}"


def seconds(rule: RuleTrials, setting: ExperimentSetting) -> float:
    """Estimate the seconds of all matches, started from scratch."""
    plies = PLIES.get(setting.game or "chess", 40)
    return match_seconds(setting, wanted(setting, [spec for _, _, spec in planned(rule, setting)]), plies)


EXPERIMENTS = tuple(
    Experiment(
        rule.name,
        SOURCE,
        rule.title,
        0.0,
        partial(make, rule),
        seeds=1,
        uses=("nets", "visits", "game", "only"),
        estimate_here=partial(seconds, rule),
    )
    for rule in RULES
)
