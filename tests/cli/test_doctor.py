"""`hauteur doctor` and the facts about the machine behind it."""

import json
from importlib.util import find_spec
from pathlib import Path

import pytest

from hauteur import _core
from hauteur.cli import main
from hauteur.cli.commands import doctor
from hauteur.system import extras, hardware
from hauteur.system.extras import installed_version


@pytest.fixture(scope="module")
def facts() -> doctor.Facts:
    return doctor.examine(deep=True)


def test_required_packages_and_backends_are_found(facts: doctor.Facts) -> None:
    assert "missing" not in facts["Versions"].values()
    assert not any(text.startswith(doctor.BROKEN) for text in facts["Backends"].values())
    assert "float32" in facts["Backends"]["core, portable"]
    assert "CUDA" in facts["Backends"]["torch"]
    assert {"tictactoe.safetensors", "connect4.safetensors"} <= set(facts["Files"])


def test_the_core_says_how_it_computes_and_why_not_with_amx() -> None:
    here = {f"core, {name}": ", ".join(precisions) for name, precisions in _core.Network.available()}
    found = doctor.core_facts()
    why = _core.Network.why_not_amx()
    assert found == here | ({} if why is None else {"core, amx": f"not used: {why}"})
    assert found["core, amx"] == ("bfloat16" if why is None else f"not used: {why}")


def test_torch_is_opened_on_request_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "probe", lambda name: name)
    assert "torch" not in doctor.examine()["Backends"]
    assert "torch" in doctor.examine(deep=True)["Backends"]


def test_the_base_layer_alone(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    optional = {package.module for layer in extras.LAYERS for package in layer.packages}
    versions = {package.distribution for layer in extras.LAYERS for package in layer.packages}
    monkeypatch.setattr(doctor, "find_spec", lambda name: None if name in optional else find_spec(name))
    monkeypatch.setattr(extras, "installed_version", lambda name: None if name in versions else installed_version(name))
    assert doctor.doctor() == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "core, portable float32" in printed
    assert "no problems found" in printed
    assert "would add onnxruntime 22 MB: pip install 'hauteur[onnx]'" in printed
    assert all(layer.install in printed for layer in extras.LAYERS)


def test_json_has_all_facts(
    monkeypatch: pytest.MonkeyPatch, facts: doctor.Facts, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doctor, "examine", lambda deep: facts)
    assert main.main(["doctor", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {**facts, "problems": []}


def test_a_crashing_backend_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(doctor.PROBES, "torch", "import os; os.abort()")
    assert doctor.probe("torch").startswith(doctor.BROKEN)
    monkeypatch.setitem(doctor.PROBES, "torch", "raise ImportError('no such library')")
    assert doctor.probe("torch") == f"{doctor.BROKEN}ImportError: no such library"


def test_problems_name_what_to_do(facts: doctor.Facts) -> None:
    broken = {
        **facts,
        "Versions": {**facts["Versions"], "safetensors": "missing"},
        "Backends": {"torch": f"{doctor.BROKEN}it broke"},
        "Machine": {**facts["Machine"], "processor": "Old (x86_64)"},
        "Files": {},
    }
    problems = " / ".join(doctor.find_problems(broken))
    for part in ("pip install safetensors", "torch does not work: it broke", "AVX2", "no net found"):
        assert part in problems


@pytest.mark.parametrize(("text", "quota"), [("max 100000", None), ("150000 100000", 1.5), ("", None)])
def test_quota_of_a_container(text: str, quota: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hardware, "read_text", lambda path: text if path.name == "cpu.max" else "")
    assert hardware.core_quota() == quota


def test_unreadable_files_and_missing_commands_are_empty(tmp_path: Path) -> None:
    assert hardware.read_text(tmp_path / "missing") == ""
    assert hardware.command_output("hauteur-no-such-command") == ""
