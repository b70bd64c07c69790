"""Recorded games in and out: PGN, SGF and shards, good and bad."""

import io
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import chess
import chess.pgn
import numpy as np
import pytest
from game_file_toys import CHESS, NOGO, SCHOLAR
from recorded_games import random_record, shard_of

from hauteur import _core
from hauteur.games.game_line import BadGame, TaggedGame
from hauteur.games.game_texts import games_of_file
from hauteur.learning.recorded_files import GAME_SUFFIXES, StoredGame, files_of, game_text, read_games
from hauteur.learning.replay import ReplayBuffer
from hauteur.matches.record import GameRecord

QUEEN_ODDS = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNB1KBNR w KQkq - 0 1"


def found(lines: Iterable[TaggedGame | BadGame]) -> tuple[list[TaggedGame], list[BadGame]]:
    everything = list(lines)
    return [one for one in everything if isinstance(one, TaggedGame)], [
        one for one in everything if isinstance(one, BadGame)
    ]


def pgn_file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "games.pgn"
    path.write_text(text)
    return path


def moves_of(line: TaggedGame, game: _core.Game) -> list[str]:
    state = (line.origin or game.new_initial_state()).copy()
    moves = []
    for action in line.actions:
        moves.append(state.action_to_text(action))
        state.apply(action)
    return moves


def test_pgn_main_lines_without_comments_and_variations(tmp_path: Path) -> None:
    good, bad = found(games_of_file(pgn_file(tmp_path, "\ufeff" + SCHOLAR + "\n" + SCHOLAR), CHESS))
    assert bad == []
    assert len(good) == 2
    assert moves_of(good[0], CHESS) == ["e2e4", "e7e5", "f1c4", "b8c6", "d1h5", "g8f6", "h5f7"]
    assert (good[0].outcome, good[0].end_reason, good[0].origin) == (1, "checkmate", None)


def test_pgn_from_another_position_and_chess960(tmp_path: Path) -> None:
    text = f'[FEN "{QUEEN_ODDS}"]\n[SetUp "1"]\n[Variant "From Position"]\n[Result "0-1"]\n\n1. e4 e5 0-1\n'
    (line,), bad = found(games_of_file(pgn_file(tmp_path, text), CHESS))
    assert bad == []
    assert line.origin is not None
    assert line.origin.notation() == QUEEN_ODDS
    fen = "bqnbrkrn/pppppppp/8/8/8/8/PPPPPPPP/BQNBRKRN w GEge - 0 1"
    text = f'[FEN "{fen}"]\n[Variant "Chess960"]\n[Result "1/2-1/2"]\n[Termination "X resigns"]\n\n'
    text += "1. Ng3 Ng6 2. O-O 1/2-1/2\n"
    (line,), bad = found(games_of_file(pgn_file(tmp_path, text), _core.Game("chess(chess960=true)")))
    assert bad == []
    assert moves_of(line, CHESS) == ["h1g3", "h8g6", "f1g1"]
    assert (line.outcome, line.end_reason) == (0, "resignation")
    _, (wrong,) = found(games_of_file(pgn_file(tmp_path, text), CHESS))
    assert "is a game of chess(chess960=true), not of chess" in str(wrong)


