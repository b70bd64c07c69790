"""Networks by onnxruntime (extra `onnx`): nets with attention, and a second opinion on others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnxruntime as ort
from onnxruntime.capi import onnxruntime_pybind11_state

from hauteur.networks.evaluators.base import PREFERRED_ROWS, Answers, Floats, GameEvaluator
from hauteur.networks.onnx import onnx_bytes
from hauteur.system.errors import one_line

if TYPE_CHECKING:
    from hauteur import _core
    from hauteur.networks.registry import Net


ORT_ERRORS: tuple[type[Exception], ...] = tuple(
    kind for kind in vars(onnxruntime_pybind11_state).values() if isinstance(kind, type) and issubclass(kind, Exception)
)
"""Errors of onnxruntime; the kinds have no base of their own."""

_RUN_ERRORS: tuple[type[Exception], ...] = (*ORT_ERRORS, ValueError)


class OrtEvaluator(GameEvaluator):
    """A network file run by onnxruntime on the CPU, float32. Threads do not spin: ruinous on a busy machine."""

    def __init__(self, game: _core.Game, net: Net, *, threads: int = 1, batch_size: int | None = None) -> None:
        super().__init__(game, f"{net.path.name} onnxruntime float32 {threads} threads", batch_size or PREFERRED_ROWS)
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._path = net.path
        self._session = _session(net, options)

    def compute(self, features: Floats) -> Answers:
        """Compute rows; ValueError in one line for what ONNX Runtime refuses."""
        try:
            logits, wdl = self._session.run(["policy", "wdl"], {"features": features})
        except _RUN_ERRORS as error:
            raise ValueError(f"{self._path}: cannot be computed by onnxruntime: {one_line(error)[:200]}") from None
        return logits, wdl


def _session(net: Net, options: ort.SessionOptions) -> ort.InferenceSession:
    """Return a session of ONNX Runtime for a network file."""
    try:
        model = onnx_bytes(net.architecture, net.tensors)
        return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except ORT_ERRORS as error:
        raise ValueError(f"{net.path}: cannot be computed by onnxruntime: {one_line(error)[:200]}") from None
