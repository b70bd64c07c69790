"""Odds starts of chess: the table, recognising them, and the settings of the giver."""

from contextlib import suppress

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hauteur.games.odds import BLACK, NORMAL, ODDS_STARTS, WHITE, odds_of, odds_start, pieces_of
from hauteur.games.registry import load_game, with_fen
from hauteur.mcts.lc0_options import SEARCH_OPTIONS, TEMPERATURE_OPTIONS

PUBLISHED = {
    "queen d1": "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNB1KBNR w KQkq - 0 1",
    "queen d8": "rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "rook a1": "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/1NBQKBNR w Kkq - 0 1",
}
"""Starts as the paper's author writes them."""

USUAL = [
    *("queen d1", "queen d8", "rook a1", "rook a8", "knight b1", "knight g1", "knight b8"),
    *("two knights b1 g1", "two rooks a1 h1", "rook and knight a1 b1", "bishop c1", "pawn f7"),
]


def test_the_table_has_every_usual_start() -> None:
    assert set(USUAL) <= set(ODDS_STARTS)
    assert PUBLISHED.items() <= ODDS_STARTS.items()
    assert len(set(ODDS_STARTS.values())) == len(ODDS_STARTS) == 18


@pytest.mark.parametrize("name", ODDS_STARTS)
def test_starts_are_positions_and_are_recognised(name: str) -> None:
    board = chess.Board(ODDS_STARTS[name])
    assert board.is_valid()
    state = load_game(with_fen("chess", ODDS_STARTS[name])).new_initial_state()
    odds = odds_of(state.notation())
    assert odds is not None
    assert odds.name == name
    assert odds.squares == tuple(name.split()[-len(odds.squares) :])
    assert odds.giver == (WHITE if odds.squares[0][1] in "12" else BLACK)
    for square in odds.squares:
        assert board.piece_at(chess.parse_square(square)) is None
    assert not any(board.castling_rights & chess.BB_SQUARES[chess.parse_square(square)] for square in odds.squares)


@pytest.mark.parametrize(
    "fen",
    [
        chess.STARTING_FEN,
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RN2KBNR w KQkq - 0 1",  # queen and bishop
        "rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNB1KBNR w KQkq - 0 1",  # both queens
        "rnb1kbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1",  # a pawn has moved
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBNKBNR w KQkq - 0 1",  # a knight for the queen
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPP2/RNBQKBNR w KQkq - 0 1",  # two pawns
        "8/8/8/4k3/8/8/8/4K2Q w - - 0 1",
    ],
)
def test_other_positions_are_no_odds(fen: str) -> None:
    assert odds_of(fen) is None


def test_any_man_of_a_kind_will_do() -> None:
    for squares, name in ((("h8",), "rook h8"), (("c2",), "pawn c2"), (("b8", "h8"), "rook and knight b8 h8")):
        odds = odds_of(odds_start(*squares))
        assert odds is not None
        assert odds.name == name


@given(st.sets(st.sampled_from([square for square, man in NORMAL.items() if man not in "kK"]), min_size=1, max_size=4))
def test_recognising_is_the_inverse_of_taking_away(squares: set[str]) -> None:
    fen = odds_start(*squares)
    assert chess.Board(fen).is_valid()
    assert NORMAL.keys() - pieces_of(fen).keys() == squares
    odds = odds_of(fen)
    assert odds is None or set(odds.squares) == squares


@given(st.text(alphabet="rnbqkpRNBQKP12345678/ w-9x", max_size=80))
def test_noise_is_an_error_or_no_odds(text: str) -> None:
    with suppress(ValueError):  # no board at all
        assert odds_of(text) is None


@pytest.mark.parametrize("squares", [(), ("e1",), ("e4",), ("z9",), ("d1", "e8")])
def test_wrong_squares_are_said(squares: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="odds are squares"):
        odds_start(*squares)


def test_settings_are_those_published() -> None:
    def settings(name: str) -> dict[str, float]:
        odds = odds_of(ODDS_STARTS[name])
        assert odds is not None
        return odds.settings()

    runs = {"ScLimit": 28, "Temperature": 0.7, "TempEndgame": 0.1, "TempDecayMoves": 5}
    assert settings("rook a1") == settings("pawn f7") == runs
    queen = {**runs, "CPuct": 1.5, "FpuValue": 0.4}
    assert settings("queen d1") == {**queen, "ScLimit": 40, "DrawScore": -0.4}
    assert settings("queen d8") == {**queen, "ScLimit": 32, "DrawScore": 0.6}
    known = {option.name: option for option in (*SEARCH_OPTIONS, *TEMPERATURE_OPTIONS)}
    for name, value in {**settings("queen d1"), **settings("queen d8")}.items():
        assert known[name].parse(known[name].text(value)) == value
