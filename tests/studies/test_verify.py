"""`hauteur verify`: lc0's files are reproduced, changed files are found out, broken ones are one clear line."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hauteur._core import Game
from hauteur.cli.main import main
from hauteur.mcts.lc0_options import search_params
from hauteur.networks.evaluators.factory import make_evaluator
from hauteur.networks.lc0 import random_net
from hauteur.studies import verify
from hauteur.studies.verify import files, rules
from hauteur.studies.verify.outputs import softmax
from hauteur.studies.verify.repeats import Means, errors_apart
from hauteur.studies.verify.searches import distance

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


@pytest.fixture(scope="module")
def outputs_content(nets: Path) -> Content:
    """An outputs file of the small net, written from the torch evaluator."""
    evaluator = make_evaluator(Game("chess"), nets / "small.pb.gz", backend="torch", device="cpu", threads=1)
    positions = []
    for number, (fen, moves) in enumerate(LINE):
        position = {"id": f"position {number}", "fen": fen, "moves": moves}
        state = files.reached(files.ReferencePosition.model_validate(position))
        actions = state.legal_actions().tolist()
        logits, wdl = evaluator(state.features()[None])
        chances = softmax(logits[0][actions].astype(float)).tolist()
        outputs = {"q": float(wdl[0, 0] - wdl[0, 2]), "d": float(wdl[0, 1]), "p": chances}
        legal = {"legal_moves": [state.action_to_text(action) for action in actions], "nn_index": actions}
        positions.append({**position, **legal, "outputs": {"small": outputs}})
    evaluator.close()
    return {"nets": {"small": {"file": "small.pb.gz"}}, "positions": positions}


def searches_content(options: Content) -> Content:
    """A searches file with one-node searches of the small net."""
    positions = []
    for number, (fen, moves) in enumerate(LINE):
        position = {"id": f"position {number}", "fen": fen, "moves": moves}
        state = files.reached(files.ReferencePosition.model_validate(position))
        rows = [[state.action_to_text(int(action)), 0] for action in state.legal_actions()]
        positions.append({**position, "searches": {"1": {"moves": rows}}})
    return {"sets": [{"name": "tiny", "net": "small", "options": options, "positions": positions}]}


def run(capsys: pytest.CaptureFixture[str], *words: str | Path) -> tuple[int, str, str]:
    """Exit status, stdout and stderr of a command."""
    status = main(["verify", *map(str, words)])
    out, err = capsys.readouterr()
    return status, out, err


# -- lc0's own files ---------------------------------------------------------------------------------------------------


def test_planes_of_lc0_are_reproduced(shared_data: Path) -> None:
    report = verify.planes(shared_data / "lc0" / "input_planes.json")
    assert (report.positions, report.different, report.where) == (26, 0, {})


@pytest.mark.parametrize("backend", ["torch", "core"])
def test_outputs_of_lc0_are_reproduced(shared_data: Path, backend: Any) -> None:
    path = shared_data / "lc0" / "nn_outputs.json"
    report = verify.outputs(path, shared_data / "nets", backend=backend, threads=1)
    assert [net.name for net in report.nets] == ["maia-1100", "maia-1900"]
    assert not report.exceeds(1e-3)
    for net in report.nets:
        assert net.same_file
        assert net.positions == 77
        assert net.p.mean < 1e-5


def test_searches_of_lc0_are_reproduced(shared_data: Path, tmp_path: Path) -> None:
    content = lc0(shared_data, "puct_visits.json")
    for found in content["sets"]:
        found["positions"] = found["positions"][::4]
        for position in found["positions"]:
            position["searches"] = {nodes: position["searches"][nodes] for nodes in ("1", "10", "100")}
    report = verify.searches(write(tmp_path / "some.json", content), shared_data / "nets", threads=1)
    compared = [found for found in report.sets if not found.skipped]
    assert [found.name for found in compared] == [
        "fixed_fpu_reduction_0.33",
        "fixed_fpu_absolute_0",
        "lc0_defaults_cachehist7",
    ]
    for found in compared:
        one, ten, hundred = found.nodes
        assert (one.share, ten.share) == (1.0, 1.0)
        assert hundred.share >= 0.85
        assert hundred.mean <= 0.01
    skipped = {found.name: " ".join(found.skipped) for found in report.sets if found.skipped}
    assert "CacheHistoryLength=0" in skipped["fixed_fpu_reduction_0.33_cachehist0"]


def test_search_contempt_of_lc0_is_reproduced(shared_data: Path, tmp_path: Path) -> None:
    content = lc0(shared_data, "search_contempt_visits.json")
    content["positions"] = [p for p in content["positions"] if p["id"] in ("startpos", "mid_kiwipete")]
    for position in content["positions"]:
        position["by_limit"] = [result for result in position["by_limit"] if result["ScLimit"] in (1, 28)]
    report = verify.repeats(write(tmp_path / "contempt.json", content), shared_data / "nets", seeds=3, threads=1)
    assert [(found.position, found.limit) for found in report.results] == [
        ("startpos", 1),
        ("mid_kiwipete", 1),
        ("startpos", 28),
        ("mid_kiwipete", 28),
    ]
    assert [found.distance for found in report.results[:2]] == [0.0, 0.0]
    assert report.total().share == 1.0
    assert report.total(replies=True).compared > 5


def test_random_searches_that_differ_are_found(
    shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = lc0(shared_data, "search_contempt_visits.json")
    position = next(p for p in content["positions"] if p["id"] == "mid_kiwipete")
    position["by_limit"] = [result for result in position["by_limit"] if result["ScLimit"] == 1]
    position["by_limit"][0]["moves"][0][1] -= 1
    content["positions"], content["nodes"] = [position], 100
    path = write(tmp_path / "contempt.json", content)
    words = ("searches", path, "--nets", shared_data / "nets", "--threads", "1", "--seeds", "2")
    status, out, _ = run(capsys, *words)
    assert status == 1
    assert out.rstrip().endswith("BELOW 95% of the moves within 3 standard errors")
    status, out, _ = run(capsys, *words, "--json")
    found = json.loads(out)
    assert (status, found["passed"], found["moves"]["compared"], found["moves"]["within"]) == (1, False, 1, 0)
    assert found["by_limit"]["1"]["farthest"] == "e2a6"


def test_standard_errors_of_means() -> None:
    visits = np.array([[10.0, 4.0], [14.0, 4.0], [12.0, 4.0], [12.0, 4.0]])
    own = Means.of(visits)
    assert own.std[0] == pytest.approx((8 / 3) ** 0.5)
    assert own.error == pytest.approx([(8 / 3 / 4) ** 0.5, 1 / 4])
    recorded = Means(np.array([13.0, 4.5]), np.zeros(2), 16)
    expected = [1 / (8 / 12 + 1 / 256) ** 0.5, 0.5 / (1 / 16 + 1 / 256) ** 0.5]
    assert errors_apart(own, recorded) == pytest.approx(expected)


# -- changed files are found out ---------------------------------------------------------------------------------------


def test_a_changed_plane_is_found(shared_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = lc0(shared_data, "input_planes.json")
    content["positions"][0]["planes"]["0"] = ["000000000000fe01", 1.0]
    content["positions"][1]["planes"]["109"] = ["ffffffffffffffff", 2.0]
    path = write(tmp_path / "planes.json", content)
    report = verify.planes(path)
    assert report.where == {"startpos": [0], "startpos_as_fen": [109]}
    assert report.different == 2 + 64
    assert run(capsys, "planes", path)[0] == 1
    assert run(capsys, "planes", path, "--tolerance", "66")[0] == 0


@pytest.mark.parametrize("backend", ["torch", "core"])
def test_outputs_of_any_net(
    nets: Path, outputs_content: Content, tmp_path: Path, capsys: pytest.CaptureFixture[str], backend: str
) -> None:
    path = write(tmp_path / "outputs.json", outputs_content)
    words = ("outputs", path, "--nets", nets, "--backend", backend, "--threads", "1")
    status, out, err = run(capsys, *words, "--json")
    found = json.loads(out)["nets"][0]
    assert (status, err, found["positions"], found["index_errors"]) == (0, "", 2, [])
    assert max(found[name]["largest"] for name in ("dP", "dQ", "dD")) < 1e-4
    assert run(capsys, *words, "--tolerance", "0")[0] == int(any(found[name]["largest"] for name in ("dP", "dQ", "dD")))


@pytest.mark.parametrize("name", ["q", "d", "p", "nn_index"])
def test_a_changed_output_is_found(
    nets: Path, outputs_content: Content, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    content = json.loads(json.dumps(outputs_content))
    position = content["positions"][1]
    outputs = position["outputs"]["small"]
    match name:
        case "nn_index":
            position["nn_index"][:2] = position["nn_index"][1::-1]
        case "p":
            outputs["p"][3] += 0.002
        case _:
            outputs[name] += 0.002
    path = write(tmp_path / "outputs.json", content)
    status, out, _ = run(capsys, "outputs", path, "--nets", nets, "--threads", "1")
    assert status == 1
    assert "BEYOND" in out
    assert "position 1" in out


def test_logits_stand_in_for_probabilities(nets: Path, outputs_content: Content, tmp_path: Path) -> None:
    content = json.loads(json.dumps(outputs_content))
    for position in content["positions"]:
        outputs = position["outputs"]["small"]
        outputs["logits"] = (np.log(outputs.pop("p")) + 2.5).tolist()
    report = verify.outputs(write(tmp_path / "outputs.json", content), nets, threads=1)
    assert not report.exceeds(1e-4)


def test_another_file_of_the_same_name_is_noted(nets: Path, outputs_content: Content, tmp_path: Path) -> None:
    content = {**outputs_content, "nets": {"small": {"file": "small.pb.gz", "sha256": "0" * 64}}}
    report = verify.outputs(write(tmp_path / "outputs.json", content), nets, threads=1)
    assert "its hash is not that of the reference" in report.lines()[0]
    assert not report.exceeds(1e-3)


def test_changed_visits_are_found(nets: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = searches_content(PLAIN_PUCT)
    path = write(tmp_path / "searches.json", content)
    assert run(capsys, "searches", path, "--nets", nets, "--threads", "1")[0] == 0
    content["sets"][0]["positions"][0]["searches"]["1"]["moves"][2][1] = 1
    status, out, _ = run(capsys, "searches", write(path, content), "--nets", nets, "--threads", "1")
    assert status == 1
    assert "1 of   2 identical" in out
    assert "largest 1.0000 (position 0)" in out


def test_distance_of_visits() -> None:
    some, others = np.array([3.0, 1.0, 0.0]), np.array([2.0, 1.0, 1.0])
    assert distance(some, others) == pytest.approx(0.25)
    assert distance(some, 2 * some) == 0.0
    assert distance(np.zeros(3), np.zeros(3)) == 0.0
    assert distance(np.zeros(3), some) == 1.0


# -- options -----------------------------------------------------------------------------------------------------------


def test_options_become_settings() -> None:
    settings = rules.settings({**PLAIN_PUCT, "FpuStrategy": "absolute", "FpuValue": 0.25, "PolicyTemperature": 1.2})
    assert (settings.cpuct.init, settings.cpuct.factor) == (1.5, 0.0)
    assert (settings.fpu.kind, settings.fpu.value, settings.policy_temperature) == ("absolute", 0.25, 1.2)
    assert settings.max_in_flight == 1
    assert rules.settings({}).cpuct == search_params({}).cpuct


def test_rules_that_are_missing_are_named() -> None:
    assert rules.unmet(PLAIN_PUCT) == []
    assert any(text.startswith("ScLimit=40") for text in rules.unmet({**PLAIN_PUCT, "ScLimit": 40}))
    assert any(text.startswith("MinibatchSize=32") for text in rules.unmet({**PLAIN_PUCT, "minibatchsize": 32}))
    without = {name: value for name, value in PLAIN_PUCT.items() if name != "CacheHistoryLength"}
    assert rules.unmet(without)[0].startswith("CacheHistoryLength=0 by default")


# -- broken files ------------------------------------------------------------------------------------------------------


def broken_searches(change: Callable[[Content], None]) -> Content:
    """A searches file with something wrong in its set."""
    content = searches_content(dict(PLAIN_PUCT))
    change(content["sets"][0])
    return content


BROKEN: list[tuple[str, Any, str]] = [
    ("planes", [], "the whole content must have named values"),
    ("planes", {"positions": []}, "positions: "),
    ("planes", {"positions": [{"id": "x", "fen": "startpos", "planes": {"112": ["0", 1]}}]}, "positions.0.planes.112"),
    ("planes", {"positions": [{"id": "x", "fen": "startpos", "planes": {"1": ["xyz", 1]}}]}, "positions.0.planes.1.0"),
    ("planes", {"positions": [{"id": "x", "fen": "8/8 w", "planes": {}}]}, "position 'x'"),
    ("planes", {"positions": [{"id": "x", "fen": "8, )", "planes": {}}]}, "position 'x'"),
    ("planes", {"positions": [{"id": "x", "fen": "startpos", "moves": ["e2e5"], "planes": {}}]}, "not a legal move"),
    ("planes", {"input_format": 3, "positions": [{"id": "x", "fen": "startpos", "planes": {}}]}, "input_format 3"),
    ("outputs", {"positions": [{"id": "x", "fen": "startpos"}]}, "positions.0.legal_moves"),
    ("searches", {"sets": [{}]}, "sets.0.name"),
    ("searches", broken_searches(lambda found: found["options"].update(Cput=1)), "unknown option 'Cput'"),
    ("searches", broken_searches(lambda found: found["options"].update(CPuct="much")), "CPuct must be"),
    ("searches", broken_searches(lambda found: found["options"].update(ScLimit="some")), "option ScLimit"),
    ("searches", broken_searches(lambda found: found["options"].update(HistoryFill="yes")), "history_fill"),
    ("searches", broken_searches(lambda found: found.update(net="absent")), "'absent'"),
    ("searches", broken_searches(lambda found: found.update(net="../small")), "must be a file name"),
    ("searches", broken_searches(lambda found: found["positions"][0]["searches"].update({"0": {}})), "searches.0"),
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


def test_bad_calls_are_one_clear_line(nets: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "no.json").write_bytes(b"\xff{")
    path = write(tmp_path / "searches.json", searches_content(PLAIN_PUCT))
    results = {"ScLimit": 5, "repeats": 2, "moves": [["e2e4", 9, 0.5]]}
    position = {"id": "start", "fen": "startpos", "by_limit": [results]}
    repeated = write(tmp_path / "repeats.json", {"net": "small", "nodes": 10, "options": {}, "positions": [position]})
    for words, reason in [
        (("planes", tmp_path / "absent.json"), "No such file"),
        (("planes", tmp_path / "no.json"), "not JSON"),
        (("searches", path, "--nets", nets, "--backend", "abacus"), "abacus"),
        (("searches", path, "--nets", nets, "--tolerance", "-1"), "--tolerance must be >= 0"),
        (("searches", path, "--nets", tmp_path / "absent"), "must be a folder"),
        (("searches", path), "--nets"),
        (("searches", repeated, "--nets", nets, "--seeds", "0"), "--seeds must be 1 or more"),
        (("searches", repeated, "--nets", nets), "MinibatchSize=0 by default"),
    ]:
        status, _, err = run(capsys, *words)
        assert status == 2
        assert reason in err
        assert err.count("\n") == 1


KEYS = {
    "positions",
    "sets",
    "id",
    "fen",
    "moves",
    "planes",
    "options",
    "searches",
    "nodes",
    "net",
    "name",
    "by_limit",
    "1",
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(sorted(KEYS)), inner, max_size=5),
    max_leaves=20,
)


@given(content=JSON)
def test_any_content_is_read_or_refused(content: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = write(tmp_path_factory.mktemp("any") / "any.json", content)
    files.holds_repeats(path)
    for form in (files.PlanesFile, files.SearchesFile, files.LimitsFile):
        with pytest.raises(ValueError, match=r"any\.json: "):
            files.read(path, form)
