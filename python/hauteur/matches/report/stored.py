"""Matches and tournaments as their folders have them, read on while they are played: every game is read once."""

import math
from bisect import insort
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from hauteur import _core
from hauteur.games.registry import load_game
from hauteur.matches.folder import MatchFolder, TournamentFolder
from hauteur.matches.ratings.bradley_terry import rating_list
from hauteur.matches.ratings.elo import Sprt
from hauteur.matches.ratings.rating_list import Encounter, RatingList
from hauteur.matches.results import MatchGame, Tally
from hauteur.matches.settings import NO_LIMIT
from hauteur.matches.tuning import TuningFolder
from hauteur.system.files import read_json
from hauteur.system.formatting import duration, quoted
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
    games_wanted: int | None = None
    """All games, with a sequential test the most that it may take; None: no limit, or not known."""

    def __init__(self, folder: RunDirectory, game: _core.Game | None = None) -> None:
        self.folder = folder
        if game is None:
            spec = folder.stored()["settings"].get("game", "")
            game = load_game(str(spec))
        self.game = game
        self._read()

    def _read(self) -> None:
        stored = self.folder.stored()
        self.settings: Mapping[str, Any] = stored["settings"]
        self.begun: Mapping[str, Any] = stored.get("begun") or {}
        result_file = self.folder.result_file
        self.result: Mapping[str, Any] = read_json(result_file) if result_file.exists() else {}
        for name in ("work", "written", "settings", "sprt"):
            if not isinstance(self.result.get(name) or {}, Mapping):
                raise self._damaged(name, "no object")
        wanted = (self.result.get("settings") or {}).get("games")
        if wanted is not None and not _is_count(wanted):
            raise self._damaged("settings.games", f"no number of games, got {quoted(str(wanted))}")

    def _damaged(self, name: str, what: str) -> ValueError:
        return ValueError(f"{self.folder.result_file}: its {name} is {what}; delete the file, it is made again")

    @property
    def games_done(self) -> int:
        raise NotImplementedError

    @property
    def complete(self) -> bool:
        return bool(self.result) and bool(self.result.get("complete", True))

    @property
    def state(self) -> str:
        """Return `finished`, `running` or `not finished`: here, or in the folder that a match is part of."""
        if is_locked(self.folder.path):
            return "running"
        if self.complete:
            return "finished"
        if is_locked(self.folder.path.parent):
            return "running"
        return "not finished"

    @property
    def share_done(self) -> float | None:
        """Share of the games that are finished, 0 to 1; None where it is not known how many there will be."""
        if not self.games_wanted:
            return None
        return min(1.0, self.games_done / self.games_wanted)

    @property
    def state_text(self) -> str:
        """Return the state with the games and the time, as `running, 120 of 400 games, 1:20, about 3:05 left`."""
        state = self.state
        done = self.games_done
        wanted = self.games_wanted
        of = ""
        if wanted is not None and state != "finished":
            of = f" of {wanted:,}"
        work = self.result.get("work") or {}
        seconds = _plausible_number(work.get("seconds"))
        played = _plausible_number(self.result.get("games"))
        text = f"{state}, {done:,}{of} games"
        if seconds:
            text += f", {duration(seconds)}"
        if state != "running" or not (seconds and played and wanted):
            return text
        most = "about" if self.share_done is not None else "at most"
        left = seconds / played * max(0, wanted - done)
        return f"{text}, {most} {duration(left)} left"


class StoredMatch(StoredWork):
    """A match as its folder has it. Raise ValueError where there is no match."""

    folder: MatchFolder
    """The folder of the match."""
    games: list[MatchGame]
    """Finished games in the order of their numbers, each once, without their moves, which `whole` reads."""
    lines: dict[int, bytes]
    """Digest of each game's course, by its number; equal for games that repeat each other."""
    tally: Tally
    """Results of these games."""
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
        try:
            sprt = _sprt(self.result)
        except (KeyError, TypeError, ValueError) as error:
            raise self._damaged("sprt", f"no sequential test ({error})") from None
        if now != self._file or sprt != self._sprt:
            self._sprt = sprt
            self._begin(now)
        for place, after, game in self.folder.lines(self._next, self._places):
            self._next = after
            self._places[game.index] = place
            insort(self.games, game.model_copy(update=WITHOUT_MOVES), key=lambda known: known.index)
            self.lines[game.index] = game.line
            self.tally.add(game)

    def _begin(self, file: int | None) -> None:
        self._file = file
        self._next = FIRST_LINE
        self._places = {}
        self.games = []
        self.lines = {}
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
    def games_wanted(self) -> int | None:  # type: ignore[override]
        games = (self.result.get("settings") or {}).get("games")
        if games is None or games >= NO_LIMIT:
            return None
        return int(games)

    @property
    def games_done(self) -> int:
        return len(self.games)

    @property
    def complete(self) -> bool:
        return self.tally.ended or bool(self.result.get("complete"))

    @property
    def share_done(self) -> float | None:
        """As of others; None too with a sequential test, which may end before."""
        return None if self._sprt is not None else super().share_done


