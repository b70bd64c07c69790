"""Recorded games in and out: PGN, SGF and shards, good and bad; games written as PGN by the command."""

import io
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import chess
import chess.pgn
import numpy as np
import pytest
from game_file_toys import CHESS, NOGO, SCHOLAR
from hypothesis import given
from hypothesis import strategies as st
from recorded_games import random_record, shard_of

from hauteur import _core
from hauteur.cli import main
from hauteur.games.game_line import BadGame, TaggedGame
from hauteur.games.game_texts import games_of_file
from hauteur.games.played_game import position_after, texts_of
from hauteur.learning.recorded_files import GAME_SUFFIXES, StoredGame, files_of, game_text, read_games
from hauteur.learning.replay import ReplayBuffer
from hauteur.matches.record import GameRecord

pytestmark = pytest.mark.quick

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
    return texts_of(line.origin or game.new_initial_state(), line.actions)


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
        ('[Result "1-0"]', "1. e4 Sxe5 1-0", 'ply 2: "Sxe5" is'),
        ('[Result "*"]', "1. e4 e5 *", "it has no result: *"),
        ('[Result "1-0"]', "1. e4 e5 0-1", "its result is 1-0 in the tags and 0-1 after the moves"),
        ('[Result "1-0"]', "1-0", "it has no moves"),
        ('[Result "1-0"]', "1. f3 e5 2. g4 Qh4# 1-0", "its result is 1-0, but the last position is 0-1 (checkmate)"),
        ('[Variant "Atomic"]\n[Result "1-0"]', "1. e4 1-0", "is of the variant 'Atomic', not of chess"),
        ('[FEN "8/8/8/8/8/8/8/8 w - - 0 1"]\n[Result "1-0"]', "1. e4 1-0", "game 2"),
        ('[FEN "nonsense, fen=x"]\n[Result "1-0"]', "1. e4 1-0", "no FEN has commas"),
        (f'[Result "1-0"]\n[WhiteElo "{"9" * 5000}"]', "1. e4 {" + "9" * 5000, "a comment is not closed"),
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


def test_what_was_changed_to_read_a_game_is_told(tmp_path: Path) -> None:
    cut = '[Result "1-0"]\n\n1. e4 -- 2. d4 1-0\n\n'
    odds = f'[FEN "{QUEEN_ODDS.replace("KQkq -", "KQkq e3")}"]\n[Result "0-1"]\n\n1. e4 0-1\n\n'
    notes: list[str] = []
    path = pgn_file(tmp_path, cut + SCHOLAR + "\n" + odds)
    records = list(read_games([path], CHESS, notes.append))
    assert [len(record.actions) for record in records if isinstance(record, GameRecord)][::2] == [1, 1]
    assert len(notes) == 2
    assert notes[0].startswith(f"{path}, game 1 (line 1): line 3, ply 2: ")
    assert "null move" in notes[0]
    assert "the en passant square e3 is left out" in notes[1]


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
        ("(;SZ[5]RE[B+R];B[aa];W[aa])", "'aa' is not legal here"),
        ("(;SZ[5]RE[?];B[aa])", "it has no result: ?"),
        ("(;SZ[5];B[aa])", "it has no result: none"),
        ("(;SZ[5]RE[B+R]AB[aa][bb];W[cc])", "sets up a position (AB)"),
        ("(;SZ[5]RE[B+R]HA[2];W[cc])", "sets up a position (HA)"),
        ("(;SZ[5]RE[B+R];B[aa][bb])", "has two moves in one B"),
        ("(;SZ[5]RE[B+R];B[aa];W[bb]W[cc])", "has two moves in one W"),
        ("(;SZ[5]KM[6.5]RE[B+R];B[aa];=])", 'line 1: expected a property, such as B[aa], got "=])"'),
        ("(;SZ[5]RE[B+R];B[aa]", "its tree is not closed"),
        ("(;SZ[5]RE[B+R];B[aa", "line 1: a value is not closed"),
        ("(;SZ[5]RE[B+R]\n;B aa])", "line 2: expected a property"),
        ("(SZ[5];B[aa])", "has a property before the first ;"),
        ("()", "has no nodes"),
        ("nothing", "no SGF: it has no ("),
        ("(" * 20_000, "has more than 10000 variations within variations"),
        ("(;SZ[5]RE[B+R])", "it has no moves"),
    ],
)
def test_bad_sgf_is_named(tmp_path: Path, text: str, message: str) -> None:
    path = sgf_file(tmp_path, text)
    (bad,) = read_games([path], NOGO)
    assert str(bad).startswith(str(path))
    assert message in str(bad)
    assert "\n" not in str(bad)


def test_recorded_games_of_nogo_come_in(shared_data: Path) -> None:
    game = _core.Game("nogo")
    records = list(read_games(files_of([shared_data / "nogo" / "sgf"], GAME_SUFFIXES), game))
    assert len(records) == 30
    for record in records:
        assert isinstance(record, GameRecord)
        state = position_after(game.new_initial_state(), record.actions.tolist())
        assert (record.end_reason, record.resigned) == ("resignation", state.to_move)  # the side to move resigns


