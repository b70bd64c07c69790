"""checks/verify_lc0.py: lc0's files are reproduced, and changed files are found out."""

import json
from pathlib import Path
from typing import Any

import pytest

import verify_lc0

Content = dict[str, Any]


def write(path: Path, content: Any) -> Path:
    """A JSON file."""
    path.write_text(json.dumps(content))
    return path


def lc0(shared_data: Path, name: str) -> Content:
    """A reference file of lc0."""
    content: Content = json.loads((shared_data / "lc0" / name).read_text())
    return content


def run(capsys: pytest.CaptureFixture[str], *words: str | Path) -> tuple[int, str, str]:
    """Exit status, stdout and stderr of the script."""
    status = verify_lc0.main(list(map(str, words)))
    out, err = capsys.readouterr()
    return status, out, err


def test_planes_of_lc0_are_reproduced(shared_data: Path) -> None:
    report = verify_lc0.planes(shared_data / "lc0" / "input_planes.json")
    assert report.lines == ["26 positions, 186368 cells, 0 differ"]
    assert report.worst == 0


def test_searches_of_lc0_are_reproduced(shared_data: Path, tmp_path: Path) -> None:
    content = lc0(shared_data, "puct_visits.json")
    for found in content["sets"]:
        found["positions"] = found["positions"][::4]
        for position in found["positions"]:
            position["searches"] = {nodes: position["searches"][nodes] for nodes in ("1", "10", "100")}
    report = verify_lc0.searches(write(tmp_path / "some.json", content), shared_data / "nets", threads=1)
    assert report.worst <= 0.01
    rows = [line for line in report.lines if "identical" in line]
    assert len(rows) == 9  # three sets that can be recomputed, at three numbers of nodes
    assert all(" 7 of   7 identical" in line for line in rows if "  1 nodes" in line or " 10 nodes" in line)
    assert any("cachehist0" in line and "CacheHistoryLength=0" in line for line in report.lines)


def test_search_contempt_of_lc0_is_reproduced(shared_data: Path, tmp_path: Path) -> None:
    content = lc0(shared_data, "search_contempt_visits.json")
    content["positions"] = [p for p in content["positions"] if p["id"] in ("startpos", "mid_kiwipete")]
    for position in content["positions"]:
        position["by_limit"] = [result for result in position["by_limit"] if result["ScLimit"] in (1, 28)]
    report = verify_lc0.searches(write(tmp_path / "c.json", content), shared_data / "nets", seeds=3, threads=1)
    assert not report.wrong
    assert len(report.lines) == 5
    assert all("farthest 0.0 SE" in line for line in report.lines if line.split()[0] == "1")
    assert report.lines[-1].endswith("(100.0%)")


def test_a_changed_plane_is_found(shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = lc0(shared_data, "input_planes.json")
    content["positions"][0]["planes"]["0"] = ["000000000000fe01", 1.0]
    content["positions"][1]["planes"]["109"] = ["ffffffffffffffff", 2.0]
    path = write(tmp_path / "planes.json", content)
    status, out, _ = run(capsys, "planes", path)
    assert status == 1
    assert "66 differ\nstartpos: planes 0\nstartpos_as_fen: planes 109\n" in out
    assert run(capsys, "planes", path, "--tolerance", "66")[0] == 0
