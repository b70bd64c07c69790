"""The reasons for which a program loses a game other than on the board."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from hauteur.players.move_player import EngineFailure

START_FAILED = "engine start failed"
CRASHED = "engine crashed"
TIMEOUT = "engine timeout"
LOST_ON_TIME = "loss on time"
ILLEGAL_MOVE = "illegal move"
BAD_OUTPUT = "bad output"
REASONS = (START_FAILED, CRASHED, TIMEOUT, LOST_ON_TIME, ILLEGAL_MOVE, BAD_OUTPUT)


@asynccontextmanager
async def within(seconds: float, failure: EngineFailure) -> AsyncIterator[None]:
    """Stop the block after this many seconds and raise `failure`."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise failure from None


def no_answer(to: str, seconds: float) -> EngineFailure:
    """Return the failure of an engine that did not respond or act within this many seconds."""
    return EngineFailure(TIMEOUT, f"no {to} within {seconds:g} s")
