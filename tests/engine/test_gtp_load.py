"""`loadsgf`: files are played as far as a move; what cannot be loaded is said in a line and changes nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from gtp_table import Table

pytestmark = pytest.mark.quick

GAME = "(;GM[1]SZ[7]KM[5.5];B[aa]C[text];W[bb](;B[cc];W[dd])(;B[ee]))"


@pytest.fixture
def go() -> Iterator[Table]:
    table = Table(game="go", player="random")
    yield table
    table.session.close()


def written(folder: Path, text: str | bytes, name: str = "game.sgf") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_game_is_played_with_its_size_and_komi(go: Table, tmp_path: Path) -> None:
    path = written(tmp_path, GAME)
    go.ask("play b a1")
    assert go.ask(f"loadsgf {path}") == ""
    assert go.session.board.game.spec == "go(size=7,komi=5.5)"
    assert go.ask("move_history") == "white D4\nblack C5\nwhite B6\nblack A7"
    assert go.ask("undo") == ""
    assert go.ask("genmove w") != ""


@pytest.mark.parametrize(("number", "moves"), [(1, 0), (3, 2), (5, 4)])
def test_the_position_is_that_before_a_move(go: Table, tmp_path: Path, number: int, moves: int) -> None:
    go.ask(f"loadsgf {written(tmp_path, GAME)} {number}")
    assert len(go.session.board.actions) == moves


def test_names_may_have_spaces_and_end_in_a_number(go: Table, tmp_path: Path) -> None:
    folder = tmp_path / "Ō games"
    folder.mkdir()
    go.ask(f"loadsgf {written(folder, GAME, 'my game 2')}")
    assert len(go.session.board.actions) == 4
    go.ask(f"loadsgf {folder / 'my game 2'} 2")
    assert len(go.session.board.actions) == 1


def test_stones_that_a_file_sets_up_are_taken_away_with_the_game(go: Table, tmp_path: Path) -> None:
    handicap = written(tmp_path, "(;GM[1]SZ[9]HA[2]AB[cc][gg]KM[0.5];W[ee])")
    for command in ("clear_board", "boardsize 9"):
        go.ask(f"loadsgf {handicap}")
        assert go.session.board.stones() == ["C7", "E5", "G3"]
        go.ask(command)
        assert go.session.board.stones() == []
        assert go.session.board.game.spec == "go(komi=0.5)"
    go.ask(f"loadsgf {handicap}")
    go.ask("boardsize 7")
    assert go.session.board.game.spec == "go(size=7,komi=0.5)"


def test_the_komi_stays_where_a_file_has_none(go: Table, tmp_path: Path) -> None:
    go.ask("komi 3.5")
    go.ask(f"loadsgf {written(tmp_path, '(;GM[1]SZ[9];B[aa])')}")
    assert go.session.board.game.spec == "go(komi=3.5)"


def test_files_that_cannot_be_loaded_change_nothing(go: Table, tmp_path: Path) -> None:
    go.ask("play b c3")
    os.mkfifo(tmp_path / "pipe.sgf")
    cases = {
        tmp_path / "none.sgf": "none.sgf: No such file or directory",
        tmp_path: "is no file",
        tmp_path / "pipe.sgf": "is no file",
        written(tmp_path, "", "empty.sgf"): "empty.sgf: no SGF: it has no (",
        written(tmp_path, b"\x00\xff\xfe[(", "noise.sgf"): "noise.sgf: ",
        written(tmp_path, "1. e4 e5 *", "a.pgn"): "a.pgn: no SGF: it has no (",
        written(tmp_path, "(;GM[1]SZ[9];B[aa]", "open.sgf"): "a ) is missing",
        written(tmp_path, "(;GM[1]SZ[9];B[aa];W[aa])", "illegal.sgf"): "move 2: 'aa' is not legal here",
        written(tmp_path, "(;GM[1]SZ[19];B[aa])", "large.sgf"): "large.sgf: ",
        written(tmp_path, "(;GM[4]SZ[9];B[aa])", "gomoku.sgf"): "is a game of gomoku(size=9), the engine plays go",
        written(tmp_path, "(" * 20_000, "deep.sgf"): "variations within variations",
        written(tmp_path, "(;GM[1]SZ[9];B[aa])" + " " * 2**24, "long.sgf"): "bytes, allowed are 16,777,216",
    }
    for path, reason in cases.items():
        message = go.refused(f"loadsgf {path}")
        assert message.startswith("cannot load file: "), message
        assert reason in message, message
    path = written(tmp_path, GAME)
    assert go.refused(f"loadsgf {path} 6").endswith("game.sgf: has 4 moves, got move number 6")
    for number in ("0", "-1", "x", "1e3"):
        assert go.refused(f"loadsgf {path} {number}").startswith("syntax error: expected a whole number from 1")
    assert go.refused("loadsgf").startswith("syntax error: expected loadsgf FILENAME")
    assert go.ask("move_history") == "black C3"
    assert go.session.board.game.spec == "go"


def test_a_player_that_does_not_play_on_the_board_of_a_file_stays(tmp_path: Path) -> None:
    table = Table(game="go", player="net=go9 visits=1")
    message = table.refused(f"loadsgf {written(tmp_path, '(;GM[1]SZ[7]KM[7.5];B[aa])')}")
    assert message.startswith("cannot load file: "), message
    assert table.session.board.game.spec == "go"
    table.session.close()


def test_the_file_may_be_of_nogo_or_gomoku_and_other_games_have_no_such_command(tmp_path: Path) -> None:
    for game, text in (("nogo(size=5)", "(;GM[1]SZ[4];B[aa];W[cc])"), ("gomoku", "(;GM[4]SZ[9];B[aa];W[bb])")):
        table = Table(game=game, player="random")
        table.ask(f"loadsgf {written(tmp_path, text)}")
        assert len(table.session.board.actions) == 2
        table.session.close()
    chess = Table(game="chess", player="random")
    assert chess.ask("known_command loadsgf") == "false"
    assert chess.refused("loadsgf x") == "unknown command"
    chess.session.close()
