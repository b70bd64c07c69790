"""The folder of a match: match.json (settings), games.jsonl (a line a game), result.json (numbers)."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from hauteur.matches.results import MatchGame, Work
from hauteur.system.files import write_bytes, write_json
from hauteur.system.lock import locked
from hauteur.system.provenance import provenance

TOURNAMENT_FILE = "tournament.json"


@dataclass(frozen=True)
class MatchFolder:
    """What is on disk of a match; a match that was interrupted at any moment goes on from it."""

    path: Path

    @property
    def settings_file(self) -> Path:
        """What decides the games, and where the match was begun."""
        return self.path / "match.json"

    @property
    def games_file(self) -> Path:
        """The finished games, in the order in which they ended."""
        return self.path / "games.jsonl"

    @property
    def result_file(self) -> Path:
        """The numbers, of all games so far."""
        return self.path / "result.json"

    def locked(self) -> AbstractContextManager[None]:
        """Keeps other processes of this machine out of the folder; ValueError when one plays a match in it."""
        return locked(self.path, "playing a match")

    def begin(self, settings: dict[str, Any], names: tuple[str, str] | None = None) -> None:
        """Makes the folder unless it is there."""
        self.path.mkdir(parents=True, exist_ok=True)
        if not self.settings_file.exists():
            named = {} if names is None else {"names": list(names)}
            write_json(self.settings_file, {"settings": settings, **named, "begun": provenance()})

    def names(self) -> tuple[str, str]:
        """What the match calls its players; in old folders by what result.json says, else by their settings."""
        stored = self.stored()
        if "names" in stored:
            a, b = stored["names"]
        elif self.result_file.exists():
            a, b = (self._json(self.result_file)[name] for name in "ab")
        else:
            a, b = (stored["settings"][name] for name in "ab")
        return str(a), str(b)

    def stored(self) -> dict[str, Any]:
        """What match.json holds."""
        return self._json(self.settings_file)

    def check(self, settings: dict[str, Any]) -> None:
        """ValueError where there is a match already that has other settings."""
        if not self.settings_file.exists():
            if (self.path / TOURNAMENT_FILE).exists():
                raise ValueError(f"{self.path} holds a tournament; name another folder with --out")
            if self.games_file.exists():
                raise ValueError(f"{self.path} has games.jsonl but no match.json: it is not the folder of a match")
            return
        stored = self._json(self.settings_file).get("settings", {})
        changed = [key for key in {**stored, **settings} if stored.get(key) != settings.get(key)]
        if changed:
            changes = "; ".join(f"{key} was {stored.get(key)!r} and is now {settings.get(key)!r}" for key in changed)
            raise ValueError(
                f"{self.path} holds a match with other settings: {changes}; name another folder with --out"
            )

    def games(self) -> Iterator[MatchGame]:
        """The finished games. A last line that was cut off is removed; ValueError names any other that is damaged."""
        if not self.games_file.exists():
            return
        self._cut_off_half_a_line()
        with self.games_file.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                try:
                    yield MatchGame.model_validate_json(line)
                except ValidationError:
                    raise ValueError(f"{self.games_file}, line {number}: not a game: {line[:60]!r}") from None

    def append(self, game: MatchGame) -> None:
        """Adds a game; it is on disk when this returns."""
        line = json.dumps(game.model_dump(exclude_defaults=True)) + "\n"
        with self.games_file.open("ab", buffering=0) as file:
            file.write(line.encode())
            os.fsync(file.fileno())

    def work(self) -> Work:
        """What the match has cost until result.json was written last."""
        try:
            return Work.from_json(self._json(self.result_file)["work"])
        except FileNotFoundError:
            return Work()
        except (KeyError, TypeError):
            raise ValueError(f"{self.result_file}: not the result of a match; delete it, it is made again") from None

    def write_result(self, result: dict[str, Any]) -> None:
        """Replaces result.json."""
        write_json(self.result_file, result)

    def _cut_off_half_a_line(self) -> None:
        """A line without end is what is left when the machine stopped while it was written."""
        data = self.games_file.read_bytes()
        if data and not data.endswith(b"\n"):
            write_bytes(self.games_file, data[: data.rfind(b"\n") + 1])

    def _json(self, path: Path) -> dict[str, Any]:
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise ValueError(f"{path}: not a JSON file: {error}") from None
        if not isinstance(values, dict):
            raise ValueError(f"{path}: not a JSON object")
        return values


@dataclass(frozen=True)
class TournamentFolder(MatchFolder):
    """What is on disk of a tournament: tournament.json (who plays), result.json, and a folder for each pairing."""

    @property
    def settings_file(self) -> Path:
        """Who plays, and which folder is whose pairing."""
        return self.path / TOURNAMENT_FILE

    def check_is_no_match(self) -> None:
        """ValueError where the folder is that of a match."""
        if self.games_file.exists():
            raise ValueError(f"{self.path} holds a match; name another folder with --out")

    def begin_tournament(self, settings: dict[str, Any]) -> None:
        """Makes the folder; players may have been added since it was begun."""
        self.path.mkdir(parents=True, exist_ok=True)
        begun = self.stored().get("begun") if self.settings_file.exists() else None
        write_json(self.settings_file, {"settings": settings, "begun": begun or provenance()})


def match_folders(path: Path) -> list[MatchFolder]:
    """The match of this folder, or all below it (the pairings of tournaments); ValueError where there is none."""
    found = [MatchFolder(path)] if (path / "match.json").exists() else []
    found = found or [MatchFolder(inner.parent) for inner in sorted(path.rglob("match.json"))]
    if not found:
        raise ValueError(f"{path}: neither the folder of a match nor of a tournament: it has no match.json")
    return found
