"""Every kind of network file behind one door: describe, load, save, convert."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from hauteur.networks.architecture import Architecture, Lc0Architecture, NetDescription, RegisteredArchitecture
from hauteur.networks.files import SafetensorsFile, StorageType, safetensors_bytes
from hauteur.networks.lc0 import EncodingName, Lc0File, from_resnet, lc0_bytes
from hauteur.networks.lc0_layers import Floats
from hauteur.networks.names import resolve_net
from hauteur.system.files import sha256_of, write_bytes

if TYPE_CHECKING:
    from hauteur import _core
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

    @cached_property
    def module(self) -> "Network":
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

    def onnx(self) -> bytes:
        """The network as the bytes of an ONNX model, written from its tensors; a registered one by torch's exporter."""
        from hauteur.networks.onnx.files import metadata_of, onnx_bytes

        if isinstance(self.architecture, RegisteredArchitecture):
            from hauteur.networks.torch_export import exported

            return exported(self.module, self.description, metadata_of(self.description))
        return onnx_bytes(self.description, self.tensors)


def load_network(path: str | Path) -> Net:
    """Open a network by its file, `.safetensors` (trained here) or `.pb.gz` (lc0's), or by its name.

    Return the net, with `.module` (torch module, built on first use), `.architecture`, `.game` (spec), `.parameters`
    (their number), `.tensors` (float32 by name) and `.description`. Raise ValueError (file, place, what is wrong) for
    what is no network, and OSError for a file that cannot be read. A registered network is described without its code;
    `.module` needs the file that registers it to be imported.

    >>> import hauteur as ht
    >>> trainer = ht.Trainer(ht.load_game("tictactoe"), ht.ResNet(filters=8, blocks=1))
    >>> trainer.save("small.safetensors")
    >>> ht.load_network("small.safetensors").game
    'tictactoe'
    """
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


load = load_network
"""The same by its short name."""


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
        if isinstance(architecture, RegisteredArchitecture):
            raise ValueError(f"{path}: lc0's format has no place for {architecture.summary()}; allowed: .safetensors")
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


def save_network(
    path: str | Path,
    module: "Network",
    game: "_core.Game | str",
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
