"""Table 2 of Joshi 2025: search-contempt against PUCT with a high temperature, both tuned to equally many draws.

The paper's question is which lever for decisive games costs less strength. So first the N_scl is sought at which
search-contempt (with the low temperature of tau_1) has the (w + l)/d that PUCT with tau_2 has in self-play: on a line
through the games of figure 2, and then by games at the N_scl where the line leads. Where no N_scl has it, tau_2 is
cooled or warmed until its ratio is that of the nearest N_scl. The two play each other, and both play themselves again
in fresh games, which shows whether their ratios are equal.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from hauteur.matches.ratings.elo import MatchScore, elo, elo_interval
from hauteur.matches.ratings.ratio import decisive_ratio
from hauteur.matches.results import Tally
from hauteur.players.settings import PlayerSettings
from hauteur.plots import Figure, Series
from hauteur.system.formatting import finite
from hauteur_experiments.experiment import Experiment, ExperimentSetting, Finding, Result
from hauteur_experiments.matches import MatchSpec, PlayedMatch, match_seconds
from hauteur_experiments.measured import Interval, MatchElo
from hauteur_experiments.search_contempt.ratio_figures import ratio_text
from hauteur_experiments.search_contempt.ratio_fit import RatioSearch, TunedRatio, ratio_factor, tune_ratio
from hauteur_experiments.search_contempt.settings import (
    EQUAL_WITHIN,
    GAMES,
    HYBRID,
    LEAST_GAMES,
    PAPER,
    TAU_2,
    VISITS,
    contempt,
    equal_within,
    game_of,
    player,
    scoped,
    selfplay,
    warmer,
)
from hauteur_experiments.shared_games import play_shared
from hauteur_experiments.verdict import Claim, Inequality

TABLE_2 = MatchScore(37, 46, 17)
"""The paper's match from the view of search-contempt."""

PAPER_RATIO = 1.38
"""(w + l)/d of both in self-play."""

MATCH_GAMES = 2 * GAMES
"""The paper's 100 games leave an interval of 100 Elo; twice as many, one of 70."""

MATCH_SEED = 1001
"""Of the match: its games have other random draws than those that the sides were tuned with."""

STARTS = (5, 10, 32)
"""N_scl that are played first: the games of figure 2."""

MORE_SETS = 3
"""At most so many times GAMES games are played more, at the N_scl where the line through those leads; and for a factor
on tau_2, after the games of tau_2 itself."""


@dataclass(frozen=True)
class Sides:
    """Search-contempt and PUCT at equal ratios, and how N_scl and the factor on tau_2 (None: left at 1) were found."""

    n_scl: TunedRatio
    factor: TunedRatio | None
    wanted: float

    @property
    def name(self) -> str:
        """Name of the folder of their match."""
        return f"n{self.n_scl.x:g}-tau2" + ("" if self.factor is None else f"-x{self.factor.x:.3g}")

    def players(self, setting: ExperimentSetting) -> tuple[PlayerSettings, PlayerSettings]:
        """Search-contempt and PUCT."""
        factor = 1.0 if self.factor is None else self.factor.x
        return contempt_player(setting, self.n_scl.x), tau_player(setting, factor)


def contempt_vs_temperature(setting: ExperimentSetting) -> Result:
    """Table 2."""
    sides = tuned_sides(setting)
    for text in tuning_texts(sides):
        setting.show(text)
    return _result(setting, sides, _match(setting, sides), _fresh(setting, sides))


def _fresh(setting: ExperimentSetting, sides: Sides) -> tuple[MatchScore, MatchScore]:
    """Self-play of both sides with the match's seed, in as many games."""
    own = []
    for name, settings in zip(("contempt", "puct"), sides.players(setting), strict=True):
        spec = selfplay(setting, f"fresh-{sides.name}-{name}", settings, setting.scaled(MATCH_GAMES, 2))
        own.append(play_shared(setting, [replace(spec, seed=MATCH_SEED)])[spec.name].tally.record)
    return own[0], own[1]


