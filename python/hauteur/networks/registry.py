"""Every kind of network file behind one door: describe, load, save, convert."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from hauteur.networks.architecture import Architecture, Lc0Architecture, NetDescription
from hauteur.networks.files import SafetensorsFile, StorageType, safetensors_bytes
from hauteur.networks.lc0 import EncodingName, Lc0File, from_resnet, lc0_bytes
from hauteur.networks.lc0_layers import Floats
from hauteur.networks.names import resolve_net
from hauteur.system.files import sha256_of, write_bytes

if TYPE_CHECKING:
    from hauteur.networks.modules import Network

SUFFIXES = (".safetensors", ".pb.gz")
"""Files with weights. `.onnx` files can be described and evaluated, not loaded."""


@dataclass(frozen=True, eq=False)
class Net:
    """A network file: its description, its tensors, its torch module."""

    path: Path
    description: NetDescription
    _file: Lc0File | SafetensorsFile

    @cached_property
    def tensors(self) -> dict[str, Floats]:
        """All tensors by name, float32; read from the file on first access."""
        return self._file.tensors()

    def module(self) -> "Network":
        """A new torch module with these tensors, in evaluation mode, on the CPU (imports torch)."""
        from hauteur.networks.modules import build

        return build(self.description.architecture, self.tensors)

    def onnx(self) -> bytes:
        """The network as the bytes of an ONNX model, written from its tensors (without torch)."""
        from hauteur.networks.onnx.files import onnx_bytes

        return onnx_bytes(self.description, self.tensors)


def load(path: str | Path) -> Net:
    """Open a network by file or name. Raise ValueError (file, place, what is wrong), OSError where it is unreadable."""
    path = Path(resolve_net(path))
    suffix = _suffix(path)
    if suffix == ".onnx":
        raise ValueError(f"{path}: an ONNX file holds no weights that can be loaded; allowed: {', '.join(SUFFIXES)}")
    file = Lc0File(path) if suffix == ".pb.gz" else SafetensorsFile(path)
    description = NetDescription(
        format="lc0" if suffix == ".pb.gz" else "safetensors",
        architecture=file.architecture,
        game="chess" if isinstance(file, Lc0File) else file.game,
        parameters=file.parameters,
        encodings=file.encodings(),
        training=file.training,
        sha256=sha256_of(path),
        file_bytes=path.stat().st_size,
    )
    return Net(path, description, file)


def describe(path: str | Path) -> NetDescription:
    """Return the description of a network file (also `.onnx`), without importing torch. Errors as in `load`."""
    path = Path(resolve_net(path))
    if _suffix(path) == ".onnx":
        from hauteur.networks.onnx.files import describe_onnx

        return describe_onnx(path)
    return load(path).description


def onnx_model(path: str | Path) -> bytes:
    """The ONNX model of a network file: an `.onnx` file itself, else written from the weights. Errors as in `load`."""
    path = Path(path)
    return path.read_bytes() if _suffix(path) == ".onnx" else load(path).onnx()


def _suffix(path: Path) -> str:
    """Return the file type, by its name. Raise ValueError for an unknown type."""
    for suffix in (*SUFFIXES, ".onnx"):
        if path.name.endswith(suffix):
            return suffix
    if path.name.endswith(".txt.gz"):
        raise ValueError(
            f"{path}: is an lc0 net in the old text format; convert it to .pb.gz with lczero-training's net.py"
        )
    raise ValueError(f"{path}: not a known network file; allowed: {', '.join(SUFFIXES)}, .onnx")


def save(
    path: str | Path,
    architecture: Architecture,
    tensors: Mapping[str, Floats],
    *,
    game: str,
    training: Mapping[str, object] | None = None,
    encoding: EncodingName | None = None,
) -> None:
    """Write a network as `.safetensors` or `.pb.gz` (by the name), whole or not at all.

    encoding: of the numbers; `.safetensors` float32 (default) or float16, `.pb.gz` linear16 (default) or any other.
    Raises ValueError where the tensors or the encoding do not fit, or lc0 has no such network.
    """
    path = Path(path)
    suffix = _suffix(path)
    if suffix == ".safetensors":
        data = safetensors_bytes(architecture, tensors, game=game, training=training, dtype=_storage(path, encoding))
    elif suffix == ".pb.gz":
        if not isinstance(architecture, Lc0Architecture):
            architecture, tensors = from_resnet(architecture, tensors)
        data = lc0_bytes(architecture, tensors, training, encoding or "linear16")
    else:
        raise ValueError(f"{path}: cannot save weights as ONNX; use convert")
    write_bytes(path, data)


def _storage(path: Path, encoding: EncodingName | None) -> StorageType:
    """Return the type of the numbers in a `.safetensors` file."""
    if encoding not in (None, "float32", "float16"):
        raise ValueError(f"{path}: encoding {encoding} is for .pb.gz files; .safetensors has float32 and float16")
    return encoding or "float32"


def convert(source: str | Path, target: str | Path, *, encoding: EncodingName | None = None) -> None:
    """Write the network of one file as another kind, by the target's name: `.safetensors`, `.pb.gz` or `.onnx`.

    encoding: as in `save`; ONNX files are float32.
    """
    source, target = Path(source), Path(target)
    if source.resolve() == target.resolve():
        raise ValueError(f"{target}: is the file to convert; give another name")
    suffix = _suffix(target)
    net = load(source)
    if suffix == ".onnx":
        if encoding not in (None, "float32"):
            raise ValueError(f"{target}: ONNX files are written in float32, not in {encoding}")
        write_bytes(target, net.onnx())
        return
    description = net.description
    save(
        target,
        description.architecture,
        net.tensors,
        game=description.game,
        training=description.training,
        encoding=encoding,
    )
