"""Shards as sources of games, and games written as PGN by the command."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from game_file_toys import CHESS, NOGO, SCHOLAR
from hypothesis import given
from hypothesis import strategies as st
from recorded_games import random_record, shard_of

from hauteur import _core
from hauteur.cli import main
from hauteur.games.game_line import BadGame
from hauteur.learning.recorded_files import GAME_SUFFIXES, files_of, read_games
from hauteur.matches.record import GameRecord


def test_shards_come_in_with_their_targets(tmp_path: Path) -> None:
    records = [random_record(NOGO, index) for index in range(4)]
    found = list(read_games([shard_of(tmp_path / "a.parquet", NOGO, records, generation=7, nets=[5])], NOGO))
    for before, after in zip(records, found, strict=True):
        assert isinstance(after, GameRecord)
        for name in ("actions", "outcome", "policy_actions", "policy_counts", "root_wdl", "movers"):
            assert np.array_equal(getattr(before, name), getattr(after, name))


def test_bad_shards_and_bad_games_in_them(tmp_path: Path) -> None:
    record = random_record(NOGO, 1)
    torn, foreign = tmp_path / "torn.parquet", tmp_path / "foreign.parquet"
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
    assert export(chess_run, "--to", folder, "--values")[:2] == (0, f"{folder}: 6 games, 72 positions in 2 files\n")
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
