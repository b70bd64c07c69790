"""Settings of matches: how games begin and end, and who plays how many of them."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from hauteur.players.settings import Colours, PlayerSettings
from hauteur.system.settings import Section

NO_LIMIT = 100_000_000
"""Games of a match that only a sequential test ends."""


class GamesSettings(Section):
    """Settings that decide how games begin and end, whoever plays them."""

    game: str
    """Spec of the game, such as `chess` or `hex(size=7)`."""
    random_plies: Annotated[int, Field(ge=0, le=10_000)] = 4
    """Uniformly random plies that a game begins with, where there are no openings."""
    order: Literal["random", "file"] = "random"
    """Order of the openings: drawn by the seed, or as in the file. After the last one the first is used again."""
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    """Seed of all random draws."""
    max_plies: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """A game of this many plies, its opening included, is a draw; None: only the game's rules end it."""


class MatchSettings(GamesSettings):
    """Settings that decide the games of a match."""

    a: PlayerSettings
    """Player A, from whose view results are given."""
    b: PlayerSettings
    """Player B."""
    games: Annotated[int, Field(ge=1, le=NO_LIMIT)] = 400
    """Games of the match, even where colours are swapped."""
    colours: Colours = "swap"
    """Who moves first: `swap` plays every opening twice with sides changed, `first` and `second` fix A's side, `mover`
    gives A the player to move in the opening's position."""

    @model_validator(mode="after")
    def _pairs_are_whole(self) -> Self:
        """Refuse an odd number of games with swapped colours."""
        if self.paired and self.games % 2:
            raise ValueError(f"with swapped colours the number of games must be even, got {self.games}")
        return self

    @property
    def paired(self) -> bool:
        """True where games 2k and 2k + 1 share an opening."""
        return self.colours == "swap"
