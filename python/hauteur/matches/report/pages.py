"""The page of a folder, whatever was done in it: a match, a tournament, a tuning or a rating list."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hauteur import _core
from hauteur.matches.folder import MatchFolder, RatingFolder, TournamentFolder
from hauteur.matches.report.match_page import match_page
from hauteur.matches.report.stored_match import read_match
from hauteur.matches.report.tournament_page import ratings_page, tournament_page
from hauteur.matches.report.tuning_page import tuning_page
from hauteur.matches.tuning.folder import TuningFolder
from hauteur.system.files import write_bytes

PAGE = "report.html"

Make = Callable[[Path, _core.Game | None], str]
"""Makes the page of a folder; of this game, None: of the one that its settings name."""

PAGES: dict[str, Make] = {
    MatchFolder.SETTINGS: lambda path, game: match_page(read_match(path, game)),
    TournamentFolder.SETTINGS: tournament_page,
    TuningFolder.SETTINGS: lambda path, _: tuning_page(path),
    RatingFolder.SETTINGS: lambda path, _: ratings_page(path),
}
"""How the page is made, by the file of settings that the folder has."""


def has_page(folder: Path) -> bool:
    """Return whether this is the folder of a match, a tournament, a tuning or a rating list."""
    return any((folder / name).is_file() for name in PAGES)


def write_page(folder: Path, output: Path | None = None, *, game: _core.Game | None = None) -> Path:
    """Write the page of what was done in a folder to `output` (default: its report.html); return its path.

    game: that was played, default: the one that the folder's settings name.

    Raise ValueError where the folder is of none of these kinds, or nothing in it is finished yet.
    """
    for name, make in PAGES.items():
        if (folder / name).is_file():
            target = output or folder / PAGE
            write_bytes(target, make(folder, game).encode())
            return target
    raise ValueError(
        f"{folder}: has none of {', '.join(PAGES)}, so it is the folder of no match, tournament, tuning or rating list"
    )


def renew_page(folder: Path | None, game: _core.Game | None = None) -> None:
    """Write the page of a folder in which work has just ended or was interrupted, where a game of it is finished."""
    if folder is not None and has_page(folder) and any(folder.rglob("games.jsonl")):
        write_page(folder, game=game)
