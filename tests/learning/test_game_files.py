"""Recorded games in and out: PGN, SGF and shards, good and bad."""

import io
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Literal

import chess
import chess.pgn
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recorded_games import random_record, shard_of

from hauteur import _core
from hauteur.cli import main
from hauteur.games import pgn, sgf
from hauteur.games.game_line import NO_NET, BadGame, GameLine
from hauteur.games.pgn import read_pgn
from hauteur.games.sgf import read_sgf
from hauteur.learning.game_files.exporting import export_games, shards_of
from hauteur.learning.game_files.importing import GAME_SUFFIXES, files_of, import_games, read_games
from hauteur.learning.game_files.lc0_chunks import read_chunk
from hauteur.learning.game_files.stored_games import StoredGame, good_games, read_stored
from hauteur.learning.game_files.text import pgn_text, sgf_text
from hauteur.learning.replay import ReplayBuffer
from hauteur.learning.shards import read_shard
from hauteur.matches.record import GameRecord

CHESS = _core.Game("chess")
NOGO = _core.Game("nogo(size=5)")
QUEEN_ODDS = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNB1KBNR w KQkq - 0 1"

SCHOLAR = """[Event "a {curious} event"]
[Result "1-0"]

1. e4 {the best (by test)} e5 (1... c5 2. Nf3 (2. c3 d5) d6) 2. Bc4 $1 Nc6 3. Qh5?! Nf6?? ; a blunder
4. Qxf7# 1-0
"""


def found(lines: Iterable[GameLine | BadGame]) -> tuple[list[GameLine], list[BadGame]]:
    everything = list(lines)
    return [one for one in everything if isinstance(one, GameLine)], [
        one for one in everything if isinstance(one, BadGame)
    ]


def pgn_file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "games.pgn"
    path.write_text(text)
    return path


def moves_of(line: GameLine, game: _core.Game) -> list[str]:
    state = (line.origin or game.initial_state()).copy()
    moves = []
    for action in line.actions:
        moves.append(state.action_to_text(action))
        state.play(action)
    return moves


def test_pgn_main_lines_without_comments_and_variations(tmp_path: Path) -> None:
    good, bad = found(read_pgn(pgn_file(tmp_path, "\ufeff" + SCHOLAR + "\n" + SCHOLAR), CHESS))
    assert bad == []
    assert len(good) == 2
    assert moves_of(good[0], CHESS) == ["e2e4", "e7e5", "f1c4", "b8c6", "d1h5", "g8f6", "h5f7"]
    assert (good[0].outcome, good[0].end_reason, good[0].origin) == (1, "checkmate", None)


def test_pgn_from_another_position_and_chess960(tmp_path: Path) -> None:
    text = f'[FEN "{QUEEN_ODDS}"]\n[SetUp "1"]\n[Variant "From Position"]\n[Result "0-1"]\n\n1. e4 e5 0-1\n'
    (line,), bad = found(read_pgn(pgn_file(tmp_path, text), CHESS))
    assert bad == []
    assert line.origin is not None
    assert line.origin.notation() == QUEEN_ODDS
    fen = "bqnbrkrn/pppppppp/8/8/8/8/PPPPPPPP/BQNBRKRN w GEge - 0 1"
    text = f'[FEN "{fen}"]\n[Variant "Chess960"]\n[Result "1/2-1/2"]\n[Termination "X resigns"]\n\n'
    text += "1. Ng3 Ng6 2. O-O 1/2-1/2\n"
    (line,), bad = found(read_pgn(pgn_file(tmp_path, text), _core.Game("chess(chess960=true)")))
    assert bad == []
    assert moves_of(line, CHESS) == ["h1g3", "h8g6", "f1g1"]
    assert (line.outcome, line.end_reason) == (0, "resignation")
    _, (wrong,) = found(read_pgn(pgn_file(tmp_path, text), CHESS))
    assert "is a game of chess(chess960=true), not of chess" in str(wrong)


