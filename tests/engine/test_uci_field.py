"""Sessions from the field, see field/README.md: refused positions, mates, tablebases, names of nets."""

import gzip
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import uci_positions
from lc0_toys import random_net
from uci_client import Client, engine
from uci_positions import bestmove, infos

client = uci_positions.client  # a fixture
FIELD = Path(__file__).parent / "field"


def answers(session: str, *arguments: str) -> list[list[str]]:
    """The lines of each search of a session, up to its bestmove; every search ends by itself."""
    lines = [line for line in session.splitlines() if not line.startswith("#")]
    given = "".join(f"{line}\nwait\n" if line.startswith("go") else f"{line}\n" for line in lines)
    command = [sys.executable, "-m", "hauteur.cli.main", "uci", *arguments]
    done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=120, check=True)
    searches: list[list[str]] = [[]]
    for line in done.stdout.splitlines():
        searches[-1].append(line)
        if line.startswith("bestmove"):
            searches.append([])
    return searches[:-1]


def field(name: str, **values: str) -> str:
    """A session, with these words in the place of others."""
    text = (FIELD / name).read_text(encoding="utf-8")
    for word, value in values.items():
        assert word in text
        text = text.replace(word, value)
    return text


def test_after_a_refused_position_every_go_gives_the_reason_and_no_move() -> None:
    searched = answers(field("go_after_a_refused_position.txt"), "--weights", "uniform")
    assert [bestmove(lines[-1]) == "0000" for lines in searched] == [False, True, True, False]
    assert [bool(infos(lines)) for lines in searched] == [True, False, False, True]
    for lines, reason in zip(searched[1:3], ["not to move is in check", '"e1e3" is not a legal move'], strict=True):
        assert lines[-2].startswith("info string error: no search, so no move: the last position was refused: ")
        assert reason in lines[-2]


@pytest.mark.parametrize(
    "wrong",
    [
        "position",
        "position fen",
        "position fen nonsense",
        "position startpos moves e2e4 e2e4",
        "position fen 8/8/8/8/8/8/8/8 w - - 0 1",
        "position somewhere moves e2e4",
    ],
)
def test_only_a_good_position_mends_a_refused_one(client: Client, wrong: str) -> None:
    client.send("position startpos moves e2e4", wrong, "go nodes 5")
    assert client.expect("bestmove") == "bestmove 0000"
    client.send("ucinewgame", "isready", "go infinite")
    assert client.expect("bestmove") == "bestmove 0000", "it does not search, so it does not wait for stop"
    client.send("fen", "position startpos moves d2d4", "fen", "go nodes 5")
    lines = client.until("bestmove")
    assert sum("the last position was refused" in line for line in lines) == 1, "fen has no answer either"
    assert any(line.startswith("rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b") for line in lines)
    assert infos(lines)


def test_a_mate_in_three_is_found_and_said(shared_data: Path) -> None:
    net = str(shared_data / "nets" / "maia-1900.pb.gz")
    (lines,) = answers(field("go_mate_three.txt", **{"maia-1900": net}))
    assert infos(lines)[-1]["mate"] == "3"
    assert bestmove(lines[-1]) == "a2a1q"


SHORT = "position fen 7k/8/8/8/8/8/R7/1R4K1 w - - 0 1\n"
LONG = "position fen 8/8/8/8/8/4k3/R7/4K3 w - - 0 1\n"


@pytest.mark.parametrize("position", ["position startpos\n", LONG, SHORT])
@pytest.mark.parametrize("weights", ["uniform", "<shipped>"])
def test_a_search_for_a_mate_that_is_not_there_ends(position: str, weights: str) -> None:
    (lines,) = answers(f"{position}go mate 1\n", "--weights", weights)
    assert "info string there is no mate in so few moves" in lines
    assert "mate" not in infos(lines)[-1] or int(infos(lines)[-1]["mate"]) > 1
    assert bestmove(lines[-1]) != "0000"


def test_a_longer_mate_does_not_end_a_search_and_its_own_does(client: Client) -> None:
    client.send(f"{SHORT}go mate 2")
    assert infos(client.until("bestmove"))[-1]["mate"] == "2"
    client.send(f"{SHORT}go mate 2 searchmoves g1f1")
    assert "info string there is no mate in so few moves" in client.until("bestmove")
    client.send("position fen 8/8/8/4k3/8/8/8/KBN5 w - - 0 1", "go mate 30")
    client.expect("info depth")
    assert not any(line.startswith("bestmove") for line in client.ready())
    client.send("stop")
    client.expect("bestmove")


def test_tablebases_at_the_root_follow_the_fifty_move_counter(shared_data: Path) -> None:
    session = field("tablebase_win_spoilt_by_the_counter.txt", FOLDER=str(shared_data / "syzygy"))
    searched = answers(session, "--weights", "uniform")
    results = [infos(lines)[-1]["wdl"] for lines in searched]
    assert results == ["0 1000 0", "0 1000 0", "1000 0 0"]
    assert not any("score mate" in line for lines in searched for line in lines)


def test_a_capture_into_a_win_of_the_tablebases_is_no_mate(client: Client, shared_data: Path) -> None:
    """Five pieces are in no table here, and four after the queen has taken the rook; a mate in one it is not."""
    client.send(f"setoption name SyzygyPath value {shared_data / 'syzygy'}", "setoption name UCI_ShowWDL value true")
    for limit in ("nodes 100", "mate 3"):
        client.send("position fen 8/8/8/3k4/8/3r4/3Q4/3K3N w - - 0 1", f"go {limit}")
        lines = client.until("bestmove")
        last = infos(lines)[-1]
        assert ("mate" in last, last["wdl"], bestmove(lines[-1])) == (False, "1000 0 0", "d2d3")


def test_a_missing_folder_of_tablebases_is_named_and_the_others_work(client: Client, shared_data: Path) -> None:
    client.send(f"setoption name SyzygyPath value /none:{shared_data / 'syzygy'}")
    lines = client.ready()
    assert any("error: left out: Syzygy folder /none: No such file" in line for line in lines)
    assert any("tablebases: 70 files" in line for line in lines)
    client.send("position fen 8/8/8/8/3k4/8/8/KQ6 w - - 0 1", "go nodes 20")
    assert infos(client.until("bestmove"))[-1]["tbhits"] == "1"


def test_nets_are_told_by_their_content(tmp_path: Path) -> None:
    whole = random_net(tmp_path / "net.pb.gz")
    for name in ("net", "net.gz", "62438"):
        shutil.copy(whole, tmp_path / name)
    (tmp_path / "net.pb").write_bytes(gzip.decompress(whole.read_bytes()))
    (tmp_path / "pointer.pb.gz").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
    with engine(cwd=tmp_path) as started:
        for name in ("net", "net.gz", "net.pb", '"net.pb.gz"', "62438", f'"{tmp_path}/net"'):
            started.send(f"setoption name WeightsFile value {name}", "go nodes 1")
            lines = started.until("bestmove")
            assert bestmove(lines[-1]) != "0000", (name, lines)
        for option in ("LargeWeightsFile", "OpponentNet"):
            started.send(f'setoption name {option} value "net.gz"', "go nodes 2")
            assert bestmove(started.until("bestmove")[-1]) != "0000"
            started.send(f"setoption name {option} value")
        started.send("setoption name WeightsFile value pointer.pb.gz", "go nodes 1")
        lines = started.until("bestmove")
        assert lines[-1] == "bestmove 0000"
        assert "is a Git LFS pointer, not the net itself" in lines[-2]
