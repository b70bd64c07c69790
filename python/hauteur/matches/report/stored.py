"""Matches and tournaments as their folders have them, read on while they are played: every game is read once."""

from __future__ import annotations

from bisect import insort
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hauteur import _core
from hauteur.games.registry import load_game
from hauteur.matches.folder import MatchFolder, TournamentFolder
from hauteur.matches.match import NO_LIMIT
from hauteur.matches.ratings.bradley_terry import rating_list
from hauteur.matches.ratings.elo import Sprt, elo_of_interval, elo_of_score
from hauteur.matches.ratings.rating_list import ratings_json
from hauteur.matches.ratings.sources import encounters_of_tally
from hauteur.matches.results import GameCount, MatchGame
from hauteur.matches.tuning.folder import TuningFolder
from hauteur.system.files import read_json
from hauteur.system.formatting import duration, signed
from hauteur.system.jsonl import FIRST_LINE, LinePlace
from hauteur.system.lock import is_locked
from hauteur.system.run_directory import RunDirectory

WITHOUT_MOVES: dict[str, Any] = {"moves": "", "centipawns": (), "depths": (), "milliseconds": ()}
"""Fields that `StoredMatch.games` leaves out: nearly all that a game takes of memory."""


class StoredMatch:
    """A match as its folder has it; `refresh` reads what was added since. Raise ValueError where there is no match.

    game: of the match, default: as its settings say. games: the finished games in the order of their numbers, each
    once, without their moves, which `whole` reads; counted: their result; result: of result.json, empty where there is
    none.
    """

    games: list[MatchGame]
    counted: GameCount
    _sprt: Sprt | None = None
    _file: int | None
    _next: LinePlace
    _places: dict[int, LinePlace]

    def __init__(self, path: Path, game: _core.Game | None = None) -> None:
        self.folder = MatchFolder(path)
        stored = self.folder.stored()
        self.settings: Mapping[str, Any] = stored["settings"]
        self.begun: Mapping[str, Any] = stored.get("begun") or {}
        self.names = self.folder.names()
        self.game = game or load_game(self.settings["game"])
        self._begin(None)
        self.refresh()

    def refresh(self) -> None:
        """Read the result and the games that were written since; ValueError names a damaged line."""
        self.result = read_json(self.folder.result_file) if self.folder.result_file.exists() else {}
        now = _identity(self.folder.games_file, self._next.byte)
        sprt = _sprt(self.result)
        if now != self._file or sprt != self._sprt:
            self._sprt = sprt
            self._begin(now)
        for place, after, game in self.folder.lines(self._next, self._places):
            self._next = after
            self._places[game.index] = place
            insort(self.games, game.model_copy(update=WITHOUT_MOVES), key=lambda known: known.index)
            self.counted.add(game)

    def _begin(self, file: int | None) -> None:
        """Begin with no games, of this file."""
        self._file = file
        self._next = FIRST_LINE
        self._places = {}
        self.games = []
        self.counted = GameCount(self._sprt, paired=self.paired)

    def whole(self, index: int) -> MatchGame:
        """Return the game of this number with its moves; ValueError where it is not finished."""
        if index not in self._places:
            raise ValueError(f"{self.folder.path}: game {index + 1:,} is not finished or there is none")
        _, _, game = next(self.folder.lines(self._places[index]))
        return game

    @property
    def title(self) -> str:
        """Tell who plays against whom."""
        return f"{self.names[0]} against {self.names[1]}"

    @property
    def paired(self) -> bool:
        """Return whether games 2k and 2k + 1 share an opening."""
        return self.settings.get("colours") == "swap"

    @property
    def games_wanted(self) -> int | None:
        """All games, with a sequential test the most that it may take; None: no limit, or not known."""
        games = (self.result.get("settings") or {}).get("games")
        return None if games is None or games >= NO_LIMIT else int(games)

    @property
    def complete(self) -> bool:
        """Return whether all games were played or a sequential test has ended."""
        return self.counted.decided or bool(self.result.get("complete"))

    @property
    def state(self) -> str:
        """Return `finished`, `running` or `not finished`."""
        return _state(self.folder, complete=self.complete)

    @property
    def share_done(self) -> float | None:
        """Share of the games that are finished, 0 to 1; None where it is not known how many there will be."""
        return _share(len(self.games), None if self.counted.test is not None else self.games_wanted)

    @property
    def state_text(self) -> str:
        """Return the state with the games and the time, as `running, 120 of 400 games, 1:20, about 3:05 left`."""
        played = (self.result.get("results") or {}).get("games")
        most = "at most" if self.counted.test is not None else "about"
        return _state_text(self.state, len(self.games), self.games_wanted, self.result, played, most)


