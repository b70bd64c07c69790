"""Matches and tournaments as their folders have them, read on while they are played: every game is read once."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from hauteur import _core
from hauteur.games.registry import load_game
from hauteur.matches.folder import MatchFolder, TournamentFolder
from hauteur.matches.match import NO_LIMIT
from hauteur.matches.ratings.bradley_terry import rating_list
from hauteur.matches.ratings.elo import Sprt
from hauteur.matches.ratings.rating_list import RatingList
from hauteur.matches.ratings.sources import encounters_of_tally
from hauteur.matches.results import MatchGame, Tally
from hauteur.matches.tuning.strength import TuningFolder
from hauteur.system.files import read_json
from hauteur.system.formatting import duration
from hauteur.system.jsonl import FIRST_LINE, LinePlace
from hauteur.system.lock import is_locked
from hauteur.system.run_directory import RunDirectory

WITHOUT_MOVES: dict[str, Any] = {"moves": "", "centipawns": (), "depths": (), "milliseconds": ()}
"""Fields that `StoredMatch.games` leaves out: nearly all that a game takes of memory."""


class StoredWork:
    """Work in a folder; `refresh` reads what was added since.

    settings: that decide it; begun: by what program and when; result: of result.json, empty where there is none; game:
    that is played, default: the one that the settings name.
    """

    title: str
    share_done: float | None = None
    """Share of the games that are finished, 0 to 1; None where it is not known how many there will be."""

    def __init__(self, folder: RunDirectory, game: _core.Game | None = None) -> None:
        self.folder = folder
        self.game = game or load_game(folder.stored()["settings"]["game"])
        self._read()

    def _read(self) -> None:
        """Read settings and result."""
        stored = self.folder.stored()
        self.settings: Mapping[str, Any] = stored["settings"]
        self.begun: Mapping[str, Any] = stored.get("begun") or {}
        self.result: Mapping[str, Any] = read_json(self.folder.result_file) if self.folder.result_file.exists() else {}

    def _state(self, *, complete: bool) -> str:
        """Return `finished`, `running` or `not finished`: here, or in the folder that a match is part of."""
        running = is_locked(self.folder.path) or (not complete and is_locked(self.folder.path.parent))
        return "running" if running else "finished" if complete else "not finished"


class StoredMatch(StoredWork):
    """A match as its folder has it. Raise ValueError where there is no match.

    games: the finished games in the order of their numbers, each once, without their moves, which `whole` reads;
    tally: their result.
    """

    folder: MatchFolder
    games: list[MatchGame]
    tally: Tally
    _sprt: Sprt | None = None
    _file: int | None
    _next: LinePlace
    _places: dict[int, LinePlace]

    def __init__(self, path: Path, game: _core.Game | None = None) -> None:
        super().__init__(MatchFolder(path), game)
        self.names = self.folder.names()
        self.title = f"{self.names[0]} against {self.names[1]}"
        self._begin(None)
        self.refresh()

    def refresh(self) -> None:
        """Read the result and the games that were written since; ValueError names a damaged line."""
        self._read()
        now = _identity(self.folder.games_file, self._next.byte)
        sprt = _sprt(self.result)
        if now != self._file or sprt != self._sprt:
            self._sprt = sprt
            self._begin(now)
        for place, after, game in self.folder.lines(self._next, self._places):
            self._next = after
            self._places[game.index] = place
            insort(self.games, game.model_copy(update=WITHOUT_MOVES), key=lambda known: known.index)
            self.tally.add(game)

    def _begin(self, file: int | None) -> None:
        """Begin with no games, of this file."""
        self._file = file
        self._next = FIRST_LINE
        self._places = {}
        self.games = []
        self.tally = Tally(self.paired, self._sprt)

    def whole(self, index: int) -> MatchGame:
        """Return the game of this number with its moves; ValueError where it is not finished."""
        if index not in self._places:
            raise ValueError(f"{self.folder.path}: game {index + 1:,} is not finished or there is none")
        _, _, game = next(self.folder.lines(self._places[index]))
        return game

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
        return self.tally.decided or bool(self.result.get("complete"))

    @property
    def state(self) -> str:
        """Return `finished`, `running` or `not finished`."""
        return self._state(complete=self.complete)

    @property
    def share_done(self) -> float | None:  # type: ignore[override]
        return _share(len(self.games), None if self.tally.test is not None else self.games_wanted)

    @property
    def state_text(self) -> str:
        """Return the state with the games and the time, as `running, 120 of 400 games, 1:20, about 3:05 left`."""
        played = (self.result.get("results") or {}).get("games")
        most = "at most" if self.tally.test is not None else "about"
        return _state_text(self.state, len(self.games), self.games_wanted, self.result, played, most)


class StoredMatches(StoredWork):
    """A folder with folders of matches. matches: in order, those of which games may be finished or not."""

    def __init__(self, folder: RunDirectory, game: _core.Game | None = None) -> None:
        self._matches: dict[str, StoredMatch] = {}
        super().__init__(folder, game)
        self.refresh()

    def refresh(self) -> None:
        """Read the results and the games that were written since, also of matches that were added."""
        self._read()
        for match in self._matches.values():
            match.refresh()
        for name in self._names():
            if name not in self._matches and (self.folder.path / name / MatchFolder.SETTINGS).exists():
                self._matches[name] = StoredMatch(self.folder.path / name, self.game)

    def _names(self) -> Iterable[str]:
        """Return the names of the matches' folders in order, of which some may be missing."""
        raise NotImplementedError

    @property
    def matches(self) -> list[StoredMatch]:
        """The matches that are there."""
        return [self._matches[name] for name in self._names() if name in self._matches]

    @property
    def games(self) -> int:
        """Number of the finished games."""
        return sum(len(match.games) for match in self.matches)


