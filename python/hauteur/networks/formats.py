"""Formats of network files: one object each, found by the end of a file's name.

A format is a subclass of `Format` in a module of its own that names an object of it FORMAT, and one line of MODULES.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hauteur.networks.architecture import Architecture, NetDescription, TrainingFacts
from hauteur.system.files import sha256_of

MODULES = {".safetensors": "files", ".pb.gz": "lc0", ".onnx": "onnx"}
"""Formats by the ends of their names: the module of hauteur.networks that has it, imported with its first file."""

Tensors = Mapping[str, NDArray[np.float32]]


class NetFile(Protocol):
    """An opened network file: everything but the numbers is read at once."""

    @property
    def architecture(self) -> Architecture: ...
    @property
    def game(self) -> str: ...
    @property
    def training(self) -> TrainingFacts: ...
    @property
    def parameters(self) -> int: ...
    def encodings(self) -> tuple[str, ...]:
        """Storage formats of the tensors."""

    def tensors(self) -> dict[str, NDArray[np.float32]]:
        """Return all tensors by name, float32, finite; ValueError where they are damaged."""


@dataclass(frozen=True, eq=False)
class Contents:
    """Contents of a network file."""

    architecture: Architecture
    tensors: Tensors
    game: str
    training: Mapping[str, object] = field(default_factory=dict)


class Format:
    """A kind of network file. name: in descriptions; suffix: end of the names of its files."""

    name = ""
    suffix = ""

    def load(self, path: Path) -> NetFile:
        """Open a file. ValueError, with the file and what is wrong, for another one."""
        raise NotImplementedError

    def save(self, contents: Contents, encoding: str | None) -> bytes:
        """Return a network as the bytes of a file. encoding: of the numbers, None the format's own.

        ValueError where the network or the encoding has no place in this format.
        """
        raise NotImplementedError

    def describe(self, path: Path) -> NetDescription:
        """Return the description of a file. Errors as `load`."""
        return self.described(path, self.load(path))

    def described(self, path: Path, file: NetFile) -> NetDescription:
        """Return the description of an opened file."""
        return NetDescription(
            format=self.name,
            architecture=file.architecture,
            game=file.game,
            parameters=file.parameters,
            encodings=file.encodings(),
            training=file.training,
            sha256=sha256_of(path),
            file_bytes=path.stat().st_size,
        )


def format_of(path: Path) -> Format:
    """Return the format of a file, by its name. Raise ValueError for an unknown one."""
    for suffix, module in MODULES.items():
        if path.name.endswith(suffix):
            found: Format = import_module(f"hauteur.networks.{module}").FORMAT
            return found
    if path.name.endswith(".txt.gz"):
        raise ValueError(
            f"{path}: is an lc0 net in the old text format; convert it to .pb.gz with lczero-training's net.py"
        )
    raise ValueError(f"{path}: not a known network file; allowed: {', '.join(MODULES)}")
