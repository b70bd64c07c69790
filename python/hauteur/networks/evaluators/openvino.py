"""Networks on the processor by OpenVINO: streams of one thread each, a batch split over them.

One inference by several threads waits at every layer for the slowest of them; streams of one thread each do not, and
leave a busy machine's other programs in peace. The precision is always stated, because OpenVINO would choose bfloat16
by itself where the processor has it.
"""

from __future__ import annotations

import threading
from collections import deque
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import openvino as ov

from hauteur.networks.evaluators.base import PREFERRED_ROWS, Answers, Floats, GameEvaluator, Pending, Precision
from hauteur.networks.registry import onnx_model
from hauteur.system.errors import one_line
from hauteur.system.hardware import computes_bfloat16

if TYPE_CHECKING:
    from hauteur import _core

PRECISIONS: tuple[Precision, ...] = ("float32", "bfloat16", "int8")

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
        """precision: float32, bfloat16, or int8 (quantised at the first use; `hauteur net check` reports its cost);
        default bfloat16 where the processor supports it, else float32."""
        chosen = precision or default_precision()
        check_precision(chosen)
        super().__init__(
            game, f"{path.name} openvino {chosen} {threads} streams", batch_size or PREFERRED_ROWS * threads
        )
        self.precision = chosen
        self.streams = threads
        settings = {
            "INFERENCE_PRECISION_HINT": _hint(chosen),
            "NUM_STREAMS": str(threads),
            "INFERENCE_NUM_THREADS": threads,
            "ENABLE_CPU_PINNING": False,
        }
        core = ov.Core()
        self._model = core.compile_model(_read(core, game, path, chosen), "CPU", settings)
        self._idle: deque[ov.InferRequest] = deque()
        self._lock = threading.Lock()
        self._running: dict[ov.InferRequest, Floats] = {}
        self._abandoned: deque[ov.InferRequest] = deque()

    def __call__(self, features: Floats) -> Answers:
        return self.submit(features).result()

    def submit(self, features: Floats) -> Pending:
        """Split the rows over the streams and start them; the GIL is free while they compute."""
        parts = max(1, min(self.streams, len(features) // LEAST_ROWS))
        bounds = [len(features) * part // parts for part in range(parts + 1)]
        started = [Part(self._start(features[begin:end]), begin, end) for begin, end in pairwise(bounds)]
        return _OpenVinoPending(self, started)

    def _start(self, features: Floats) -> ov.InferRequest:
        """Start one stream on these rows; they are kept, since OpenVINO reads them where they are."""
        request = self._free_request()
        rows = np.ascontiguousarray(features, np.float32)
        self._running[request] = rows
        request.set_input_tensor(ov.Tensor(rows, shared_memory=True))
        request.start_async()
        return request

    def _free_request(self) -> ov.InferRequest:
        """Return an idle request: one whose answer was read, a finished abandoned one, or a new one."""
        with self._lock:  # two searches in two threads may share an evaluator
            if self._abandoned and self._abandoned[0].wait_for(0):
                self.release(self._abandoned.popleft())
            return self._idle.popleft() if self._idle else self._model.create_infer_request()

    def release(self, request: ov.InferRequest) -> None:
        """Take back a request whose answers were read."""
        self._running.pop(request, None)
        self._idle.append(request)

    def abandon(self, request: ov.InferRequest) -> None:
        """Take back a request that may still be computing and whose answers will not be read."""
        self._abandoned.append(request)

    def close(self) -> None:
        """Wait for the work still in progress."""
        for request in list(self._running):
            request.wait()
        super().close()


class Part(NamedTuple):
    """The rows of a batch that one request computes."""

    request: ov.InferRequest
    begin: int
    end: int


class _OpenVinoPending:
    """Parts of one batch that the streams compute."""

    def __init__(self, evaluator: OpenVinoEvaluator, parts: list[Part]) -> None:
        self._evaluator = evaluator
        self._parts = parts
        self._answers: Answers | None = None

    def __del__(self) -> None:
        """A search that was stopped drops batches unread."""
        for part in self._parts:
            self._evaluator.abandon(part.request)

    def result(self) -> Answers:
        """Wait for all parts and join their outputs."""
        if self._answers is None:
            rows = self._parts[-1].end
            self._answers = np.empty((rows, self._evaluator.num_actions), np.float32), np.empty((rows, 3), np.float32)
            while self._parts:
                self._read(self._parts[0], *self._answers)
                self._evaluator.release(self._parts.pop(0).request)
        return self._answers

    def _read(self, part: Part, logits: Floats, wdl: Floats) -> None:
        part.request.wait()
        logits[part.begin : part.end] = part.request.get_output_tensor(0).data
        wdl[part.begin : part.end] = part.request.get_output_tensor(1).data


def _read(core: ov.Core, game: _core.Game, path: Path, precision: Precision) -> ov.Model:
    """Return the OpenVINO model: of the ONNX model, or the quantised one. Raise ValueError for a damaged file."""
    if precision == "int8":
        from hauteur.networks.int8.quantize import ensure_int8

        file = ensure_int8(path, game)
        try:
            return core.read_model(file)
        except RuntimeError:
            raise ValueError(f"{file}: is damaged; delete it, it will be made again") from None
    try:
        return core.read_model(onnx_model(path))
    except RuntimeError as error:
        raise ValueError(f"{path}: cannot be computed by openvino: {one_line(error)[:200]}") from None


def _hint(precision: Precision) -> str:
    """What OpenVINO calls the precision. What an int8 net does not quantise is no faster in bfloat16."""
    return "bf16" if precision == "bfloat16" else "f32"


def check_precision(precision: str) -> None:
    """Raise ValueError unless OpenVINO computes in this precision on this processor."""
    if precision not in PRECISIONS:
        raise ValueError(f"precision of openvino must be one of {', '.join(PRECISIONS)}, got {precision!r}")
    if precision == "bfloat16" and default_precision() != "bfloat16":
        raise ValueError("precision bfloat16 needs a processor that computes it (avx512_bf16, amx_bf16 or Arm's bf16)")


def default_precision() -> Precision:
    """bfloat16 where the processor computes it natively, else float32."""
    return "bfloat16" if computes_bfloat16() else "float32"
