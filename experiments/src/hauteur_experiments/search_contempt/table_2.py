"""Table 2 of Joshi 2025: search-contempt against PUCT with a high temperature, both tuned to equally many draws.

The paper's question is which lever for decisive games costs less strength. So first the N_scl is sought at which
search-contempt (with the low temperature of tau_1) has the (w + l)/d that PUCT with tau_2 has in self-play. Where no
N_scl has it, tau_2 is cooled or warmed until its ratio is that of the nearest N_scl. The two play each other, and both
play themselves again in fresh games, which shows whether their ratios are equal: the premise of the claim. The paper's
players differ in other constants besides; `contempt-vs-temperature-alone` tells the parts of their difference apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import hauteur as ht
from hauteur_experiments.deciding import BUNDLE
from hauteur_experiments.experiment import Experiment, Finding, Result, stated
from hauteur_experiments.grid import Match, play
from hauteur_experiments.measured import MatchElo, Record
from hauteur_experiments.ratio import (
    RatioSearch,
    TunedRatio,
    decisive_ratio,
    equal_within,
    ratio_factor,
    ratio_text,
    tune_ratio,
)
from hauteur_experiments.search_contempt.settings import (
    GAMES,
    HYBRID,
    LEAST_GAMES,
    PAPER,
    TRAINING,
    VISITS,
    contempt,
    game_of,
    player,
    scoped,
    selfplay,
    tau_2_temperature,
)
from hauteur_experiments.setting import Setting, position_lines
from hauteur_experiments.verdict import Claim, Inequality, finite

TABLE_2 = Record(37, 46, 17)
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
"""Sets of GAMES games more, at the N_scl where the line leads; and for a factor on tau_2."""


@dataclass(frozen=True)
class Sides:
    """Search-contempt and PUCT at equal ratios, and how N_scl and the factor on tau_2 (None: left at 1) were found."""

    n_scl: TunedRatio
    factor: TunedRatio | None
    target: float

    @property
    def name(self) -> str:
        """Name of the folder of their match."""
        name = f"n{self.n_scl.x:g}-tau2"
        if self.factor is None:
            return name
        return f"{name}-x{self.factor.x:.3g}"

    def words(self, setting: Setting) -> dict[str, str]:
        """The words of search-contempt and of PUCT."""
        factor = 1.0 if self.factor is None else self.factor.x
        return {"contempt": contempt_words(setting, self.n_scl.x), "puct": tau_words(factor)}


def contempt_words(setting: Setting, n_scl: float) -> str:
    """hybrid with this N_scl; PUCT where it is not below the visits, and so never acts."""
    if round(n_scl) >= setting.visits_or(VISITS):
        return HYBRID
    return contempt(round(n_scl))


def tau_words(factor: float) -> str:
    """PUCT with tau_2 times a factor."""
    return f"{tau_2_temperature(factor)} {TRAINING}"


def make(setting: Setting) -> Result:
    """Tune the sides, play the match and fresh games of both."""
    sides = tuned_sides(setting)
    texts = tuning_texts(sides)
    for text in texts:
        setting.show(text)
    words = sides.words(setting)
    a, b = (player(setting, side) for side in words.values())
    openings = position_lines(setting.positions)
    game = game_of(setting)
    count = setting.pairs(MATCH_GAMES)
    match = Match(sides.name, a, b, count, game=game, openings=openings, seed=MATCH_SEED)
    games = setting.scaled(MATCH_GAMES, 2)
    fresh = [selfplay(setting, f"fresh-{sides.name}-{name}", one, games, MATCH_SEED) for name, one in words.items()]
    played = play(setting, [match, *fresh], shared=True)
    tally = played[match.name].tally
    own = [Record.of(played[one.name].tally) for one in fresh]
    facts: dict[str, Any] = {"visits": setting.visits_or(VISITS), "games": match.games}
    facts |= {"n_scl": _facts(sides.n_scl), "factor": _facts(sides.factor)}
    rows = [_row("search-contempt", sides, tally), _row("PUCT", sides, tally)]
    findings = [match_finding(tally, sides, *own), equal_finding(*own)]
    return scoped(setting, Result(rows, findings, (), texts, facts))


def tuned_sides(setting: Setting) -> Sides:
    """Play or resume the games of the tuning.

    Raise ValueError if tau_2 has only draws or none, so that there is no ratio to tune to.
    """
    games = setting.scaled(GAMES, 2)
    visits = setting.visits_or(VISITS)

    def measured(name: str, words: str, count: int) -> Record:
        match = selfplay(setting, name, words, count)
        played = play(setting, [match], shared=True)
        return Record.of(played[name].tally)

    def contempt_games(x: float, count: int) -> Record:
        return measured("puct" if x >= visits else f"n{x:g}", contempt_words(setting, x), count)

    def tau_games(x: float, count: int) -> Record:
        return measured("tau2" if x == 1 else f"tau2-x{x:.6g}", tau_words(x), count)

    warm = tau_games(1.0, games)
    target = decisive_ratio(warm)
    if not target:
        raise ValueError(f"self-play with tau_2 has the results {warm}: no ratio (w + l)/d to tune to; play more games")
    starts = tuple(float(n_scl) for n_scl in STARTS if n_scl <= visits) or (1.0,)
    search = RatioSearch(target, 1, visits, starts, rising=False, whole=True, games=games, more=MORE_SETS)
    n_scl = tune_ratio(contempt_games, search)
    if n_scl.reached == "found":
        return Sides(n_scl, None, target)
    search = RatioSearch(n_scl.ratio, 0.1, 2.0, (1.0,), rising=True, games=games, more=MORE_SETS)
    return Sides(n_scl, tune_ratio(tau_games, search), target)


def tuning_texts(sides: Sides) -> list[str]:
    """Return the findings of the tuning, one line each."""
    texts = [f"PUCT with tau_2 has (w + l)/d {sides.target:.2f} in self-play (paper: {PAPER_RATIO})"]
    for name, tuned in (("N_scl", sides.n_scl), ("factor on tau_2", sides.factor)):
        if tuned is not None:
            places = "; ".join(f"{one.x:.4g}: {ratio_text(one.record)}" for one in tuned.measured)
            end = "" if tuned.reached == "found" else f", the {tuned.reached} end of what is possible"
            texts.append(f"{name} {tuned}{end}: (w + l)/d {tuned.ratio:.2f}; measured {places}")
    return texts


def match_finding(tally: ht.Tally, sides: Sides, contempt: Record, puct: Record) -> Finding:
    """The match and the paper's, from the view of search-contempt.

    contempt, puct: fresh games of each side, which show whether both are equally decisive: the premise.
    """
    what = "search-contempt is ahead by"
    elo = MatchElo(tally)
    half = TABLE_2.elo / 2
    side = Inequality(what, elo, 0.0, "above", LEAST_GAMES, unit="Elo", matters=half, source=TABLE_2.elo)
    tuned = f"N_scl {sides.n_scl} for (w + l)/d {sides.target:.2f} (paper: {PAPER_RATIO})"
    record = Record.of(tally)
    counts = f"{record.wins} won, {record.draws} drawn, {record.losses} lost"
    claim = Claim((side,), premise=_equal(contempt, puct))
    return Finding.of("stronger", claim, f"{tuned}: {counts}", BUNDLE)


def equal_finding(contempt: Record, puct: Record) -> Finding:
    """The premise of the match, by fresh games: (w + l)/d of the two is equal within a factor."""
    shown = f"{ratio_text(contempt)}; PUCT: {ratio_text(puct)}"
    return Finding.of("equal", Claim(_equal(contempt, puct)), shown)


def _equal(contempt: Record, puct: Record) -> tuple[Inequality, Inequality]:
    """Return that (w + l)/d of the two is equal within a factor."""
    what = "(w + l)/d of search-contempt over that of PUCT"
    return equal_within(what, ratio_factor(contempt, puct), LEAST_GAMES, "games of a setting")


def _row(name: str, sides: Sides, tally: ht.Tally) -> dict[str, Any]:
    """A line of the table from one side's view."""
    here = Record.of(tally)
    row: dict[str, Any] = {"search": name}
    if name == "search-contempt":
        there = TABLE_2
        elo = finite(here.elo)
        paper_elo = TABLE_2.elo
        row["temperature"] = "tau_1"
        row["n_scl"] = sides.n_scl.x
    else:
        elo = 0.0
        paper_elo = 0.0
        here = _turned(here)
        there = _turned(TABLE_2)
        factor = 1.0 if sides.factor is None else sides.factor.x
        row["temperature"] = f"{factor:.4g} tau_2"
        row["n_scl"] = None
    row |= here._asdict()
    row["elo"] = elo
    for field, count in there._asdict().items():
        row[f"paper_{field}"] = count
    row["paper_elo"] = paper_elo
    return row


