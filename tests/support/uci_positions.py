"""Positions, and readers of the output of a UCI engine."""

from collections.abc import Iterator

import chess
import chess.engine
import pytest
from uci_client import Client, engine

START_MOVES = {move.uci() for move in chess.Board().legal_moves}


MATE_IN_1 = "6k1/5ppp/8/8/8/8/8/R6K w - - 0 1"


@pytest.fixture
def client() -> Iterator[Client]:
    """A fresh engine without a net."""
    with engine("--weights", "uniform") as started:
        yield started


@pytest.fixture(scope="module")
def shared() -> Iterator[Client]:
    """One engine for tests that leave nothing behind but the options they set."""
    with engine("--weights", "uniform") as started:
        started.ready()
        yield started


def bestmove(line: str) -> str:
    """The move of a bestmove line."""
    words = line.split()
    assert words[0] == "bestmove"
    assert len(words) in (2, 4)
    return words[1]


def pairs(line: str) -> dict[str, str]:
    """Names and values of an info line, the line of play as one value."""
    head, _, line_of_play = line.partition(" pv ")
    words = head.removeprefix("info ").replace("score cp", "cp").replace("score mate", "mate").split()
    if "wdl" in words:
        at = words.index("wdl")
        words[at + 1 : at + 4] = [" ".join(words[at + 1 : at + 4])]
    return {**dict(zip(words[::2], words[1::2], strict=True)), "pv": line_of_play}


def infos(lines: list[str]) -> list[dict[str, str]]:
    """The info lines with figures."""
    return [pairs(line) for line in lines if line.startswith("info ") and not line.startswith("info string")]
