"""Packed files are unpacked to be read: games, openings and puzzles; what cannot be is a line that says what to do."""

from __future__ import annotations

import bz2
import gzip
import lzma
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow
import pytest

from hauteur.cli.main import main
from hauteur.games.recorded import read_games
from hauteur.games.registry import load_game
from hauteur.learning.recorded_files import files_of
from hauteur.matches.openings import read_openings
from hauteur.matches.ratings.rating_list import read_results
from hauteur.studies.puzzles.problems import read_problems
from hauteur.studies.review.call import review
from hauteur.system import packed
from hauteur.system.packed import content_suffix, plain_file

PGN = b'[White "A"]\n[Black "B"]\n[Result "1-0"]\n\n1. e4 e5 1-0\n'
EPD = b'6k1/5ppp/8/8/8/8/8/R6K w - - bm Ra8#; id "mate";\n'

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda data: pyarrow.compress(data, "zstd", asbytes=True),
}


def zipped(path: Path, **files: bytes) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name.replace("_", "."), data)
    return path


@pytest.fixture(params=[*PACKERS, "zip"])
def pack(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str, bytes], Path]:
    def packing(name: str, data: bytes) -> Path:
        path = tmp_path / f"{name}.{request.param}"
        if request.param == "zip":
            return zipped(path.with_stem("book"), **{name.replace(".", "_"): data})
        path.write_bytes(PACKERS[request.param](data))
        return path

    return packing


def test_what_reads_games_reads_packed_ones(pack: Callable[[str, bytes], Path]) -> None:
    path = pack("games.pgn", PGN)
    chess = load_game("chess")
    assert content_suffix(path) == ".pgn"
    assert plain_file(path).name == "games.pgn"
    assert plain_file(path) == plain_file(path)
    assert [len(opening.actions) for opening in read_openings(path, chess)] == [2]
    assert read_results(path).encounters[0].first == "A"
    assert files_of([path.parent], (".pgn",)) == files_of([path], (".pgn",)) == [path]
    assert len(review(path, visits=2).moves) == 2


def test_what_reads_positions_reads_packed_ones(pack: Callable[[str, bytes], Path]) -> None:
    path = pack("suite.epd", EPD)
    (problem,) = read_problems(path)
    assert problem.name == "mate"
    (opening,) = read_openings(path, load_game("chess"))
    assert opening.fen == "6k1/5ppp/8/8/8/8/8/R6K w - -"


def test_a_wrong_line_is_named_by_the_file_that_was_given(pack: Callable[[str, bytes], Path]) -> None:
    path = pack("book.epd", b"8/8/8 w - -\n")
    with pytest.raises(ValueError, match="line 1: ") as raised:
        read_openings(path, load_game("chess"))
    assert str(raised.value).startswith(str(path))


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz", "zst", "zip"])
def test_a_file_that_is_cut_short_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"games.pgn.{kind}"
    if kind == "zip":
        zipped(path, games_pgn=PGN)
        path.write_bytes(path.read_bytes()[:-30])
    else:
        path.write_bytes(PACKERS[kind](PGN)[:-12])
    with pytest.raises(ValueError, match=r"games\.pgn\.\w+: cannot be unpacked: "):
        plain_file(path)


def test_a_zip_of_several_files_of_games_is_one_of_all(tmp_path: Path) -> None:
    second = PGN.replace(b"A", b"C").rstrip()
    path = zipped(tmp_path / "games.zip", b_pgn=PGN, a_PGN=second, readme_txt=b"Two games.\n")
    assert content_suffix(path) == ".pgn"
    assert plain_file(path).name == "games.pgn"
    assert plain_file(path).read_bytes() == second + b"\n" + PGN + b"\n"
    assert [encounter.first for encounter in read_results(path).encounters] == ["C", "A"]
    games = zipped(tmp_path / "go.zip", a_sgf=b"(;GM[1]SZ[9];B[ee])", b_sgf=b"(;GM[1]SZ[9];B[cc];W[gg])")
    assert [len(game.actions) for game in read_games(games)] == [1, 2]


def test_a_zip_has_one_file_or_games_of_one_kind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = zipped(tmp_path / "two.zip", a_pgn=PGN, b_sgf=b"(;GM[1]SZ[9];B[ee])")
    assert main(["review", str(path)]) == 2
    assert "holds 2 files, .pgn and .sgf; expected one file, or games of one kind" in capsys.readouterr().err
    with pytest.raises(ValueError, match="holds 2 files, none of them games; expected one file"):
        plain_file(zipped(tmp_path / "epd.zip", a_epd=EPD, b_epd=EPD))
    assert files_of([zipped(tmp_path / "x.zip", c_pgn=PGN).parent], (".pgn",)) == [tmp_path / "x.zip"]


def test_a_file_that_unpacks_to_more_than_is_allowed_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packed, "MOST_UNPACKED", 100)
    path = tmp_path / "games.pgn.gz"
    path.write_bytes(gzip.compress(b" " * 101))
    with pytest.raises(
        ValueError, match=r"unpacks to more than 100 bytes; unpack it with `gzip -dk .*games\.pgn\.gz` first"
    ):
        plain_file(path)


def test_without_pyarrow_zstd_is_refused_with_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "lichess.pgn.zst"
    path.write_bytes(PACKERS["zst"](PGN))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(
        ValueError, match=r"is packed by zstd: unpack it with `zstd -d .*lichess\.pgn\.zst`, or install"
    ):
        plain_file(path)


def test_other_files_are_read_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "games.pgn.gz"
    path.write_bytes(PGN)  # unpacked, with the old name
    assert plain_file(path) == path
    assert content_suffix(path) == ".pgn"
    assert plain_file(tmp_path / "none.pgn") == tmp_path / "none.pgn"
