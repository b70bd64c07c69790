"""Result table of the MCTS experiments: matches of the search with each rule against the search without it.

`published_matches` defines the matches and the source's results. Matches here begin with four random plies, each
opening twice with colours swapped; the source does not state its openings.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from hauteur.games.registry import load_game
from hauteur.matches.ratings.elo import elo_of_interval, elo_of_score
from hauteur.matches.results import summary
from hauteur.players.settings import PlayerSettings, parse_player
from hauteur.plots import Figure, Series
from hauteur.system.formatting import finite
from hauteur_experiments.experiment import Experiment, ExperimentSetting, Finding, Result
from hauteur_experiments.matches import MatchSpec, PlayedMatch, match_seconds, play_matches, wanted
from hauteur_experiments.mcts_experiments.elo_claims import CLOSE, beyond, elo_inequality
from hauteur_experiments.mcts_experiments.published_matches import RULES, SOURCE, Published, RuleTrials, Trial
from hauteur_experiments.measured import Interval, MatchElo
from hauteur_experiments.verdict import Claim, Side

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
    published = sum(len(one.published) for one in measured)
    findings = [finding for one in measured for finding in _findings(one, measured, max(1, published), setting)]
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


def _findings(
    one: MeasuredMatch, others: Sequence[MeasuredMatch], cells: int, setting: ExperimentSetting
) -> Iterator[Finding]:
    """Yield each published match beside this one. cells: published matches in the table."""
    game = setting.game or "chess"
    control = next((other for other in others if other.name.startswith(one.trial.control or "-")), None)
    for published in one.published:
        scope = ["another game"] if load_game(game).spec != "chess" else []
        scope += ["other visits"] if published.visits != one.visits else []
        if one.trial.control and control is None:
            scope.append(f"without its control {one.trial.control}")
        claim = claim_of(published, one, control, cells)
        yield Finding.of(str(published), claim, f"{one.name}, {one.visits:,} visits", ", ".join(scope))


def claim_of(published: Published, one: MeasuredMatch, control: MeasuredMatch | None, cells: int) -> Claim:
    """Return what a published match claims of the match here.

    Where the source's interval is on one side of 0, the difference is on that side, and beyond that of the control,
    which has the setting's c_puct alone; half of the source's difference matters. Else the source found nothing, and
    the two results differ by nothing.
    """
    there = published.interval or (published.elo, published.elo)
    elo = MatchElo(one.played.tally)
    if there[0] <= 0 <= there[1]:
        less = beyond(elo, Interval(published.elo, elo.units, published.interval_of))
        return Claim((elo_inequality("less the source's difference", less, "at", CLOSE),), cells=cells)
    side: Side = "above" if there[0] > 0 else "below"
    half = published.elo / 2
    sides = [elo_inequality("difference", elo, side, half)]
    if control is not None:
        sides.append(elo_inequality("beyond the control", beyond(elo, MatchElo(control.played.tally)), side, half))
    return Claim(tuple(sides), cells=cells)


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
        looks=True,
    )
    for rule in RULES
)
