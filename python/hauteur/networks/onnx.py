"""ONNX export, cached by content: the same net is exported once. Reading a cached export does not import torch.

Inputs: `features` float32 [rows, planes, rows, columns]; outputs: `policy` float32 [rows, actions] (logits), `wdl`
float32 [rows, 3] (probabilities), and `moves_left` float32 [rows, 1] where the net has that head.
"""

import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from hauteur.networks.architecture import NetDescription
from hauteur.system.files import check_folder, sha256_of
from hauteur.system.hardware import cache_directory

if TYPE_CHECKING:
    from hauteur.networks.registry import Net

OPSET = 18
EXPORT_VERSION = 1
"""Raised when the exported graph changes, so that old exports are not used."""

_METADATA = "hauteur.description"


def ensure_onnx(path: str | Path) -> Path:
    """The ONNX file of a network file: itself, an earlier export, or a new one.

    Exports lie beside the net as `NAME.HASH.onnx`, or in the user's cache directory when that folder cannot be written
    or the variable HAUTEUR_CACHE names a cache.
    Raises ValueError and OSError as `networks.load`.
    """
    from hauteur.networks.registry import load

    path = Path(path)
    if path.name.endswith(".onnx"):
        return path
    name = f"{path.name}.{sha256_of(path)[:16]}.v{EXPORT_VERSION}.onnx"
    beside = [] if os.environ.get("HAUTEUR_CACHE") else [path.parent]
    candidates = [folder / name for folder in (*beside, cache_directory())]
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    target = candidates[0] if os.access(path.parent, os.W_OK) else candidates[-1]
    target.parent.mkdir(parents=True, exist_ok=True)
    export_onnx(load(path), target)
    return target


def renew_onnx(path: str | Path, unreadable: Path, complaint: str) -> Path:
    """A new export of a network file in the place of one that an engine could not read.

    Raises ValueError when the file that cannot be read is the user's own.
    """
    if unreadable == Path(path):
        raise ValueError(f"{path}: is not an ONNX file that can be computed: {complaint.strip().splitlines()[0]}")
    unreadable.unlink(missing_ok=True)
    return ensure_onnx(path)


def export_onnx(net: "Net", target: Path) -> None:
    """Writes a network as ONNX, whole or not at all (imports torch)."""
    check_folder(target)
    import torch

    from hauteur.networks.modules import Inference

    description = net.description
    outputs = ["policy", "wdl", *(["moves_left"] if description.moves_left else [])]
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    example = torch.zeros(2, *description.feature_shape)
    axes = {name: {0: "rows"} for name in ("features", *outputs)}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.onnx.export(
                Inference(net.module()).eval(),
                (example,),
                str(temporary),
                input_names=["features"],
                output_names=outputs,
                dynamic_axes=axes,
                opset_version=OPSET,
                dynamo=False,
            )
        _add_metadata(temporary, description)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def _add_metadata(path: Path, description: NetDescription) -> None:
    """Keeps the net's description inside the ONNX file."""
    import onnx

    model = onnx.load(str(path))
    entry = model.metadata_props.add()
    entry.key, entry.value = _METADATA, description.model_dump_json()
    onnx.save(model, str(path))


def describe_onnx(path: Path) -> NetDescription:
    """What an ONNX file that was exported here says of itself. Raises ValueError for other files."""
    import onnx
    from google.protobuf.message import DecodeError

    try:
        model = onnx.load(str(path), load_external_data=False)
    except DecodeError:
        raise ValueError(f"{path}: is not a whole ONNX file") from None
    for entry in model.metadata_props:
        if entry.key == _METADATA:
            description = _description(path, entry.value)
            return description.model_copy(
                update={
                    "format": "onnx",
                    "sha256": sha256_of(path),
                    "file_bytes": path.stat().st_size,
                    "encodings": ("FLOAT32",),
                }
            )
    raise ValueError(f"{path}: is an ONNX file, but none that was exported here (no {_METADATA} in its metadata)")


def _description(path: Path, text: str) -> NetDescription:
    try:
        return NetDescription.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        raise ValueError(f"{path}: {_METADATA}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
