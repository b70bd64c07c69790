"""A small controller for GTP engines."""

import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

SECONDS = 60.0
"""How long an answer is waited for before the test fails; an engine that works answers far sooner."""
COLOURS = ("black", "white")


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


def play_game(players: Sequence[Client], size: int) -> tuple[int, list[str]]:
    """Lets two engines play, each of which refuses a move that is not legal; the winner (0 black) and the moves."""
    for player in players:
        player.ask(f"boardsize {size}")
        player.ask("clear_board")
    moves, colour = list[str](), 0
    while True:
        answer = players[colour].ask(f"genmove {COLOURS[colour]}")
        if answer == "resign":
            return 1 - colour, moves
        moves.append(answer)
        players[1 - colour].ask(f"play {COLOURS[colour]} {answer}")
        colour = 1 - colour
