"""hauteur rate: one rating list from matches, tournaments and PGN files."""

from __future__ import annotations

import json as json_format
import sys
from pathlib import Path

from hauteur.matches.ratings.bradley_terry import rating_list
from hauteur.matches.ratings.rating_list import rating_table, ratings_json
from hauteur.matches.ratings.sources import read_results


def rate(*paths: Path, anchor: tuple[str, ...] = (), json: bool = False) -> None:
    """Rate players by all games of these matches, tournaments and PGN files together.

    Parameters
    ----------
    paths
        Folders of matches (--out of `hauteur match`, `sprt`, `tournament`), folders of such folders, and .pgn files.
    anchor
        NAME=ELO: a player whose rating is fixed; may be given for several.
    json
        Print one JSON object, with the differences between all players and their intervals.
    """
    if not paths:
        raise ValueError("name at least one folder of a match or tournament, or a .pgn file")
    sources = [read_results(path) for path in paths]
    if unfinished := sum(source.unfinished for source in sources):
        print(f"{unfinished:,} games without a result are left out", file=sys.stderr)
    encounters = [encounter for source in sources for encounter in source.encounters]
    if alone := sum(encounter.record.games for encounter in encounters if encounter.first == encounter.second):
        print(f"{alone:,} games in which both players have the same name do not count", file=sys.stderr)
    found = rating_list(encounters, anchors=dict(map(_anchor, anchor)))
    if not found.ratings:
        raise ValueError("no game has a result")
    print(json_format.dumps(ratings_json(found), indent=2) if json else rating_table(found))


def _anchor(text: str) -> tuple[str, float]:
    """Name and Elo; the name may itself have an equals sign."""
    name, equals, elo = text.rpartition("=")
    try:
        if not equals or not name:
            raise ValueError
        return name, float(elo)
    except ValueError:
        raise ValueError(f"--anchor is NAME=ELO, got {text!r}") from None
