"""Measure the ladder of opponents and write its table: `python tools/measure_ladder.py --games 400`.

From maia-1500, whose policy is sampled unchanged, down and up: for every hundred points the net of that rating
(maia-1100 is the lowest, maia-2200 the one above 1900) with the temperature at which it scores 64 % against the rung
below, found by halving an interval; where the coldest temperature is not enough, more visits. Then all neighbours are
measured anew, with other random numbers, for the table. Nets are found by their names (`hauteur net get maia-1500`).
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tomli_w

import hauteur as ht
from hauteur.matches.match_result import MatchResult
from hauteur.players.ladder import TABLE, Rung
from hauteur.system.files import write_bytes
from hauteur.system.settings import read_toml

LOWEST, ANCHOR, HIGHEST, STEP = 800, 1500, 2200, 100
NEIGHBOURS = 0.64
"""Score of 100 Elo, 1 / (1 + 10^(-1/4))."""

COLDEST, HOTTEST = 0.3, 6.0
"""Temperatures; colder play repeats the same games, which would measure little."""

MOST_VISITS = 400
PLIES = 2
"""Random plies at the start of each pair of games."""


def net_of(rating: int) -> str:
    """Name of the net for a rung."""
    return "maia-2200" if rating > 1900 else f"maia-{max(1100, rating)}"


def text_of(rung: Rung) -> str:
    """The rung as the text of a player."""
    heat = f"policy_temperature=1 temperature={rung.temperature:.4g} temperature.endgame={rung.temperature:.4g}"
    return f"net={rung.net} visits={rung.visits} {heat} name={rung.name}"


def play(a: Rung, b: Rung, games: int, seed: int) -> MatchResult:
    """Play a match of two rungs."""
    return ht.play_match(text_of(a), text_of(b), "chess", games=games, seed=seed, random_plies=PLIES, progress=False)


def calibrated(rating: int, known: Rung, games: int, seed: int) -> Rung:
    """The rung of a rating that is NEIGHBOURS from a known one above or below it."""
    is_above = rating > known.rating

    def advantage(rung: Rung) -> float:
        """By how much it scores more than it should, seen from the stronger side."""
        score = play(rung, known, games, seed).score
        return score - (NEIGHBOURS if is_above else 1 - NEIGHBOURS)

    rung = Rung(rating=rating, net=net_of(rating), visits=1, temperature=COLDEST)
    if advantage(rung) < 0:
        return more_visits(rung.model_copy(update={"visits": known.visits}), advantage)
    low = math.log(COLDEST)
    high = math.log(HOTTEST)
    for _ in range(6):
        middle = (low + high) / 2
        hot = rung.model_copy(update={"temperature": round(math.exp(middle), 3)})
        low, high = (middle, high) if advantage(hot) > 0 else (low, middle)
    return rung.model_copy(update={"temperature": round(math.exp((low + high) / 2), 3)})


def more_visits(rung: Rung, advantage: Callable[[Rung], float]) -> Rung:
    """The rung with the fewest visits that are enough, within a tenth: doubled, then by halving the interval."""
    few = rung.visits
    many = 2 * rung.visits
    while advantage(rung.model_copy(update={"visits": many})) < 0:
        few = many
        many = 2 * many
        if many > MOST_VISITS:
            raise SystemExit(f"{rung.name}: not reached with {MOST_VISITS} visits")
    while many - few > max(1, few // 10):
        middle = (few + many) // 2
        enough = advantage(rung.model_copy(update={"visits": middle})) >= 0
        few, many = (few, middle) if enough else (middle, many)
    return rung.model_copy(update={"visits": many})


def known_rungs(path: Path) -> dict[int, Rung]:
    """The rungs that an interrupted run has found, by rating."""
    rows = read_toml(path)["rung"] if path.exists() else []
    return {row["rating"]: Rung(**row) for row in rows}


def toml(given: argparse.Namespace, rows: list[dict[str, Any]]) -> bytes:
    """The table as a file, with the command that made it."""
    head = f"# tools/measure_ladder.py --games {given.games} --seed {given.seed}; score: against the rung below.\n\n"
    return (head + tomli_w.dumps({"rung": rows})).encode()


def main() -> None:
    """Calibrate, measure, write. An interrupted run goes on after its last rung."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=400, help="of each match (default: 400)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=TABLE)
    given = parser.parse_args()
    part = given.out.with_name(f"{given.out.name}.part")
    rungs = {ANCHOR: Rung(rating=ANCHOR, net=net_of(ANCHOR), visits=1, temperature=1.0)} | known_rungs(part)
    for first, last, step in ((ANCHOR + STEP, HIGHEST, STEP), (ANCHOR - STEP, LOWEST, -STEP)):
        for rating in range(first, last + step, step):
            if rating not in rungs:
                rungs[rating] = calibrated(rating, rungs[rating - step], given.games, given.seed)
                found = [rung.model_dump(exclude_none=True, exclude={"games"}) for rung in rungs.values()]
                write_bytes(part, toml(given, found))
            print(text_of(rungs[rating]), flush=True)
    rows = []
    for rating in sorted(rungs):
        row = rungs[rating].model_dump(exclude_none=True, exclude={"games"})
        if rating - STEP in rungs:
            match = play(rungs[rating], rungs[rating - STEP], given.games, given.seed + 1)
            low, high = match.score_interval
            row |= {"score": round(match.score, 4), "low": round(low, 4), "high": round(high, 4), "games": given.games}
        rows.append(row)
        print(row, flush=True)
    write_bytes(given.out, toml(given, rows))
    part.unlink()


if __name__ == "__main__":
    main()