def _match(setting: ExperimentSetting, sides: Sides) -> PlayedMatch:
    a, b = sides.players(setting)
    games = 2 * max(1, setting.scaled(MATCH_GAMES) // 2)
    return play_shared(setting, [MatchSpec(sides.name, a, b, games, game=game_of(setting), seed=MATCH_SEED)])[
        sides.name
    ]


def _result(
    setting: ExperimentSetting, sides: Sides, match: PlayedMatch, fresh: tuple[MatchScore, MatchScore]
) -> Result:
    facts = {"visits": setting.visits_or(VISITS), "games": match.spec.games}
    return Result(
        [_row("search-contempt", sides, match.tally), _row("PUCT", sides, match.tally)],
        scoped(setting, [match_finding(match.tally, sides), equal_finding(*fresh)]),
        [_figure(setting, match)],
        tuning_texts(sides),
        {**facts, "n_scl": _facts(sides.n_scl), "factor": _facts(sides.factor)},
    )


def tuned_sides(setting: ExperimentSetting) -> Sides:
    """Play or resume the games of the tuning.

    Raise ValueError if tau_2 has only draws or none, so that there is no ratio to tune to.
    """
    warm = _measure(setting, "tau2", tau_player(setting, 1.0), setting.scaled(GAMES, 2))
    wanted = decisive_ratio(warm)
    if not wanted:
        raise ValueError(f"self-play with tau_2 has the results {warm}: no ratio (w + l)/d to tune to; play more games")
    n_scl = _tuned_n_scl(setting, wanted)
    if n_scl.reached == "found":
        return Sides(n_scl, None, wanted)
    games = setting.scaled(GAMES, 2)
    search = RatioSearch(n_scl.ratio, 0.1, 2.0, (1.0,), rising=True, games=games, most_games=(1 + MORE_SETS) * games)
    return Sides(n_scl, tune_ratio(lambda x, games: _tau_games(setting, x, games), search), wanted)


def _tuned_n_scl(setting: ExperimentSetting, wanted: float) -> TunedRatio:
    """N_scl by the games of figure 2, and by games at the N_scl where they lead."""
    visits, games = setting.visits_or(VISITS), setting.scaled(GAMES, 2)
    starts = tuple(float(n_scl) for n_scl in STARTS if n_scl <= visits) or (1.0,)
    most = (len(starts) + MORE_SETS) * games
    search = RatioSearch(wanted, 1, visits, starts, rising=False, whole=True, games=games, most_games=most)
    return tune_ratio(lambda x, games: _contempt_games(setting, x, games), search)


def contempt_player(setting: ExperimentSetting, n_scl: float) -> PlayerSettings:
    """hybrid with this N_scl; PUCT where it is not below the visits, and so never acts."""
    n = round(n_scl)
    return player(setting, HYBRID if n >= setting.visits_or(VISITS) else contempt(n))


def tau_player(setting: ExperimentSetting, factor: float) -> PlayerSettings:
    """PUCT with tau_2 times a factor."""
    return warmer(player(setting, TAU_2), factor)


def _contempt_games(setting: ExperimentSetting, n_scl: float, games: int) -> MatchScore:
    name = "puct" if n_scl >= setting.visits_or(VISITS) else f"n{n_scl:g}"
    return _measure(setting, name, contempt_player(setting, n_scl), games)


def _tau_games(setting: ExperimentSetting, factor: float, games: int) -> MatchScore:
    name = "tau2" if factor == 1 else f"tau2-x{factor:.6g}"
    return _measure(setting, name, tau_player(setting, factor), games)


def _measure(setting: ExperimentSetting, name: str, settings: PlayerSettings, games: int) -> MatchScore:
    return play_shared(setting, [selfplay(setting, name, settings, games)])[name].tally.record


def tuning_texts(sides: Sides) -> list[str]:
    """Return the findings of the tuning, one line each."""
    texts = [f"PUCT with tau_2 has (w + l)/d {sides.wanted:.2f} in self-play (paper: {PAPER_RATIO})"]
    texts += [_tuning_text("N_scl", sides.n_scl)]
    return texts if sides.factor is None else [*texts, _tuning_text("factor on tau_2", sides.factor)]


def _tuning_text(name: str, tuned: TunedRatio) -> str:
    low, high = tuned.interval
    places = "; ".join(f"{one.x:.4g}: {ratio_text(one.record)}" for one in tuned.measured)
    end = "" if tuned.reached == "found" else f", the {tuned.reached} end of what is possible"
    return f"{name} {tuned.x:.4g} [{low:.3g}, {high:.3g}]{end}: (w + l)/d {tuned.ratio:.2f}; measured {places}"


def match_finding(tally: Tally, sides: Sides) -> Finding:
    """The match beside the paper's, from the view of search-contempt."""
    there = elo_interval(TABLE_2)
    text = (
        f"table 2: search-contempt at N_scl 5 against PUCT with tau_2: {_counts(TABLE_2)}, {elo(TABLE_2):+.0f} Elo "
        f"[{there[0]:+.0f}, {there[1]:+.0f}]"
    )
    half, what = elo(TABLE_2) / 2, "search-contempt is ahead by"
    side = Inequality(what, MatchElo(tally), 0.0, "above", LEAST_GAMES, unit="Elo", matters=half)
    low, high = sides.n_scl.interval
    tuned = f"N_scl {sides.n_scl.x:.4g} [{low:.3g}, {high:.3g}] for (w + l)/d {sides.wanted:.2f} (paper: {PAPER_RATIO})"
    return Finding.of(text, Claim((side,)), f"{tuned}: {_counts(tally.record)}")


def equal_finding(contempt: MatchScore, puct: MatchScore) -> Finding:
    """The premise of the match, by fresh games: (w + l)/d of the two is equal within a factor."""
    factor = Interval(
        ratio_factor(contempt, puct)[0],
        min(contempt.games, puct.games),
        lambda confidence: ratio_factor(contempt, puct, confidence)[1:],
    )
    what = "(w + l)/d of search-contempt over that of PUCT"
    between = equal_within(what, factor, LEAST_GAMES, "games of a setting")
    text = f"table 2: the two settings have equal (w + l)/d; here: within a factor of {EQUAL_WITHIN} in fresh games"
    return Finding.of(text, Claim(between), f"{ratio_text(contempt)}; PUCT: {ratio_text(puct)}")


def _counts(record: MatchScore) -> str:
    return f"{record.wins} won, {record.draws} drawn, {record.losses} lost"


def _row(name: str, sides: Sides, tally: Tally) -> dict[str, Any]:
    """A line of the table from one side's view."""
    mine, record = name == "search-contempt", tally.record
    wins, losses = (record.wins, record.losses) if mine else (record.losses, record.wins)
    factor = 1.0 if sides.factor is None else sides.factor.x
    return {
        "search": name,
        "temperature": "tau_1" if mine else f"{factor:.4g} tau_2",
        "n_scl": sides.n_scl.x if mine else None,
        "wins": wins,
        "draws": record.draws,
        "losses": losses,
        "elo": (elo(record) if 0 < record.score < 1 else None) if mine else 0.0,
        "paper_wins": TABLE_2.wins if mine else TABLE_2.losses,
        "paper_draws": TABLE_2.draws,
        "paper_losses": TABLE_2.losses if mine else TABLE_2.wins,
        "paper_elo": elo(TABLE_2) if mine else 0.0,
    }


def _facts(tuned: TunedRatio | None) -> dict[str, Any] | None:
    if tuned is None:
        return None
    places = [
        {"x": one.x, "wins": one.record.wins, "draws": one.record.draws, "losses": one.record.losses}
        for one in tuned.measured
    ]
    return {
        "x": tuned.x,
        "interval_95": list(tuned.interval),
        "ratio": tuned.ratio,
        "reached": tuned.reached,
        "measured": places,
    }


def _figure(setting: ExperimentSetting, match: PlayedMatch) -> Figure:
    """Elo of search-contempt, here and in the paper."""
    size = f"{match.tally.record.games:,} games at {setting.visits_or(VISITS):,} visits a move"
    paper = f"paper: chess, {TABLE_2.games} at {VISITS:,}"
    text = f"{(setting.game or 'chess').capitalize()}, {size}; {paper}. Bars: 95 % intervals."
    return Figure(
        "contempt-vs-temperature",
        "Search-contempt against PUCT with a high temperature",
        text,
        "Elo of search-contempt",
        "match at equal (w + l)/d",
        lines=(
            _elo_series("paper", 1.0, elo(TABLE_2), elo_interval(TABLE_2), "orange"),
            _elo_series("here", 2.0, MatchElo(match.tally).value, MatchElo(match.tally).interval(0.95), "blue"),
        ),
        threshold=0.0,
        threshold_name="equal",
        x_names=["paper", "here"],
    )


def _elo_series(name: str, place: float, value: float, ends: tuple[float, float], colour: str) -> Series:
    low, high = ends
    return Series(name, [place], [finite(value)], colour, low=[finite(low)], high=[finite(high)], joined=False)


def _seconds(setting: ExperimentSetting) -> float:
    """Estimate the seconds of the games always played, and two more sets for the tuning."""
    games = setting.scaled(GAMES, 2)
    sets = [selfplay(setting, f"n{n_scl}", contempt_player(setting, n_scl), games) for n_scl in (*STARTS, 15, 20)]
    tau = tau_player(setting, 1.0)
    return match_seconds(
        setting,
        [
            *sets,
            selfplay(setting, "tau2", tau, games),
            *(selfplay(setting, name, tau, setting.scaled(MATCH_GAMES)) for name in ("match", "fresh", "fresh")),
        ],
    )


EXPERIMENTS = (
    Experiment(
        "contempt-vs-temperature",
        f"{PAPER}, table 2",
        "match: search-contempt against PUCT with a temperature of equally many draws",
        0.0,
        contempt_vs_temperature,
        seeds=1,
        uses=("nets", "visits", "game"),
        estimate_here=_seconds,
    ),
)
