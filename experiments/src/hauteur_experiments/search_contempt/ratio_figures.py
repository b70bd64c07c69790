"""The ratio (w + l)/d of several settings beside the paper's: as text, as a table, as figures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from hauteur.matches.ratings.elo import MatchScore
from hauteur.matches.ratings.ratio import decisive_ratio, decisive_ratio_interval
from hauteur.plots import Figure, Series


class Beside(NamedTuple):
    """A setting's name, White's results here, and those of the paper."""

    title: str
    here: MatchScore
    paper: MatchScore


def ratio_text(record: MatchScore) -> str:
    """White's results and their ratio with its interval."""
    ratio = decisive_ratio(record)
    low, high = decisive_ratio_interval(record)
    value = "without draws" if ratio is None else f"{ratio:.2f}"
    return f"{record.wins}/{record.draws}/{record.losses}, {value} [{low:.2f}, {high:.2f}]"


def ratio_row(one: Beside) -> dict[str, Any]:
    """A line of the table; a ratio or an end without bound is empty."""
    low, high = decisive_ratio_interval(one.here)
    return {
        "setting": one.title,
        "games": one.here.games,
        "wins": one.here.wins,
        "draws": one.here.draws,
        "losses": one.here.losses,
        "ratio": decisive_ratio(one.here),
        "ratio_low": low,
        "ratio_high": high if math.isfinite(high) else None,
        "paper_wins": one.paper.wins,
        "paper_draws": one.paper.draws,
        "paper_losses": one.paper.losses,
        "paper_ratio": decisive_ratio(one.paper),
    }


def results_figure(
    key: str,
    title: str,
    text: str,
    rows: Sequence[Beside],
    *,
    names: tuple[str, str, str] = ("White won", "drawn", "Black won"),
) -> Figure:
    """Bars of won, drawn and lost games: of each setting the paper's and, right of it, ours. names: of the results."""
    records = [record for row in rows for record in (row.paper, row.here)]
    bars = [f"{row.title}, {who}" for row in rows for who in ("paper", "here")]
    places = list(range(1, len(bars) + 1))
    kinds = zip(names, ("win", "draw", "loss"), ("wins", "draws", "losses"), strict=True)
    areas = tuple(
        Series(name, places, [getattr(record, field) / max(record.games, 1) for record in records], colour)
        for name, colour, field in kinds
    )
    return Figure(key, title, text, "share of games", "", areas=areas, percent=True, x_names=bars)


def ratio_figure(key: str, title: str, text: str, rows: Sequence[Beside], x_name: str) -> Figure:
    """The ratio of every setting with its interval, here and in the paper, on a logarithmic axis."""
    places = [float(number) for number in range(1, len(rows) + 1)]
    lines = (
        _ratio_series("paper", [x - 0.08 for x in places], [row.paper for row in rows], "orange"),
        _ratio_series("here", [x + 0.08 for x in places], [row.here for row in rows], "blue"),
    )
    names = [row.title for row in rows]
    return Figure(key, title, text, "(w + l) / d", x_name, lines=lines, log=True, x_names=names)


def _ratio_series(name: str, places: Sequence[float], records: Sequence[MatchScore], colour: str) -> Series:
    """Points with bars; none where all games or no games are drawn: an end of the interval is then out of reach."""
    known = [record.draws > 0 and record.wins + record.losses > 0 for record in records]
    ends = [decisive_ratio_interval(record) for record in records]
    return Series(
        name,
        places,
        [decisive_ratio(record) if there else None for record, there in zip(records, known, strict=True)],
        colour,
        low=[end[0] if there else None for end, there in zip(ends, known, strict=True)],
        high=[end[1] if there else None for end, there in zip(ends, known, strict=True)],
        joined=False,
    )
