"""SGF as people and programs write it: encodings, handicaps, komi, results; what is wrong is named."""

from __future__ import annotations

from pathlib import Path

import pytest
from read_texts import one, skipped_line

import hauteur as ht
from hauteur.games.registry import load_game


@pytest.mark.parametrize(
    ("text", "moves"),
    [
        ("(;GM[1]FF[4]SZ[9]KM[6.5];B[ee];W[cc])", "E5 C7"),
        ("(;GM[1]SZ[9]HA[1]KM[0.5];B[ee];W[cc])", "E5 C7"),
        ("(;GM[1]SZ[9]HA[0]PL[B]KM[6.5];B[ee];W[cc])", "E5 C7"),
        ("(;GaMe[1]SiZe[9]KoMi[6.5];Black[ee];White[cc])", "E5 C7"),
        ("(;GM[1]SZ[9]AP[a]AP[b]KM[6,5];B[ee];W[cc])", "E5 C7"),
        ("Saved by a program (it says)\n\n(;GM[1]SZ[9]KM[6.5];B[ee];W[cc])", "E5 C7"),
        ("(;GM[1]SZ[9];B[ee];W[cc])", "E5 C7"),
        ("(;SZ[9]\nKM [6.5]\n;B\n[ee];W[cc](;B[aa])(;B[bb]))", "E5 C7 A9"),
        ("(;SZ[9]AB[]KM[6.5];B[ee];W[tt])", "E5 pass"),
        ("(;gm[1]sz[9]km[6.5];b[ee];w[cc])", "E5 C7"),
        ("(;GM[1]SZ[9]RE[B+3];B[ee];W[tt];B[tt];W[tt])", "E5 pass pass"),
        ("(;GM[1]SZ[9]KM[6.5];B[];W[];B[]C[counted];C[end])", "pass pass"),
    ],
)
def test_sgf_is_read_as_others_read_it(text: str, moves: str) -> None:
    game = one(text)
    assert " ".join(game.moves) == moves
    assert game.game is not None
    assert game.game.name == "go"


@pytest.mark.parametrize(
    ("encoding", "name"), [("Shift_JIS", "表ソ能"), ("GBK", "誠俓"), ("Big5", "許功蓋"), ("EUC-KR", "한국")]
)
def test_texts_of_sgf_have_the_encoding_that_it_names(tmp_path: Path, encoding: str, name: str) -> None:
    path = tmp_path / "game.sgf"
    path.write_bytes(f"(;GM[1]CA[{encoding}]SZ[9]KM[6.5]PB[{name}]C[{name}];B[ee]C[{name}];W[cc])".encode(encoding))
    (game,) = ht.read_games(path)
    assert (game.headers["PB"], game.moves) == (name, ("E5", "C7"))


