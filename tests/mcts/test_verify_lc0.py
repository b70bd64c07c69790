"""tools/verify_lc0.py: lc0's files are reproduced, changed files are found out, broken ones are one clear line."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lc0_toys import random_net

import verify_lc0
from verify_lc0 import reached

Content = dict[str, Any]
LINE = [("startpos", ["e2e4", "c7c5"]), ("3k4/1P6/8/8/8/8/8/4K2R w K - 3 40", [])]
PLAIN_PUCT: Content = {
    "CPuct": 1.5,
    "CPuctFactor": 0,
    "MinibatchSize": 1,
    "SmartPruningFactor": 0,
    "TwoFoldDraws": False,
    "StickyEndgames": False,
    "CacheHistoryLength": 7,
}


def write(path: Path, content: Any) -> Path:
    """A JSON file."""
    path.write_text(json.dumps(content))
    return path


def lc0(shared_data: Path, name: str) -> Content:
    """A reference file of lc0."""
    content: Content = json.loads((shared_data / "lc0" / name).read_text())
    return content


@pytest.fixture(scope="module")
def nets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small random net, `small.pb.gz`."""
    folder = tmp_path_factory.mktemp("nets")
    random_net(folder / "small.pb.gz", filters=8, blocks=1, seed=3)
    return folder


def positions() -> list[Content]:
    return [{"id": f"position {number}", "fen": fen, "moves": moves} for number, (fen, moves) in enumerate(LINE)]


def searches_content(options: Content) -> Content:
    """A searches file with one-node searches of the small net."""
    found = []
    for position in positions():
        state = reached(position)
        rows = [[state.action_to_text(int(action)), 0] for action in state.legal_actions()]
        found.append({**position, "searches": {"1": {"moves": rows}}})
    return {"sets": [{"name": "tiny", "net": "small", "options": options, "positions": found}]}


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


def broken_searches(change: Callable[[Content], None]) -> Content:
    """A searches file with something wrong in its set."""
    content = searches_content(dict(PLAIN_PUCT))
    change(content["sets"][0])
    return content


BROKEN: list[tuple[str, Any, str]] = [
    ("planes", [], "a JSON object is needed"),
    ("planes", {"positions": [{"id": "x", "fen": "startpos", "planes": {"112": ["0", 1]}}]}, "index 112"),
    ("planes", {"positions": [{"id": "x", "fen": "8/8 w", "planes": {}}]}, "position 'x'"),
    ("planes", {"positions": [{"id": "x", "fen": "startpos", "moves": ["e2e5"], "planes": {}}]}, "not a legal move"),
    ("outputs", {"positions": [{"id": "x", "fen": "startpos"}]}, "outputs is missing"),
    ("searches", {"sets": [{}]}, "name is missing"),
    ("searches", broken_searches(lambda found: found["options"].update(Cput=1)), "unknown option 'Cput'"),
    ("searches", broken_searches(lambda found: found.update(net="../small")), "must be a file name"),
    ("searches", broken_searches(lambda found: found["positions"][0]["searches"].update({"0": {}})), "1 node or more"),
]


@pytest.mark.parametrize("number", range(len(BROKEN)))
def test_broken_files_are_one_clear_line(
    nets: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], number: int
) -> None:
    kind, content, reason = BROKEN[number]
    status, _, err = run(capsys, kind, write(tmp_path / "broken.json", content), "--nets", nets)
    assert status == 2
    assert reason in err
    assert err.count("\n") == 1
