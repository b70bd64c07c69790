"""Games of matches as PGN and SGF: python-chess and our own readers get every move back, with tags and comments."""

import io
from contextlib import closing
from pathlib import Path

import chess
import chess.engine
import chess.pgn
import pytest

from hauteur import _core
from hauteur.cli import main
from hauteur.games.game_texts import games_of_file
from hauteur.games.played_game import position_after, texts_of
from hauteur.games.registry import load_game
from hauteur.matches.folder import MatchFolder
from hauteur.matches.game_files import pgn_of, write_games
from hauteur.matches.match import Match
from hauteur.matches.openings import Opening, read_opening
from hauteur.matches.results import MatchGame
from hauteur.matches.settings import MatchSettings
from hauteur.mcts.scores import mate_score
from hauteur.players.build import Resources
from hauteur.players.settings import parse_player

pytestmark = pytest.mark.quick

CHESS = _core.Game("chess")
ODDS = "rnbqkb1r/pppppppp/7n/8/8/7N/PPPPPPPP/RNB1KB1R w KQkq - 1 4"
BLACK_MOVES = "rnb1kb1r/pppppppp/7n/8/8/7N/PPPPPPPP/RNBQKB1R b KQkq - 0 3"


def played(game: _core.Game, openings: list[Opening] | None = None, **more: object) -> tuple[Match, list[MatchGame]]:
    """A short match of two weak players."""
    settings = MatchSettings.model_validate(
        {
            "game": game.spec,
            "a": parse_player('net=uniform visits=3 name="A \\"quoted\\""'),
            "b": parse_player("net=uniform visits=2 temperature=1"),
            "games": 4,
            "random_plies": 0 if openings else 3,
            "max_plies": 40,
            **more,
        }
    )
    match = Match(game, settings, openings=openings or (), resources=Resources(parallel=4, threads=1))
    with closing(match.play()) as games:
        return match, sorted(games, key=lambda g: g.index)


def read_back(text: str) -> list[chess.pgn.Game]:
    """The games as python-chess reads them, without an error."""
    file = io.StringIO(text)
    found = list[chess.pgn.Game]()
    while (game := chess.pgn.read_game(file)) is not None:
        assert game.errors == []
        found.append(game)
    return found


def texts(game: MatchGame) -> list[str]:
    return f"{game.opening} {game.moves}".split()


@pytest.mark.parametrize(
    ("spec", "fens"), [("chess", None), ("chess", [ODDS, BLACK_MOVES]), ("chess(chess960=true)", None)]
)
def test_python_chess_reads_the_games_move_for_move(tmp_path: Path, spec: str, fens: list[str] | None) -> None:
    rules = load_game(spec)
    match, games = played(rules, None if fens is None else [read_opening(fen, rules) for fen in fens])
    file = tmp_path / "games.pgn"
    assert write_games(file, [(match, reversed(games))]) == 4
    found = read_back(file.read_text())
    assert len(found) == len(games)
    for game, read in zip(games, found, strict=True):
        board = read.board()
        assert board.chess960 is ("chess960" in spec)
        if game.fen is not None:
            assert read.headers["SetUp"] == "1"
            assert board.fen().split()[:4] == game.fen.split()[:4]
        moves = []
        for move in read.mainline_moves():
            moves.append(board.uci(move, chess960="chess960" in spec))
            board.push(move)
        assert moves == texts(game)
        assert (
            read.headers["Result"]
            == {1.0: "1-0", 0.5: "1/2-1/2", 0.0: "0-1"}[game.score if game.a == "first" else 1 - game.score]
        )
    lines = list(games_of_file(file, rules))
    assert [len(line.actions) for line in lines] == [game.plies for game in games]  # type: ignore[union-attr]


def test_tags_say_who_played_how(tmp_path: Path) -> None:
    match, games = played(CHESS, max_plies=6, seed=5)
    file = tmp_path / "games.pgn"
    write_games(file, [(match, games)])
    first, second = read_back(file.read_text())[:2]
    assert first.headers["White"] == second.headers["Black"] == "A 'quoted'"
    assert (first.headers["Round"], first.headers["PlyCount"], first.headers["Seed"]) == ("1", "6", "5")
    assert (first.headers["WhiteNet"], first.headers["WhiteVisits"], first.headers["BlackVisits"]) == (
        "uniform",
        "3",
        "2",
    )
    assert first.headers["Termination"] == "adjudication"
    assert "TimeControl" not in first.headers
    comments = [node.comment for node in first.mainline()]
    assert comments[:3] == ["book"] * 3
    assert comments[-1].endswith("s, ply limit")


def between(*players: str) -> Match:
    a, b = (parse_player(text) for text in players or ("net=uniform", "net=uniform"))
    return Match(CHESS, MatchSettings(game="chess", a=a, b=b, seed=1))


