"""What a user can use first: settings that gained in games that are kept, with what the games do not say.

Every number is computed from the games in `docs/experiments/results`, but for those of minichess, whose games were not
kept and which are lines of the table of claims.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypedDict

from hauteur_experiments.deciding import Row, game_of
from hauteur_experiments.kept import KeptGame, KeptRun, read_run
from hauteur_experiments.measured import by_opening, contrast
from hauteur_experiments.verdict import Measured, Number, number_of

TAKERS = ("1100-qr", "1100-q2r", "1500-qr", "1500-q2r", "1900-qr", "1900-q2r")
"""Odds takers (a Maia) with what is given: queen and rook, or queen and two rooks."""

EVEN = {100: "odds-models-even-1500-100", 400: "odds-models-even-1500-400"}
"""Even games of chess, by nodes."""

AHEAD = "Joshi 2025, table 1: weaker: with some N_scl it is ahead of PUCT at the most nodes"
TAKER_OF_MINICHESS = "10"
"""Visits of its odds taker, where the command leaves them out."""

FRESH = ("maia-1100", "maia-1900")
"""Nets with which the constants were played again."""

TUNED = "tune-chess-c0.75-f0.2"
"""The match of the constants that were taken, in the run of rules in chess."""


class Use(TypedDict):
    """A setting that a user can take."""

    key: str
    """Its name in the data."""
    setting: str
    """The setting as a user writes it, and where it is for."""
    program: str
    """The same in a chess program: options by UCI."""
    numbers: list[Number]
    """What it gained."""
    shown: tuple[str, ...]
    """Beginnings of the words of those numbers that a page shows."""
    unit: str
    """Unit of the numbers."""
    scope: str
    """Where it was measured."""
    limits: str
    """What the games do not say."""
    runs: list[str]
    """Names of the runs."""


def uses(results: Path, rows: Sequence[Row]) -> list[Use]:
    """Return the settings, from kept runs in a folder and the lines of the table of claims."""

    @cache
    def run(name: str) -> KeptRun:
        return read_run(results / f"{name}.json")

    return [_n_scl(run, rows), _half_of_the_draws(run), _constants(results)]


def gain(before: Sequence[KeptGame], after: Sequence[KeptGame]) -> Measured:
    """Return how many percentage points more a cell scores than another from the same openings, game by game."""
    pairs = [(a, b) for a, b in zip(before, after, strict=True) if a.opening == b.opening]
    gains = [100 * (b.score - a.score) for a, b in pairs]
    return by_opening(gains, [a.opening for a, _ in pairs])


def _n_scl(run: Callable[[str], KeptRun], rows: Sequence[Row]) -> Use:
    """N_scl by the visits of the odds taker, and what it costs against an equal."""
    numbers = [*_queen_odds(run), *_minichess(rows), *_even_games(run)]
    return Use(
        key="n-scl",
        setting=(
            "At odds: `search-contempt.n-scl` of a third of the odds taker's visits to all of them, where it has 3 "
            "or more; never against an equal"
        ),
        program="`ScLimit` 10 against a player who searches 10 to 30 nodes, for example",
        numbers=numbers,
        shown=(
            "queen odds, odds taker of 10,",
            "minichess, odds taker of 3, N_scl 3",
            "minichess, odds taker of 3, N_scl 28",
            "even game of 100 nodes, N_scl 3",
        ),
        unit="percentage points",
        scope="maia-1900 at 800 nodes, and minichess by the log alone",
        limits=(
            "Between a third and all of the visits the games do not decide. Against one visit it does not hold: 1 "
            "gained nothing in minichess, 3 gained in chess. No odds taker was a person."
        ),
        runs=["contempt-odds-queen-10v", "contempt-odds-queen-1v", *EVEN.values()],
    )


def _queen_odds(run: Callable[[str], KeptRun]) -> Iterator[Number]:
    """Yield the gains of each N_scl at queen odds and 800 nodes."""
    for visits, name in ((10, "contempt-odds-queen-10v"), (1, "contempt-odds-queen-1v")):
        cells = run(name).games
        for n_scl in n_scl_of(cells):
            what = f"queen odds, odds taker of {visits}, N_scl {n_scl} above PUCT"
            yield number_of(what, gain(cells["puct-800"], cells[f"n{n_scl}-800"]))


def _even_games(run: Callable[[str], KeptRun]) -> Iterator[Number]:
    """Yield what each N_scl scores above one half against PUCT."""
    for nodes, name in EVEN.items():
        cells = run(name).games
        for n_scl in n_scl_of(cells):
            games = cells[f"n{n_scl}-{nodes}"]
            scores = by_opening([100 * game.score - 50 for game in games], [game.opening for game in games])
            yield number_of(f"even game of {nodes} nodes, N_scl {n_scl} above an equal score", scores)


def n_scl_of(cells: Iterable[str]) -> list[int]:
    """Return the N_scl of cells such as `n28-800`, each once."""
    return sorted({int(cell[1:].partition("-")[0]) for cell in cells if cell.startswith("n")})


def _minichess(rows: Sequence[Row]) -> Iterator[Number]:
    """Yield the gains of the lines of minichess, with the odds taker's visits in their words."""
    for row in rows:
        if row["claim"] == AHEAD and game_of(row) == "minichess" and row["numbers"]:
            found = re.search(r"visits=(\d+) temp", row["command"])
            taker = found[1] if found else TAKER_OF_MINICHESS
            for number in json.loads(row["numbers"]):
                what = f"minichess, odds taker of {taker}, {number['what']} above PUCT"
                yield Number(what=what, value=number["value"], low=number["low"], high=number["high"])


