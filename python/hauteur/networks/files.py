"""Network files on disk: safetensors with JSON metadata, atomic writing, and the description of any network file."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from hauteur.networks.description import TrainingFacts
from hauteur.networks.layers import Floats, Shape, lc0_shapes, resnet_shapes
from hauteur.networks.lc0_architecture import Lc0Architecture
from hauteur.networks.registry import Contents, Format, Net
from hauteur.networks.resnet_architecture import ResNetArchitecture
from hauteur.system.errors import one_line
from hauteur.system.records import fits, in_words, json_line, read_record

if TYPE_CHECKING:
    from hauteur.networks.architecture import Architecture

Read = TypeVar("Read")

FORMAT_VERSION = "1"
MAX_BYTES = 2**32

DIGEST_KEY = "hauteur.sha256"
"""Entry of the metadata that holds the hash of the others; files of other programs may lack it."""

StorageType = Literal["float32", "float16"]
"""Type of the numbers in a `.safetensors` file; networks are computed and learned from float32."""

STORAGE_TYPES: tuple[StorageType, ...] = get_args(StorageType)

_STORED = {"F32": "FLOAT32", "F16": "FLOAT16"}
"""Types that are read, and their names in a description."""


def safetensors_bytes(
    architecture: Architecture,
    tensors: Mapping[str, Floats],
    *,
    game: str,
    training: Mapping[str, object] | None = None,
    dtype: StorageType = "float32",
) -> bytes:
    """A network as the bytes of a `.safetensors` file.

    dtype: float16 stores matrices and kernels in 16 bits; vectors (biases, norms) stay float32. Raises ValueError when
    the tensors do not fit the architecture or the type.
    """
    shapes = {name: values.shape for name, values in tensors.items()}
    _check_tensors(shapes, architecture)
    arrays = {name: _stored(name, values, dtype) for name, values in tensors.items()}
    values = {
        "format": FORMAT_VERSION,
        "architecture": json_line(architecture.values()),
        "game": game,
        "training": json.dumps(dict(training or {}), sort_keys=True),
        "tensors": tensors_digest(arrays),
    }
    metadata = {f"hauteur.{key}": value for key, value in values.items()}
    return _canonical(save(arrays, metadata={**metadata, DIGEST_KEY: _metadata_digest(metadata)}))


def _stored(name: str, values: Floats, dtype: StorageType) -> NDArray[np.float32 | np.float16]:
    """Return the numbers as they stand in the file; raise ValueError where one is not finite, or too large for it."""
    exact = np.ascontiguousarray(values, np.float32)
    if not np.isfinite(exact).all():
        raise ValueError(f"tensor {name} holds numbers that are not finite")
    # Biases and norms are few numbers with a large effect.
    if dtype == "float32" or exact.ndim < 2:
        return exact
    with np.errstate(over="ignore"):
        half = exact.astype(np.float16)
    if not np.isfinite(half).all():
        raise ValueError(f"tensor {name} holds numbers beyond the range of float16 (65504)")
    return half


def tensors_digest(tensors: Mapping[str, NDArray[Any]]) -> str:
    """Return the sha256 of all names, types, shapes and numbers of tensors, hexadecimal."""
    digest = hashlib.sha256()
    for name in sorted(tensors):
        values = np.ascontiguousarray(tensors[name])
        digest.update(f"{name} {values.dtype.str} {values.shape} ".encode())
        digest.update(values.data)
    return digest.hexdigest()


def _metadata_digest(metadata: Mapping[str, str]) -> str:
    """Return the sha256 of the metadata without that entry itself, hexadecimal."""
    values = {key: value for key, value in metadata.items() if key != DIGEST_KEY}
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


def _canonical(data: bytes) -> bytes:
    """The same safetensors file with its metadata in order: safetensors writes them in a random one, and equal networks
    should be equal files."""
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    text = json.dumps(header, separators=(",", ":"), sort_keys=True).encode()
    # safetensors aligns tensors to 8 bytes.
    padded = text + b" " * (-len(text) % 8)
    return struct.pack("<Q", len(padded)) + padded + data[8 + length :]


class SafetensorsFile:
    """An opened network file: metadata and shapes read immediately, the tensors on request."""

    def __init__(self, path: Path) -> None:
        """Raise ValueError naming the file and what is wrong with it."""
        # A file may come from anyone: its size is checked before anything of it is read.
        if path.stat().st_size > MAX_BYTES:
            raise ValueError(f"{path}: has {path.stat().st_size} bytes, allowed are at most {MAX_BYTES}")
        self._path = path
        try:
            with safe_open(path, framework="numpy") as file:
                metadata = file.metadata() or {}
                self._names = list(file.keys())
                self._types = {}
                shapes = {}
                for name in self._names:
                    # A slice has type and shape without the numbers, which whoever describes a file does not need.
                    tensor = file.get_slice(name)
                    self._types[name] = tensor.get_dtype()
                    shapes[name] = tuple(tensor.get_shape())
        except SafetensorError as error:
            raise ValueError(f"{path}: is not a whole safetensors file ({error})") from None
        try:
            self._open(metadata, shapes)
        except KeyError as error:
            raise ValueError(f"{path}: has no {error.args[0]} in its metadata") from None
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None

    def _open(self, metadata: Mapping[str, str], shapes: Mapping[str, Shape]) -> None:
        """Read architecture and facts of the header; ValueError where they do not describe these tensors."""
        version = metadata.get("hauteur.format")
        if version is None:
            raise ValueError("is a safetensors file, but not a network of hauteur (no hauteur.format in its metadata)")
        if version != FORMAT_VERSION:
            raise ValueError(f"has format version {version[:80]}, this version reads {FORMAT_VERSION}")
        architecture = _read(_architecture, metadata, "architecture")
        for name, kind in self._types.items():
            if kind not in _STORED:
                raise ValueError(f"tensor {name} has type {kind}, expected one of {', '.join(_STORED)}")
        _check_tensors(shapes, architecture)
        if metadata.get(DIGEST_KEY, digest := _metadata_digest(metadata)) != digest:
            raise ValueError("its metadata is not what was written (its sha256 differs)")
        self._digest = metadata.get("hauteur.tensors")
        self.facts = {
            "architecture": architecture,
            "game": metadata["hauteur.game"],
            "training": _read(_training, metadata, "training"),
            "parameters": sum(int(np.prod(shape)) for shape in shapes.values()),
            "encodings": tuple(sorted({_STORED[kind] for kind in self._types.values()})),
        }

    def tensors(self) -> dict[str, Floats]:
        """Return all tensors by name, float32, finite; ValueError where they are not those that were written."""
        with safe_open(self._path, framework="numpy") as file:
            tensors = {name: file.get_tensor(name) for name in self._names}
        for name, values in tensors.items():
            # One such number would spread to every answer; the layer that holds it is named here.
            if not np.isfinite(values).all():
                raise ValueError(f"{self._path}: tensor {name} holds numbers that are not finite")
        # Files of older versions have no digest.
        if self._digest is not None and self._digest != tensors_digest(tensors):
            raise ValueError(f"{self._path}: its tensors are not those that were written (their sha256 differs)")
        return {name: np.asarray(values, np.float32) for name, values in tensors.items()}


def _read(reader: Callable[[Any], Read], metadata: Mapping[str, str], key: str) -> Read:
    """Return what a reader makes of a JSON value of the metadata; ValueError, with the key, where it is wrong."""
    text = metadata[f"hauteur.{key}"]
    try:
        return reader(json.loads(text))
    # json gives up in its own way on a stranger's text of a million brackets.
    except RecursionError:
        raise ValueError(f"{key}: is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"{key}: {one_line(error)}") from None


def _architecture(values: Any) -> Architecture:
    """Return the architecture that these values describe."""
    kind = values.get("kind") if isinstance(values, dict) else None
    if kind == "resnet":
        return read_record(ResNetArchitecture, values)
    if kind == "lc0":
        return read_record(Lc0Architecture, values)
    if kind == "registered":
        from hauteur.networks.architecture import RegisteredArchitecture  # here: engines start without pydantic

        return RegisteredArchitecture.model_validate(values)
    # Cut short, since the value may be as long as the file.
    raise ValueError(f"kind must be 'resnet', 'lc0' or 'registered', got {repr(kind)[:80]}")


def _training(values: Any) -> TrainingFacts:
    """Return facts of a training."""
    if not fits(values, TrainingFacts):
        raise ValueError(f"must be {in_words(TrainingFacts)}")
    facts: TrainingFacts = values
    return facts


def _check_tensors(shapes: Mapping[str, Shape], architecture: Architecture) -> None:
    """The tensors must be those of the architecture, no more, no fewer, in their shapes.

    Those of a registered network are known to what builds it alone, which checks them then.
    """
    if architecture.kind == "registered":
        return
    if architecture.kind == "lc0":
        sizes = {name: int(np.prod(shape)) for name, shape in shapes.items()}
        expected = lc0_shapes(sizes, architecture)
    else:
        expected = resnet_shapes(architecture)
        unknown = sorted(set(shapes) - set(expected))
        if unknown:
            raise ValueError(f"tensor {unknown[0]} has no place in this architecture ({architecture.summary()})")
    for name, shape in expected.items():
        if name not in shapes:
            raise ValueError(f"tensor {name} is missing")
        if tuple(shapes[name]) != shape:
            raise ValueError(f"tensor {name} has shape {tuple(shapes[name])}, expected {shape}")


class SafetensorsFormat(Format):
    """Files of hauteur: metadata as JSON, tensors in float32 or float16."""

    name = "safetensors"
    suffix = ".safetensors"

    def load(self, path: Path) -> Net:
        """Read a network file."""
        file = SafetensorsFile(path)
        return self.opened(path, file.tensors, **file.facts)

    def save(self, contents: Contents, encoding: str | None) -> bytes:
        """Return the bytes of a network file; ValueError for an encoding of another format."""
        dtype = next((kind for kind in STORAGE_TYPES if kind == (encoding or "float32")), None)
        if dtype is None:
            raise ValueError(f"encoding {encoding} is for .pb.gz files; .safetensors has float32 and float16")
        return safetensors_bytes(
            contents.architecture,
            contents.tensors,
            game=contents.game,
            training=contents.training,
            dtype=dtype,
        )


FORMAT = SafetensorsFormat()