def _turned(one: Record) -> Record:
    """Return a record from the other side's view."""
    return Record(one.losses, one.draws, one.wins)


def _facts(tuned: TunedRatio | None) -> dict[str, Any] | None:
    if tuned is None:
        return None
    places = [{"x": one.x, **one.record._asdict()} for one in tuned.measured]
    facts = {"x": tuned.x, "interval_95": list(tuned.interval), "ratio": tuned.ratio, "reached": tuned.reached}
    return {**facts, "measured": places}


def matches(setting: Setting) -> list[Match]:
    """The games with tau_2, to whose ratio the sides are tuned."""
    return [selfplay(setting, "tau2", tau_words(1.0), setting.scaled(GAMES, 2))]


EXPERIMENTS = (
    Experiment(
        "contempt-vs-temperature",
        f"{PAPER}, table 2",
        "match: search-contempt against PUCT with a temperature of equally many draws",
        make,
        claims=stated(
            f"{PAPER}, table 2",
            "stronger | search-contempt is stronger than a temperature of equal (w + l)/d"
            " | +70 Elo [+20, +124], 100 games",
            "equal | the two settings of that match have equal (w + l)/d (within a factor of 1.5) | 1.38 with both",
        ),
        matches=matches,
        uses=("nets", "visits", "game", "precision", "positions"),
    ),
)
