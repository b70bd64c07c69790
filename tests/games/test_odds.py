"""Handicaps of chess: text to position and back, over all starts, and what is none."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hauteur import _core
from hauteur.games.odds import BLACK, NORMAL_START, ODDS_STARTS, WHITE, Odds, odds_of, parse_odds, start_board
from hauteur.games.registry import load_game

pytestmark = pytest.mark.quick

PIECES = {"q": "queen", "r": "rook", "b": "bishop", "n": "knight", "p": "pawn"}
WORTH = "qrbnp"


@st.composite
def handicaps(draw: st.DrawFn) -> tuple[Odds, list[tuple[str, str, str | None]]]:
    """Any handicap, some pieces of one side missing, or lesser ones in their place; and what it gives."""
    start = draw(st.sampled_from([518, 518, *range(0, 960, 7)]))
    giver = draw(st.sampled_from([WHITE, BLACK]))
    own = {
        q: sign.lower() for q, sign in start_board(start).items() if sign.lower() in WORTH and sign.isupper() != giver
    }
    squares = draw(st.lists(st.sampled_from(sorted(own)), min_size=1, max_size=6, unique=True))
    items = []
    for square in squares:
        lesser = [by for by in WORTH[WORTH.index(own[square]) + 1 :] if by != "p" or square[1] not in "18"]
        items.append((square, own[square], draw(st.sampled_from([None, *lesser]))))
    texts = [square if by is None else f"{square} for {PIECES[by]}" for square, _, by in items]
    ordered = sorted(items, key=lambda item: (WORTH.index(item[1]), item[0]))
    return parse_odds(" + ".join(texts), start=start), ordered


@given(handicaps())
def test_position_and_name_give_the_handicap_back(drawn: tuple[Odds, list[tuple[str, str, str | None]]]) -> None:
    odds, given_pieces = drawn
    assert odds.given == given_pieces
    items = [f"{PIECES[piece]} {square}{f' for {PIECES[by]}' if by else ''}" for square, piece, by in given_pieces]
    assert odds.name == " + ".join(items) + ("" if odds.start == NORMAL_START else f", start {odds.start}")
    assert odds_of(odds.fen) == odds
    assert parse_odds(odds.name) == odds
    state = load_game(odds.game).new_initial_state()
    assert odds_of(state.notation()) == odds
    board = chess.Board(odds.fen, chess960=True)
    assert board.status() & ~chess.STATUS_BAD_CASTLING_RIGHTS == chess.STATUS_VALID
    assert board.castling_xfen() == odds.fen.split()[2], "every right has its rook"


def test_starts_have_their_numbers() -> None:
    for number in range(960):
        assert chess.Board.from_chess960_pos(number).board_fen().split("/")[0] == _core.start_rank(number)


@pytest.mark.parametrize(
    ("text", "gives", "name"),
    [
        ("queen", None, "queen d1"),
        ("Queen", "black", "queen d8"),
        ("d8", None, "queen d8"),
        ("rook a1 + queen", "black", "queen d8 + rook a8"),
        ("two knights", None, "knight b1 + knight g1"),
        ("knight + knight", None, "knight b1 + knight g1"),
        ("two rooks a8 h8", None, "rook a8 + rook h8"),
        ("pawn", "black", "pawn f7"),
        ("pawn + pawn", None, "pawn a2 + pawn f2"),
        ("queen for knight", None, "queen d1 for knight"),
        ("b1 for pawn", None, None),
        ("queen + rook, start 356", None, "queen g1 + rook d1, start 356"),
    ],
)
def test_texts(text: str, gives: str | None, name: str | None) -> None:
    if name is None:
        with pytest.raises(ValueError, match="a pawn cannot stand on b1"):
            parse_odds(text)
    else:
        assert parse_odds(text, gives).name == name  # type: ignore[arg-type]


WRONG = {
    "": "is no item",
    "quen": "did you mean queen",
    "queen e1": "the square of the king",
    "e1": "the square of the king",
    "queen d1 + queen d1": "given twice",
    "d1 + queen": "no other queen",
    "two queens": "no other queen",
    "queen for queen": "is no item",
    "pawn for rook": "worth no less",
    "queen d4": "the square of no piece",
    "rook for pawn": "a pawn cannot stand on a1",
    "d1 + d8": "must be of one side",
    "queen d8 a1": "two squares of one piece",
    "rook a1 h1": "two squares of one piece",
    "two rooks a1": "one square of two pieces",
    "knight d1": "the square of queen",
    "queen d9": "is no item",
    "queen, rook": "is no item",
    "queen +": "is no item",
    "queen, start 960": "a number from 0 to 959",
    "queen, start x": "a number from 0 to 959",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_no_handicap_is_one_line(text: str) -> None:
    with pytest.raises(ValueError, match=WRONG[text]) as error:
        parse_odds(text)
    assert str(error.value).startswith(f"odds {text!r}: ")
    assert "\n" not in str(error.value)


def test_other_positions_are_no_odds() -> None:
    for fen in (
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNB1KBNR b KQkq - 0 1",
        "rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNB1KBNR w KQkq - 0 1",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQQBNR w kq - 0 1",
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBqKBNR w KQkq - 0 1",
    ):
        assert odds_of(fen) is None
    assert all(odds_of(fen).name == name for name, fen in ODDS_STARTS.items())  # type: ignore[union-attr]


def test_starts_are_those_that_the_papers_author_writes() -> None:
    assert (
        ODDS_STARTS.items()
        >= {
            "queen d1": "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNB1KBNR w KQkq - 0 1",
            "queen d8": "rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "rook a1": "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/1NBQKBNR w Kkq - 0 1",
        }.items()
    )


@given(st.text(alphabet="rnbqkpRNBQKP12345678/ w-9x", max_size=80))
def test_noise_is_an_error_or_no_odds(text: str) -> None:
    with suppress(ValueError):  # no board at all
        assert odds_of(text) is None


def test_the_page_of_handicaps(root: Path) -> None:
    """Every row names a handicap, its position and the name that the position has; every wrong text its error."""
    page = (root / "docs" / "reference" / "handicaps.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (.+?) \| (.+?) \| `(.+?)` \|$", page, re.MULTILINE)
    assert len(rows) >= 40
    for text, name, fen in rows:
        odds = odds_of(fen)
        assert odds is not None
        assert (odds.name, parse_odds(text).fen) == (name, fen)
    errors = re.findall(r"^odds '(.*?)': .+$", page, re.MULTILINE)
    assert set(errors) < set(WRONG)
    for text in errors:
        with pytest.raises(ValueError, match=r"^odds ") as error:
            parse_odds(text)
        assert f"\n{error.value}\n" in page


def test_a_game_at_odds_by_its_spec() -> None:
    assert load_game("chess(odds=queen d1)") == load_game(parse_odds("queen d1").game)
    assert load_game("chess(odds=queen + rook, start=356)") == load_game(parse_odds("queen + rook", start=356).game)
    for spec, problem in (
        ("chess(odds=king)", "'king' is no item"),
        ("chess(odds=queen,start=960)", "a number from 0 to 959"),
        ("chess(odds=queen,fen=x)", r"chess\(odds=...\): takes odds and start \(0 to 959\), got fen"),
        ("connect4(odds=queen)", "odds"),
    ):
        with pytest.raises(ValueError, match=problem):
            load_game(spec)
