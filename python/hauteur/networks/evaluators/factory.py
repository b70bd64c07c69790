"""Evaluators: features in, policy logits and win/draw/loss out. One protocol, several engines behind it.

`make_evaluator(game, spec)` opens a network file (OpenVINO on the CPU, torch on a GPU) or an evaluator without a net.
Every evaluator can be called directly, or given work with `submit` and its result collected later, so that the next
batch is gathered while one is computed.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import numpy as np

from hauteur.networks.evaluators.base import (
    Backend,
    Evaluator,
    Precision,
    UniformEvaluator,
)
from hauteur.system.hardware import has_nvidia_driver

if TYPE_CHECKING:
    from hauteur import _core
    from hauteur.networks import NetDescription


PRECISIONS: dict[Backend, tuple[Precision, ...]] = {
    "openvino": ("float32", "bfloat16", "int8"),
    "torch": ("float32", "bfloat16", "float16"),
    "onnxruntime": ("float32",),
}
"""What each backend computes in; bfloat16 of openvino only where the processor has it."""


def make_evaluator(
    game: _core.Game,
    spec: str | Path,
    *,
    backend: Backend | None = None,
    precision: Precision | None = None,
    threads: int | None = None,
    batch_size: int | None = None,
    device: str | None = None,
) -> Evaluator:
    """An evaluator for this game.

    spec: `uniform`, `rollout` (random games), or a network file (.safetensors, .pb.gz, .onnx).
    backend: default torch where CUDA is used, else openvino. precision: default the backend's.
    threads: of the processor, default all that this process may use.
    batch_size: rows of a batch, default the backend's preference. device: of torch, `cpu` or `cuda`.
    Raises ValueError when the net is not for this game, or something is not allowed; OSError for an unreadable file.
    """
    if batch_size is not None and not 1 <= batch_size <= 65536:
        raise ValueError(f"batch_size must be 1 to 65536, got {batch_size}")
    if threads is not None and not 1 <= threads <= 1024:
        raise ValueError(f"threads must be 1 to 1024, got {threads}")
    if str(spec) == "uniform":
        return UniformEvaluator(game, batch_size or 256)
    if str(spec) == "rollout":
        from hauteur.networks.evaluators.rollout import RolloutEvaluator

        return RolloutEvaluator(game, batch_size=batch_size or 16)
    if backend is not None and backend not in get_args(Backend):
        raise ValueError(f"backend must be one of {', '.join(get_args(Backend))}, got {backend!r}")
    return _net_evaluator(game, Path(spec), backend, precision, threads, batch_size, device)


def _net_evaluator(
    game: _core.Game,
    path: Path,
    backend: Backend | None,
    precision: Precision | None,
    threads: int | None,
    batch_size: int | None,
    device: str | None,
) -> Evaluator:
    from hauteur import networks
    from hauteur.system.hardware import usable_cores

    check_fits(game, path, networks.describe(path))
    cores = threads or usable_cores()
    if backend == "torch" or (backend is None and (device is not None or has_cuda())):
        from hauteur.networks.evaluators.torch import torch_evaluator

        return torch_evaluator(game, path, precision=precision, threads=cores, batch_size=batch_size, device=device)
    if device not in (None, "cpu"):
        raise ValueError(f"device {device!r} needs backend torch, got backend {backend}")
    if backend == "onnxruntime":
        return _onnxruntime(game, path, precision, cores, batch_size)
    from hauteur.networks.evaluators.openvino import OpenVinoEvaluator

    return OpenVinoEvaluator(game, path, precision=precision, threads=cores, batch_size=batch_size)


def _onnxruntime(
    game: _core.Game, path: Path, precision: Precision | None, threads: int, batch_size: int | None
) -> Evaluator:
    try:
        from hauteur.networks.evaluators.onnxruntime import OrtEvaluator
    except ImportError:
        raise ValueError("backend onnxruntime is not installed: pip install 'hauteur[ort]'") from None
    return OrtEvaluator(game, path, precision=precision, threads=threads, batch_size=batch_size)


def has_cuda() -> bool:
    """Return whether torch can compute on a GPU here. torch is imported only where there is an NVIDIA driver."""
    if not has_nvidia_driver():
        return False
    from hauteur.networks.evaluators.torch import torch_device

    return torch_device(None).type == "cuda"


def evaluations_per_second(evaluator: Evaluator, seconds: float = 0.5) -> float:
    """Current throughput of the evaluator in consecutive full batches."""
    features = np.zeros((evaluator.batch_size, *evaluator.feature_shape), np.float32)
    evaluator(features)  # the first batch also prepares the engine
    done, started = 0, time.perf_counter()
    while time.perf_counter() - started < seconds:
        evaluator(features)
        done += evaluator.batch_size
    return done / (time.perf_counter() - started)


def check_fits(game: _core.Game, path: Path, net: NetDescription) -> None:
    """Raise ValueError unless the net reads this game's features and answers for its actions."""
    ours, theirs = (game.feature_shape, game.num_actions), (net.feature_shape, net.num_actions)
    if ours != theirs:
        raise ValueError(
            f"{path}: is a net for {net.game} (features {theirs[0]}, {theirs[1]} actions), "
            f"not for {game.spec} (features {ours[0]}, {ours[1]} actions)"
        )
