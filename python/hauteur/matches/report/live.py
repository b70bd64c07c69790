"""What is shown of a match, a tournament, a tuning or a rating list while work goes on in its folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hauteur.matches.folder import MatchFolder, RatingFolder, TournamentFolder
from hauteur.matches.ratings.elo import elo_of_interval, elo_of_score
from hauteur.matches.report.match_page import standing_parts, workers_parts
from hauteur.matches.report.stored_match import StoredMatch, StoredTournament, StoredTuning
from hauteur.matches.report.tournament_page import Linked, ratings_parts, tournament_parts
from hauteur.matches.report.tuning_page import tuning_parts
from hauteur.matches.tuning.folder import TuningFolder
from hauteur.plots.page import provenance_html, settings_html
from hauteur.system.files import read_json
from hauteur.system.formatting import signed
from hauteur.system.run_directory import RunDirectory

FOLDERS = (MatchFolder, TournamentFolder, TuningFolder, RatingFolder)
"""Kinds of folders that are shown."""


class StoredRatings:
    """A rating list as its folder has it."""

    title = "Rating list"
    share_done = None

    def __init__(self, path: Path) -> None:
        self._path = path
        self.refresh()

    def refresh(self) -> None:
        """Read the list again."""
        stored, self.result = read_json(self._path / RatingFolder.SETTINGS), read_json(self._path / "result.json")
        self.settings: Mapping[str, Any] = stored.get("settings") or {}
        self.begun: Mapping[str, Any] = stored.get("begun") or {}

    @property
    def state_text(self) -> str:
        """Return the number of players."""
        return f"{len(self.result['ratings']):,} players"


Stored = StoredMatch | StoredTournament | StoredTuning | StoredRatings


def read_stored(folder: RunDirectory) -> Stored:
    """Read a folder of one of FOLDERS; `refresh` of what it returns reads what was added. ValueError where damaged."""
    match folder:
        case TournamentFolder():
            return StoredTournament(folder.path)
        case MatchFolder():
            return StoredMatch(folder.path)
        case TuningFolder():
            return StoredTuning(folder.path)
        case RatingFolder():
            return StoredRatings(folder.path)
    raise ValueError(f"{folder.path} holds {folder.CONTENT}, no match, tournament, tuning or rating list")


def live_parts(stored: Stored, linked: Linked) -> list[str]:
    """Return the standing until now, and the settings."""
    results: list[Mapping[str, Any]] = [stored.result]
    match stored:
        case StoredMatch():
            parts = standing_parts(stored) if stored.games else ["<p>No game is finished yet.</p>"]
        case StoredTournament():
            parts = tournament_parts(stored, linked) if stored.games else ["<p>No game is finished yet.</p>"]
        case StoredTuning():
            parts = tuning_parts(stored, linked)
            results = [match.result for match in stored.matches]
        case StoredRatings():
            parts = ratings_parts(stored.result)
    made = provenance_html(stored.result.get("written") or stored.begun)
    work = settings_html(stored.result.get("work") or {})
    return [
        *parts,
        *workers_parts(*results),
        f"<details><summary>Settings</summary>{settings_html(stored.settings)}{work}{made}</details>",
    ]


def summary_line(folder: RunDirectory) -> str:
    """Return the result in a line, as result.json has it: about ten seconds old while games are played."""
    result = read_json(folder.result_file) if folder.result_file.exists() else {}
    if "results" in result:
        return _match_line(result)
    if "ratings" in result:
        best = ", ".join(f"{line['name']} {line['elo']:+.0f}" for line in result["ratings"][:3])
        return f"{sum(line['games'] for line in result['ratings']) // 2:,} games: {best}" if best else ""
    if "iterations" in result:
        return f"{len(result['iterations']):,} iterations"
    return f"{result['value']:.4g}" if "value" in result else ""


def _match_line(result: Mapping[str, Any]) -> str:
    numbers = result["results"]
    if not numbers["games"]:
        return "no game is finished yet"
    least, most = numbers["score_interval_95"]
    low, high = map(signed, elo_of_interval((least, most)))
    test = result.get("sprt")
    llr = "" if test is None else f", LLR {test['llr']:+.2f} ({test['bounds'][0]:+.2f}, {test['bounds'][1]:+.2f})"
    counts = f"+{numbers['wins']:,} ={numbers['draws']:,} \N{MINUS SIGN}{numbers['losses']:,}"
    return f"{numbers['games']:,} games, {counts}, Elo {signed(elo_of_score(numbers['score']))} [{low}, {high}]{llr}"
