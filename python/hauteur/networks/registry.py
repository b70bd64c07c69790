"""Network files of every format: describe, load, save, convert."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from hauteur.networks.architecture import Architecture, NetDescription
from hauteur.networks.formats import Contents, Net, Tensors, format_of
from hauteur.networks.names import resolve_net
from hauteur.system.files import write_bytes

if TYPE_CHECKING:
    from hauteur import _core
    from hauteur.networks.modules import Network

EncodingName = Literal["linear16", "float16", "float32"]


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
    return format_of(path).load(path)


load = load_network
"""The same by its short name."""


def describe(path: str | Path) -> NetDescription:
    """Return the description of a network file, without importing torch. Errors as in `load`."""
    path = Path(resolve_net(path))
    return format_of(path).load(path).description


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
    contents, file_format = Contents(architecture, tensors, game, training or {}), format_of(Path(path))
    try:
        data = file_format.save(contents, encoding)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    write_bytes(Path(path), data)


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
    file_format, net = format_of(target), load(source)
    try:
        data = net.saved_as(file_format, encoding)
    except ValueError as error:
        raise ValueError(f"{target}: {error}") from None
    write_bytes(target, data)
