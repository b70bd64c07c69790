"""Annotated games: what a PGN or SGF says stays, beside what the review says of its moves."""

from __future__ import annotations

import io
from pathlib import Path

import chess
import chess.pgn
import pytest

import hauteur as ht
from hauteur import _core
from hauteur.cli import main
from hauteur.studies.review.annotate import annotated_games
from hauteur.studies.review.games import ReviewedGame, games_of_text
from hauteur.studies.review.review import Mark, MoveReport

pytestmark = pytest.mark.quick

PGN = """[Event "Rated game"]
[White "A"]
[Annotator "J. Smith"]
[Größe "x"]
[WhiteClock "0:10:00"]
[Result "0-1"]

{ Opening remark } 1. f3 $1 $36 { [%eval 0.2] [%clk 0:10:00] fine (1. e4 is usual) } 1... e5 { [%clk 0:09:59]
[%cal Ge7e5] } ( { or } 1... c5 { [%eval 0.1] sharp } 2. e4 ( 2. d4 cxd4 ) 2... d6 ) 2. g4 $1 { [%eval 0.3] } ( 2. e4
Nf6 { ok } ) 2... Qh4# { mate } 0-1
"""

SGF = """(;GM[1]FF[3]SZ[9]CA[UTF-8]KM[6.5]AN[Kim]PB[Lee] ;B[ee]C[start\\]x]LB[aa:1]TE[2]
;W[gg]TE[1](;B[ge]C[good];W[aa])(;B[cc]N[other];W[dd]))"""


def report(game: ReviewedGame, ply: int, *, best: str, mark: Mark = "") -> MoveReport:
    """A report of one move: 60 % before, 40 % after it where it is marked."""
    state = game.start.copy()
    for action in game.actions[:ply]:
        state.apply(action)
    better = state.parse(best)
    before = (0.6, 0.0, 0.4)
    after = (0.4, 0.0, 0.6) if mark else (0.6, 0.0, 0.4)
    return MoveReport(
        ply=ply,
        number="",
        mover=state.to_move,
        action=game.actions[ply],
        text="",
        before=before,
        after=after,
        best_action=better,
        best=best,
        line=(state.action_to_text(better, state.game.move_notation),),
        line_actions=(better,),
        loss=0.2 if mark else 0.0,
        mark=mark,
        visits=10,
    )


def reviewed(text: str, marked: dict[int, tuple[Mark, str]], annotator: str = "hauteur, a net") -> str:
    """Annotate the first game of a text: these plies are marked, with better moves; the others are their own best."""
    game = games_of_text(text, "chess", on_bad=print)[0]
    state = game.start.copy()
    for ply, action in enumerate(game.actions):
        mark, best = marked.get(ply, ("", state.action_to_text(action)))
        game.add(report(game, ply, best=best, mark=mark))
        state.apply(action)
    return annotated_games([game], annotator)


def read(text: str) -> chess.pgn.Game:
    game = chess.pgn.read_game(io.StringIO(text))
    assert game is not None
    assert not game.errors
    return game


def test_an_annotated_pgn_keeps_what_the_file_says() -> None:
    game = read(reviewed(PGN, {2: ("blunder", "e4")}))
    assert game.headers["Annotator"] == "J. Smith; hauteur, a net"
    assert game.headers["WhiteClock"] == "0:10:00"
    assert game.comment == "Opening remark"
    f3, e5, g4, mate = game.mainline()
    assert f3.comment == "[%eval 0.29] [%clk 0:10:00] fine (1. e4 is usual) W 60 D 0 L 40"
    assert f3.clock() == 600.0
    assert f3.nags == {1, 36}
    assert [arrow.pgn() for arrow in e5.arrows()] == ["Ge7e5"]
    (sicilian,) = f3.variations[1:]
    assert (sicilian.starting_comment, sicilian.comment) == ("or", "[%eval 0.1] sharp")
    assert [node.san() for node in sicilian.mainline()] == ["e4", "d6"]
    assert [node.san() for node in sicilian.variations] == ["e4", "d4"]
    assert mate.comment == "[%eval -0.29] mate W 40 D 0 L 60"
    assert g4.nags == {chess.pgn.NAG_BLUNDER}  # the file had a ! there
    assert g4.comment.count("[%eval") == 1


def test_a_better_line_that_a_file_has_gets_what_is_missing() -> None:
    """2. e4 is a variation already: it gets its chances, and no second one beside it."""
    game = read(reviewed(PGN, {2: ("mistake", "e4")}))
    e5 = game.variations[0].variations[0]
    assert [node.san() for node in e5.variations] == ["g4", "e4"]
    assert e5.variations[1].comment == "W 60 D 0 L 40"
    assert e5.variations[1].variations[0].comment == "ok"


def test_a_second_review_takes_the_place_of_the_first_one() -> None:
    once = reviewed(PGN, {2: ("blunder", "e4")})
    assert reviewed(once, {2: ("blunder", "e4")}) == once
    game = read(reviewed(once, {}, "hauteur, another net"))
    assert game.headers["Annotator"] == "J. Smith; hauteur, another net"
    g4 = game.variations[0].variations[0].variations[0]
    assert g4.comment == "[%eval 0.29] W 60 D 0 L 40"
    assert g4.nags == set()


