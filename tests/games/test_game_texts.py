"""Games as text: recognised, read with limits, written so that they are read back."""

from __future__ import annotations

import pytest

from hauteur.games.game_line import AGREEMENT, RESIGNATION, TIME
from hauteur.games.game_texts import MOST_CHARACTERS, Form, form_of, forms_of, read_game, written_game
from hauteur.games.odds import ODDS_STARTS
from hauteur.games.played_game import PlayedGame, loss_of
from hauteur.games.registry import load_game, with_fen

pytestmark = pytest.mark.quick

FEN = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"


def played(spec: str, moves: str = "") -> PlayedGame:
    game = PlayedGame(load_game(spec))
    for move in moves.split():
        game.play(game.state.parse(move))
    return game


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ('[Event "x"]\n\n1. e4 *', "pgn"),
        ("1. e4 e5 2. Nf3 *", "pgn"),
        ("1.e4", "pgn"),
        ("\n (;GM[1]SZ[9];B[aa])", "sgf"),
        (FEN, "fen"),
        ("rnbqk/ppppp/5/PPPPP/RNBQK w - - 0 1", "fen"),
        ("e2e4 e7e5", "moves"),
        ("4 4 3", "moves"),
        ("1 2", "moves"),
    ],
)
def test_a_text_is_recognised_by_its_beginning(text: str, form: Form) -> None:
    assert form_of(text) == form


@pytest.mark.parametrize(
    ("spec", "moves"),
    [
        ("chess", "e4 e5 Nf3"),
        ("chess(chess960=true, fen=bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w HFhf - 0 1)", "e4 e5"),
        (with_fen("chess", ODDS_STARTS["queen d1"]), "e4 e5"),
        ("nogo(size=7)", "A1 B2"),
        ("nogo(rows=3, cols=4)", "D3 A1"),
        ("go(size=5)", "C3 pass D4"),
        ("go(size=5,position=5/1X3/5/3X1/5 w)", "C3 pass D4"),
        ("go(size=7,komi=-0.5)", "A1"),
        ("gomoku(size=9)", "E5 E6"),
        ("minichess", "b2b3"),
        ("connect4", "4 4 3"),
        ("tutorial", "a1 b2"),
    ],
)
def test_what_is_written_is_read_back(spec: str, moves: str) -> None:
    game = played(spec, moves)
    for form in forms_of(game.game):
        read = read_game(written_game(game, form, ("ann", 'b "x" ]')), game.game.spec)
        again = PlayedGame(load_game(read.spec), read.actions)
        assert again.state.notation() == game.state.notation()
        if form in ("pgn", "sgf"):
            assert read.names[0] == "ann"
            assert (read.actions, read.outcome) == (tuple(game.actions), None)


@pytest.mark.parametrize("spec", ["chess", "nogo(size=7)", "go"])
@pytest.mark.parametrize(("outcome", "reason"), [(loss_of(0), RESIGNATION), (loss_of(1), TIME), (0, AGREEMENT)])
def test_an_ending_off_the_board_is_kept(spec: str, outcome: int, reason: str) -> None:
    game = played(spec)
    game.end(outcome, reason)
    text = written_game(game, forms_of(game.game)[0], ("a", "b"))
    read = read_game(text, spec)
    assert read.outcome == outcome
    if spec == "chess":
        assert f'[Termination "{reason}"]' in text
    else:
        assert read.reason == (reason if outcome else "")
        assert f"RE[{ {-1: 'W+R', 0: '0', 1: 'B+T'}[outcome] }]" in text


@pytest.mark.parametrize(
    ("text", "spec", "problem"),
    [
        ("", "chess", "the text is empty"),
        ("x" * (MOST_CHARACTERS + 1), "chess", "1,048,577 characters, allowed are 1,048,576"),
        ("4 9", "connect4", "ply 2: "),
        (FEN, "connect4", "connect4 has no FEN"),
        ("8/8/8/8/8/8/8/8 w - - 0 1", "chess", "the board is empty"),
        ("1. e4 e5 2. Ke3 *", "chess", "ply 3"),
        ("(;GM[1]SZ[9];B[zz])", "nogo", "no point of the board"),
        ("(;GM[1]SZ[9];B[aa]", "nogo", "not closed"),
        ("(;GM[1]SZ[9]RU[NoGo];B[])", "nogo", "no point of the board .nogo has no pass"),
        ("(;GM[2]SZ[8];B[aa])", "othello", r"the game GM\[2\], expected GM\[1\]"),
        ("(;GM[1]SZ[9]KM[many];B[aa])", "go", "komi"),
        ("1 2 3 4 5 6 7 8 9 10", "tictactoe", "ply 1: "),
        ("1 " * 5001, "connect4", "5,001 plies, allowed are 5,000"),
    ],
)
def test_a_bad_text_is_refused_in_one_line(text: str, spec: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem) as error:
        read_game(text, spec)
    assert "\n" not in str(error.value)
