"""Results for rating lists: from the folders of matches and tournaments, and from PGN files."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import chess.pgn

from hauteur.matches.folder import MatchFolder, match_folders
from hauteur.matches.ratings.elo import MatchScore
from hauteur.matches.ratings.rating_list import Encounter

SCORES = {"1-0": MatchScore(wins=1), "1/2-1/2": MatchScore(draws=1), "0-1": MatchScore(losses=1)}


@dataclass(frozen=True)
class Rated:
    """The results of a source; unfinished: games without a result, which do not count."""

    encounters: tuple[Encounter, ...]
    unfinished: int = 0


def read_results(path: Path) -> Rated:
    """The results of a PGN file, or of all matches in a folder; ValueError where there are none."""
    if path.is_dir():
        return Rated(tuple(map(_of_match, match_folders(path))))
    if path.suffix.lower() == ".pgn":
        return _read_pgn(path)
    if not path.exists():
        raise FileNotFoundError(2, "No such file or directory", str(path))
    raise ValueError(f"{path}: expected the folder of a match or of a tournament, or a .pgn file")


def _of_match(folder: MatchFolder) -> Encounter:
    """The results of a match; players have the names that the match gave them."""
    record = MatchScore()
    for game in folder.games():
        record = record.add(game.score)
    return Encounter(*folder.names(), record)


def _read_pgn(path: Path) -> Rated:
    """The tags White, Black and Result of every game; moves are passed over."""
    found: Counter[tuple[str, str, str]] = Counter()
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        while (tags := chess.pgn.read_headers(file)) is not None:
            found[tags.get("White", "?"), tags.get("Black", "?"), tags.get("Result", "*")] += 1
    if not found:
        raise ValueError(f"{path}: has no games")
    encounters = tuple(
        Encounter(white, black, MatchScore(score.wins * n, score.draws * n, score.losses * n))
        for (white, black, result), n in found.items()
        if (score := SCORES.get(result)) is not None
    )
    return Rated(encounters, sum(n for (_, _, result), n in found.items() if result not in SCORES))
