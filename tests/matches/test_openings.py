"""Openings of matches: odds, order, notation, and damaged files, which one line names."""

from io import StringIO
from pathlib import Path

import chess.pgn
import numpy as np
import pytest
from match_toys import CHESS, CONNECT4, FAST, played, settings_of

import hauteur as ht
from hauteur.cli.main import main
from hauteur.games.played_game import position_after
from hauteur.matches.game_files import write_games
from hauteur.matches.match import Match, match_plans
from hauteur.matches.openings import read_opening, read_openings

pytestmark = pytest.mark.quick

QUEEN_ODDS = [
    "rnb1kb1r/pppppppp/7n/8/8/7N/PPPPPPPP/RNBQKB1R b KQkq -",
    "rnbqkb1r/pppppppp/7n/8/8/7N/PPPPPPPP/RNB1KB1R w KQkq - 1 4",
    'rnbqkb1r/pppp1ppp/4pn2/8/2P5/6P1/PP1PPP1P/RNB1KBNR w KQkq - id "x"; c0 "y z";',
]


def test_odds_give_a_the_side_to_move(tmp_path: Path) -> None:
    file = tmp_path / "odds.epd"
    file.write_text("# comment\n" + "\n".join(QUEEN_ODDS) + "\n\n")
    openings = read_openings(file, CHESS)
    assert len(openings) == 3
    settings = settings_of("chess", a="visits=2", b="visits=2 temperature=1", games=6, colours="mover", max_plies=4)
    match = Match(CHESS, settings, openings=openings, resources=FAST)
    for game in played(match):
        assert game.fen is not None
        assert ("Q" in game.fen.split()[0]) == (game.a == "second")
        assert game.a == ("first" if game.fen.split()[1] == "w" else "second")
        assert len(game.moves.split()) == 4


def test_openings_follow_the_seed_or_the_file(tmp_path: Path) -> None:
    file = tmp_path / "odds.epd"
    file.write_text("\n".join(QUEEN_ODDS))
    openings = read_openings(file, CHESS)

    def fens(**more: object) -> list[str]:
        settings = settings_of("chess", games=12, **more)  # type: ignore[arg-type]
        plans = match_plans(CHESS, settings, openings)
        return [plan.origin.notation().split()[0] for plan in plans if plan.origin is not None]

    in_file = [line.split()[0] for line in QUEEN_ODDS]
    assert fens(order="file") == [fen for fen in in_file for _ in range(2)] * 2
    orders = {tuple(fens(seed=seed)[::2]) for seed in range(20)}
    assert len(orders) > 3
    assert all(sorted(order[:3]) == sorted(in_file) and order[:3] == order[3:] for order in orders)


def test_openings_as_moves() -> None:
    opening = read_opening("e2e4 c7c5", CHESS)
    assert opening.fen is None
    state = position_after(opening.origin(CHESS), opening.actions)
    assert state.notation().startswith("rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq")
    assert read_opening("4 4 3", CONNECT4).actions == (3, 3, 2)
    assert read_opening("1. e4 c5", CHESS) == opening
    assert read_opening("1.e4 1...c5", CHESS) == opening
    with pytest.raises(ValueError, match=r'"1\.5" is not a legal move'):
        read_opening("e4 1.5", CHESS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no openings in it"),
        ("e2e4\ne2e5", "line 2: "),
        ("8/8/8/8/8/8/8/8 w - -", "line 1: "),
        ("rnbqkbnr/pppppppp w", "line 1: .*invalid board part"),
        ("f2f3 e7e5 g2g4 d8h4", "line 1: the game is over in this position"),
        ("f2f3 e7e5 g2g4 d8h4 a2a3", "line 1: the game is over before 'a2a3'"),
    ],
)
def test_bad_openings_are_named(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "openings.epd"
    file.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_openings(file, CHESS)


def test_a_text_that_python_chess_fails_on_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.pgn"
    path.write_text("e4 e5 d6)Bb5\n")
    assert main(["match", "random", "random", "--openings", str(path), "--games", "2"]) == 2
    assert f"{path}, game 1 (line 1): " in capsys.readouterr().err


@pytest.mark.parametrize("seed", range(5))
def test_random_bytes_are_no_openings(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "random.pgn"
    path.write_bytes(np.random.default_rng(seed).bytes(300 * (seed + 1)))
    with pytest.raises(ValueError, match=r"random\.pgn"):
        read_openings(path, CHESS)


def test_a_position_without_moves_is_an_opening(tmp_path: Path) -> None:
    path = tmp_path / "x.pgn"
    path.write_text('[FEN "4k3/8/8/8/8/8/8/4K2R w K - 0 1"]\n[SetUp "1"]\n\n*\n\n1. e4 *\n')
    assert len(read_openings(path, CHESS)) == 2
    path.write_text('1. e4 *\n\n[Event "x"]\n\n*\n')
    with pytest.raises(ValueError, match=r"x\.pgn, game 2: has neither moves nor a position"):
        read_openings(path, CHESS)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_names_in_a_suite_may_have_letters_beyond_ascii(tmp_path: Path, encoding: str) -> None:
    file = tmp_path / "suite.epd"
    line = 'rnbqkb1r/pppp1ppp/4pn2/8/2P5/6P1/PP1PPP1P/RNBQKBNR w KQkq - id "R\u00e9ti";\r\n'
    file.write_bytes((2 * line).encode(encoding))
    assert [opening.fen for opening in read_openings(file, CHESS)] == [line.partition(" id")[0]] * 2


@pytest.mark.parametrize(
    "fen",
    [
        "rk6/p7/P7/8/8/p7/P7/RK6 w Aa - 0 1",
        "6kr/7p/7P/8/8/p7/P7/RK6 w Ah - 0 1",
    ],
)
def test_games_of_chess_from_a_book_of_chess960_are_read_by_others(tmp_path: Path, fen: str) -> None:
    """They have the tag Variant, without which others take the castling rights away, also where kings begin apart."""
    file = tmp_path / "book.epd"
    file.write_text(f"{fen}\n")
    settings = settings_of("chess", a="visits=2 temperature=1", b="visits=2 temperature=1", games=8, max_plies=6)
    match = Match(CHESS, settings, openings=read_openings(file, CHESS), resources=FAST)
    write_games(tmp_path / "games.pgn", [(match, played(match))])
    text = (tmp_path / "games.pgn").read_text()
    assert text.count('[Variant "Chess960"]') == 8
    assert "O-O" in text
    pgn = StringIO(text)
    for own in ht.read_games(tmp_path / "games.pgn"):
        other = chess.pgn.read_game(pgn)
        assert other is not None
        assert not other.errors
        assert [other.board().uci(move) for move in other.mainline_moves()] == list(own.moves)
