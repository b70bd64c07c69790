"""Check sums of net files, and damaged files as one line."""

import json
import struct
from pathlib import Path

import numpy as np
import pytest

from hauteur import _core, networks
from hauteur.networks.architecture import ResNetArchitecture
from hauteur.networks.files import DIGEST_KEY, safetensors_bytes
from hauteur.networks.modules import initialise, tensors_of

GAME = _core.Game("tictactoe")


@pytest.fixture(scope="module", params=["float32", "float16"])
def net_bytes(request: pytest.FixtureRequest) -> bytes:
    architecture = ResNetArchitecture(
        feature_shape=GAME.feature_shape, num_actions=GAME.num_actions, filters=4, blocks=1
    )
    tensors = tensors_of(initialise(architecture, seed=1))
    return safetensors_bytes(architecture, tensors, game=GAME.spec, training={"steps": 5}, dtype=request.param)


def with_metadata(data: bytes, **changes: str | None) -> bytes:
    """The file with other entries in its metadata; None takes one away."""
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    for key, value in changes.items():
        header["__metadata__"].pop(f"hauteur.{key}")
        if value is not None:
            header["__metadata__"][f"hauteur.{key}"] = value
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data[8 + length :]


@pytest.mark.parametrize("seed", range(3))
def test_no_flipped_bit_is_taken_in_silently(tmp_path: Path, net_bytes: bytes, seed: int) -> None:
    path, random, refused = tmp_path / "a.safetensors", np.random.default_rng(seed), 0
    path.write_bytes(net_bytes)
    whole = networks.load(path)
    expected = {name: values.tobytes() for name, values in whole.tensors.items()}
    known = {"sha256": None}
    for _ in range(200):
        data = bytearray(net_bytes)
        data[random.integers(len(data))] ^= 1 << int(random.integers(8))
        path.write_bytes(data)
        try:
            found = networks.load(path)
            arrays = found.tensors
        except ValueError as error:
            assert str(error).startswith(f"{path}: ")  # noqa: PT017 (a flip in what is not read is no error)
            refused += 1
            continue
        assert {name: values.tobytes() for name, values in arrays.items()} == expected
        assert found.description.model_copy(update=known) == whole.description.model_copy(update=known)
    assert refused > 180


def test_files_without_check_sums_are_read(tmp_path: Path, net_bytes: bytes) -> None:
    path = tmp_path / "a.safetensors"
    path.write_bytes(with_metadata(net_bytes, sha256=None, tensors=None))
    assert DIGEST_KEY.encode() not in path.read_bytes()
    assert networks.load(path).tensors
