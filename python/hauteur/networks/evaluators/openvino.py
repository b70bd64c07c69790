"""Networks on the processor by OpenVINO: streams of one thread each, a batch split over them.

One inference by several threads waits at every layer for the slowest of them; streams of one thread each do not, and
leave a busy machine's other programs in peace. The precision is always stated, because OpenVINO would choose bfloat16
by itself where the processor has it.
"""

from __future__ import annotations

import threading
from collections import deque
from concurrent.futures import Future
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

MOST_WEIGHTS = 2**26
"""Bytes of weights up to which a net has forms of fixed shapes: each form has the weights, and small nets gain most."""

ANY = 0
"""Stands for the form of a model that takes any number of rows."""


class OpenVinoEvaluator(GameEvaluator):
    """A network file by OpenVINO on the processor.

    In bfloat16 and int8 the model is compiled three times: for one row, for a full part of a batch, and for any number
    of rows. Fixed shapes are faster by a tenth to a half, since operations are fused that otherwise are not.
    In float32 they gain little, and one form gives a row the same answer in batches and parts of all sizes.
    """

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
        self._path = path
        self._settings = {
            "INFERENCE_PRECISION_HINT": _hint(chosen),
            "NUM_STREAMS": str(threads),
            "INFERENCE_NUM_THREADS": threads,
            "ENABLE_CPU_PINNING": False,
        }
        self._full = -(-self.batch_size // threads)
        self._core = ov.Core()
        self._model = _read(self._core, game, path, chosen)
        weights = sum(node.get_byte_size() for node in self._model.get_ops() if node.get_type_name() == "Constant")
        sizes = (ANY,) if chosen == "float32" or weights > MOST_WEIGHTS else (1, self._full, ANY)
        # The first row need not wait for the other forms: they are compiled in the worker thread.
        self._forms = {sizes[0]: CompiledForm(sizes[0], self._compiled(sizes[0]))}
        for size in sizes[1:]:
            self._forms[size] = CompiledForm(size, self._worker.submit(self._compiled, size))
        self._lock = threading.Lock()
        self._running: dict[ov.InferRequest, Floats] = {}

    def compute(self, features: Floats) -> Answers:
        return self.submit(features).result()

    def submit(self, features: Floats) -> Pending:
        """Split the rows over the streams and start them; the GIL is free while they compute."""
        parts = max(1, min(self.streams, len(features) // LEAST_ROWS))
        rows = -(-len(features) // parts)
        bounds = [*range(0, len(features), rows), len(features)]
        return _OpenVinoPending(self, [self._start(features, begin, end) for begin, end in pairwise(bounds)])

    def _start(self, features: Floats, begin: int, end: int) -> Part:
        """Start one stream on these rows; they are kept, since OpenVINO reads them where they are."""
        rows = np.ascontiguousarray(features[begin:end], np.float32)
        form = self._form(len(rows))
        if len(rows) < form.rows:
            rows = np.concatenate([rows, np.zeros((form.rows - len(rows), *rows.shape[1:]), np.float32)])
        request = self._free_request(form)
        self._running[request] = rows
        request.set_input_tensor(ov.Tensor(rows, shared_memory=True))
        request.start_async()
        return Part(form, request, begin, end)

    def _form(self, rows: int) -> CompiledForm:
        """The form that computes so many rows fastest: a fixed one where at most an eighth of its rows is empty."""
        for size in (1, self._full):
            if size in self._forms and 0 <= size - rows <= size // 8:
                return self._forms[size]
        return self._forms[ANY]

    def _compiled(self, rows: int) -> ov.CompiledModel:
        """Compile the model for a fixed number of rows, or ANY; this also where OpenVINO fails at fixed shapes.

        OpenVINO 2026.4 does so with Mish before a rounded input.
        """
        model = self._model
        if rows != ANY:
            model = model.clone()
            model.reshape({0: [rows, *self.feature_shape]})
        try:
            return self._core.compile_model(model, "CPU", self._settings)
        except RuntimeError as error:
            if rows != ANY:
                return self._compiled(ANY)
            raise ValueError(f"{self._path}: cannot be computed by openvino: {one_line(error)[:200]}") from None

    def _free_request(self, form: CompiledForm) -> ov.InferRequest:
        """Return an idle request: one whose answer was read, a finished abandoned one, or a new one."""
        with self._lock:  # two searches in two threads may share an evaluator
            if form.abandoned and form.abandoned[0].wait_for(0):
                self.release(form, form.abandoned.popleft())
            return form.idle.popleft() if form.idle else form.compiled.create_infer_request()

    def release(self, form: CompiledForm, request: ov.InferRequest) -> None:
        """Take back a request whose answers were read."""
        self._running.pop(request, None)
        form.idle.append(request)

    def close(self) -> None:
        """Wait for the work still in progress."""
        for request in list(self._running):
            request.wait()
        super().close()


class CompiledForm:
    """The model compiled for a number of rows, and its requests."""

    def __init__(self, rows: int, model: ov.CompiledModel | Future[ov.CompiledModel]) -> None:
        self.rows = rows
        self._model = model
        self.idle: deque[ov.InferRequest] = deque()
        self.abandoned: deque[ov.InferRequest] = deque()
        """Requests that may still be computing and whose answers will not be read."""

    @property
    def compiled(self) -> ov.CompiledModel:
        """The model, once it is compiled."""
        if isinstance(self._model, Future):
            self._model = self._model.result()
        return self._model


class Part(NamedTuple):
    """The rows of a batch that one request computes."""

    form: CompiledForm
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
            part.form.abandoned.append(part.request)

    def result(self) -> Answers:
        """Wait for all parts and join their outputs."""
        if self._answers is None:
            rows = self._parts[-1].end
            self._answers = np.empty((rows, self._evaluator.num_actions), np.float32), np.empty((rows, 3), np.float32)
            while self._parts:
                self._read(self._parts[0], *self._answers)
                part = self._parts.pop(0)
                self._evaluator.release(part.form, part.request)
        return self._answers

    def _read(self, part: Part, logits: Floats, wdl: Floats) -> None:
        part.request.wait()
        for index, answers in enumerate((logits, wdl)):
            answers[part.begin : part.end] = part.request.get_output_tensor(index).data[: part.end - part.begin]


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
    """Return what OpenVINO calls the precision. What an int8 net does not quantise is no faster in bfloat16."""
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
