"""Settings of small experiments, and matches whose results are given."""

from itertools import count
from pathlib import Path
from typing import Any

import hauteur as ht
from hauteur.matches.results import MatchGame
from hauteur_experiments.grid import Match, Played
from hauteur_experiments.setting import Setting


def setting(folder: Path, **changes: Any) -> Setting:
    """One seed, one thread, few visits; nothing is shown."""
    values = {
        "seeds": 1,
        "first_seed": 1,
        "threads": 1,
        "visits": 3,
        "parallel": 8,
        "show": lambda line: None,
        **changes,
    }
    return Setting(folder, **values)


NUMBERS = count()
"""Of all games that were made here."""


def played(
    scores: list[float], openings: int = 10_000, ends: tuple[str, ...] = ("x",), *, paired: bool = False
) -> Played:
    """A match in which A made these points. openings: how many different ones; ends: of the games, in turn.

    No two games have the same moves, in other matches neither.
    """
    games = []
    tally = ht.Tally(paired)
    for index, score in enumerate(scores):
        side = "second" if paired and index % 2 else "first"
        line = f"line {index % openings}"
        end = ends[index % len(ends)]
        values = {"index": index, "a": side, "score": score, "end": end, "plies": 9, "moves": f"game {next(NUMBERS)}"}
        games.append(MatchGame(**values, opening="" if paired else line))  # type: ignore[arg-type]
        tally.add(games[-1])
    return Played(Match("x", "net=uniform", "net=uniform", len(games)), tally, games)


def spread(score: float, games: int = 400) -> Played:
    """A match in pairs with this score, evenly spread won and lost games."""
    return played([float(index * 0.6180339887 % 1 < score) for index in range(games)], paired=True)
