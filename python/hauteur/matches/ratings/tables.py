"""Rating lists and crosstables as text and as JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

from hauteur.matches.ratings.elo import MatchScore
from hauteur.system.tables import Rows, html_table

if TYPE_CHECKING:
    from hauteur.matches.ratings.rating_list import Rating, RatingList


class RatingRow(NamedTuple):
    """A line of a rating list; Elo with its 95 % interval and standard error."""

    name: str
    elo: float
    elo_low: float
    elo_high: float
    deviation: float
    games: int
    wins: int
    draws: int
    losses: int
    score: float
    group: int
    anchored: bool


def rating_rows(found: RatingList) -> Rows[RatingRow]:
    """The list as rows, the best first."""
    return Rows(
        RatingRow(
            rating.name,
            rating.elo,
            *rating.interval(),
            rating.deviation,
            record.games,
            record.wins,
            record.draws,
            record.losses,
            record.score,
            rating.group,
            rating.anchored,
        )
        for rating in found.ratings
        for record in (rating.record,)
    )


def rating_html(found: RatingList) -> str:
    """The list as an HTML table."""
    lines = []
    for row in rating_rows(found):
        interval = "anchor" if row.anchored else f"{row.elo_low:+.0f} to {row.elo_high:+.0f}"
        lines.append((row.name, f"{row.elo:+.0f}", interval, f"{row.games:,}", f"{row.score:.1%}", row.group))
    table = html_table(("player", "Elo", "95 %", "games", "score", "group"), lines, shown=len(lines))
    return f"{table}<p>{escape(_footer(found))}</p>"


def rating_table(found: RatingList) -> str:
    """The list as text, a paragraph for each group of players that can be compared; names last, they may be long."""
    parts = []
    for group in range(found.groups):
        members = [rating for rating in found.ratings if rating.group == group]
        lines = ["  #     Elo  95 % interval    games  score  draws  above next  player"]
        lines += [_line(number, members, found) for number in range(len(members))]
        parts.append("\n".join(lines))
    if found.groups > 1:
        parts.append(f"{found.groups} groups of players without a game between them: compare inside a group only.")
    return "\n\n".join([*parts, _footer(found)])


def _line(number: int, members: Sequence[Rating], found: RatingList) -> str:
    """A player with its chance to be stronger than the next one of its group."""
    rating, following = members[number], members[number + 1 : number + 2]
    low, high = rating.interval()
    interval = "anchor" if rating.anchored else f"{low:+.0f} to {high:+.0f}"
    record = rating.record
    played = f"{record.games:7,} {record.score:6.1%} {record.draws / max(1, record.games):6.1%}"
    above = f"{found.superiority(rating.name, following[0].name):.1%}" if following else ""
    return f"{number + 1:3} {rating.elo:+7.0f}  {interval:15} {played}  {above:>10}  {rating.name}"


def _footer(found: RatingList) -> str:
    anchored = any(rating.anchored for rating in found.ratings)
    zero = "Elo of the anchors given" if anchored else "Elo 0 is the mean of a group"
    first, largest = "", " of the largest group" if found.groups > 1 else ""
    if found.advantage_deviation:
        low, high = found.advantage_interval()
        first = f"; the first move is worth {found.advantage:+.0f} Elo [{low:+.0f}, {high:+.0f}]{largest}"
    draws = (
        f"; draws among equals{largest} {found.draw_share:.1%}" if any(r.record.draws for r in found.ratings) else ""
    )
    return f"{zero}{draws}{first}"


def crosstable(names: Sequence[str], results: Mapping[tuple[str, str], MatchScore]) -> str:
    """Points of each player against each other, in the order of `names`. results: of pairs (a, b), from a's view."""
    rows = [["", *(str(number) for number in range(1, len(names) + 1)), "points"]]
    for number, name in enumerate(names, 1):
        records = [_against(results, name, other) for other in names]
        cells = [_cell(record) if other != name else "" for record, other in zip(records, names, strict=True)]
        total = f"{sum(map(_points, records)):g}/{sum(record.games for record in records)}"
        rows.append([str(number), *cells, total])
    width = 2 + max(len(cell) for row in rows for cell in row[1:])
    lines = [f"{row[0]:>3}" + "".join(f"{cell:>{width}}" for cell in row[1:]) for row in rows]
    return "\n".join(f"{line}  {name}" for line, name in zip(lines, ("player", *names), strict=True))


def _cell(record: MatchScore) -> str:
    return f"{_points(record):g}/{record.games}" if record.games else "-"


def _against(results: Mapping[tuple[str, str], MatchScore], name: str, other: str) -> MatchScore:
    if (name, other) in results:
        return results[name, other]
    turned = results.get((other, name), MatchScore())
    return MatchScore(turned.losses, turned.draws, turned.wins)


def _points(record: MatchScore) -> float:
    return record.wins + record.draws / 2


def ratings_json(found: RatingList) -> dict[str, Any]:
    """The list as JSON; None where there is no interval."""
    return {
        "ratings": [_rating_json(rating) for rating in found.ratings],
        "differences": [
            {"a": a.name, "b": b.name, **_difference_json(found, a.name, b.name)}
            for i, a in enumerate(found.ratings)
            for b in found.ratings[i + 1 :]
            if a.group == b.group
        ],
        "groups": found.groups,
        "draw_share_among_equals": found.draw_share,
        "first_move_elo": found.advantage,
        "first_move_interval_95": [*found.advantage_interval()] if found.advantage_deviation else None,
    }


def _rating_json(rating: Rating) -> dict[str, Any]:
    record = rating.record
    return {
        "name": rating.name,
        "elo": rating.elo,
        "elo_interval_95": [*rating.interval()],
        "deviation": rating.deviation,
        "group": rating.group,
        "anchor": rating.anchored,
        "games": record.games,
        "wins": record.wins,
        "draws": record.draws,
        "losses": record.losses,
        "score": record.score,
    }


def _difference_json(found: RatingList, a: str, b: str) -> dict[str, Any]:
    elo, deviation = found.difference(a, b)
    interval = [*found.difference_interval(a, b)] if math.isfinite(deviation) else None
    return {"elo": elo, "elo_interval_95": interval, "los": found.superiority(a, b)}