class StoredMatches(StoredWork):
    """A tuning, or another folder with matches, in the order of their names. Raise ValueError where there is none."""

    KIND: type[RunDirectory] = TuningFolder
    TITLE = "Tuning for strength"

    def __init__(self, path: Path, game: _core.Game | None = None) -> None:
        self._matches: dict[str, StoredMatch] = {}
        super().__init__(self.KIND(path), game)
        self.title = f"{self.TITLE}: {self.game.spec}"
        self.refresh()

    def _read(self) -> None:
        super()._read()
        tuned = self.result.get("tuned") or {}
        before = self.result.get("before") or {}
        steps = self.result.get("iterations") or []
        if not isinstance(steps, list) or not all(isinstance(step, Mapping) for step in steps):
            raise self._damaged("iterations", "no list of objects")
        tables = [("tuned", tuned), ("before", before)]
        tables += [("iterations", step.get("values")) for step in steps]
        for name, table in tables:
            is_table = isinstance(table, Mapping) and all(map(_is_number, table.values()))
            if not is_table or not tuned.keys() <= table.keys():
                raise self._damaged(name, "no table of numbers, one for every setting that is tuned")

    def refresh(self) -> None:
        """Read the results and the games that were written since, also of matches that were added."""
        self._read()
        for match in self._matches.values():
            match.refresh()
        for name in self._names():
            path = self.folder.path / name
            if name not in self._matches and (path / MatchFolder.SETTINGS).exists():
                self._matches[name] = StoredMatch(path, self.game)

    def _names(self) -> Iterable[str]:
        """Return the names of the matches' folders in order, of which some may be missing."""
        return sorted(path.parent.name for path in self.folder.path.glob(f"*/{MatchFolder.SETTINGS}"))

    @property
    def matches(self) -> list[StoredMatch]:
        return [self._matches[name] for name in self._names() if name in self._matches]

    @property
    def games_done(self) -> int:
        return sum(len(match.games) for match in self.matches)


class StoredTournament(StoredMatches):
    """A tournament as its folder has it. Raise ValueError where there is none."""

    KIND = TournamentFolder
    TITLE = "Tournament"

    def _read(self) -> None:
        super()._read()
        pairings = self.settings.get("pairings") or {}
        games = self.settings.get("games") or 0
        if not isinstance(pairings, Mapping) or not _is_count(games):
            got = f"{quoted(str(pairings))} and {quoted(str(games))}"
            raise ValueError(f"{self.folder.settings_file}: has no pairings with a number of games, got {got}")

    def _names(self) -> Iterable[str]:
        return self.settings.get("pairings") or ()

    @property
    def games_wanted(self) -> int:  # type: ignore[override]
        games_each = self.settings.get("games") or 0
        pairings = self.settings.get("pairings") or ()
        return games_each * len(pairings)

    @property
    def complete(self) -> bool:
        return 0 < self.games_wanted <= self.games_done

    def ratings(self) -> RatingList:
        return rating_list(Encounter(*match.names, match.tally.different.record) for match in self.matches)


Stored = StoredMatch | StoredTournament | StoredMatches


STORED: dict[type[RunDirectory], Callable[[Path, _core.Game | None], Stored]] = {
    MatchFolder: StoredMatch,
    TournamentFolder: StoredTournament,
    TuningFolder: StoredMatches,
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
    if not folder.result_file.exists():
        return ""
    return str(read_json(folder.result_file).get("summary", ""))


def _identity(path: Path, read: int) -> int | None:
    """Return what tells a file from another one of its name; None where there is none, or less than was read of it."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return None if found.st_size < read else found.st_ino


def _is_number(value: object) -> bool:
    return type(value) in (int, float) and abs(value) < math.inf  # type: ignore[arg-type]


def _plausible_number(value: Any) -> float | None:
    """Return a number of seconds or games of a file; None for anything that cannot be one."""
    return value if type(value) in (int, float) and abs(value) < 1e12 else None


def _is_count(value: object) -> bool:
    """Return whether a value of a file is a whole number of games."""
    return type(value) is int and 0 <= value <= NO_LIMIT


def _sprt(result: Mapping[str, Any]) -> Sprt | None:
    """Return the sequential test of a result, if it has one; KeyError, TypeError or ValueError for anything else."""
    values = result.get("sprt")
    if not values:
        return None
    return Sprt(*(values[name] for name in ("elo0", "elo1", "alpha", "beta", "model")))
