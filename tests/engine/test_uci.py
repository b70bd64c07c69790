"""The UCI engine as programs see it: a process that is spoken to in lines. Played without a net (`uniform`)."""

import sys
import time
from pathlib import Path

import chess
import chess.engine
import pytest
import uci_positions
from uci_client import Client, engine
from uci_positions import MATE_IN_1, START_MOVES, bestmove, infos

from hauteur.engine.uci.options import OPTIONS
from hauteur.mcts.lc0_options import WITHOUT_EFFECT

client, shared = uci_positions.client, uci_positions.shared  # fixtures


def test_uci_lists_all_options(client: Client) -> None:
    client.send("uci")
    lines = client.until("uciok")
    assert lines[0].startswith("id name hauteur ")
    assert lines[1].startswith("id author ")
    declared = [line.split(" name ")[1].split(" type ")[0] for line in lines if line.startswith("option ")]
    assert declared == [option.name for option in OPTIONS]
    assert {"Threads", "Hash", "Move Overhead"} <= set(declared), "lichess-bot sets these"
    assert not set(declared) & set(WITHOUT_EFFECT), "an option is declared only if it does something"


def test_python_chess_understands_every_option() -> None:
    command = [sys.executable, "-m", "hauteur.cli.main", "uci", "--weights", "uniform"]
    with chess.engine.SimpleEngine.popen_uci(command, timeout=60) as player:
        assert list(player.options) == [option.name for option in OPTIONS]
        player.configure({"Threads": 1, "Hash": 64, "Move Overhead": 100, "CPuct": "2.5", "ScoreType": "Q"})
        result = player.play(chess.Board(), chess.engine.Limit(nodes=50), info=chess.engine.INFO_ALL)
    assert result.move is not None
    assert result.move in chess.Board().legal_moves
    assert 0 < result.info["nodes"] <= 50


def test_every_declared_name_can_be_set(client: Client) -> None:
    settable = [option for option in OPTIONS if option.kind != "string"]
    client.send(*(f"setoption name {option.name} value {option.text(option.default)}" for option in settable))
    assert not [line for line in client.ready() if "error" in line]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("setoption name CPuct value many", "CPuct must be a number from 0 to 100, got 'many'"),
        ("setoption name CPuct value -1", "CPuct must be a number from 0 to 100, got '-1'"),
        ("setoption name MultiPV value 0", "MultiPV must be a whole number from 1 to 500, got '0'"),
        ("setoption name FpuStrategy value none", "FpuStrategy must be one of reduction, absolute, got 'none'"),
        ("setoption name UCI_ShowWDL value maybe", "UCI_ShowWDL must be true or false, got 'maybe'"),
        ("setoption name Nonsense value 1", "no option 'Nonsense'"),
        ("setoption", "setoption needs: name NAME [value VALUE]"),
        ("sing a song", "unknown command: sing a song"),
    ],
)
def test_bad_input_is_said_and_changes_nothing(shared: Client, line: str, message: str) -> None:
    shared.send("position startpos moves e2e4", line, "isready")
    said = [text for text in shared.until("readyok") if text.startswith("info string")]
    assert len(said) == 1
    assert message in said[0]
    shared.send("fen")
    assert shared.expect("rnbqkbnr").split()[:2] == ["rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR", "b"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("position", "position needs: startpos or fen FEN"),
        ("position fen", "position needs: startpos or fen FEN"),
        ("position fen nonsense", "nonsense"),
        ("position fen 8/8/8/8/8/8/8/8 w - - 0 1", "the board is empty"),
        ("position startpos moves e2e4 e2e4", 'move 2 of the position: "e2e4" is not a legal move'),
        ("position startpos moves 0000", 'move 1 of the position: "0000" is not a legal move'),
    ],
)
def test_what_is_wrong_with_a_position_is_said(shared: Client, line: str, message: str) -> None:
    shared.send(line, "isready")
    said = [text for text in shared.until("readyok") if text.startswith("info string")]
    assert len(said) == 1
    assert message in said[0]


