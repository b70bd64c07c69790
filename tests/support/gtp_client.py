"""A small controller for GTP engines, and the rules of NoGo written a second time, to check what engines play."""

import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

SECONDS = 60.0
"""How long an answer is waited for before the test fails; an engine that works answers far sooner."""
LETTERS = "ABCDEFGHJKLMNOPQRST"
COLOURS = ("black", "white")

Point = tuple[int, int]
"""Column and row, from A1."""


class Client:
    """An engine process; every answer is held to the protocol."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "hauteur.cli.main", "gtp", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._number = 0

    def ask(self, command: str) -> str:
        """The result of a command; fails where the engine refuses it."""
        ok, text = self.try_(command)
        assert ok, f"{command!r} failed: {text}"
        return text

    def try_(self, command: str) -> tuple[bool, str]:
        """Return whether the command succeeded, and what was said."""
        self._number += 1
        self.send(f"{self._number} {command}\n".encode())
        lines = self.answer()
        status, _, first = lines[0].partition(" ")
        assert status in (f"={self._number}", f"?{self._number}"), f"{command!r} was answered by {lines}"
        return status[0] == "=", "\n".join([first, *lines[1:]]).strip("\n")

    def send(self, data: bytes) -> None:
        """Sends bytes as they are."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def line(self) -> str:
        """The next line of the engine."""
        assert self.process.stdout is not None
        timer = threading.Timer(SECONDS, self.process.kill)
        timer.start()
        try:
            raw = self.process.stdout.readline()
        finally:
            timer.cancel()
        assert raw, f"the engine said no more: {self.process.stderr and self.process.stderr.read().decode()}"
        assert raw.endswith(b"\n")
        assert b"\r" not in raw
        return raw.decode().removesuffix("\n")

    def answer(self) -> list[str]:
        """The lines of the next answer, without the empty one that ends it."""
        lines = [self.line()]
        while lines[-1]:
            lines.append(self.line())
        assert lines[0][:1] in ("=", "?"), lines
        return lines[:-1]

    def end(self) -> tuple[int, str]:
        """Ends the input; exit status and what was said on stderr."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        status = self.process.wait(SECONDS)
        assert self.process.stderr is not None
        return status, self.process.stderr.read().decode()


@contextmanager
def engine(*arguments: str) -> Iterator[Client]:
    """An engine for the length of a block, killed at its end."""
    client = Client(arguments)
    try:
        yield client
    finally:
        client.process.kill()
        client.process.wait()


@dataclass
class PlainNoGo:
    """NoGo by the letter of its rules: a move must not capture and must not be suicide."""

    size: int
    stones: dict[Point, int] = field(default_factory=dict)

    def legal(self, colour: int) -> set[str]:
        """The vertices that this player may take."""
        points = [(column, row) for column in range(self.size) for row in range(self.size)]
        return {vertex_of(point) for point in points if self._may_take(point, colour)}

    def play(self, colour: int, vertex: str) -> None:
        """Puts a stone; AssertionError where it may not be."""
        assert vertex in self.legal(colour), f"{COLOURS[colour]} played {vertex} in {self.stones}"
        self.stones[LETTERS.index(vertex[0]), int(vertex[1:]) - 1] = colour

    def _may_take(self, point: Point, colour: int) -> bool:
        if point in self.stones:
            return False
        after = {**self.stones, point: colour}
        return all(self._has_liberty(place, after) for place in (point, *self._beside(point)) if place in after)

    def _has_liberty(self, point: Point, stones: dict[Point, int]) -> bool:
        """Return whether the chain of this stone touches an empty point."""
        chain, pending = {point}, [point]
        while pending:
            for place in self._beside(pending.pop()):
                if place not in stones:
                    return True
                if stones[place] == stones[point] and place not in chain:
                    chain.add(place)
                    pending.append(place)
        return False

    def _beside(self, point: Point) -> list[Point]:
        column, row = point
        near = [(column - 1, row), (column + 1, row), (column, row - 1), (column, row + 1)]
        return [(c, r) for c, r in near if 0 <= c < self.size and 0 <= r < self.size]


def vertex_of(point: Point) -> str:
    """The name of a point."""
    return f"{LETTERS[point[0]]}{point[1] + 1}"


def play_nogo(players: Sequence[Client], size: int) -> tuple[int, list[str]]:
    """Lets two engines play a game of NoGo and checks every move; the winner (0 black) and the moves."""
    for player in players:
        player.ask(f"boardsize {size}")
        player.ask("clear_board")
    rules, moves, colour = PlainNoGo(size), list[str](), 0
    while True:
        answer = players[colour].ask(f"genmove {COLOURS[colour]}")
        legal = rules.legal(colour)
        if not legal:
            assert answer == "resign"
            return 1 - colour, moves
        rules.play(colour, answer)
        moves.append(answer)
        players[1 - colour].ask(f"play {COLOURS[colour]} {answer}")
        colour = 1 - colour
