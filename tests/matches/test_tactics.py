"""benchmarks/tactics.py: what solves a position of a suite, and which lines are none."""

from pathlib import Path

import pytest

import tactics

MATE = '6k1/5ppp/8/8/8/8/8/R6K w - - bm Ra8#; id "back rank";'
AVOID = "6k1/5ppp/8/8/8/8/8/R6K w - - am Ra8#;"
NEITHER = '6k1/5ppp/8/8/8/8/8/R6K w - - id "nothing to find";'


def suite(folder: Path, *lines: str) -> Path:
    path = folder / "suite.epd"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_best_moves_solve_and_moves_to_avoid_do_not(tmp_path: Path) -> None:
    best, avoid = tactics.problems_of(suite(tmp_path, MATE, "", AVOID, NEITHER))
    assert best.is_solved_by("a1a8")
    assert not best.is_solved_by("a1a7")
    assert avoid.is_solved_by("a1a7")
    assert not avoid.is_solved_by("a1a8")


def test_players_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    player = "net=uniform visits=2 solver.threats=10"
    assert tactics.main([str(suite(tmp_path, MATE, AVOID)), player]) == 0
    line = capsys.readouterr().out
    assert line.startswith("1 of 2, 50.0% [")
    assert line.endswith(f"CPU-s: {player}\n")


@pytest.mark.parametrize(("line", "cause"), [(NEITHER, "no position has bm or am"), ("no epd", "line 1 is no EPD")])
def test_other_files_are_refused(line: str, cause: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tactics.main([str(suite(tmp_path, line)), "net=uniform"]) == 2
    assert cause in capsys.readouterr().err
