"""What the player needs of an engine, whichever protocol it speaks."""

from __future__ import annotations

from typing import Protocol

from hauteur.players.move_player import ChosenMove, MoveRequest


class EngineConnection(Protocol):
    """A running engine. Every method fails with EngineFailure; then it must not be used again but for `kill`."""

    async def open(self) -> None:
        """The first thing after its start."""

    async def begin(self) -> None:
        """A new game, whatever was before."""

    async def choose(self, request: MoveRequest) -> ChosenMove:
        """Looks for a move in the game that was begun."""

    async def quit(self) -> None:
        """Asks it to end, and kills it where it does not."""

    def kill(self) -> None:
        """Ends it at once."""
