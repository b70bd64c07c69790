"""`hauteur doctor` and the facts about the machine behind it."""

import json
import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from hauteur.cli import main
from hauteur.cli.commands import doctor
from hauteur.system import extras, hardware
from hauteur.system.extras import installed_version


@pytest.fixture(scope="module")
def facts() -> dict[str, Any]:
    return doctor.examine(deep=True)


def test_facts_are_plain_json(facts: dict[str, Any]) -> None:
    assert json.loads(json.dumps(facts)) == facts


def test_required_packages_are_found(facts: dict[str, Any]) -> None:
    assert all(facts["packages"].values())
    assert "error" not in facts["backends"]["torch"]
    assert all("float32" in precisions for precisions in facts["core"].values())
    assert list(facts["core"])[-1] == "unfused"


def test_torch_is_opened_on_request_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "probe", lambda name: {"error": name})
    assert set(doctor.examine()["backends"]) == {"onnxruntime"}
    assert set(doctor.examine(deep=True)["backends"]) == {"onnxruntime", "torch"}


def test_the_base_layer_alone(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    optional = {package.module for layer in extras.LAYERS for package in layer.packages}
    versions = {package.distribution for layer in extras.LAYERS for package in layer.packages}
    monkeypatch.setattr(doctor, "find_spec", lambda name: None if name in optional else find_spec(name))
    monkeypatch.setattr(extras, "installed_version", lambda name: None if name in versions else installed_version(name))
    assert doctor.doctor() == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "core portable: float32" in printed
    assert "no problems found" in printed
    for layer in extras.LAYERS:
        assert layer.install in printed


def test_tables_show_every_package_and_problem(facts: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    doctor.show(facts | {"problems": ["the cat sat on [the] keyboard"]})
    printed = capsys.readouterr().out
    assert all(f"{name} " in printed for name in doctor.PACKAGES)
    assert "problem: the cat sat on [the] keyboard" in printed


def test_json_option(
    monkeypatch: pytest.MonkeyPatch, facts: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doctor, "examine", lambda deep: facts)
    assert main.main(["doctor", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == facts


def test_a_crashing_backend_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(doctor.PROBES, "torch", "import os; os.abort()")
    assert "error" in doctor.probe("torch")
    monkeypatch.setitem(doctor.PROBES, "torch", "raise ImportError('no such library')")
    assert doctor.probe("torch") == {"error": "ImportError: no such library"}


def test_problems_name_what_to_do(facts: dict[str, Any]) -> None:
    broken = json.loads(json.dumps(facts))
    broken["packages"]["safetensors"] = None
    broken["backends"]["torch"] = {"error": "it broke"}
    broken["processor"] |= {"features": ["sse4_2"], "architecture": "x86_64"}
    broken["nets"] = []
    problems = " / ".join(doctor.find_problems(broken))
    for part in ("pip install safetensors", "torch does not work: it broke", "AVX2", "no net found"):
        assert part in problems


@pytest.mark.parametrize(
    ("count", "text"), [(None, "unknown"), (17, "17 bytes"), (2048, "2.0 KiB"), (3 << 30, "3.0 GiB")]
)
def test_sizes_read_well(count: int | None, text: str) -> None:
    assert doctor.size(count) == text


def test_a_missing_layer_says_how_to_install_it() -> None:
    layer = extras.LAYERS[0]
    names = [package.distribution for package in layer.packages]
    none = {"layers": {layer.name: dict.fromkeys(names)}}
    assert f"would add onnxruntime 22 MB: pip install 'hauteur[{layer.name}]'" in doctor.layer_text(layer, none)
    assert "onnxruntime 1.2.3" in doctor.layer_text(layer, {"layers": {layer.name: dict.fromkeys(names, "1.2.3")}})


def test_cores_and_memory_are_plausible() -> None:
    assert 1 <= hardware.usable_cores() <= (os.cpu_count() or 1)
    total, available = hardware.memory_bytes()
    assert total is None or available is None or 0 < available <= total


@pytest.mark.parametrize(("text", "quota"), [("max 100000", None), ("150000 100000", 1.5), ("", None)])
def test_quota_of_a_container(text: str, quota: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hardware, "read_text", lambda path: text if path.name == "cpu.max" else "")
    assert hardware.core_quota() == quota


def test_cache_directory_can_be_chosen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HAUTEUR_CACHE", str(tmp_path))
    assert hardware.cache_directory() == tmp_path
    monkeypatch.delenv("HAUTEUR_CACHE")
    assert hardware.cache_directory().name in ("hauteur", "cache")


def test_unreadable_files_and_missing_commands_are_empty(tmp_path: Path) -> None:
    assert hardware.read_text(tmp_path / "missing") == ""
    assert hardware.command_output("hauteur-no-such-command") == ""
