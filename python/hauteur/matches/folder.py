"""The folder of a match: match.json (settings), games.jsonl (a line a game), result.json (numbers)."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hauteur.matches.results import MatchGame, Work
from hauteur.system.files import read_json, write_json
from hauteur.system.jsonl import ADVICE, FIRST_LINE, Journal, LinePlace
from hauteur.system.provenance import provenance
from hauteur.system.run_directory import OTHER_FOLDER, InFolder, RunDirectory

TOURNAMENT_FILE = "tournament.json"


@dataclass(frozen=True)
class MatchFolder(RunDirectory):
    """Files of a match; a match interrupted at any moment resumes from them."""

    SETTINGS = "match.json"
    CONTENT = "a match"
    WORK = "playing a match"
    GROWING = ("games.jsonl",)

    games_file = InFolder("games.jsonl")
    """The finished games, in the order in which they ended."""

    def names(self) -> tuple[str, str]:
        """Return what the match calls its players; ValueError where match.json does not have it."""
        match self.stored().get("names"):
            case [str(a), str(b)]:
                return a, b
        raise ValueError(f"{self.settings_file}: has no names of two players")

    def title(self) -> str:
        game = self.stored()["settings"].get("game", "a game")
        names = " – ".join(self.names())
        return f"{game}: {names}"

    def check(self, settings: Mapping[str, Any]) -> None:
        """Raise ValueError where there is a match already that has other settings, or something else."""
        if not self.settings_file.exists():
            if (self.path / TOURNAMENT_FILE).exists():
                raise ValueError(f"{self.path} holds a tournament; {OTHER_FOLDER}")
            if self.games_file.exists():
                raise ValueError(f"{self.path} has games.jsonl but no match.json: it is not the folder of a match")
        super().check(settings)

    def refuse_other_work(self) -> None:
        """Raise ValueError where the folder has a result, but not of games (which makes its settings again)."""
        is_of_games = self.result_file.exists() and "work" in read_json(self.result_file)
        if not is_of_games:
            super().refuse_other_work()

    def games(self) -> Iterator[MatchGame]:
        """Yield the finished games; ValueError names a line that is damaged, or has a game that is there already."""
        return (game for _, _, game in self.lines())

    def lines(
        self, place: LinePlace = FIRST_LINE, known: Collection[int] = ()
    ) -> Iterator[tuple[LinePlace, LinePlace, MatchGame]]:
        """Yield the games from a place on, with their places, as `game_lines`."""
        return game_lines(self.games_file, place, known)

    def append(self, *games: MatchGame) -> None:
        _journal(self.games_file).append(*games)

    def work(self) -> Work:
        """Return what the match has cost until result.json was written last."""
        if not self.result_file.exists():
            return Work()
        try:
            return Work.from_json(read_json(self.result_file)["work"])
        except (KeyError, TypeError):
            raise ValueError(f"{self.result_file}: not the result of a match; delete it, it is made again") from None


@dataclass(frozen=True)
class TournamentFolder(MatchFolder):
    """The files of a tournament: tournament.json (who plays), result.json, and a folder for each pairing."""

    SETTINGS = TOURNAMENT_FILE
    CONTENT = "a tournament"

    def title(self) -> str:
        return f"tournament of {len(self.stored()['settings'].get('players', ()))} players"

    def stamps(self) -> dict[str, str]:
        return super().stamps() | games_stamp(self.path)

    def begin_tournament(self, settings: dict[str, Any]) -> None:
        """Make the folder; players may have been added since it was begun."""
        self.path.mkdir(parents=True, exist_ok=True)
        begun = self.stored().get("begun") if self.settings_file.exists() else None
        write_json(self.settings_file, {"settings": settings, "begun": begun or provenance()})


def games_stamp(path: Path) -> dict[str, str]:
    """Return when games of the matches in the folders of a folder were written last, and their size, as a stamp."""
    found = [place.stat() for place in path.glob("*/games.jsonl")]
    newest = max((facts.st_mtime_ns for facts in found), default=0)
    size = sum(facts.st_size for facts in found)
    if not found:
        return {}
    return {"games.jsonl": f"{newest:x}-{size:x}"}


FARTHEST = 10**6
"""Numbers by which a game of a file may be beyond twice the games before it: pages keep a place for each number."""


def game_lines(
    path: Path, place: LinePlace = FIRST_LINE, known: Collection[int] = ()
) -> Iterator[tuple[LinePlace, LinePlace, MatchGame]]:
    """Yield the games of a games.jsonl from a place on, with their places as `Journal.entries_from`.

    known: numbers of the games before that place. ValueError names a line that is damaged, or has a game twice.
    """
    seen = set(known)
    for found, after, game in _journal(path).entries_from(place):
        if game.index in seen or game.index > FARTHEST + 2 * len(seen):
            why = "is there already" if game.index in seen else "is far beyond the others"
            raise wrong_line(path, found, f"game {game.index} {why}")
        seen.add(game.index)
        yield found, after, game


def wrong_line(path: Path, place: LinePlace, what: object) -> ValueError:
    """Return the error that names a line of games."""
    return ValueError(f"{path}, line {place.line}: {what}; {ADVICE}")


def _journal(path: Path) -> Journal[MatchGame]:
    return Journal(path, MatchGame, "a game")


def match_folders(path: Path) -> list[MatchFolder]:
    """The match of this folder, or all below it (the pairings of tournaments); ValueError where there is none."""
    found = [MatchFolder(path)] if (path / "match.json").exists() else []
    found = found or [MatchFolder(inner.parent) for inner in sorted(path.rglob("match.json"))]
    if not found:
        raise ValueError(f"{path}: neither the folder of a match nor of a tournament: it has no match.json")
    return found
