"""The UCI engine as programs see it: a process that is spoken to in lines. Played without a net (`uniform`)."""

import sys
import time

import chess
import chess.engine
import pytest
import uci_positions
from uci_client import Client
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
        ("position", "position needs: startpos or fen FEN"),
        ("position fen", "position needs: startpos or fen FEN"),
        ("position fen nonsense", "nonsense"),
        ("position fen 8/8/8/8/8/8/8/8 w - - 0 1", "the board is empty"),
        ("position startpos moves e2e4 e2e4", 'move 2 of the position: "e2e4" is not a legal move'),
        ("position startpos moves 0000", 'move 1 of the position: "0000" is not a legal move'),
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
