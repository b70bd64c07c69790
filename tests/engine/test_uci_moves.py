"""The UCI engine: lines, scores, castling, statistics, clocks, nets that are missing."""

from pathlib import Path

import chess
import chess.engine
import pytest
import uci_positions
from uci_client import Client, engine
from uci_positions import MATE_IN_1, bestmove, infos

client, shared = uci_positions.client, uci_positions.shared  # fixtures

MATE_IN_2 = "7k/8/8/8/8/8/R7/1R4K1 w - - 0 1"

MATED_IN_1 = "7k/8/5K2/8/8/8/8/6Q1 b - - 0 1"

CHESS960 = "1rk3r1/pppppppp/8/8/8/8/PPPPPPPP/1RK3R1 w GBgb - 0 1"


def test_multipv_lines_are_legal_and_ordered(client: Client) -> None:
    client.send("setoption name MultiPV value 4", "setoption name UCI_ShowWDL value true", "position startpos")
    client.send("go nodes 500")
    lines = client.until("bestmove")
    last = infos(lines)[-4:]
    assert [info["multipv"] for info in last] == ["1", "2", "3", "4"]
    assert len({info["pv"].split()[0] for info in last}) == 4
    for info in last:
        board = chess.Board()
        for move in info["pv"].split():
            board.push_uci(move)
        assert sum(map(int, info["wdl"].split())) == 1000
    assert bestmove(lines[-1]) == last[0]["pv"].split()[0]


@pytest.mark.parametrize(
    ("fen", "mate", "move"), [(MATE_IN_1, "1", "a1a8"), (MATE_IN_2, "2", None), (MATED_IN_1, None, None)]
)
def test_mate_scores(shared: Client, fen: str, mate: str | None, move: str | None) -> None:
    shared.send("ucinewgame", f"position fen {fen}", "go nodes 3000")
    lines = shared.until("bestmove")
    assert infos(lines)[-1].get("mate") == mate
    if move is not None:
        assert bestmove(lines[-1]) == move


@pytest.mark.parametrize(
    "fen", ["7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", "7k/8/6QK/8/8/8/8/8 b - - 0 1"], ids=["mate", "stalemate"]
)
def test_no_legal_move(shared: Client, fen: str) -> None:
    shared.send("ucinewgame", f"position fen {fen}", "go nodes 10")
    assert bestmove(shared.expect("bestmove")) == "(none)"


def test_position_drawn_by_a_rule_is_still_searched(shared: Client) -> None:
    shared.send("ucinewgame", "position fen 8/8/4k3/8/8/3K4/8/8 w - - 99 80 moves d3d4 e6d6", "go nodes 50")
    assert bestmove(shared.expect("bestmove")).startswith("d4")


def test_chess960_castling(client: Client) -> None:
    client.send("setoption name UCI_Chess960 value true", f"position fen {CHESS960} moves c1b1 c8b8", "isready")
    assert not any(line.startswith("info string error") for line in client.until("readyok"))
    client.send("fen")
    board = chess.Board(CHESS960, chess960=True)
    board.push_uci("c1b1")
    board.push_uci("c8b8")
    assert client.expect(board.board_fen()).split()[0] == board.board_fen()
    client.send(f"position fen {CHESS960}", "go nodes 20 searchmoves c1g1")
    assert bestmove(client.expect("bestmove")) == "c1g1"


def test_log_file(client: Client, tmp_path: Path) -> None:
    log = tmp_path / "uci.log"
    client.send(f"setoption name LogFile value {log}", "isready")
    client.expect("readyok")
    text = log.read_text()
    assert " > isready\n" in text
    assert " < readyok\n" in text
    client.send(f"setoption name LogFile value {tmp_path}", "isready")
    assert any("Is a directory" in line for line in client.until("readyok"))


def test_every_clock_gets_a_move(client: Client) -> None:
    client.ready()
    for go in ("go movetime 300", "go wtime 1000 btime 1000", "go wtime 1 btime 1", "go wtime -5 btime -5 winc 10"):
        client.send("ucinewgame", "position startpos", go)
        client.expect("bestmove", seconds=10)


def test_without_a_net_it_says_so_and_plays_no_move(tmp_path: Path) -> None:
    with engine("--weights", "<autodiscover>", cwd=tmp_path, env={"HAUTEUR_NET": ""}) as client:
        assert any(line.startswith("info string error: no net") for line in client.ready())
        client.send("position startpos moves e2e4", "go nodes 10")
        reason, answer = client.until("bestmove")
        assert reason.startswith("info string error: no search, so no move: no net")
        assert answer == "bestmove 0000"
        client.send("setoption name WeightsFile value uniform", "go nodes 10")
        assert int(infos(client.until("bestmove"))[-1]["nodes"]) > 0
        assert client.seen[-1] != "bestmove 0000"


def test_temperature_varies_moves(client: Client) -> None:
    client.send("setoption name Temperature value 1", "setoption name SmartPruningFactor value 0")
    played = set()
    for _ in range(12):
        client.send("ucinewgame", "position startpos", "go nodes 40")
        played.add(bestmove(client.expect("bestmove")))
    assert len(played) > 2
