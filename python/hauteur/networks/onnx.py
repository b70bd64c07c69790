"""ONNX export, and what an exported file contains.

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

if TYPE_CHECKING:
    from hauteur.networks.registry import Net

OPSET = 18

_METADATA = "hauteur.description"


def export_onnx(net: "Net", target: Path) -> None:
    """Write a network as ONNX, whole or not at all (imports torch)."""
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
    """Keep the net's description inside the ONNX file."""
    import onnx

    model = onnx.load(str(path))
    entry = model.metadata_props.add()
    entry.key, entry.value = _METADATA, description.model_dump_json()
    onnx.save(model, str(path))


def describe_onnx(path: Path) -> NetDescription:
    """Return the description in an ONNX file exported by hauteur. Raise ValueError for other files."""
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
