"""A UCI engine with faults on request: `fake_engine.py [-ARGUMENT ...] FAULT [WHEN]`.

Its name has the arguments that begin with a dash. It plays the first legal move by name. FAULT `good` is none; a
fault of the start shows at once; any other shows in games whose moves begin with WHEN, at the second move there. Every
process leaves a file named by its number in the folder FAKE_ENGINE_PIDS, so that a test can look whether it has ended.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import chess

HIDDEN = 1000
"""Seconds of a sleep that only a signal ends."""


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def sleep() -> NoReturn:
    while True:
        time.sleep(HIDDEN)


def crash() -> NoReturn:
    print("thinking hard\nout of ideas", file=sys.stderr, flush=True)
    os._exit(3)


def flood(data: bytes, descriptor: int = 1) -> NoReturn:
    while True:
        os.write(descriptor, data)


def close() -> NoReturn:
    os.close(1)
    sleep()


def late() -> None:
    time.sleep(HIDDEN / 100)
    say("bestmove e2e4")


FAULTS: dict[str, Callable[[], object]] = {
    "crash": crash,
    "killed": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "hang": sleep,
    "late": late,
    "closes": close,
    "illegal": lambda: say("bestmove e2e5"),
    "zero": lambda: say("bestmove 0000"),
    "san": lambda: say("bestmove Nf3"),
    "no-move": lambda: say("bestmove"),
    "bytes": lambda: os.write(1, b"bestmove \xff\xfe\x00\n"),
    "flood-lines": lambda: flood(b"info depth 1 score cp 3 pv e2e4\n" * 1000),
    "flood-empty": lambda: flood(b"\n" * 10_000),
    "flood-line": lambda: flood(b"x" * 10_000),
    "flood-errors": lambda: flood(b"e" * 10_000, 2),
}
AT_START: dict[str, Callable[[], object]] = {
    "start-crash": crash,
    "start-hang": sleep,
    "start-flood": lambda: flood(b"option name x type check\n" * 1000),
    "start-slow": lambda: time.sleep(0.3),
}


class Engine:
    """Reads commands. stubborn: it does not end when it is asked to, and has a child that does not either."""

    def __init__(self, fault: str, when: str, arguments: list[str]) -> None:
        self.arguments = arguments
        self.fault = fault
        self.when = when
        self.board = chess.Board()
        self.chess960 = False
        self.moves: list[str] = []
        self.asked = 0

    def run(self) -> None:
        for line in sys.stdin:
            if line.strip() == "quit" and self.fault != "stubborn":
                return
            self.obey(line.split())
        if self.fault == "stubborn":
            sleep()

    def obey(self, words: list[str]) -> None:
        match words:
            case ["uci"]:
                self.introduce()
            case ["isready"]:
                say("readyok")
            case ["ucinewgame"]:
                self.asked = 0
            case ["setoption", "name", "UCI_Chess960", "value", value]:
                self.chess960 = value == "true"
            case ["position", "startpos", *_]:
                self.place(chess.STARTING_FEN, words)
            case ["position", "fen", *fields]:
                self.place(" ".join(fields[:6]), words)
            case ["go", *_]:
                self.go()

    def introduce(self) -> None:
        say("fake engine, at your service")
        say(" ".join(["id name Fake 1.0", *self.arguments]))
        say("option name Hash type spin default 16 min 1 max 64")
        say("option name Style type combo default calm var calm var wild and free")
        say("option name Loud type check default false\noption name Clear Hash type button")
        if "-960" in self.arguments:
            say("option name UCI_Chess960 type check default false")
        say("id author none\nuciok")

    def place(self, fen: str, words: list[str]) -> None:
        self.moves = words[words.index("moves") + 1 :] if "moves" in words else []
        self.board = chess.Board(fen, chess960=self.chess960)
        for move in self.moves:
            self.board.push_uci(move)

    def go(self) -> None:
        self.asked += 1
        if self.fault == "mute":
            return
        if self.fault == "leaves" and self.asked == 2 and " ".join(self.moves).startswith(self.when):
            say(f"bestmove {self.move()}")
            sys.exit(0)
        if self.fault in FAULTS and self.asked == 2 and " ".join(self.moves).startswith(self.when):
            FAULTS[self.fault]()
            return
        os.write(1, b"info string \xff\xfe\r\ninfo depth 7 score cp -35 nodes 20 pv e2e4\r\n")
        say("info depth 8 score mate 3 upperbound\ninfo depth 9 multipv 2 score cp 900\ninfo depth\n")
        say(f"bestmove {self.move()} ponder e7e5")
        if self.fault == "twice":
            say("info score cp 1\nbestmove 0000")

    def move(self) -> str:
        return min(move.uci() for move in self.board.legal_moves)


def main(*words: str) -> None:
    arguments = [word for word in words if word.startswith("-")]
    given = [word for word in words if not word.startswith("-")]
    fault, when = (*given, *("good", "")[len(given) :])
    if fault == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        child = subprocess.Popen(["sleep", str(HIDDEN)])
        leave(child.pid)
    leave(os.getpid())
    if fault in AT_START:
        AT_START[fault]()
    Engine(fault, when, arguments).run()


def leave(pid: int) -> None:
    folder = os.environ.get("FAKE_ENGINE_PIDS")
    if folder is not None:
        (Path(folder) / str(pid)).touch()


if __name__ == "__main__":
    main(*sys.argv[1:])
