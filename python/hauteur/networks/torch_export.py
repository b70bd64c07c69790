"""ONNX models of registered networks, by torch's exporter: nobody else knows what their modules compute."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import onnx
import torch

from hauteur.networks.modules import Inference
from hauteur.system.errors import one_line

if TYPE_CHECKING:
    from hauteur.networks.architecture import NetDescription
    from hauteur.networks.modules import Network

OPSET = 18


def exported(module: Network, description: NetDescription, metadata: dict[str, str]) -> bytes:
    """The network as the bytes of an ONNX model, with the inputs and outputs of `networks.onnx`.

    Raise ValueError where torch cannot export it; the backend `torch` computes it then.
    """
    fast_path = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)  # has no counterpart in ONNX
    try:
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            file = str(Path(folder) / "net.onnx")
            warnings.simplefilter("ignore")
            torch.onnx.export(
                Inference(module).eval(),
                (torch.zeros(2, *description.feature_shape),),
                file,
                input_names=["features"],
                output_names=["policy", "wdl"],
                dynamic_axes={name: {0: "rows"} for name in ("features", "policy", "wdl")},
                opset_version=OPSET,
                dynamo=False,
            )
            model = onnx.load(file)
    except Exception as error:
        raise ValueError(
            f"{description.architecture.summary()} cannot be written as ONNX: {one_line(error)[:300]}; backend torch "
            "computes it as it is (run.backend=torch in a recipe)"
        ) from error
    finally:
        torch.backends.mha.set_fastpath_enabled(fast_path)
    onnx.helper.set_model_props(model, metadata)
    return bytes(model.SerializeToString())