def _half_of_the_draws(run: Callable[[str], KeptRun]) -> Use:
    """Half of the draws from the net of the odds taker."""
    names = []
    numbers = []
    for nodes, ending in ((100, ""), (400, "-400")):
        gains = []
        for taker in TAKERS:
            games = dict(run(f"odds-models-{taker}{ending}").games)
            names.append(f"odds-models-{taker}{ending}")
            last = f"{names[-1]}-last"
            if taker == "1900-qr" and not ending:
                games |= run(last).games
                names.append(last)
            gains.append(gain(games[f"puct-{nodes}"], games[f"right-share-{nodes}"]))
        mean = contrast(*((1 / len(gains), one) for one in gains))
        numbers.append(number_of(f"{nodes} nodes, above PUCT", mean))
    return Use(
        key="half-of-the-draws",
        setting="At odds against a player whose net is known: half of its replies drawn from that net "
        "(`opponent-net.share=0.5` with `search-contempt.n-scl=0`)",
        program="`OpponentNet` with the name of that net, `OpponentNetShare` 0.5, `ScLimit` 0",
        numbers=numbers,
        shown=("",),
        unit="percentage points",
        scope="mean of six: maia-1900 gives queen and one or two rooks to maia-1100, 1500 or 1900 of one visit",
        limits=(
            "The best of eight searches that were tried; over all sixteen comparisons nothing excludes 0. "
            "It loses even games."
        ),
        runs=names,
    )


def _results(path: Path) -> Mapping[str, Mapping[str, Any]]:
    """Return the results of the matches of a kept run."""
    matches = json.loads(path.read_text(encoding="utf-8"))["matches"]
    return {name: match["results"] for name, match in matches.items()}


def _elo(what: str, found: Mapping[str, Any]) -> Number:
    """Return the Elo of a match."""
    low, high = found["elo_interval_95"]
    return Number(what=what, value=found["elo"], low=low, high=high)


def _constants(results: Path) -> Use:
    """c_puct and first-play urgency of a net that learned from people."""
    name = "rules-by-game-chess"
    numbers = []
    for net in FRESH:
        found = _results(results / f"constants-{net}.json")["."]
        numbers.append(_elo(f"{net}, 120 fresh games", found))
    matches = _results(results / f"{name}.json")
    for match in (TUNED, *sorted(one for one in matches if one.startswith("tune-") and one != TUNED)):
        cpuct, fpu = match.removeprefix("tune-chess-c").split("-f")
        numbers.append(_elo(f"maia-1900, c_puct {cpuct}, reduction {fpu}", matches[match]))
    return Use(
        key="constants",
        setting="A Maia net at 100 visits: `cpuct.init=0.75 fpu.value=0.2`",
        program="`CPuct` 0.75, `FpuValue` 0.2",
        numbers=numbers,
        shown=(*(f"{net}, 120" for net in FRESH), "maia-1900, c_puct 0.75, reduction 0.2"),
        unit="Elo",
        scope="100 visits against the defaults (1.745 and 0.33)",
        limits=(
            "The last match chose the constants, as the best of eight by the same 200 games: its figure is too large "
            "on average; the others chose nothing. Other visits were not tried."
        ),
        runs=[name, *(f"constants-{net}" for net in FRESH)],
    )