class StoredTournament:
    """A tournament as its folder has it; `refresh` reads what was added since. Raise ValueError where there is none.

    matches: of its pairings, of which a game may be finished or not.
    """

    def __init__(self, path: Path, game: _core.Game | None = None) -> None:
        self.folder = TournamentFolder(path)
        stored = self.folder.stored()
        self.settings: Mapping[str, Any] = stored["settings"]
        self.begun: Mapping[str, Any] = stored.get("begun") or {}
        self.game = game or load_game(self.settings["game"])
        self.matches: list[StoredMatch] = []
        self.refresh()

    def refresh(self) -> None:
        """Read the results and the games that were written since; players may have been added."""
        self.settings = self.folder.stored()["settings"]
        self.result = read_json(self.folder.result_file) if self.folder.result_file.exists() else {}
        known = {match.folder.path for match in self.matches}
        for match in self.matches:
            match.refresh()
        there = [self.folder.path / name for name in self.settings.get("pairings") or ()]
        self.matches += [
            StoredMatch(path, self.game)
            for path in there
            if path not in known and (path / MatchFolder.SETTINGS).exists()
        ]

    @property
    def title(self) -> str:
        """Tell what is played."""
        return f"Tournament: {self.game.spec}"

    @property
    def games(self) -> int:
        """Number of the finished games."""
        return sum(len(match.games) for match in self.matches)

    @property
    def games_wanted(self) -> int:
        """All games."""
        return (self.settings.get("games") or 0) * len(self.settings.get("pairings") or ())

    @property
    def share_done(self) -> float | None:
        """Share of the games that are finished, 0 to 1."""
        return _share(self.games, self.games_wanted)

    @property
    def state_text(self) -> str:
        """Return the state with the games and the time."""
        complete = 0 < self.games_wanted <= self.games
        played = sum(pairing["results"]["games"] for pairing in self.result.get("pairings") or ())
        state = _state(self.folder, complete=complete)
        return _state_text(state, self.games, self.games_wanted, self.result, played)

    def standing(self) -> dict[str, Any]:
        """Return the rating list, as `ratings_json`, and the results of the pairings until now."""
        rated = rating_list(
            encounter for match in self.matches for encounter in encounters_of_tally(match.counted.tally, match.names)
        )
        return {**ratings_json(rated), "pairings": pairings_of(self.matches)}


