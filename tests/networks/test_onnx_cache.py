"""Exported nets are cached by content: made once, where it can be written, again when net or export changed."""

import os
from pathlib import Path

import numpy as np
import pytest

from hauteur import _core
from hauteur.networks.evaluators.base import Backend
from hauteur.networks.evaluators.compare import Answers, features_of, random_positions
from hauteur.networks.evaluators.factory import make_evaluator
from hauteur.networks.lc0 import random_net
from hauteur.networks.onnx_cache import ensure_onnx


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a net, and no cache that a variable names; the user's cache is `tmp_path/user`."""
    monkeypatch.delenv("HAUTEUR_CACHE")
    monkeypatch.setattr("hauteur.networks.onnx_cache.cache_directory", lambda: tmp_path / "user")
    (tmp_path / "nets").mkdir()
    random_net(tmp_path / "nets" / "net.pb.gz", seed=1)
    return tmp_path / "nets"


def answers(path: Path, backend: Backend = "openvino") -> Answers:
    game = _core.Game("chess")
    evaluator = make_evaluator(game, path, backend=backend, precision="float32", threads=1)
    try:
        return evaluator(features_of(game, random_positions(game, 3)))
    finally:
        evaluator.close()


def exports(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.onnx"))


def test_exported_once_beside_the_net(folder: Path) -> None:
    first = ensure_onnx(folder / "net.pb.gz")
    written = first.stat().st_mtime_ns
    assert exports(folder) == [first]
    assert ensure_onnx(folder / "net.pb.gz") == first
    assert first.stat().st_mtime_ns == written
    assert not list(folder.glob(".*"))


@pytest.mark.skipif(os.name == "nt", reason="access rights of POSIX")
def test_a_folder_that_cannot_be_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    target = ensure_onnx(folder / "net.pb.gz")
    assert exports(folder) == []
    assert exports(folder.parent / "user") == [target]
    assert ensure_onnx(folder / "net.pb.gz") == target


def test_another_net_under_the_same_name(folder: Path) -> None:
    first, before = ensure_onnx(folder / "net.pb.gz"), answers(folder / "net.pb.gz")
    random_net(folder / "net.pb.gz", seed=2)
    second, after = ensure_onnx(folder / "net.pb.gz"), answers(folder / "net.pb.gz")
    assert first != second
    assert np.abs(before[0] - after[0]).max() > 1e-3


@pytest.mark.parametrize("backend", ["openvino", "onnxruntime"])
@pytest.mark.parametrize("damage", ["truncated", "empty", "foreign"])
def test_a_damaged_export_is_made_again(folder: Path, damage: str, backend: Backend) -> None:
    if backend == "onnxruntime":
        pytest.importorskip("onnxruntime")
    before, export = answers(folder / "net.pb.gz", backend), ensure_onnx(folder / "net.pb.gz")
    whole = export.read_bytes()
    export.write_bytes({"truncated": whole[: len(whole) // 2], "empty": b"", "foreign": b"no net at all" * 99}[damage])
    after = answers(folder / "net.pb.gz", backend)
    np.testing.assert_array_equal(before[0], after[0])
    assert ensure_onnx(folder / "net.pb.gz").stat().st_size == len(whole)


@pytest.mark.parametrize("backend", ["openvino", "onnxruntime"])
def test_a_users_own_damaged_onnx_file_is_named_and_kept(folder: Path, backend: Backend) -> None:
    if backend == "onnxruntime":
        pytest.importorskip("onnxruntime")
    own = folder / "own.onnx"
    own.write_bytes(ensure_onnx(folder / "net.pb.gz").read_bytes()[:5000])
    with pytest.raises(ValueError, match=r"own\.onnx: is "):
        answers(own, backend)
    assert own.stat().st_size == 5000
