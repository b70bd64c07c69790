"""ONNX models of networks: written from the weights, and what a written file contains.

Inputs: `features` float32 [rows, planes, rows, columns]; outputs: `policy` float32 [rows, actions] (logits), `wdl`
float32 [rows, 3] (probabilities), and `moves_left` float32 [rows, 1] where the net has that head.
"""

from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from hauteur.networks.architecture import Lc0Architecture, NetDescription, ResNetArchitecture
from hauteur.networks.lc0_layers import Floats
from hauteur.networks.onnx.graph import READ_SCHEMA, Graph
from hauteur.networks.onnx.lc0 import write_lc0
from hauteur.networks.onnx.lc0_graph import Lc0Graph
from hauteur.networks.onnx.resnet import write_resnet
from hauteur.networks.wire import read_message
from hauteur.system.files import sha256_of

_METADATA = "hauteur.description"


def onnx_bytes(description: NetDescription, tensors: Mapping[str, Floats]) -> bytes:
    """A network as the bytes of an `.onnx` file, float32, with its description in the metadata."""
    architecture = description.architecture
    graph: Graph
    if isinstance(architecture, Lc0Architecture):
        graph = Lc0Graph(architecture, tensors)
        write_lc0(graph)
    elif isinstance(architecture, ResNetArchitecture):
        graph = Graph()
        write_resnet(graph, architecture, tensors)
    else:
        raise ValueError(f"{architecture.summary()} is no network of hauteur's, only its own code can write it")
    return graph.to_bytes(metadata_of(description))


def metadata_of(description: NetDescription) -> dict[str, str]:
    """The facts of a network that its `.onnx` file records."""
    return {_METADATA: description.model_dump_json()}


def describe_onnx(path: Path) -> NetDescription:
    """Return the description in an ONNX file written by hauteur. Raise ValueError for other files."""
    try:
        model = read_message(path.read_bytes(), READ_SCHEMA, "Model")
    except ValueError as error:
        raise ValueError(f"{path}: is not a whole ONNX file ({error})") from None
    for entry in model.get("metadata_props", []):
        if entry.get("key") == _METADATA:
            description = _description(path, entry.get("value", ""))
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