class StoredTuning:
    """A tuning as its folder has it; `refresh` reads what was added since. Raise ValueError where there is none.

    matches: in the order of their names.
    """

    def __init__(self, path: Path) -> None:
        self.folder = TuningFolder(path)
        stored = self.folder.stored()
        self.settings: Mapping[str, Any] = stored["settings"]
        self.begun: Mapping[str, Any] = stored.get("begun") or {}
        self.game = load_game(self.settings["game"])
        self.title = f"Tuning for strength: {self.settings['game']}"
        self._matches: dict[str, StoredMatch] = {}
        self.refresh()

    def refresh(self) -> None:
        """Read the results and the games that were written since."""
        self.result = read_json(self.folder.result_file) if self.folder.result_file.exists() else {}
        for name in sorted(path.parent.name for path in self.folder.path.glob(f"*/{MatchFolder.SETTINGS}")):
            if name in self._matches:
                self._matches[name].refresh()
            else:
                self._matches[name] = StoredMatch(self.folder.path / name, self.game)

    @property
    def matches(self) -> list[StoredMatch]:
        """Its matches in the order of their folders' names."""
        return [self._matches[name] for name in sorted(self._matches)]

    @property
    def games(self) -> int:
        """Number of the finished games."""
        return sum(len(match.games) for match in self._matches.values())

    share_done = None
    """How many games there will be is not known."""

    @property
    def state_text(self) -> str:
        """Return the state with the games and the matches."""
        complete = bool(self.result) and bool(self.result.get("complete", True))
        state = _state(self.folder, complete=complete)
        return f"{state}, {self.games:,} games in {len(self._matches):,} matches"


def pairings_of(matches: Sequence[StoredMatch]) -> list[dict[str, Any]]:
    """Return the results of matches: who played, in which folder, and the numbers."""
    return [
        {
            "a": match.names[0],
            "b": match.names[1],
            "folder": match.folder.path.name,
            "results": match.counted.tally.to_json(),
        }
        for match in matches
    ]


Stored = StoredMatch | StoredTournament | StoredTuning


def read_stored(folder: RunDirectory, game: _core.Game | None = None) -> Stored:
    """Read a folder; `refresh` of what it returns reads what was added. ValueError where it is damaged, or of none.

    game: that is played, default: the one that the folder's settings name.
    """
    match folder:
        case TournamentFolder():
            return StoredTournament(folder.path, game)
        case MatchFolder():
            return StoredMatch(folder.path, game)
        case TuningFolder():
            return StoredTuning(folder.path)
    raise ValueError(f"{folder.path} holds {folder.CONTENT}, no match, tournament or tuning")


def summary_line(folder: RunDirectory) -> str:
    """Return the result in a line, as result.json has it: about ten seconds old while games are played."""
    result = read_json(folder.result_file) if folder.result_file.exists() else {}
    if "results" in result:
        return _match_line(result)
    if "ratings" in result:
        best = ", ".join(f"{line['name']} {line['elo']:+.0f}" for line in result["ratings"][:3])
        return f"{sum(line['games'] for line in result['ratings']) // 2:,} games: {best}" if best else ""
    return f"{len(result['iterations']):,} iterations" if "iterations" in result else ""


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


def _identity(path: Path, read: int) -> int | None:
    """Return what tells a file from another one of its name; None where there is none, or less than was read of it."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return None if found.st_size < read else found.st_ino


def _sprt(result: Mapping[str, Any]) -> Sprt | None:
    values = result.get("sprt")
    return values and Sprt(*(values[name] for name in ("elo0", "elo1", "alpha", "beta", "model")))


def _share(done: int, of_all: int | None) -> float | None:
    return min(1.0, done / of_all) if of_all else None


def _state(folder: RunDirectory, *, complete: bool) -> str:
    """Return whether work goes on in a folder, or in the one that a match is part of; or is done."""
    running = is_locked(folder.path) or (not complete and is_locked(folder.path.parent))
    return "running" if running else "finished" if complete else "not finished"


def _state_text(
    state: str, games: int, of_all: int | None, result: Mapping[str, Any], played: int | None, about: str = "about"
) -> str:
    """Return state, games, time, and while work goes on the time left. played: games when the result was written."""
    of = f" of {of_all:,}" if of_all is not None and state != "finished" else ""
    seconds = (result.get("work") or {}).get("seconds")
    took = f", {duration(seconds)}" if seconds else ""
    if state != "running" or not (seconds and played and of_all):
        return f"{state}, {games:,}{of} games{took}"
    return f"{state}, {games:,}{of} games{took}, {about} {duration(seconds / played * max(0, of_all - games))} left"