@pytest.mark.parametrize(
    ("tags", "moves", "message"),
    [
        ('[Result "1-0"]', "1. e4 e4 1-0", 'ply 2: "e4" is not a legal move in'),
        ('[Result "1-0"]', "1. e4 -- 1-0", 'ply 2: "--" is not a legal move'),
        ('[Result "*"]', "1. e4 e5 *", "it has no result: *"),
        ('[Result "1-0"]', "1. e4 e5 0-1", "its result is 1-0 in the tags and 0-1 after the moves"),
        ('[Result "1-0"]', "1-0", "it has no moves"),
        ('[Result "1-0"]', "1. f3 e5 2. g4 Qh4# 1-0", "its result is 1-0, but the last position is 0-1 (checkmate)"),
        ('[Variant "Atomic"]\n[Result "1-0"]', "1. e4 1-0", "is of the variant 'Atomic', not of chess"),
        ('[FEN "8/8/8/8/8/8/8/8 w - - 0 1"]\n[Result "1-0"]', "1. e4 1-0", "game 2"),
        ('[FEN "nonsense, fen=x"]\n[Result "1-0"]', "1. e4 1-0", "no FEN has commas"),
        (f'[Result "1-0"]\n[WhiteElo "{"9" * 5000}"]', "1. e4 $" + "9" * 5000 + " 1-0", "game 2"),
    ],
)
def test_bad_games_of_a_pgn_are_named_and_the_others_read(tmp_path: Path, tags: str, moves: str, message: str) -> None:
    path = pgn_file(tmp_path, f"{SCHOLAR}\n{tags}\n\n{moves}\n\n{SCHOLAR}")
    records = list(read_games([path], CHESS))
    good = [record for record in records if isinstance(record, GameRecord)]
    bad = [str(one) for one in records if isinstance(one, BadGame)]
    assert [record.plan.index for record in good] == [0, 1]
    assert len(bad) == 1
    assert bad[0].startswith(f"{path}, game 2")
    assert message in bad[0]
    assert "\n" not in bad[0]


def test_a_game_without_searches_teaches_move_and_result(tmp_path: Path) -> None:
    path = pgn_file(tmp_path, f'[FEN "{QUEEN_ODDS}"]\n[Result "0-1"]\n\n1. e4 e5 2. d4 0-1\n\n{SCHOLAR}')
    first, second = (one for one in read_games([path], CHESS) if isinstance(one, GameRecord))
    assert (first.outcome, second.outcome) == (-1, 1)
    buffer = ReplayBuffer(CHESS, 10)
    buffer.extend([shard_of(tmp_path / "new.parquet", CHESS, [first, second])])
    for share in (0.0, 0.7):  # there was no search, so the root's value is the result too
        samples = buffer.samples_of(np.arange(10), root_value_share=share)
        expected = [[0, 0, 1], [1, 0, 0], [0, 0, 1]] + [[1, 0, 0], [0, 0, 1]] * 3 + [[1, 0, 0]]
        assert samples.wdl == pytest.approx(np.array(expected))
    state = _core.Game(f"chess(fen={QUEEN_ODDS})").new_initial_state()
    assert np.array_equal(samples.features[0], state.features())
    assert samples.policy[0].argmax() == state.parse("e4")
    assert samples.policy.max(axis=1).tolist() == [1.0] * 10
    assert not first.visits.any()
    assert np.isnan(first.net_value).all()
    assert (first.end_reason, first.resigned) == ("recorded result", -1)


def stored(game: _core.Game, index: int, **options: object) -> StoredGame:
    return StoredGame(game, random_record(game, index, **options), generation=3, nets=(2, 1))  # type: ignore[arg-type]


def test_pgn_that_is_written_is_read_by_others_and_by_us(tmp_path: Path) -> None:
    odds = _core.Game(f"chess(fen={QUEEN_ODDS})").new_initial_state()
    games = [
        stored(CHESS, 1, plies=150),
        stored(CHESS, 2, plies=9, start=(322,)),
        stored(CHESS, 3, plies=7, origin=odds),
    ]
    text = "".join(game_text(game, values=True) for game in games)
    assert max(map(len, text.splitlines())) < 200
    file = io.StringIO(text)
    for game in games:
        theirs = chess.pgn.read_game(file)
        assert theirs is not None
        assert theirs.errors == []
        assert theirs.headers["White"] == "net of generation 2"
        line = [*game.record.plan.start, *game.record.actions.tolist()]
        assert len(list(theirs.mainline_moves())) == len(line)
        assert theirs.board().fen() == game.start().notation()
    lines, bad = found(games_of_file(pgn_file(tmp_path, text), CHESS))
    assert bad == []
    assert [line.actions for line in lines] == [
        (*game.record.plan.start, *game.record.actions.tolist()) for game in games
    ]
    assert [line.outcome for line in lines] == [game.record.outcome for game in games]


