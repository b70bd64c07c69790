"""Network files of every format: describe, load, save, convert.

A format is a subclass of `Format` in a module of its own that names an object of it FORMAT, and one entry of MODULES.
So its files are found by their whole names. To be told under any name it has its first bytes in `format_of_file`, and
to be downloaded, or named without its ending, an entry of KINDS in `names.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from hauteur.networks.description import NetDescription
from hauteur.networks.names import resolve_net
from hauteur.system.files import sha256_of, write_bytes

if TYPE_CHECKING:
    from hauteur import _core
    from hauteur.networks.architecture import Architecture
    from hauteur.networks.modules import Network

MODULES = {".safetensors": "files", ".pb.gz": "lc0", ".onnx": "onnx"}
"""Formats by the ends of their names: the module of hauteur.networks that has it, imported with its first file."""

GZIP = b"\x1f\x8b"
"""The first bytes of packed files."""
LC0_NET = b"\x0d\xc0\x01\x00\x00"
"""The first bytes of an lc0 net, once unpacked."""

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
    """Return the format of a file to be written, by its name. Raise ValueError for an unknown one."""
    for suffix, module in MODULES.items():
        if path.name.endswith(suffix):
            return _format(module)
    raise ValueError(f"{path}: not a known network file; allowed: {', '.join(MODULES)}")


FIRST_BYTES = 64
"""As many tell what a file is."""
OTHER_FILES = {
    b"version https://git-lfs.github.com/": "is a Git LFS pointer, not the net itself: `git lfs pull` gets that",
    b"1\n": "is an lc0 net in the old text format; convert it to .pb.gz with lczero-training's net.py",
    b"2\n": "is an lc0 net in the old text format; convert it to .pb.gz with lczero-training's net.py",
    b"<": "is a web page, not a net: download the file itself",
}
"""What is found instead of nets, by its first bytes."""


def format_of_file(path: Path) -> Format:
    """Return the format of a file that is there, by its content: nets are passed on under many names.

    Raise ValueError, with the file and what it is, for another; OSError where it cannot be read.
    """
    with path.open("rb") as file:
        first = file.read(FIRST_BYTES)
    for beginning, what in OTHER_FILES.items():
        if first.startswith(beginning):
            raise ValueError(f"{path}: {what}")
    if first.startswith((GZIP, LC0_NET)):
        return _format("lc0")
    if first[8:9] == b"{":  # after the length of the header
        return _format("files")
    for suffix, module in MODULES.items():
        if path.name.endswith(suffix):
            return _format(module)  # whose reader says what is wrong
    raise ValueError(f"{path}: not a known network file: it begins with {first[:5].hex(' ') or 'nothing'}")


def _format(module: str) -> Format:
    found: Format = import_module(f"hauteur.networks.{module}").FORMAT
    return found


EncodingName = Literal["linear16", "float16", "float32"]


def load_network(path: str | Path) -> Net:
    """Open a network by its file, `.safetensors` (trained here) or `.pb.gz` (lc0's), or by its name.

    What a file is its content tells, so it may have any name; nets of lc0 may be unpacked.

    Return the net, with `.module` (torch module, built on first use), `.architecture`, `.game` (spec), `.parameters`
    (their number), `.tensors` (float32 by name) and `.description`. Raise ValueError (file, place, what is wrong) for
    what is not a network, and OSError for a file that cannot be read. A registered network is described without its
    code; `.module` needs the file that registers it to be imported.

    >>> import hauteur as ht
    >>> trainer = ht.Trainer(ht.load_game("tictactoe"), ht.ResNet(filters=8, blocks=1))
    >>> trainer.save("small.safetensors")
    >>> ht.load_network("small.safetensors").game
    'tictactoe'
    """
    return open_file(Path(resolve_net(path).path))


def open_file(path: Path) -> Net:
    """Open the file of a network, whatever its name. Errors as in `load_network`, which takes names of nets too."""
    return format_of_file(path).load(path)


load = load_network
"""The same by its short name."""


def describe(path: str | Path) -> NetDescription:
    """Return the description of a network file, without importing torch. Errors as in `load`."""
    return load_network(path).description


def save(
    path: str | Path,
    architecture: Architecture,
    tensors: Tensors,
    *,
    game: str,
    training: Mapping[str, object] | None = None,
    encoding: EncodingName | None = None,
) -> None:
    """Write a network as `.safetensors` or `.pb.gz` (by the name), whole or not at all.

    encoding: of the numbers; `.safetensors` float32 (default) or float16, `.pb.gz` linear16 (default) or these.
    Raises ValueError where the tensors or the encoding do not fit, or lc0 has no such network.
    """
    contents = Contents(architecture, tensors, game, training or {})
    file_format = format_of(Path(path))
    try:
        # Made whole before a byte is written: a network that does not fit leaves the file that was there.
        data = file_format.save(contents, encoding)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    write_bytes(Path(path), data)


def save_network(
    path: str | Path,
    module: Network,
    game: _core.Game | str,
    *,
    training: Mapping[str, object] | None = None,
    encoding: EncodingName | None = None,
) -> None:
    """Write a torch module as a network file, whole or not at all.

    path: its name ends in `.safetensors`, or in `.pb.gz` for lc0's format. module: a network of hauteur's, or one that
    a registered class or function built (`ht.register_network`); the file then holds name, settings and weights. game:
    the game, or its spec. training: facts to keep in the file, numbers and texts. encoding: as in `hauteur net
    convert`. Raise ValueError for any other module, and for weights that are not finite.

    >>> import hauteur as ht
    >>> net = ht.load_network("connect4")
    >>> ht.save_network("copy.safetensors", net.module, net.game, training={"copied": True})
    """
    from hauteur.networks.modules import architecture_of, tensors_of

    spec = game if isinstance(game, str) else game.spec
    save(path, architecture_of(module), tensors_of(module), game=spec, training=training, encoding=encoding)


def convert(source: str | Path, target: str | Path, *, encoding: EncodingName | None = None) -> None:
    """Write the network of one file as another kind, by the target's name: `.safetensors`, `.pb.gz` or `.onnx`.

    encoding: as in `save`; ONNX files are float32. A `.safetensors` file keeps the facts of the training, with them
    the search that the net is played with; `.pb.gz` has lc0's facts alone, `.onnx` none.
    """
    source = Path(source)
    target = Path(target)
    if source.resolve() == target.resolve():
        raise ValueError(f"{target}: is the file to convert; give another name")
    net = load(source)
    about = net.description
    from hauteur.networks.strength import shipped_play_search

    training: dict[str, object] = dict(about.training)
    if shipped := shipped_play_search(Path(resolve_net(source).path)):
        training["play_search"] = shipped
    save(target, net.architecture, net.tensors, game=about.game, training=training, encoding=encoding)