@pytest.mark.parametrize("go", ["wtime 5 btime 5", "wtime 0 btime 0", "wtime 150 btime 150 winc 5 binc 5"])
@pytest.mark.parametrize("ready", [True, False])
def test_a_move_without_time_has_one_node(client: Client, go: str, ready: bool) -> None:
    """MoveOverheadMs is all of the clock: the tree gets the visit without which it has no move, and no second one."""
    client.send("setoption name WeightsFile value <shipped>", *(["isready"] if ready else []))
    client.send("position startpos moves e2e4", f"go {go}")
    lines = client.until("bestmove")
    assert [info["nodes"] for info in infos(lines)][-1] == "1"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("go nodes many", "go nodes needs a whole number, got 'many'"),
        ("go wtime", "go wtime needs a whole number, got 'nothing'"),
        ("go nodes 5 searchmoves e2e5", '"e2e5" is not a legal move'),
        ("go nodes 5 searchmoves 0000", '"0000" is not a legal move'),
        ("go nodes 5 foo", "go does not know 'foo'"),
    ],
)
def test_what_is_wrong_with_a_go_is_said_and_it_gets_its_move(shared: Client, line: str, message: str) -> None:
    shared.send("position startpos", line)
    lines = shared.until("bestmove")
    assert sum(message in text for text in lines) == 1
    assert bestmove(lines[-1]) in START_MOVES
    assert int(infos(lines)[-1]["nodes"]) <= 5


def test_nodes_are_counted_exactly(client: Client) -> None:
    client.send("setoption name SmartPruningFactor value 0", "setoption name MinibatchSize value 1")
    for nodes in (1, 2, 10, 137):
        client.send("ucinewgame", "position startpos", f"go nodes {nodes}")
        lines = client.until("bestmove")
        assert infos(lines)[-1]["nodes"] == str(nodes)
        assert bestmove(lines[-1]) in START_MOVES


def test_tree_is_reused_and_nodes_as_playouts(client: Client) -> None:
    client.send("setoption name SmartPruningFactor value 0", "position startpos", "go nodes 1000")
    move, _, reply = client.until("bestmove")[-1].split()[1:]
    client.send(f"position startpos moves {move} {reply}", "go nodes 1")
    kept = int(infos(client.until("bestmove"))[-1]["nodes"])
    assert kept > 1
    client.send("setoption name NodesAsPlayouts value true", "go nodes 50")
    assert int(infos(client.until("bestmove"))[-1]["nodes"]) == kept + 50


def test_infinite_search_ends_with_stop_only(client: Client) -> None:
    client.send(f"position fen {MATE_IN_1}", "go infinite")
    while "score mate 1" not in client.expect("info depth"):
        pass
    assert not any(line.startswith("bestmove") for line in client.ready())
    client.send("stop")
    assert bestmove(client.expect("bestmove")) == "a1a8"


def test_ponder(client: Client) -> None:
    client.send("position startpos moves e2e4", "go ponder wtime 1000 btime 1000")
    client.expect("info depth")
    time.sleep(0.5)
    assert not any(line.startswith("bestmove") for line in client.ready())
    client.send("ponderhit")
    client.expect("bestmove")
    client.send("go ponder nodes 10", "stop")
    client.expect("bestmove")


def test_searchmoves(client: Client) -> None:
    client.send("position startpos", "go nodes 300")
    client.expect("bestmove")
    client.send("setoption name MultiPV value 5", "go nodes 500 searchmoves a2a3 h2h3")
    lines = client.until("bestmove")
    assert bestmove(lines[-1]) in ("a2a3", "h2h3")
    assert {info["pv"].split()[0] for info in infos(lines)} == {"a2a3", "h2h3"}
    client.send("go nodes 1000")
    assert {info["pv"].split()[0] for info in infos(client.until("bestmove"))} - {"a2a3", "h2h3"}


# -- moves -------------------------------------------------------------------------------------------------------------


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
        move = bestmove(client.expect("bestmove", seconds=10))
        assert chess.Move.from_uci(move) in chess.Board().legal_moves, f"{go}: {move}"


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
