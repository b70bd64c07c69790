"""Networks by torch: on a GPU, and on the processor where nothing else is at hand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import torch

from hauteur import networks
from hauteur.evaluate import PREFERRED_ROWS, Answers, Floats, GameEvaluator, Precision
from hauteur.networks.modules import Inference

if TYPE_CHECKING:
    from hauteur import _core

TYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
GPU_ROWS = 1024


class TorchEvaluator(GameEvaluator):
    """A network file by torch. Weights and activations are in `precision`, answers in float32."""

    def __init__(
        self,
        game: _core.Game,
        path: Path,
        *,
        precision: Precision | None = None,
        threads: int = 1,
        batch_size: int | None = None,
        device: str | None = None,
    ) -> None:
        """precision: float32, bfloat16 or float16; default float16 on a GPU, float32 on the processor."""
        self.device = torch_device(device)
        on_gpu = self.device.type == "cuda"
        chosen = precision or ("float16" if on_gpu else "float32")
        if chosen not in TYPES:
            raise ValueError(f"precision of torch must be one of {', '.join(TYPES)}, got {chosen!r}")
        rows = batch_size or (GPU_ROWS if on_gpu else PREFERRED_ROWS)
        super().__init__(game, f"{path.name} torch {chosen} {self.device}", rows)
        self.precision = chosen
        self._type = TYPES[chosen]
        if not on_gpu:
            torch.set_num_threads(threads)
        module = Inference(networks.load(path).module()).eval().to(self.device, self._type)
        self._module = module.to(memory_format=torch.channels_last)

    @torch.inference_mode()
    def __call__(self, features: Floats) -> Answers:
        rows = torch.from_numpy(features).to(self.device, self._type, non_blocking=True)
        logits, wdl, *_ = self._module(rows.contiguous(memory_format=torch.channels_last))
        return logits.float().cpu().numpy(), wdl.float().cpu().numpy()


def torch_device(name: str | None) -> torch.device:
    """The device with this name; None: the GPU if there is one. ValueError if torch has no such device."""
    if name is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if name.partition(":")[0] not in ("cpu", "cuda"):
        raise ValueError(f"device must be cpu, cuda or cuda:N, got {name!r}")
    if name.startswith("cuda") and not torch.cuda.is_available():
        raise ValueError(f"device {name}: torch {torch.__version__} finds no CUDA device here")
    return torch.device(name)
