"""Networks on the processor by OpenVINO: streams of one thread each, a batch split over them.

One inference by several threads waits at every layer for the slowest of them; streams of one thread each do not, and
leave a busy machine's other programs in peace. The precision is always stated, because OpenVINO would choose bfloat16
by itself where the processor has it.
"""

from __future__ import annotations

from collections import deque
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import openvino as ov

from hauteur.evaluate import PREFERRED_ROWS, Answers, Floats, GameEvaluator, Pending, Precision
from hauteur.machine import processor_features
from hauteur.networks.onnx import ensure_onnx

if TYPE_CHECKING:
    from hauteur import _core

HINTS = {"float32": "f32", "bfloat16": "bf16", "int8": "f32"}
"""What is not quantised is computed in float32."""

BFLOAT16_FEATURES = ("avx512_bf16", "amx_bf16", "bf16")
LEAST_ROWS = 8
"""A batch is not split into parts smaller than this."""


class OpenVinoEvaluator(GameEvaluator):
    """A network file by OpenVINO on the processor."""

    def __init__(
        self,
        game: _core.Game,
        path: Path,
        *,
        precision: Precision | None = None,
        threads: int = 1,
        batch_size: int | None = None,
    ) -> None:
        """precision: float32, bfloat16, or int8 (quantised, extra `quantize`; `hauteur net check` says what it costs);
        default bfloat16 where the processor computes it, else float32."""
        chosen = precision or default_precision()
        check_precision(chosen)
        super().__init__(
            game, f"{path.name} openvino {chosen} {threads} streams", batch_size or PREFERRED_ROWS * threads
        )
        self.precision = chosen
        self.streams = threads
        settings = {
            "INFERENCE_PRECISION_HINT": HINTS[chosen],
            "NUM_STREAMS": str(threads),
            "INFERENCE_NUM_THREADS": threads,
            "ENABLE_CPU_PINNING": False,
        }
        core = ov.Core()
        self._model = core.compile_model(core.read_model(model_file(game, path, chosen)), "CPU", settings)
        self._idle: deque[ov.InferRequest] = deque()

    def __call__(self, features: Floats) -> Answers:
        return self.submit(features).result()

    def submit(self, features: Floats) -> Pending:
        """Splits the rows over the streams and starts them; the GIL is free while they compute."""
        parts = max(1, min(self.streams, len(features) // LEAST_ROWS))
        bounds = np.linspace(0, len(features), parts + 1).astype(int)
        started = []
        for begin, end in pairwise(bounds):
            request = self._idle.popleft() if self._idle else self._model.create_infer_request()
            request.set_input_tensor(ov.Tensor(np.ascontiguousarray(features[begin:end]), shared_memory=True))
            request.start_async()
            started.append((request, int(begin), int(end)))
        return _Started(self, started)

    def release(self, request: ov.InferRequest) -> None:
        """Takes a finished request back for later use."""
        self._idle.append(request)


class _Started:
    """Parts of one batch that the streams compute."""

    def __init__(self, evaluator: OpenVinoEvaluator, parts: list[tuple[ov.InferRequest, int, int]]) -> None:
        self._evaluator = evaluator
        self._parts = parts

    def result(self) -> Answers:
        """Waits for all parts and joins their outputs."""
        rows = self._parts[-1][2]
        logits = np.empty((rows, self._evaluator.num_actions), np.float32)
        wdl = np.empty((rows, 3), np.float32)
        for request, begin, end in self._parts:
            request.wait()
            logits[begin:end] = request.get_output_tensor(0).data
            wdl[begin:end] = request.get_output_tensor(1).data
            self._evaluator.release(request)
        return logits, wdl


def model_file(game: _core.Game, path: Path, precision: Precision) -> Path:
    """The file that OpenVINO reads: the exported net, or the quantised one."""
    if precision == "int8":
        from hauteur.quantize import ensure_int8

        return ensure_int8(path, game)
    return ensure_onnx(path)


def check_precision(precision: str) -> None:
    """ValueError unless OpenVINO computes in this precision on this processor."""
    if precision not in HINTS:
        raise ValueError(f"precision of openvino must be one of {', '.join(HINTS)}, got {precision!r}")
    if precision == "bfloat16" and default_precision() != "bfloat16":
        raise ValueError("precision bfloat16 needs a processor that computes it (avx512_bf16, amx_bf16 or Arm's bf16)")


def default_precision() -> Precision:
    """bfloat16 where the processor computes it natively, else float32."""
    features = processor_features() or []
    return "bfloat16" if any(feature in features for feature in BFLOAT16_FEATURES) else "float32"
