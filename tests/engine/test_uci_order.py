"""UCI commands that are sent without waiting for answers: every `go` gets one move, of its own position."""

import io
import random
import subprocess
import sys
import time
from pathlib import Path

import chess
import chess.engine
import pytest
from uci_client import engine

from hauteur import _core
from hauteur.engine.streams import Output
from hauteur.engine.uci.engine import SCRIPT_SECONDS, UciEngine
from hauteur.networks.evaluators.base import Answers, Floats, GameEvaluator, UniformEvaluator

COMMANDS = 200
STARTS = (
    chess.STARTING_FEN,
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/8/8/8/8/4k3/R7/4K3 w - - 0 1",
)
GOES = ("nodes 1", "nodes 30", "nodes 3000", "infinite", "ponder movetime 20", "movetime 3", "depth 2", "mate 1", "")
OTHERS = (
    *("stop", "ponderhit", "isready", "ucinewgame", "uci", "fen", "go nodes many", "go nodes 3 nonsense"),
    *("setoption name CPuct value 2", "setoption name MultiPV value 3", "setoption name MinibatchSize value 1"),
    *("nonsense", "debug on"),
)
REFUSED = ("position startpos moves e2e5", "position", "position fen nonsense")


def random_session(seed: int) -> tuple[list[str], list[chess.Board | None]]:
    """Random commands, and the position of every `go` among them; None after a refused one."""
    rng = random.Random(seed)
    board: chess.Board | None = chess.Board()
    lines: list[str] = []
    positions: list[chess.Board | None] = []
    for _ in range(COMMANDS):
        kind = rng.random()
        if kind < 0.3:
            fen = rng.choice(STARTS)
            board = chess.Board(fen)
            for _ in range(rng.randrange(8)):
                if board.is_game_over():
                    break
                board.push(rng.choice(list(board.legal_moves)))
            lines.append(f"position fen {fen} moves {' '.join(move.uci() for move in board.move_stack)}")
        elif kind < 0.33:
            board = None
            lines.append(rng.choice(REFUSED))
        elif kind < 0.6:
            lines.append(f"go {rng.choice(GOES)}")
            if lines[-1] == "go nodes 30" and rng.random() < 0.5:
                lines.append("wait")
        else:
            lines.append(rng.choice(OTHERS))
        positions += (
            [None if board is None else board.copy()] if lines[-1].startswith("go") or lines[-1] == "wait" else []
        )
    return lines, positions


def check(output: str, lines: list[str], positions: list[chess.Board | None]) -> None:
    """One answer to each question, every move legal where it was asked for."""
    said = output.splitlines()
    moves = [line.split()[1] for line in said if line.startswith("bestmove")]
    assert len(moves) == len(positions)
    for move, board in zip(moves, positions, strict=True):
        if board is None:
            assert move == "0000"
        elif any(board.legal_moves):
            assert chess.Move.from_uci(move) in board.legal_moves
        else:
            assert move == "(none)"
    assert said.count("readyok") == lines.count("isready")
    assert said.count("uciok") == lines.count("uci")
    refused = [line for line in said if "no search, so no move: the last position was refused" in line]
    assert len(refused) == positions.count(None)
    assert not [line for line in said if ("no search" in line and line not in refused) or "internal" in line]


@pytest.mark.parametrize("seed", range(20))
def test_random_commands_without_waiting(seed: int) -> None:
    lines, positions = random_session(seed)
    stream = io.StringIO()
    engine = UciEngine(Output(stream), seed=seed)
    engine.options.set("WeightsFile", "uniform")
    engine.run([line.encode() for line in ("isready", *lines, "stop")])  # the end alone lets `mate 1` search on
    check(stream.getvalue(), ["isready", *lines], positions)


def run(text: str) -> str:
    """Return what an engine without a net writes about an input that ends."""
    command = [sys.executable, "-m", "hauteur.cli.main", "uci", "--weights", "uniform"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=120, check=True)
    assert done.stderr == ""
    return done.stdout


def test_a_stop_ends_the_search_that_waits_for_its_turn() -> None:
    with engine("--weights", "uniform") as client:
        client.send("isready", "go infinite", "stop", "position startpos moves e2e4", "go infinite", "stop")
        moves = [client.expect("bestmove").split()[1] for _ in range(2)]
        assert [move[1] for move in moves] in (["1", "8"], ["2", "7"], ["1", "7"], ["2", "8"])
        assert client.ready()[-2:] == ["uciok", "readyok"], "nothing runs any more"


