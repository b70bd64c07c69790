"""The result of a mining: how many positions of each source are misjudged, how many make puzzles, who agrees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from hauteur.matches.ratings.elo import MatchScore, score_interval
from hauteur.studies.puzzles.mining import MISJUDGED, MineRule, ScreenedPosition, Verdict
from hauteur.studies.puzzles.puzzle import Puzzle, identity
from hauteur.studies.puzzles.sources import Census
from hauteur.system.seeds import stream

Flags = Sequence[tuple[int, bool]]
"""Of each position the number of its game, and whether it counts."""

DRAWS = 2000


class Rate(NamedTuple):
    """The number of positions that count, their share, and its interval of 95 %."""

    counted: int
    share: float
    low: float
    high: float


def rate_of(flags: Flags, draws: int = DRAWS) -> Rate:
    """The share of positions that count; ValueError without positions."""
    if not flags:
        raise ValueError("a share needs one position or more, got none")
    games: dict[int, list[int]] = {}
    for game, counted in flags:
        sums = games.setdefault(game, [0, 0])
        sums[0] += counted
        sums[1] += 1
    counts = np.array([games[game] for game in sorted(games)], np.int64)
    rows, alike = np.unique(counts, axis=0, return_counts=True)
    chosen = stream(1, "games of a share").multinomial(len(counts), alike / len(counts), size=draws) @ rows
    hits, positions = counts.sum(axis=0)
    drawn = np.quantile(chosen[:, 0] / chosen[:, 1], (0.025, 0.975))
    wilson = score_interval(MatchScore(int(hits), 0, int(positions - hits)))
    return Rate(int(hits), float(hits / positions), float(min(drawn[0], wilson[0])), float(max(drawn[1], wilson[1])))


HARD: tuple[Verdict, ...] = ("several", "refuted", "puzzle")
"""Verdicts of positions whose judgement changes and whose best move the low search would not play."""


def without_followers(puzzles: Iterable[Puzzle]) -> tuple[list[Puzzle], int]:
    """The puzzles that are not a later position of another one's line, and how many were."""
    every = list(puzzles)
    inside = {name for puzzle in every for name in _later_positions(puzzle)}
    kept = [puzzle for puzzle in every if puzzle.id not in inside]
    return kept, len(every) - len(kept)


def _later_positions(puzzle: Puzzle) -> set[str]:
    """The names of the solver's positions behind the first one."""
    state, names = puzzle.position(), set()
    for number, move in enumerate(puzzle.solution):
        if number and number % 2 == 0:
            names.add(identity(state))
        state.apply(state.parse(move))
    return names


def mine_result(
    census: Census,
    chosen: Mapping[str, set[str]],
    found: Mapping[str, ScreenedPosition],
    rule: MineRule,
    puzzles: Sequence[Puzzle],
    followers: int,
) -> dict[str, Any]:
    """Return the counts by source and in total; puzzles: all of them, with the engine's checks."""
    names = {puzzle.id for puzzle in puzzles}
    verdicts = {name: entry.verdict(rule) for name, entry in found.items()}
    sources = {source: _of_source(census, source, chosen[source], verdicts, names) for source in census.sources}
    return {"sources": sources, "puzzles": len(puzzles), "followers": followers, "check": check_result(puzzles)}


def _of_source(
    census: Census, source: str, chosen: set[str], found: Mapping[str, Verdict], puzzles: set[str]
) -> dict[str, Any]:
    verdicts = Counter(found[name] for name in chosen)
    games = census.first_game[source]

    def of(names: set[str]) -> dict[str, Any]:
        return share_by_game([(games[name], name in names) for name in sorted(chosen)])

    return {
        "games": census.games[source],
        "positions": census.seen[source],
        "different": len(census.distinct(source)),
        "judged": len(chosen),
        "verdicts": dict(sorted(verdicts.items())),
        "misjudged": of({name for name in chosen if found[name] in MISJUDGED}),
        "hard": of({name for name in chosen if found[name] in HARD}),
        "puzzles": of(puzzles),
    }


def share_by_game(flags: Flags) -> dict[str, Any]:
    """A share of positions with its 95 % interval, from games drawn whole: misjudged positions come in runs."""
    if not flags:
        return share(0, 0)
    rate = rate_of(flags)
    return {"count": rate.counted, "of": len(flags), "share": rate.share, "interval_95": [rate.low, rate.high]}


def share(count: int, of: int) -> dict[str, Any]:
    """A count of independent trials with its share and the share's 95 % interval (Wilson)."""
    if of == 0:
        return {"count": 0, "of": 0, "share": None, "interval_95": None}
    low, high = score_interval(MatchScore(count, 0, of - count))
    return {"count": count, "of": of, "share": count / of, "interval_95": [low, high]}


def check_result(puzzles: Sequence[Puzzle]) -> dict[str, Any] | None:
    """Return the shares of solutions confirmed by the engine; None without checks."""
    checks = [puzzle.check for puzzle in puzzles if puzzle.check is not None]
    if not checks:
        return None
    return {
        "engine": checks[0].engine,
        "limit": checks[0].limit,
        "confirmed": share(sum(check.confirmed for check in checks), len(checks)),
        "right": share(sum(check.right for check in checks), len(checks)),
        "only": share(sum(check.only for check in checks), len(checks)),
    }


def mine_table(result: Mapping[str, Any]) -> str:
    """The numbers as a table, per 1,000 positions with 95 % intervals."""
    heads = ("source", "games", "positions", "judged", "misjudged", "hard", "puzzles")
    rows = [
        (source, f"{one['games']:,}", f"{one['different']:,}", f"{one['judged']:,}", *_rates(one))
        for source, one in result["sources"].items()
    ]
    lines = [*aligned([heads, *rows]), "per 1,000 different positions, with 95 % intervals from whole games"]
    lines.append(f"{result['puzzles']:,} puzzles, {result['followers']:,} more lie on the lines of others")
    check = result["check"]
    if check is not None:
        lines.append(f"{check['engine']}, {check['limit']}: confirms {share_text(check['confirmed'])}")
    return "\n".join(lines)


def _rates(one: Mapping[str, Any]) -> list[str]:
    return [rate_text(one[key]) for key in ("misjudged", "hard", "puzzles")]


def rate_text(one: Mapping[str, Any]) -> str:
    """A share per 1,000 with its interval."""
    if one["share"] is None:
        return "-"
    low, high = one["interval_95"]
    return f"{1000 * one['share']:.1f} [{1000 * low:.1f}, {1000 * high:.1f}]"


def share_text(one: Mapping[str, Any]) -> str:
    """A share in per cent with its interval."""
    if one["share"] is None:
        return "none"
    low, high = one["interval_95"]
    return f"{one['count']:,} of {one['of']:,}, {one['share']:.1%} [{low:.1%}, {high:.1%}]"


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns of equal width, the first one to the left, the others to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(
            text.rjust(width) if column else text.ljust(width)
            for column, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