@pytest.mark.parametrize(
    ("tags", "moves", "message"),
    [
        ('[Result "1-0"]', "1. e4 e4 1-0", 'ply 2: "e4" is not a legal move in'),
        ('[Result "1-0"]', "1. e4 -- 1-0", 'ply 2: "--" is not a legal move'),
        ('[Result "*"]', "1. e4 e5 *", "its result is * in the tags and * after the moves"),
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


def test_a_pgn_that_is_one_endless_game_takes_little_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pgn, "MAX_GAME_CHARACTERS", 10_000)
    for text in ("1. e4 {" + "x" * 20_000, "1. e4 {\n" + "x\n" * 20_000, '[A "' + "b" * 20_000 + '"]\n\n1. e4 1-0\n'):
        good, (bad,) = found(read_pgn(pgn_file(tmp_path, SCHOLAR + "\n" + text), CHESS))
        assert len(good) == 1
        assert "is longer than 10,000 characters; the file is not read further" in str(bad)


def test_files_that_are_no_pgn_give_no_games(tmp_path: Path) -> None:
    path = tmp_path / "x.pgn"
    path.write_bytes(bytes(range(256)) * 40)
    good, _ = found(read_pgn(path, CHESS))
    assert good == []
    path.write_text("")
    assert found(read_pgn(path, CHESS)) == ([], [])
    with pytest.raises(ValueError, match="PGN holds games of chess, not of nogo"):
        next(iter(read_pgn(path, NOGO)))


def test_a_game_without_searches_teaches_move_and_result(tmp_path: Path) -> None:
    path = pgn_file(tmp_path, f'[FEN "{QUEEN_ODDS}"]\n[Result "0-1"]\n\n1. e4 e5 2. d4 0-1\n\n{SCHOLAR}')
    facts = import_games([path], CHESS, tmp_path / "new")
    assert (facts.games, facts.positions, facts.first_wins, facts.draws, facts.second_wins) == (2, 10, 1, 0, 1)
    assert facts.shards == [tmp_path / "new" / "gen-00000-0000.parquet"]
    buffer = ReplayBuffer(CHESS, 10)
    buffer.extend(facts.shards)
    for share in (0.0, 0.7):  # there was no search, so the root's value is the result too
        samples = buffer.samples_of(np.arange(10), root_value_share=share)
        expected = [[0, 0, 1], [1, 0, 0], [0, 0, 1]] + [[1, 0, 0], [0, 0, 1]] * 3 + [[1, 0, 0]]
        assert samples.wdl == pytest.approx(np.array(expected))
    state = _core.Game(f"chess(fen={QUEEN_ODDS})").initial_state()
    assert np.array_equal(samples.features[0], state.encode())
    assert samples.policy[0].argmax() == state.action_from_text("e4")
    assert samples.policy.max(axis=1).tolist() == [1.0] * 10
    (stored, _) = good_games(facts.shards[0])
    assert stored.nets == (NO_NET, NO_NET)
    assert not stored.record.visits.any()
    assert np.isnan(stored.record.net_value).all()
    assert (stored.record.end_reason, stored.record.resigned) == ("recorded result", -1)


def stored(game: _core.Game, index: int, **options: object) -> StoredGame:
    return StoredGame(game, random_record(game, index, **options), generation=3, nets=(2, 1))  # type: ignore[arg-type]


def test_pgn_that_is_written_is_read_by_others_and_by_us(tmp_path: Path) -> None:
    odds = _core.Game(f"chess(fen={QUEEN_ODDS})").initial_state()
    games = [
        stored(CHESS, 1, plies=150),
        stored(CHESS, 2, plies=9, start=(322,)),
        stored(CHESS, 3, plies=7, origin=odds),
    ]
    text = "".join(pgn_text(game, values=True) for game in games)
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
    lines, bad = found(read_pgn(pgn_file(tmp_path, text), CHESS))
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
    path = sgf_file(tmp_path, "".join(sgf_text(game, values=True) for game in games))
    lines, bad = found(read_sgf(path, NOGO))
    assert bad == []
    assert [line.actions for line in lines] == [tuple(game.record.actions.tolist()) for game in games]
    assert [line.outcome for line in lines] == [game.record.outcome for game in games]
    assert lines[0].end_reason == "resignation"
    assert "RE[W+R]" in path.read_text()


def test_sgf_points_main_line_and_escapes(tmp_path: Path) -> None:
    text = r"(;GM[1] FF[4]SZ[5]RE[W+Resign]C[a \] ; bracket (] ;B[aa];W[ba](;B[ae]C[x](;W[ee])(;W[dd]))(;B[cc]))"
    (line,), bad = found(read_sgf(sgf_file(tmp_path, text), NOGO))
    assert bad == []
    assert moves_of(line, NOGO) == ["A5", "B5", "A1", "E1"]
    assert (line.outcome, line.end_reason) == (-1, "resignation")
    rectangle = _core.Game("nogo(rows=3,cols=4)")
    (line,), bad = found(read_sgf(sgf_file(tmp_path, "(;SZ[4:3]RE[B+];B[dc])"), rectangle))
    assert bad == []
    assert line.actions == (11,)


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
        ("(;SZ[5]RE[?];B[aa])", "has the result RE[?], expected B+ or W+"),
        ("(;SZ[5];B[aa])", "has the result RE[], expected B+ or W+"),
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
    text = sgf_text(replace(game, record=replace(game.record, outcome=-game.record.outcome)))
    (bad,) = read_games([sgf_file(tmp_path, text)], NOGO)
    assert "but the last position is" in str(bad)


def test_large_sgf_files_and_other_games_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = sgf_file(tmp_path, "(;SZ[5]RE[B+R];B[aa])" + " " * 1000)
    with pytest.raises(ValueError, match="SGF is read for nogo, not for chess"):
        next(iter(read_sgf(path, CHESS)))
    monkeypatch.setattr(sgf, "MAX_BYTES", 500)
    with pytest.raises(ValueError, match="has 1,021 bytes, allowed are 500"):
        next(iter(read_sgf(path, NOGO)))


def test_recorded_games_of_nogo_come_in(shared_data: Path, tmp_path: Path) -> None:
    game = _core.Game("nogo")
    facts = import_games(files_of([shared_data / "nogo" / "sgf"], GAME_SUFFIXES), game, tmp_path / "new")
    assert (facts.games, facts.bad) == (30, [])
    assert {stored.record.end_reason for stored in good_games(facts.shards[0])} == {"resignation"}
    for stored_game in good_games(facts.shards[0]):
        state = stored_game.start()
        for action in stored_game.record.actions.tolist():
            state.play(action)
        assert stored_game.record.resigned == state.to_move  # all end by resignation of the side to move


def test_shards_come_in_with_their_targets(tmp_path: Path) -> None:
    records = [random_record(NOGO, index) for index in range(4)]
    source = shard_of(tmp_path / "a.parquet", NOGO, records, generation=7, nets=[5])
    facts = import_games([source], NOGO, tmp_path / "new")
    before, after = (read_shard(path, NOGO.spec) for path in (source, facts.shards[0]))
    for name in ("lines", "outcome", "policy_actions", "policy_counts", "root_wdl", "movers"):
        assert np.array_equal(getattr(before, name), getattr(after, name))
    assert after.generation.tolist() == [0] * 4


def test_bad_shards_and_bad_games_in_them(tmp_path: Path) -> None:
    record = random_record(NOGO, 1)
    torn, foreign = tmp_path / "torn.parquet", tmp_path / "foreign.parquet"
    torn.write_bytes(shard_of(tmp_path / "a.parquet", NOGO, [record]).read_bytes()[:200])
    shard_of(foreign, CHESS, [random_record(CHESS, 1)])
    wrong = [
        replace(record, actions=np.full_like(record.actions, record.actions[0])),
        replace(record, movers=1 - record.movers),
        replace(record, movers=record.movers[:-1]),
        replace(record, policy_actions=record.policy_actions + np.uint16(1000)),
        replace(record, root_wdl=record.root_wdl * np.float32(np.nan)),
        replace(record, outcome=3),
        replace(record, learn=np.zeros_like(record.learn)),
    ]
    paths = [torn, foreign, shard_of(tmp_path / "wrong.parquet", NOGO, [*wrong, record])]
    results = list(read_games(paths, NOGO))
    assert [type(result) for result in results] == [BadGame] * 9 + [GameRecord]
    messages = [str(result) for result in results[:-1]]
    for message, text in zip(
        messages,
        (
            "not a whole Parquet file",
            "is a game of chess, not of nogo(size=5)",
            "is not legal",
            "does not say rightly who made each move",
            "has columns that do not fit each other",
            "has an outcome or an action that the game does not have",
            "has a position without a policy target or a value",
            "has an outcome or an action that the game does not have",
            "has no positions to learn from",
        ),
        strict=True,
    ):
        assert text in message


@pytest.mark.parametrize("form", ["pgn", "lc0-v6"])
def test_games_that_cannot_be_true_are_not_written(tmp_path: Path, form: Literal["pgn", "lc0-v6"]) -> None:
    record = random_record(CHESS, 1)
    wrong = [
        replace(record, outcome=7),
        replace(record, visits=record.visits[:1]),
        replace(record, policy_counts=record.policy_counts[:0]),
        replace(record, policy_counts=np.zeros_like(record.policy_counts)),
        replace(record, policy_actions=np.full_like(record.policy_actions, 60_000)),
        replace(record, plan=replace(record.plan, origin=NOGO.initial_state())),
    ]
    source = shard_of(tmp_path / "a.parquet", CHESS, [*wrong, record])
    facts = export_games([source], tmp_path / "out", form)
    assert (facts.games, len(facts.skipped)) == (1, 6)
    assert facts.skipped[0] == f"{source}, game 1: has an outcome or an action that the game does not have"
    with pytest.raises(ValueError, match=r"no game to write: .*a\.parquet, game 1: has an outcome"):
        export_games([shard_of(tmp_path / "a.parquet", CHESS, wrong[:1])], tmp_path / "none", form)
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("column", "value"), [("actions", None), ("outcome", None), ("movers", [None]), ("seed", None)]
)
def test_shards_with_empty_places_are_refused(tmp_path: Path, column: str, value: object) -> None:
    good = pq.read_table(shard_of(tmp_path / "a.parquet", CHESS, [random_record(CHESS, 1)]))
    rows = [{**row, column: value} for row in good.to_pylist()]
    pq.write_table(pa.Table.from_pylist(rows, schema=good.schema), tmp_path / "b.parquet")
    with pytest.raises(ValueError, match=rf"b\.parquet: its column {column} has places without a value"):
        list(read_stored(tmp_path / "b.parquet"))


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


