"""Formats of network files: one object each, found by the end of a file's name.

A format is a subclass of `Format` in a module of its own that names an object of it FORMAT, and one line of MODULES.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hauteur.networks.architecture import Architecture, NetDescription
from hauteur.system.files import sha256_of

if TYPE_CHECKING:
    from hauteur.networks.modules import Network

MODULES = {".safetensors": "files", ".pb.gz": "lc0", ".onnx": "onnx"}
"""Formats by the ends of their names: the module of hauteur.networks that has it, imported with its first file."""

Tensors = Mapping[str, NDArray[np.float32]]


@dataclass(frozen=True, eq=False)
class Contents:
    """Contents of a network file."""

    architecture: Architecture
    tensors: Tensors
    game: str
    training: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Net:
    """A network file: its description, its tensors, its torch module. read: reads the tensors, or ValueError."""

    path: Path
    description: NetDescription
    read: Callable[[], dict[str, NDArray[np.float32]]]

    @cached_property
    def tensors(self) -> dict[str, NDArray[np.float32]]:
        """All tensors by name, float32; read from the file on first access."""
        return self.read()

    @cached_property
    def module(self) -> Network:
        """The torch module with these tensors, in evaluation mode, on the CPU (imports torch).

        features float32 [B, C, H, W] -> policy logits [B, A], value [B, 3] (logits of win, draw, loss) or [B, 1] (tanh)
        """
        from hauteur.networks.modules import build

        try:
            return build(self.architecture, self.tensors)
        except ValueError as error:
            raise ValueError(f"{self.path}: {error}") from None

    @property
    def architecture(self) -> Architecture:
        """The architecture of the network, as data."""
        return self.description.architecture

    @property
    def game(self) -> str:
        """Spec of the game that it was made for."""
        return self.description.game

    @property
    def parameters(self) -> int:
        """Number of the network's numbers."""
        return self.description.parameters

    def saved_as(self, file_format: Format, encoding: str | None = None) -> bytes:
        """The network as the bytes of a file of another format. ValueError where it has no place there."""
        contents = Contents(self.architecture, self.tensors, self.game, self.description.training)
        return file_format.save(contents, encoding)


class Format:
    """A kind of network file. name: in descriptions; suffix: end of the names of its files."""

    name = ""
    suffix = ""

    def load(self, path: Path) -> Net:
        """Open a file: everything but the numbers is read. ValueError, with the file and what is wrong, for another."""
        raise NotImplementedError

    def save(self, contents: Contents, encoding: str | None) -> bytes:
        """Return a network as the bytes of a file. encoding: of the numbers, None the format's own.

        ValueError where the network or the encoding has no place in this format.
        """
        raise NotImplementedError

    def opened(self, path: Path, read: Callable[[], dict[str, NDArray[np.float32]]], **facts: Any) -> Net:
        """Return the net of a file with these facts of its description."""
        size = path.stat().st_size
        description = NetDescription(format=self.name, sha256=sha256_of(path), file_bytes=size, **facts)
        return Net(path, description, read)


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
