"""The folder of a review: what was found about each position, so that an interrupted review goes on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from hauteur.studies.review.review import Found, Place, PositionFinding
from hauteur.system.jsonl import Journal
from hauteur.system.run_directory import RunDirectory
from hauteur.system.settings import Section

Share = Annotated[float, Field(ge=0, le=1)]


class FoundPosition(Section):
    """A line of positions.jsonl: the position of a game (from 1) after so many plies, as PositionFinding has it.

    instead, deep: as in Place.
    """

    game: int
    ply: int
    wdl: tuple[Share, Share, Share]
    line: tuple[int, ...]
    visits: int
    instead: bool = False
    deep: bool = False

    @classmethod
    def of(cls, game: int, place: Place, finding: PositionFinding) -> FoundPosition:
        """Return what was found of a place of a game."""
        wdl = tuple(min(max(share, 0.0), 1.0) for share in finding.wdl)
        fields: dict[str, Any] = {"game": game, "wdl": wdl, "line": finding.line, "visits": finding.visits}
        return cls.model_validate({**fields, **place._asdict()})

    @property
    def place(self) -> Place:
        """The place in its game."""
        return Place(self.ply, self.instead, self.deep)

    @property
    def finding(self) -> PositionFinding:
        """What was found."""
        return PositionFinding(self.wdl, self.line, self.visits)


@dataclass(frozen=True)
class ReviewFolder(RunDirectory):
    """review.json (settings), positions.jsonl, result.json, and the review as review.pgn or .sgf and report.html."""

    SETTINGS = "review.json"
    CONTENT = "a review"
    WORK = "reviewing games"

    @property
    def journal(self) -> Journal[FoundPosition]:
        """The positions that were searched."""
        return Journal(self.path / "positions.jsonl", FoundPosition, "a position of a review")

    def known(self) -> dict[int, Found]:
        """Return the findings of earlier attempts, by game and place."""
        found: dict[int, Found] = {}
        for entry in self.journal.entries():
            found.setdefault(entry.game, {})[entry.place] = entry.finding
        return found

    def add(self, game: int, place: Place, finding: PositionFinding) -> None:
        """Keep what was found; it is on disk when this returns."""
        self.journal.append(FoundPosition.of(game, place, finding))
