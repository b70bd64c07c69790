"""Damaged, truncated, foreign and hostile network files: always one line that says what is wrong, at once."""

import gzip
import json
import struct
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lc0_toys import random_net, random_tensors

from hauteur import networks
from hauteur.networks.files import DIGEST_KEY, safetensors_bytes
from hauteur.networks.layers import resnet_shapes
from hauteur.networks.lc0_proto import MAX_BYTES, SCHEMA, read_net
from hauteur.networks.resnet_architecture import ResNetArchitecture
from hauteur.networks.wire import MAX_FIELDS, read_message
from hauteur.system.records import json_line

pytestmark = pytest.mark.quick

TINY = ResNetArchitecture(feature_shape=(2, 3, 3), num_actions=9, filters=4, blocks=1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hostile")


@pytest.fixture(scope="module")
def lc0_file(folder: Path) -> bytes:
    return random_net(folder / "whole.pb.gz", filters=2, blocks=1).read_bytes()


@pytest.fixture(scope="module")
def safetensors_file() -> bytes:
    return safetensors_bytes(TINY, random_tensors(resnet_shapes(TINY), 0), game="tictactoe")


def complaint(path: Path, data: bytes) -> str | None:
    """Return what is said of a file with these bytes; None if it is read as a network."""
    path.write_bytes(data)
    try:
        assert networks.load(path).tensors
    except ValueError as error:
        message = str(error)
        assert message.startswith(f"{path}: "), message
        assert "\n" not in message
        assert len(message) < 600
        return message
    return None


def test_every_truncation_is_noticed(folder: Path, lc0_file: bytes, safetensors_file: bytes) -> None:
    for suffix, whole in ((".pb.gz", lc0_file), (".safetensors", safetensors_file)):
        ends = {0, 1, 2, 9, 10, 17, len(whole) - 1} | {len(whole) * i // 60 for i in range(60)}
        for end in sorted(ends):
            assert complaint(folder / f"cut{suffix}", whole[:end]) is not None


@given(st.binary(max_size=400))
def test_random_bytes(folder: Path, data: bytes) -> None:
    assert complaint(folder / "random.pb.gz", data) is not None
    assert complaint(folder / "random.safetensors", data) is not None
    assert complaint(folder / "zipped.pb.gz", gzip.compress(data)) is not None
    assert complaint(folder / "magic.pb.gz", gzip.compress(b"\x0d\xc0\x01\x00\x00" + data)) is not None


def test_too_many_fields() -> None:
    with pytest.raises(ValueError, match=f"holds more than {MAX_FIELDS} fields"):
        read_message(b"\x0d\xc0\x01\x00\x00" + b"\xa0\x06\x00" * (MAX_FIELDS + 1), SCHEMA, "Net")


def test_gzip_bomb(folder: Path) -> None:
    packer = zlib.compressobj(9, wbits=31)
    zeros = bytes(1 << 20)
    bomb = b"".join(packer.compress(zeros) for _ in range(40)) + packer.flush()
    said = complaint(folder / "bomb.pb.gz", bomb)
    assert said is not None
    assert "too much for a network file" in said


def test_a_file_without_end_is_not_read(folder: Path) -> None:
    path = folder / "endless.pb.gz"
    with path.open("wb") as file:
        file.write(b"\x0d\xc0\x01\x00\x00")
        file.truncate(MAX_BYTES + 1)  # on disk as short as its first bytes
    with pytest.raises(ValueError, match=f"has {MAX_BYTES + 1} bytes, allowed are at most {MAX_BYTES}"):
        read_net(path)


FOREIGN = {
    "old.pb.gz": (gzip.compress(b"2\n1 2 3\n"), "old text format"),
    "version1.pb.gz": (gzip.compress(b"1\n1 2 3\n"), "old text format"),
    "katago.pb.gz": (gzip.compress(b"b6c96\n8\n22\n19\n"), "is not an lc0 net: it begins with 62 36"),
    "plain.pb.gz": (b"\x0d\xc0\x01\x00\x00", "holds no weights"),
    "other.pb.gz": (b"\x0d\xc0\x02\x00\x00", "is not gzip: it begins with 0d c0 02 00"),
    "pointer.pb.gz": (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n", "a Git LFS pointer"),
    "page.pb.gz": (b"<!DOCTYPE html>", "is a web page, not a net"),
    "unpacked.txt": (b"2\n1 2 3\n", "old text format"),
    "picture.png": (b"\x89PNG\r\n", "not a known network file: it begins with 89 50 4e 47 0d"),
    "empty.pb.gz": (b"", "is not gzip: it begins with nothing"),
    "two.pb.gz": (gzip.compress(b"\x0d\xc0\x01\x00\x00") + b"more", "has 4 bytes after the end"),
    "none.pb.gz": (gzip.compress(b"\x0d\xc0\x01\x00\x00"), "holds no weights"),
    "onnx.pb.gz": (gzip.compress(b"\x0d\xc0\x01\x00\x00\x5a\x00"), "holds an ONNX model"),
    "pickle.safetensors": (b"\x80\x04\x95\x00\x00\x00\x00\x00\x00\x00", "is not a whole safetensors file"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_files_are_named(name: str, folder: Path) -> None:
    data, expected = FOREIGN[name]
    said = complaint(folder / name, data)
    assert said is not None
    assert expected in said


def test_other_safetensors_files(folder: Path, safetensors_file: bytes) -> None:
    from safetensors.numpy import save

    assert "no hauteur.format" in (complaint(folder / "other.safetensors", save({"x": np.zeros(3)})) or "")
    said = complaint(folder / "future.safetensors", changed(safetensors_file, "hauteur.format", "9"))
    assert "format version 9" in (said or "")
    said = complaint(folder / "none.safetensors", changed(safetensors_file, "hauteur.architecture", "{}"))
    assert "architecture" in (said or "")
    wider = json_line(TINY.values() | {"filters": 5})
    said = complaint(folder / "wider.safetensors", changed(safetensors_file, "hauteur.architecture", wider))
    assert "tensor input.conv.weight has shape (4, 2, 3, 3), expected (5, 2, 3, 3)" in (said or "")
    huge = json_line(TINY.values() | {"filters": 10**30})
    said = complaint(folder / "huge.safetensors", changed(safetensors_file, "hauteur.architecture", huge))
    assert f"architecture: filters must be 1 to 4096, got {10**30}" in (said or "")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"filters": "64"}, "filters must be 1 to 4096, got '64'"),
        ({"blocks": True}, "blocks must be 0 to 256, got True"),
        ({"activation": "selu"}, "activation must be 'relu' or 'mish', got 'selu'"),
        ({"feature_shape": [2, 3]}, "feature_shape must be 3 values, each 1 to 65536, got (2, 3)"),
        ({"feature_shape": [2, 3, 0]}, "feature_shape must be 3 values, each 1 to 65536, got (2, 3, 0)"),
        ({"num_actions": None}, "num_actions must be 1 to 65536, got None"),
        ({"pooling": 4}, "pooling must be less than filters, got 4 of 4"),
        ({"policy": "convolution", "num_actions": 10}, "policy 'convolution' needs one action a square or chess"),
        ({"width": 3}, "width is not a setting; allowed: filters, blocks"),
        ({"kind": "transformer"}, "kind must be 'resnet', 'lc0' or 'registered', got 'transformer'"),
        ({"kind": "registered"}, "name is missing"),
    ],
)
def test_architectures_that_are_refused(
    folder: Path, safetensors_file: bytes, change: dict[str, object], message: str
) -> None:
    text = json_line(TINY.values() | change)
    said = complaint(folder / "refused.safetensors", changed(safetensors_file, "hauteur.architecture", text))
    assert f"architecture: {message}" in (said or "")


@pytest.mark.parametrize(
    ("key", "text", "message"),
    [
        ("architecture", "[]", "kind must be 'resnet', 'lc0' or 'registered', got None"),
        ("architecture", "[" * 100_000, "is nested too deeply"),
        ("architecture", '{"kind": "resnet"}', "feature_shape is missing"),
        ("architecture", '{"kind": "lc0", "structure": 5}', "policy is missing"),
        ("training", '{"steps": [1]}', "must be named values, each a text or a whole number or a number"),
        ("training", "{", "Expecting property name"),
    ],
)
def test_values_that_are_refused(folder: Path, safetensors_file: bytes, key: str, text: str, message: str) -> None:
    without_digest = changed(safetensors_file, DIGEST_KEY, None)
    said = complaint(folder / "refused.safetensors", changed(without_digest, f"hauteur.{key}", text))
    assert f"{key}: {message}" in (said or "")


def changed(whole: bytes, key: str, value: str | None) -> bytes:
    """A safetensors file with other metadata; None takes an entry away."""
    (length,) = struct.unpack("<Q", whole[:8])
    header = json.loads(whole[8 : 8 + length])
    header["__metadata__"].pop(key)
    if value is not None:
        header["__metadata__"][key] = value
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + whole[8 + length :]


# Check sums.


@pytest.fixture(params=["float32", "float16"])
def net_bytes(request: pytest.FixtureRequest) -> bytes:
    tensors = random_tensors(resnet_shapes(TINY), 1)
    return safetensors_bytes(TINY, tensors, game="tictactoe", training={"steps": 5}, dtype=request.param)


@pytest.mark.parametrize("seed", range(3))
def test_no_flipped_bit_is_taken_in_silently(tmp_path: Path, net_bytes: bytes, seed: int) -> None:
    path = tmp_path / "a.safetensors"
    random = np.random.default_rng(seed)
    refused = 0
    path.write_bytes(net_bytes)
    whole = networks.load(path)
    expected = {name: values.tobytes() for name, values in whole.tensors.items()}
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
        assert replace(found.description, sha256="") == replace(whole.description, sha256="")
    assert refused > 180


def test_files_without_check_sums_are_read(tmp_path: Path, net_bytes: bytes) -> None:
    path = tmp_path / "a.safetensors"
    path.write_bytes(changed(changed(net_bytes, DIGEST_KEY, None), "hauteur.tensors", None))
    assert networks.load(path).tensors