MATED = MatchGame(
    index=0,
    a="second",
    score=1,
    end="checkmate",
    plies=4,
    opening="f2f3",
    moves="e7e5 g2g4 d8h4",
    centipawns=(25, None, round(100 * mate_score(1))),
    depths=(12, 0, 3),
    milliseconds=(290, 1000, 5),
)


def test_comments_are_those_of_cutechess() -> None:
    text = " ".join(pgn_of(between(), MATED).split())
    assert "f3 {book} 1... e5 {+0.25/12 0.29s} 2. g4 {1.00s} 2... Qh4# {+M1/3 0.01s, checkmate} 0-1" in text


def test_evals_are_from_whites_view() -> None:
    (game,) = read_back(pgn_of(between(), MATED, evals=True))
    nodes = list(game.mainline())
    scores = [node.eval() for node in nodes]
    assert scores[0] is None
    assert scores[1] is not None
    assert scores[1].white() == chess.engine.Cp(-25)
    assert scores[2] is None
    assert scores[3] is not None
    assert scores[3].white() == chess.engine.Mate(-1)


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ("engine crashed", "abandoned"),
        ("engine timeout", "time forfeit"),
        ("illegal move", "rules infraction"),
        ("stalemate", "normal"),
        ("resignation", "resignation"),
    ],
)
def test_terminations_are_those_of_the_standard(end: str, said: str) -> None:
    (game,) = read_back(pgn_of(between(), MATED.model_copy(update={"end": end})))
    assert game.headers["Termination"] == said


def test_clocks_of_programs_are_told() -> None:
    same = read_back(pgn_of(between("uci:x tc=10+0.1", "uci:y tc=10+0.1"), MATED))[0].headers
    assert same["TimeControl"] == "10+0.1"
    other = read_back(pgn_of(between("uci:x tc=10+0.1", "net=uniform"), MATED))[0].headers
    assert other["BlackTimeControl"] == "10+0.1"  # A is second
    assert "TimeControl" not in other
    assert other["WhiteNet"] == "uniform"


def test_games_without_scores_and_times_are_read_and_written() -> None:
    old = MatchGame.model_validate_json(
        '{"index": 3, "a": "first", "score": 0.0, "end": "checkmate", "plies": 4, "moves": "f2f3 e7e5 g2g4 d8h4"}'
    )
    (game,) = read_back(pgn_of(between(), old, evals=True))
    assert [node.comment for node in game.mainline()] == ["", "", "", "checkmate"]
    assert game.headers["Round"] == "4"


def test_an_illegal_move_is_named() -> None:
    with pytest.raises(ValueError, match="game 0: "):
        pgn_of(between(), MATED.model_copy(update={"moves": "e7e4"}))


def test_nogo_goes_to_sgf_and_back(tmp_path: Path) -> None:
    rules = load_game("nogo(size=4)")
    match, games = played(rules, max_plies=None)
    file = tmp_path / "games.sgf"
    write_games(file, [(match, games)])
    lines = list(games_of_file(file, rules))
    for game, line in zip(games, lines, strict=True):
        start, actions = rules.new_initial_state(), line.actions  # type: ignore[union-attr]
        assert texts_of(start, actions) == texts(game)
        assert line.outcome == position_after(start, actions).outcome()  # type: ignore[union-attr]


def test_the_form_has_to_fit_the_game(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match=r"games of chess go to a file \*.pgn"):
        write_games(tmp_path / "x.sgf", [(between(), [])])
    random = parse_player("random")
    without_form = Match(load_game("connect4"), MatchSettings(game="connect4", a=random, b=random, seed=1))
    with pytest.raises(ValueError, match=r"go to no file: written are chess \(.pgn\) and go, gomoku, nogo \(.sgf\)"):
        write_games(tmp_path / "x.sgf", [(without_form, [])])
    words = ["match", "random", "random", "--game", "connect4", "--games", "2", "--pgn", str(tmp_path / "x.pgn")]
    assert main.main(words) == main.EXIT_BAD_INPUT
    assert "games of connect4 cannot be written as PGN" in capsys.readouterr().err


def test_the_command_writes_into_the_folder_and_where_it_is_told(tmp_path: Path) -> None:
    out = tmp_path / "m"
    other = tmp_path / "x.pgn"
    words = ["match", "random", "random", "--games", "2", "--max-plies", "10", "--out", str(out), "--pgn", str(other)]
    assert main.main(words) == 0
    assert other.read_text() == (out / "games.pgn").read_text()
    assert len(read_back(other.read_text())) == 2
    games = list(MatchFolder(out).games())
    assert all(len(game.milliseconds) == 6 for game in games)
    assert all(game.centipawns == () for game in games)
    assert [game.plies for game in games] == [10, 10]