@pytest.mark.parametrize(
    "data", ["(;GM[1]SZ[9]KM[6.5]PB[Jos\xe9];B[ee])".encode(), b"(;GM[1]SZ[9]KM[6.5]PB[Jos\xe9];B[ee])"]
)
def test_texts_of_sgf_without_an_encoding_are_utf8_or_latin1(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "game.sgf"
    path.write_bytes(data)
    (game,) = ht.read_games(path)
    assert game.headers["PB"] == "Jos\xe9"


def test_a_handicap_of_go_is_where_the_game_begins() -> None:
    (game,) = ht.read_games("(;GM[1]FF[4]SZ[9]KM[0.5]HA[2]AB[cc][gg];W[ee];B[cg];W[])")
    assert (game.skipped, game.moves) == (None, ("E5", "C3", "pass"))
    assert game.game is not None
    assert game.game.spec == "go(komi=0.5,position=9/9/2X6/9/9/9/6X2/9/9 w)"
    state = game.game.new_initial_state()
    assert (state.to_move, state.ply) == (1, 0)
    assert state.text().split("\n")[2] == "7 . . X . . . . . ."
    for action in game.actions:
        state.apply(action)
    assert state.text().split("\n")[4] == "5 . . . . O . . . ."
    assert state.to_move == 0


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("HA[2];AB[cc][gg];W[ee]", "9/9/2X6/9/9/9/6X2/9/9 w"),
        (";C[a problem];AB[cc]PL[W];W[ee]", "9/9/2X6/9/9/9/9/9/9 w"),
        ("AB[aa][cc]AW[bb];AE[aa]AB[bb];B[ee]", "9/1X7/2X6/9/9/9/9/9/9 b"),
        ("HA[2]PL[B];B[cc];B[gg];W[ee]", "9/9/2X6/9/9/9/6X2/9/9 w"),
        ("HA[2];C[x];B[gg]C[y];B[cc];W[ee]", "9/9/2X6/9/9/9/6X2/9/9 w"),
    ],
)
def test_stones_may_stand_in_nodes_of_their_own_before_the_first_move(text: str, position: str) -> None:
    """Fox writes the stones of a handicap into the next node, KGS those that Black places as moves in a row."""
    game = one(f"(;GM[1]FF[4]SZ[9]KM[0.5]{text})")
    assert game.game is not None
    assert game.game.spec == f"go(komi=0.5,position={position})"
    assert game.moves == ("E5",)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("(;GM[1]SZ[9]AB[aa];W[cc];AB[bb])", "sets up a position"),
        ("(;GM[1]SZ[9];B[ee];W[];B[];W[ea])", "move 4: the game is over"),
        ("(;GM[4]SZ[9];AB[aa];W[cc])", "sets up a position"),
        ("(;GM[1]SZ[9]HA[2];AB[cc]AW[cc];W[ee])", "two stones on one point"),
        ("(;GM[4]SZ[9]AB[aa];W[cc])", "sets up a position"),
        ("(;GM[1]SZ[9:7];B[cc])", "SZ[9:7], only NoGo is played on boards that are not square"),
        ("(;GM[1]SZ[9]HA[2];W[cc])", "sets up a position"),
        ("(;GM[1]SZ[9]HA[3];B[cc];B[gg];W[ee])", "sets up a position (HA) without its stones"),
        ("(;GM[1]SZ[9]HA[2];B[cc];B[gg];B[ee])", "sets up a position (HA) without its stones"),
        ("(;GM[1]SZ[9]HA[2];B[cc];B[cc];W[ee])", "two stones of its handicap on one point"),
        ("(;GM[1]SZ[9]HA[2];B[cc];B[tt];W[ee])", "B: 'tt' is no point of the board"),
        ("(;GM[1]SZ[9]HA[18446744073709551615];B[cc];W[ee])", "sets up a position (HA)"),
        ("(;GM[1]SZ[9]RU[NoGo]PL[W];W[cc])", "sets up a position"),
        ("(;GM[1]SZ[9]AB[ab][ba]AW[aa];W[cc])", "the chain of A9 has no liberty"),
        ("(;GM[7]SZ[9];B[cc])", "is of the game"),
        ("(;GM[1]SZ[9];B[zz])", "no point of the board"),
        ("(;GM[1]SZ[9];B[ee]C[x", "a value is not closed"),
    ],
)
def test_sgf_that_cannot_be_read_is_named(text: str, problem: str) -> None:
    assert problem in skipped_line(text)


@pytest.mark.parametrize(
    ("komi", "spec"),
    [("375", "go"), ("3.75", "go"), ("650", "go(komi=6.5)"), ("2.75", "go(komi=5.5)"), ("-7", "go(komi=-7)")],
)
def test_a_komi_in_hundredths_or_in_stones_is_read_in_points(komi: str, spec: str) -> None:
    text = f"(;GM[1]FF[4]SZ[9]KM[{komi}]HA[0]RU[Chinese]AP[foxwq];B[ee];W[cc])"
    assert one(text).game == load_game(spec)
    assert [game.skipped for game in ht.read_games(text, spec)] == [None]


def test_why_a_game_ended_agrees_with_its_result() -> None:
    ends = "B[ee];W[cc];B[];W[]"  # White wins by area and komi
    reasons = [one(f"(;GM[1]SZ[9]KM[5.5]RE[{result}];{ends})").end_reason for result in ("W+5.5", "B+R", "B+3.5", "")]
    assert reasons == ["more area", "resignation", "", "more area"]


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("(;GM[1]SZ[9];B[aa])", "go(size=9)"),
        ("(;GM[1]SZ[9]RU[NoGo];B[aa])", "nogo"),
        ("(;GM[1]SZ[9]AP[hauteur];B[aa])", "nogo"),
        ("(;GM[1]SZ[9]AP[hauteur]KM[5.5];B[aa])", "go(size=9, komi=5.5)"),
        ("(;GM[1]SZ[4:3]RU[NoGo];B[aa])", "nogo(rows=3, cols=4)"),
        ("(;GM[4]SZ[15];B[aa])", "gomoku"),
    ],
)
def test_go_and_nogo_are_told_apart(text: str, spec: str) -> None:
    game = one(text)
    assert game.game == load_game(spec)


def test_a_game_that_is_expected_decides_between_go_and_nogo() -> None:
    text = "(;GM[1]SZ[7];B[aa];W[bb])"
    assert ht.position("nogo(size=7)", text).game.spec == "nogo(size=7)"
    assert ht.position("go(size=7)", text).game.spec == "go(size=7)"
