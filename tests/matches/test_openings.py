"""Damaged files of openings: one line that names the file."""

from pathlib import Path

import numpy as np
import pytest

from hauteur import _core
from hauteur.cli.main import main
from hauteur.matches.openings import read_openings

CHESS = _core.Game("chess")


def test_a_text_that_python_chess_fails_on_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.pgn"
    path.write_text("e4 e5 d6)Bb5\n")
    assert main(["match", "random", "random", "--openings", str(path), "--games", "2"]) == 2
    assert f"{path}, game 1: " in capsys.readouterr().err


@pytest.mark.parametrize("seed", range(20))
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


def test_a_file_that_is_no_text_is_no_pgn(tmp_path: Path) -> None:
    file = tmp_path / "x.pgn"
    file.write_bytes(b"1. e4 e5 *\n\n\x00\x01\x02")
    with pytest.raises(ValueError, match=r"x\.pgn: not a text file, so no PGN$"):
        read_openings(file, _core.Game("chess"))
