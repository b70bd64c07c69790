"""hauteur rate: one rating list from matches, tournaments and PGN files."""

from __future__ import annotations

import json as json_format
import sys
from pathlib import Path
from typing import Any

from hauteur.matches.folder import MatchFolder, RatingFolder, TournamentFolder
from hauteur.matches.ratings.bradley_terry import rating_list
from hauteur.matches.ratings.sources import read_results
from hauteur.matches.ratings.tables import rating_table, ratings_json
from hauteur.matches.report.pages import write_page
from hauteur.system.files import write_json
from hauteur.system.provenance import provenance
from hauteur.system.run_directory import OTHER_FOLDER


def rate(
    *paths: Path, anchor: tuple[str, ...] = (), first_move: bool = False, json: bool = False, out: Path | None = None
) -> None:
    """Rate players by all games of these matches, tournaments and PGN files together.

    Parameters
    ----------
    paths
        Folders of matches (--out of `hauteur match`, `sprt`, `tournament`), folders of such folders, and .pgn files.
    anchor
        NAME=ELO: a player whose rating is fixed; may be given for several.
    first_move
        Estimate also what the first move is worth, the same for all players.
    json
        Print one JSON object, with the differences between all players and their intervals.
    out
        Folder for the list as report.html and result.json, which are replaced.
    """
    if not paths:
        raise ValueError("name at least one folder of a match or tournament, or a .pgn file")
    sources = [read_results(path) for path in paths]
    if unfinished := sum(source.unfinished for source in sources):
        print(f"{unfinished:,} games without a result are left out", file=sys.stderr)
    encounters = [encounter for source in sources for encounter in source.encounters]
    if alone := sum(encounter.record.games for encounter in encounters if encounter.first == encounter.second):
        print(f"{alone:,} games in which both players have the same name tell nothing of ratings", file=sys.stderr)
    found = rating_list(encounters, anchors=dict(map(_anchor, anchor)), advantage=first_move)
    if not found.ratings:
        raise ValueError("no game has a result")
    if out is not None:
        settings = {"sources": [str(path) for path in paths], "anchors": list(anchor), "first_move": first_move}
        write_list(RatingFolder(out), settings, ratings_json(found))
    print(json_format.dumps(ratings_json(found), indent=2) if json else rating_table(found))


def write_list(folder: RatingFolder, settings: dict[str, Any], ratings: dict[str, Any]) -> None:
    """Write a rating list with its page; ValueError where the folder holds a match or a tournament."""
    if any((folder.path / name).exists() for name in (MatchFolder.SETTINGS, TournamentFolder.SETTINGS)):
        raise ValueError(f"{folder.path} holds matches; {OTHER_FOLDER}")
    with folder.locked():
        write_json(folder.settings_file, {"settings": settings, "begun": provenance()})
        folder.write_result(ratings)
        write_page(folder.path)


def _anchor(text: str) -> tuple[str, float]:
    """Name and Elo; the name may itself have an equals sign."""
    name, equals, elo = text.rpartition("=")
    try:
        if not equals or not name:
            raise ValueError
        return name, float(elo)
    except ValueError:
        raise ValueError(f"--anchor is NAME=ELO, got {text!r}") from None