def test_a_ponderhit_is_for_the_search_that_waits_for_its_turn() -> None:
    with engine("--weights", "uniform") as client:
        client.send("isready", "go infinite", "stop", "position startpos moves e2e4")
        client.send("go ponder movetime 300", "ponderhit")
        for _ in range(2):
            client.expect("bestmove", seconds=20)


def test_held_searches_keep_their_positions() -> None:
    played = ["", " moves e2e4", " moves e2e4 e7e5", " moves e2e4"]
    nodes = [200_000, 1, 1, 1]
    text = "".join(f"position startpos{moves}\ngo nodes {n}\n" for moves, n in zip(played, nodes, strict=True))
    moves = [line.split()[1] for line in run(text).splitlines() if line.startswith("bestmove")]
    assert [int(move[1]) > 4 for move in moves] == [False, True, False, True]


def test_ready_is_answered_during_a_search_and_quit_ends_at_once() -> None:
    with engine("--weights", "uniform") as client:
        client.send("go infinite", "position startpos moves e2e4", "go infinite", "isready")
        client.expect("readyok")
        client.send("go nodes 1000000000")
        client.expect("info depth")
        time.sleep(2 * SCRIPT_SECONDS)
        client.send("quit")
        client.rest()
        assert sum(line.startswith("bestmove") for line in client.seen) == 3, "one for each go"
        assert client.process.wait() == 0


@pytest.mark.parametrize("ending", ["quit\n", ""])
@pytest.mark.parametrize("go", ["go nodes 100", "go movetime 400", "go depth 3"])
def test_a_script_gets_its_whole_search_before_its_end(go: str, ending: str) -> None:
    exact = "setoption name SmartPruningFactor value 0\nsetoption name MinibatchSize value 1\n"
    said = run(f"uci\nisready\n{exact}position startpos\n{go}\n{ending}").splitlines()
    assert said[-1].startswith("bestmove ")
    last = said[-2].split()
    assert int(last[last.index("nodes") + 1]) >= 100
    assert said.index("uciok") < said.index("readyok") < len(said) - 1


def test_options_that_no_search_can_follow_are_refused_together() -> None:
    with engine("--weights", "uniform") as client:
        client.send("setoption name Contempt value 50", "setoption name LargeWeightsFile value uniform")
        lines = client.ready()
        assert sum("LargeWeightsFile uniform: " in line and "wdl_contempt" in line for line in lines) == 1
        client.send("go nodes 20")
        assert not any("error" in line for line in client.until("bestmove"))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a full disk is needed")
@pytest.mark.parametrize("by", ["option", "argument"])
def test_a_full_disk_ends_the_log_and_not_the_engine(by: str) -> None:
    arguments = ("--log", "/dev/full") if by == "argument" else ()
    with engine("--weights", "uniform", *arguments) as client:
        if by == "option":
            client.send("setoption name LogFile value /dev/full")
        client.send("isready", "position startpos", "go nodes 20")
        client.expect("bestmove")
        assert client.errors() == "hauteur: error: /dev/full: No space left on device; nothing is logged any more\n"


def test_nothing_is_said_before_the_answer_to_uci() -> None:
    with engine("--weights", "uniform") as client:
        client.send("isready")
        assert client.until("readyok") == ["readyok"]
        client.send("uci")
        assert not any(line.startswith("info") for line in client.until("uciok"))
        assert client.expect("info string net: ") == "info string net: uniform (option WeightsFile)"


class CountedNet(GameEvaluator):
    """Answers as `uniform` does, and notes the rows of every batch."""

    def __init__(self, game: _core.Game) -> None:
        super().__init__(game, "counted", 16)
        self.uniform = UniformEvaluator(game)
        self.batches: list[int] = []

    def compute(self, features: Floats) -> Answers:
        self.batches.append(len(features))
        return self.uniform.compute(features)


def test_a_net_has_evaluated_before_it_is_ready() -> None:
    net = CountedNet(_core.Game("chess"))
    stream = io.StringIO()
    UciEngine(Output(stream), opener=lambda *_: net, seed=1).run([b"isready", b"isready", b"quit"])
    assert stream.getvalue().count("readyok") == 2
    assert net.batches == [1, 1, 2, 16], "the sizes that searches have, once"
