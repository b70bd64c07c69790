"""The folder of a tuning: tune.json (settings), a folder for each match, result.json."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hauteur.games.registry import make
from hauteur.matches.folder import MatchFolder
from hauteur.matches.match import Match, MatchSettings
from hauteur.matches.openings import Opening
from hauteur.matches.results import Tally
from hauteur.players.build import Resources
from hauteur.system.files import write_json
from hauteur.system.lock import locked
from hauteur.system.provenance import provenance


@dataclass(frozen=True)
class TuningFolder:
    """What is on disk of a tuning, and its matches, which resume by themselves.

    openings: that games begin from, of openings_file; watch: what goes on around each match that is played.
    """

    path: Path
    resources: Resources
    openings: Sequence[Opening] = ()
    openings_file: Path | None = None
    watch: Callable[[Match], AbstractContextManager[None]] | None = None

    @contextmanager
    def open(self, settings: dict[str, Any]) -> Iterator[None]:
        """Begins the folder, or goes on with it; other processes are kept out. ValueError for other settings."""
        with locked(self.path, "tuning"):
            self._claim(settings)
            yield

    def _claim(self, settings: dict[str, Any]) -> None:
        file = self.path / "tune.json"
        if not file.exists():
            self.path.mkdir(parents=True, exist_ok=True)
            write_json(file, {"settings": settings, "begun": provenance()})
            return
        stored = json.loads(file.read_text(encoding="utf-8"))["settings"]
        changed = [key for key in {**stored, **settings} if stored.get(key) != settings.get(key)]
        if changed:
            changes = "; ".join(f"{key} was {stored.get(key)!r} and is now {settings.get(key)!r}" for key in changed)
            raise ValueError(f"{self.path} holds another tuning: {changes}; name another folder with --out")

    def play(self, name: str, settings: MatchSettings) -> Tally:
        """The results of a match, of which the games that are missing are played."""
        match = Match(
            make(settings.game),
            settings,
            openings=self.openings,
            openings_file=self.openings_file,
            resources=self.resources,
            folder=MatchFolder(self.path / name),
        )
        with nullcontext() if self.watch is None else self.watch(match), closing(match.play()) as games:
            for _ in games:
                pass
        return match.tally

    def write_result(self, result: dict[str, Any]) -> None:
        """What came of it."""
        write_json(self.path / "result.json", {**result, "written": provenance()})