def test_shards_come_in_with_their_targets(tmp_path: Path) -> None:
    records = [random_record(NOGO, index) for index in range(4)]
    found = list(read_games([shard_of(tmp_path / "a.parquet", NOGO, records, generation=7, nets=[5])], NOGO))
    for before, after in zip(records, found, strict=True):
        assert isinstance(after, GameRecord)
        for name in ("actions", "outcome", "policy_actions", "policy_counts", "root_wdl", "movers"):
            assert np.array_equal(getattr(before, name), getattr(after, name))


def test_bad_shards_and_bad_games_in_them(tmp_path: Path) -> None:
    record = random_record(NOGO, 1)
    torn = tmp_path / "torn.parquet"
    foreign = tmp_path / "foreign.parquet"
    torn.write_bytes(shard_of(tmp_path / "a.parquet", NOGO, [record]).read_bytes()[:200])
    shard_of(foreign, CHESS, [random_record(CHESS, 1)])
    wrong = [replace(record, movers=1 - record.movers), replace(record, learn=np.zeros_like(record.learn))]
    paths = [torn, foreign, shard_of(tmp_path / "wrong.parquet", NOGO, [*wrong, record])]
    *bad, good = read_games(paths, NOGO)
    assert isinstance(good, GameRecord)
    for found, text in zip(
        bad,
        (
            "not a whole Parquet file",
            "is a game of chess, not of nogo(size=5)",
            "does not say rightly who made each move",
            "has no positions to learn from",
        ),
        strict=True,
    ):
        assert isinstance(found, BadGame)
        assert text in str(found)


def test_sources_are_files_folders_and_patterns(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    for name in ("b.pgn", "a.pgn", "deep/c.sgf", "deep/d.txt"):
        (tmp_path / name).write_text("x")
    names = [path.name for path in files_of([tmp_path], GAME_SUFFIXES)]
    assert names == ["a.pgn", "b.pgn", "c.sgf"]
    assert [path.name for path in files_of([tmp_path / "*.pgn", tmp_path / "a.pgn"], GAME_SUFFIXES)] == names[:2]
    for source, message in (
        (tmp_path / "none", "there is no such file or folder"),
        (tmp_path / "*.sgf", "no file of games there"),
        (tmp_path / "deep" / "d.txt", "files of this kind are not read here"),
    ):
        with pytest.raises(ValueError, match=message):
            files_of([source], GAME_SUFFIXES)


@pytest.fixture
def chess_run(tmp_path: Path) -> Path:
    """A run's folder with two generations of games."""
    folder = tmp_path / "run"
    (folder / "games").mkdir(parents=True)
    (folder / "config.toml").write_text('game = "chess"\n')
    for generation in (1, 2):
        records = [random_record(CHESS, index, plies=12) for index in range(3)]
        shard_of(folder / "games" / f"gen-{generation:05d}-0000.parquet", CHESS, records, generation=generation)
    return folder


def test_a_run_is_written_as_pgn(chess_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def export(*words: str | Path) -> tuple[int, str, str]:
        status = main.main(["games", "export", *map(str, words)])
        output = capsys.readouterr()
        return status, output.out, output.err

    folder = tmp_path / "pgn"
    assert export(chess_run, "--to", folder, "--values")[:2] == (0, f"{folder}: 6 games\n")
    assert [path.name for path in sorted(folder.iterdir())] == ["gen-00001-0000.pgn", "gen-00002-0000.pgn"]
    assert len([one for one in read_games(sorted(folder.iterdir()), CHESS) if isinstance(one, GameRecord)]) == 6
    assert "is there already; name a new folder" in export(chess_run, "--to", folder)[2]
    assert export("--to", tmp_path / "y")[0] == 2
    other = _core.Game("connect4")
    status, _, err = export(shard_of(tmp_path / "a.parquet", other, [random_record(other, 1)]), "--to", tmp_path / "y")
    assert (status, len(err.splitlines()), "its game is connect4" in err) == (2, 1, True)


@given(text=st.text(alphabet="();[]\\BWSZREGM5ab+ \n", max_size=60))
def test_no_text_breaks_the_reader_of_sgf(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzz.sgf"
    path.write_text("(;SZ[5]RE[B+R];B[aa]" + text)
    assert all(isinstance(one, BadGame | GameRecord) for one in read_games([path], NOGO))


@given(cut=st.integers(0, len(SCHOLAR)), text=st.text(alphabet='e4Nf3O-$(){}[];% 12./"\n\r*', max_size=40))
def test_no_text_breaks_the_reader_of_pgn(tmp_path_factory: pytest.TempPathFactory, cut: int, text: str) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzz.pgn"
    path.write_text(SCHOLAR[:cut] + text + SCHOLAR[cut:])
    assert all(isinstance(one, BadGame | GameRecord) for one in read_games([path], CHESS))