def test_a_run_is_written_as_chunks(chess_run: Path, tmp_path: Path) -> None:
    facts = export_games(shards_of([chess_run]), tmp_path / "chunks", "lc0-v6")
    paths = sorted((tmp_path / "chunks").iterdir())
    assert (facts.games, facts.files, facts.positions) == (6, 6, 72)
    assert [path.name for path in paths[2:4]] == ["game-00001-000002.gz", "game-00002-000000.gz"]
    assert sum(len(read_chunk(path)) for path in paths) == 72
    with pytest.raises(ValueError, match="is there already; name a new folder"):
        export_games(shards_of([chess_run]), tmp_path / "chunks", "lc0-v6")


@pytest.mark.parametrize("form", ["pgn", "sgf"])
def test_games_of_chosen_generations(chess_run: Path, tmp_path: Path, form: Literal["pgn", "sgf"]) -> None:
    if form == "sgf":
        with pytest.raises(ValueError, match="its game is chess; sgf holds games of nogo"):
            export_games(shards_of([chess_run]), tmp_path / "out", form)
        return
    facts = export_games(shards_of([chess_run]), tmp_path / "out", form, generations=(2, None))
    assert (facts.games, facts.files) == (3, 1)
    assert (tmp_path / "out" / "gen-00002-0000.pgn").read_text().count('[Event "generation 2"]') == 3
    with pytest.raises(ValueError, match="no game to write"):
        export_games(shards_of([chess_run]), tmp_path / "none", form, generations=(3, 5))


