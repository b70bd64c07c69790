"""Rating lists and crosstables as text and as JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from hauteur.rating import Record
from hauteur.rating_list import Rating, RatingList


def rating_table(found: RatingList) -> str:
    """The list as text, a paragraph for each group of players that can be compared."""
    width = max((len(rating.name) for rating in found.ratings), default=6)
    parts = []
    for group in range(found.groups):
        members = [rating for rating in found.ratings if rating.group == group]
        lines = [f"  # {'player':{width}}     Elo  95 % interval   games  score  draws  LOS of the next"]
        lines += [_line(number, rating, found, width) for number, rating in enumerate(members, 1)]
        parts.append("\n".join(lines))
    if found.groups > 1:
        parts.append(f"{found.groups} groups of players without a game between them: compare inside a group only.")
    return "\n\n".join([*parts, _footer(found)])


def _line(number: int, rating: Rating, found: RatingList, width: int) -> str:
    low, high = rating.interval()
    interval = "anchor" if rating.anchored else f"{low:+.0f} to {high:+.0f}"
    record = rating.record
    played = f"{record.games:7,} {record.score:6.1%} {record.draws / max(1, record.games):6.1%}"
    following = next((r for r in found.ratings[found.ratings.index(rating) + 1 :] if r.group == rating.group), None)
    ahead = "" if following is None else f"{found.superiority(rating.name, following.name):6.1%}"
    return f"{number:3} {rating.name:{width}} {rating.elo:+7.0f}  {interval:14} {played}  {ahead}".rstrip()


def _footer(found: RatingList) -> str:
    anchored = any(rating.anchored for rating in found.ratings)
    zero = "Elo of the anchors given" if anchored else "Elo 0 is the mean of a group"
    first = ""
    if found.advantage_deviation:
        low, high = found.advantage_interval()
        first = f"; the first move is worth {found.advantage:+.0f} Elo [{low:+.0f}, {high:+.0f}]"
    draws = f"; draws among equals {found.draw_share:.1%}" if any(r.record.draws for r in found.ratings) else ""
    return f"{zero}{draws}{first}"


def crosstable(names: Sequence[str], results: Mapping[tuple[str, str], Record]) -> str:
    """Points of each player against each other, in the order of `names`. results: of pairs (a, b), from a's view."""
    width = max(len(name) for name in names)
    lines = [" " * (width + 4) + "".join(f"{number:>14}" for number in range(1, len(names) + 1)) + f"{'points':>14}"]
    for number, name in enumerate(names, 1):
        records = [_against(results, name, other) for other in names]
        cells = [
            f"{_points(r):g}/{r.games}" if r.games else "-" if name != other else ""
            for r, other in zip(records, names, strict=True)
        ]
        total, games = sum(map(_points, records)), sum(record.games for record in records)
        lines.append(f"{number:3} {name:{width}}" + "".join(f"{cell:>14}" for cell in [*cells, f"{total:g}/{games}"]))
    return "\n".join(lines)


def _against(results: Mapping[tuple[str, str], Record], name: str, other: str) -> Record:
    if (name, other) in results:
        return results[name, other]
    turned = results.get((other, name), Record())
    return Record(turned.losses, turned.draws, turned.wins)


def _points(record: Record) -> float:
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