def nogo_game(index: int) -> StoredGame:
    """A game of NoGo to its end."""
    game = stored(NOGO, index, plies=100)
    assert game.record.end_reason != "ply limit"
    return game


def sgf_file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "games.sgf"
    path.write_text(text)
    return path


def test_sgf_that_is_written_is_read(tmp_path: Path) -> None:
    games = [nogo_game(index) for index in range(5)]
    resigned = replace(games[0].record, end_reason="resignation", actions=games[0].record.actions[:-3])
    games[0] = replace(games[0], record=replace(resigned, outcome=-1))
    path = sgf_file(tmp_path, "".join(game_text(game, values=True) for game in games))
    lines, bad = found(games_of_file(path, NOGO))
    assert bad == []
    assert [line.actions for line in lines] == [tuple(game.record.actions.tolist()) for game in games]
    assert [line.outcome for line in lines] == [game.record.outcome for game in games]
    assert lines[0].end_reason == "resignation"
    assert "RE[W+R]" in path.read_text()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(;SZ[9]RE[B+R];B[aa])", "is on a board SZ[9], expected SZ[5]"),
        ("(;RE[B+R];B[aa])", "is on a board SZ[19], expected SZ[5]"),
        ("(;GM[3]SZ[5]RE[B+R];B[aa])", "is of the game GM[3], expected GM[1]"),
        ("(;SZ[5]RE[B+R];B[aa];B[bb])", "move 2: it is not the turn of B"),
        ("(;SZ[5]RE[B+R];B[])", "move 1: '' is no point of the board"),
        ("(;SZ[5]RE[B+R];B[fa])", "move 1: 'fa' is no point of the board"),
        ("(;SZ[5]RE[B+R];B[aa];W[aa])", "action 0 is not legal"),
        ("(;SZ[5]RE[?];B[aa])", "it has no result: ?"),
        ("(;SZ[5];B[aa])", "it has no result: none"),
        ("(;SZ[5]RE[B+R]AB[aa][bb];W[cc])", "sets up a position (AB)"),
        ("(;SZ[5]RE[B+R]HA[2];W[cc])", "sets up a position (HA)"),
        ("(;SZ[5]RE[B+R];B[aa][bb])", "has two moves in one B"),
        ("(;SZ[5]SZ[5]RE[B+R];B[aa])", "has SZ twice in one node; the file is not read further"),
        ("(;SZ[5]RE[B+R];B[aa]", "its tree is not closed"),
        ("(;SZ[5]RE[B+R];B[aa", "line 1: expected a property, such as B[aa], got 'B[aa'"),
        ("(;SZ[5]RE[B+R]\n;b[aa])", "line 2: expected a property"),
        ("(SZ[5];B[aa])", "has a property before the first ;"),
        ("()", "has no nodes"),
        ("nothing", "no SGF: it has no ("),
        ("(" * 5000, "has more than 1000 variations within variations"),
        ("(;SZ[5]RE[B+R])", "it has no moves"),
    ],
)
def test_bad_sgf_is_named(tmp_path: Path, text: str, message: str) -> None:
    path = sgf_file(tmp_path, text)
    (bad,) = read_games([path], NOGO)
    assert str(bad).startswith(str(path))
    assert message in str(bad)
    assert "\n" not in str(bad)


def test_a_result_that_contradicts_the_board_is_refused(tmp_path: Path) -> None:
    game = nogo_game(1)
    text = game_text(replace(game, record=replace(game.record, outcome=-game.record.outcome)))
    (bad,) = read_games([sgf_file(tmp_path, text)], NOGO)
    assert "but the last position is" in str(bad)


def test_recorded_games_of_nogo_come_in(shared_data: Path) -> None:
    game = _core.Game("nogo")
    records = list(read_games(files_of([shared_data / "nogo" / "sgf"], GAME_SUFFIXES), game))
    assert len(records) == 30
    for record in records:
        assert isinstance(record, GameRecord)
        state = game.new_initial_state()
        for action in record.actions.tolist():
            state.apply(action)
        assert (record.end_reason, record.resigned) == ("resignation", state.to_move)  # the side to move resigns
