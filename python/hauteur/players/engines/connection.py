"""The interface of an engine that the player needs, whichever protocol it speaks."""

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
        """Choose a move in the current game."""

    async def quit(self) -> None:
        """Request it to exit, and kill it if it does not."""

    def kill(self) -> None:
        """End it at once."""
