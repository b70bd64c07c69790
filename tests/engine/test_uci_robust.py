"""The UCI engine survives what it should never be sent, and being killed."""

import random
import signal
import sys
import time
from pathlib import Path

import pytest
from uci_client import engine

from hauteur.engine.uci.options import OPTIONS

LINES = 10_000
CHUNK = 250
"""Lines between two questions whether the engine is alive."""

GOOD = [
    "uci",
    "isready",
    "ucinewgame",
    "position startpos",
    "position startpos moves e2e4 e7e5 g1f3",
    "position fen r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1 moves e1g1",
    "go nodes 5",
    "go movetime 1",
    "go wtime 100 btime 100 winc 1 binc 1 movestogo 3",
    "go depth 1 searchmoves e2e4 d2d4",
    "go infinite",
    "go ponder wtime 50 btime 50",
    "stop",
    "ponderhit",
    "fen",
    "wait",
    "debug on",
    "register later",
]
WORDS = [
    *("go", "position", "startpos", "fen", "moves", "e2e4", "e7e8q", "0000", "a1a1", "nodes", "infinite"),
    *("searchmoves", "-1", "w", "KQkq", "-", "%s", "99999999999999999999", "\x00", "é", "♔"),
]


def random_line(rng: random.Random) -> bytes:
    """A line of noise, of words in any order, a setoption, or a good line with some bytes changed."""
    kind = rng.randrange(4)
    if kind == 0:
        return bytes(rng.randrange(256) for _ in range(rng.randrange(60))).replace(b"\n", b" ")
    if kind == 1:
        return " ".join(rng.choices(WORDS, k=rng.randrange(1, 12))).encode()
    if kind == 2:
        return setoption_line(rng).encode()
    line = bytearray(rng.choice(GOOD).encode())
    for _ in range(rng.randrange(3)):
        line[rng.randrange(len(line))] = rng.randrange(32, 256)
    return bytes(line)


def setoption_line(rng: random.Random) -> str:
    """An option with a value that may be right; not those that open files or take the engine's net away."""
    option = rng.choice([o for o in OPTIONS if o.name not in ("LogFile", "WeightsFile", "SyzygyPath", "Hash")])
    values = [option.default, "", "-1", "1", "7", "nan", "1e999", "true", "\x00", *option.choices]
    return f"setoption name {option.name} value {rng.choice(values)}"


def harmless(line: bytes) -> bool:
    """Return whether the line does not end the engine by rights."""
    return not line.strip().lower().startswith(b"quit")


@pytest.mark.parametrize("seed", [1, 2])
def test_random_and_mutated_lines_leave_the_engine_alive(seed: int) -> None:
    rng = random.Random(seed)
    with engine("--weights", "uniform") as client:
        for _ in range(LINES // 2 // CHUNK):
            lines = filter(harmless, (random_line(rng) for _ in range(CHUNK)))
            client.send_bytes(b"\n".join([*lines, b"stop", b"ponderhit", b"stop", b"isready", b""]))
            client.expect("readyok")
        client.send("stop", "ucinewgame", "position startpos", "isready")
        client.expect("readyok")
        assert client.process.poll() is None
        assert client.errors() == ""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are a matter of POSIX")
@pytest.mark.parametrize("net", ["uniform", "maia-1100.pb.gz"])
def test_interrupts_at_any_moment_end_with_130(net: str, shared_data: Path) -> None:
    """Before and while the net is opened, in searches, between them; some programs interrupt twice."""
    rng = random.Random(net)
    path = net if net == "uniform" else str(shared_data / "nets" / net)
    for number in range(2):
        with engine("--weights", path) as client:
            client.send("uci")
            client.expect("uciok")
            client.send("isready", "position startpos", "go infinite", "position startpos", "go infinite")
            if number % 2:
                client.expect("info depth")
            time.sleep(rng.uniform(0.0, 0.6))
            client.process.send_signal(signal.SIGINT)
            if number % 3 == 0 and client.process.poll() is None:
                client.process.send_signal(signal.SIGINT)
            assert client.process.wait(60) == 130
            assert client.errors() == ""