def test_a_variation_that_repeats_the_main_line_does_not_take_its_place() -> None:
    game = read(reviewed("1. e4 ({twice} 1. e4 c5 {sharp}) 1... e5 *", {}))
    assert [node.san() for node in game.mainline()] == ["e4", "e5"]
    first = game.variations[0]
    assert "twice" in first.comment
    assert [(node.san(), node.comment) for node in first.variations[1:]] == [("c5", "sharp")]


def test_a_game_of_chess960_keeps_its_variations() -> None:
    fen = "4k3/8/8/8/8/8/8/RK5R w HA - 0 1"
    text = f'[Variant "Chess960"]\n[SetUp "1"]\n[FEN "{fen}"]\n\n1. O-O (1. O-O-O {{long}} Ke7) Ke7 *'
    game = read(reviewed(text, {}))
    assert [node.san() for node in game.variations] == ["O-O", "O-O-O"]
    assert game.variations[1].comment == "long"


def test_an_annotated_sgf_keeps_what_the_file_says() -> None:
    text = reviewed(SGF, {1: ("blunder", "D5"), 2: ("mistake", "C7")})
    (game,) = _core.read_sgf(text)
    assert game.actions == games_of_text(SGF, "go", on_bad=print)[0].actions
    assert game.tags["AN"] == "Kim; hauteur, a net"
    assert game.tags["PB"] == "Lee"
    assert game.tags["SBKV"] == "60.00"
    for part in (
        "C[start\\]x\n\nhauteur: Black 60.0 % (W 60 D 0 L 40)]LB[aa:1]TE[2]SBKV[60.00]",
        "(;W[gg]C[hauteur: Black 60.0 % (W 60 D 0 L 40). Blunder: ",
        "SBKV[60.00]BM[2]",
        "(;W[de]TE[1]C[hauteur: Black 40.0 % (W 40 D 0 L 60)])",
        "(;B[cc]N[other];W[dd])",
    ):
        assert part in text, text
    assert text.count(";B[cc]") == 1  # the better move of the third ply is a variation of the file
    assert "TE[1]SBKV" not in text
    assert reviewed(text, {1: ("blunder", "D5"), 2: ("mistake", "C7")}) == text


def test_handicap_games_name_black_first() -> None:
    """White moves first after handicap stones; the chances are Black's all the same."""
    text = reviewed("(;GM[1]SZ[9]HA[2]AB[cc][gg]KM[0.5];W[ee];B[cd])", {0: ("inaccuracy", "A1")})
    assert "AB[cc][gg]" in text
    assert ";W[ee]C[hauteur: Black 60.0 % (W 60 D 0 L 40). Inaccuracy" in text
    assert "SBKV[60.00]DO[]" in text
    assert "(;W[ai]TE[1]" in text


def test_the_command_writes_sgf_of_games_in_any_form(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Several games of a file, its own encoding and moves as text: the result is read again, in UTF-8."""
    games = "(;GM[1]SZ[9]CA[GB2312]KM[6.5]PB[李];B[ee];W[cc]) (;GM[1]SZ[9]KM[6.5];B[aa];W[])"
    (tmp_path / "a.sgf").write_bytes(games.encode("gb2312"))
    (tmp_path / "b.txt").write_text("gomoku\nH8 A1 H9 A2 H10 A3\n")
    for name, plies, out in (("a.sgf", [2, 2], "a"), ("b.txt", [6], "b")):
        command = ["review", str(tmp_path / name), "--net", "uniform", "--visits", "10", "--out", str(tmp_path / out)]
        assert main.main(command) == 0
        assert "report.html, review.sgf" in capsys.readouterr().out
        found = list(ht.read_games(tmp_path / out / "review.sgf"))
        assert [len(game.actions) for game in found] == plies
    assert "PB[李]" in (tmp_path / "a" / "review.sgf").read_text("utf-8")


def test_a_variation_that_cannot_be_read_is_noted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It ends where it cannot be read, in the annotated game too."""
    text = "1. e4 (1. d4 Zz5 2. c4) e5 (1... -- 2. d4) 2. Nf3 *"
    (tmp_path / "a.pgn").write_text(text)
    command = ["review", str(tmp_path / "a.pgn"), "--net", "uniform", "--visits", "5", "--out", str(tmp_path / "out")]
    assert main.main(command) == 0
    said = [line for line in capsys.readouterr().err.splitlines() if "note:" in line]
    assert len(said) == 2
    assert 'game 1 (line 1): line 1, in a variation: "Zz5" is not a legal move' in said[0]
    assert '"--" is a null move, where its variation ends' in said[1]
    game = read((tmp_path / "out" / "review.pgn").read_text())
    assert [node.san() for node in game.variations] == ["e4", "d4"]
    assert not game.variations[1].variations