def test_the_commands(chess_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def hauteur(*words: str | Path) -> tuple[int, str, str]:
        status = main.main([str(word) for word in words])
        output = capsys.readouterr()
        return status, output.out, output.err

    status, out, _ = hauteur("games", "export", chess_run, "--to", tmp_path / "pgn", "--format", "pgn", "--values")
    assert (status, out) == (0, f"{tmp_path / 'pgn'}: 6 games, 72 positions in 2 files (pgn)\n")
    (tmp_path / "pgn" / "bad.pgn").write_text("1. e4 e4 1-0\n")
    status, out, err = hauteur("games", "import", tmp_path / "pgn", "--game", "chess", "--to", tmp_path / "new")
    assert status == 0
    assert "6 games" in out
    assert out.endswith("72 positions; left out: 1\n")
    assert err.startswith(f"hauteur: warning: left out {tmp_path / 'pgn' / 'bad.pgn'}, game 1 (line 1): ply 2:")
    status, _, err = hauteur("games", "import", tmp_path / "pgn", "--game", "chess", "--to", tmp_path / "new")
    assert (status, err) == (2, f"hauteur: {tmp_path / 'new'}: holds shards already; name a new folder\n")
    status, _, err = hauteur("games", "import", tmp_path / "pgn/bad.pgn", "--game", "chess", "--to", tmp_path / "x")
    assert status == 2
    assert err.startswith("hauteur: no game can be used: ")
    assert not (tmp_path / "x").exists()
    assert hauteur("games", "export", "--to", tmp_path / "y", "--format", "pgn")[0] == 2
    assert hauteur("games", "import", "--to", tmp_path / "y", "--game", "chess")[0] == 2


@settings(max_examples=300)
@given(text=st.text(alphabet="();[]\\BWSZREGM5ab+ \n", max_size=60))
def test_no_text_breaks_the_reader_of_sgf(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzz.sgf"
    path.write_text("(;SZ[5]RE[B+R];B[aa]" + text)
    assert all(isinstance(one, BadGame | GameRecord) for one in read_games([path], NOGO))


@settings(max_examples=300)
@given(cut=st.integers(0, len(SCHOLAR)), text=st.text(alphabet='e4Nf3O-$(){}[];% 12./"\n\r*', max_size=40))
def test_no_text_breaks_the_reader_of_pgn(tmp_path_factory: pytest.TempPathFactory, cut: int, text: str) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzz.pgn"
    path.write_text(SCHOLAR[:cut] + text + SCHOLAR[cut:])
    assert all(isinstance(one, BadGame | GameRecord) for one in read_games([path], CHESS))