class StoredTournament(StoredMatches):
    """A tournament as its folder has it. Raise ValueError where there is none."""

    def __init__(self, path: Path, game: _core.Game | None = None) -> None:
        super().__init__(TournamentFolder(path), game)
        self.title = f"Tournament: {self.game.spec}"

    def _names(self) -> Iterable[str]:
        return self.settings.get("pairings") or ()

    @property
    def games_wanted(self) -> int:
        """All games."""
        return (self.settings.get("games") or 0) * len(self.settings.get("pairings") or ())

    @property
    def share_done(self) -> float | None:  # type: ignore[override]
        return _share(self.games, self.games_wanted)

    @property
    def state_text(self) -> str:
        """Return the state with the games and the time."""
        state = self._state(complete=0 < self.games_wanted <= self.games)
        played = sum(pairing["results"]["games"] for pairing in self.result.get("pairings") or ())
        return _state_text(state, self.games, self.games_wanted, self.result, played)

    def ratings(self) -> RatingList:
        """Return the rating list until now."""
        return rating_list(
            encounter for match in self.matches for encounter in encounters_of_tally(match.tally, match.names)
        )


class StoredTuning(StoredMatches):
    """A tuning as its folder has it, with matches in the order of their names. Raise ValueError where there is none."""

    def __init__(self, path: Path, game: _core.Game | None = None) -> None:
        super().__init__(TuningFolder(path), game)
        self.title = f"Tuning for strength: {self.game.spec}"

    def _names(self) -> Iterable[str]:
        return sorted(path.parent.name for path in self.folder.path.glob(f"*/{MatchFolder.SETTINGS}"))

    @property
    def state_text(self) -> str:
        """Return the state with the games and the matches."""
        state = self._state(complete=bool(self.result) and bool(self.result.get("complete", True)))
        return f"{state}, {self.games:,} games in {len(self.matches):,} matches"


Stored = StoredMatch | StoredTournament | StoredTuning


STORED: dict[type[RunDirectory], Callable[[Path, _core.Game | None], Stored]] = {
    MatchFolder: StoredMatch,
    TournamentFolder: StoredTournament,
    TuningFolder: StoredTuning,
}
"""Readers of the folders that have a page."""


def read_stored(folder: RunDirectory, game: _core.Game | None = None) -> Stored:
    """Read a folder; ValueError where it is damaged, or the folder of something else.

    game: that is played, default: the one that the folder's settings name.
    """
    if type(folder) not in STORED:
        raise ValueError(f"{folder.path} holds {folder.CONTENT}, no match, tournament or tuning")
    return STORED[type(folder)](folder.path, game)


def summary_line(folder: RunDirectory) -> str:
    """Return the result in a line, as result.json has it: about ten seconds old while games are played."""
    return str(read_json(folder.result_file).get("summary", "")) if folder.result_file.exists() else ""


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
