"""The quantised model of a network: static quantisation after training, in OpenVINO's form, kept in the cache.

Inputs and weights of the convolutions are whole numbers of 8 bits. All else is computed in float32: the skip
connections, which would gather every block's rounding, squeeze and excitation, dense layers, and the convolutions of
the value head, which take little time. The inputs of a convolution are scaled channel by channel before they are
rounded, its weights inversely, so that small channels keep their digits (SmoothQuant, Xiao et al. 2023,
arXiv:2211.10438). Planes of the features are whole numbers and stay exact.
"""

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import openvino as ov
from openvino import opset13 as operators

from hauteur import _core
from hauteur.networks.int8.calibration import Calibration, CalibrationRecord, own_games
from hauteur.networks.int8.rounding import Doubles, patches, rounded
from hauteur.networks.lc0_layers import Floats
from hauteur.networks.registry import onnx_model
from hauteur.system.files import sha256_of
from hauteur.system.hardware import cache_directory

QUANTIZE_VERSION = 4
"""Raised when quantisation changes, so that old files are not used."""

_BATCH = 50
_MOMENT_SQUARES = 25_600
"""Squares of the board that the second moments are summed over."""

_SMOOTHING = 0.75
"""0: channels keep their scales; 1: all their ranges become equal."""

_LEVELS = 255
_RECORD = ["hauteur", "calibration"]


class _Seen(NamedTuple):
    """Of a convolution's inputs on the calibration positions: least and greatest [C], second moments [C k k, C k k]."""

    least: Floats
    greatest: Floats
    moments: Doubles


def int8_file(path: str | Path) -> Path:
    """Where the quantised model (OpenVINO's `.xml`, and `.bin` beside it) of a network file is kept."""
    return cache_directory() / f"{Path(path).name}.{sha256_of(Path(path))[:16]}.int8.v{QUANTIZE_VERSION}.xml"


def is_quantised(path: str | Path) -> bool:
    """Return whether the cache has the quantised model of a network file."""
    target = int8_file(path)
    return target.is_file() and target.with_suffix(".bin").is_file()


def ensure_int8(path: str | Path, game: _core.Game) -> Path:
    """The quantised model of a network file, made now if there is none; what it took goes to the standard error."""
    if not is_quantised(path):
        started = time.perf_counter()
        record = make_int8(path, game)
        seconds = time.perf_counter() - started
        print(f"{Path(path).name}: int8 made in {seconds:.1f} s from {record}", file=sys.stderr, flush=True)
    return int8_file(path)


def make_int8(path: str | Path, game: _core.Game, calibration: Calibration | None = None) -> CalibrationRecord:
    """Quantise a network file, in place of what the cache has of it.

    calibration: default, games that the net plays. Raises ValueError for networks without convolutions.
    """
    model = ov.Core().read_model(onnx_model(path))
    if not _quantised(model):
        raise ValueError(f"{path}: precision int8 is for convolutions, and this network has none")
    used = calibration or _own_games(model, game)
    _quantise(model, _seen(model, used.features))
    model.set_rt_info(used.record.model_dump_json(), _RECORD)
    _save(model, int8_file(path))
    return used.record


def calibration_of(path: str | Path) -> CalibrationRecord:
    """Return what the quantised model of a network file in the cache was calibrated on."""
    model = ov.Core().read_model(int8_file(path))
    return CalibrationRecord.model_validate_json(model.get_rt_info(_RECORD).astype(str))


def _own_games(model: ov.Model, game: _core.Game) -> Calibration:
    compiled = _compiled(model)
    return own_games(game, lambda features: np.asarray(compiled(features)[0]))


def _compiled(model: ov.Model) -> ov.CompiledModel:
    """Compile a model in float32, one thread: the same answers wherever there are as many cores."""
    settings = {"INFERENCE_PRECISION_HINT": "f32", "NUM_STREAMS": "1", "INFERENCE_NUM_THREADS": 1}
    return ov.Core().compile_model(model, "CPU", {**settings, "ENABLE_CPU_PINNING": False})


def _quantised(model: ov.Model) -> list[Any]:
    """The convolutions that the policy depends on, in order; those of other heads stay as they are."""
    needed, todo = set(), [model.output("policy").get_node()]
    while todo:
        node = todo.pop()
        if node.get_friendly_name() not in needed:
            needed.add(node.get_friendly_name())
            todo += [value.get_node() for value in node.input_values()]
    convolutions = (node for node in model.get_ordered_ops() if node.get_type_name() == "Convolution")
    return [node for node in convolutions if node.get_friendly_name() in needed]


def _seen(model: ov.Model, features: Floats) -> list[_Seen]:
    """Run the calibration positions and look at the inputs of the convolutions."""
    layers = _quantised(model)
    results = [operators.result(layer.input_value(0)) for layer in layers]
    compiled = _compiled(ov.Model(results, model.get_parameters(), "inputs"))
    kernels = [_weights(layer).shape[-1] for layer in layers]
    seen: list[_Seen] = []
    squares = 0
    for inputs in _batches(compiled, features):
        with_moments = squares < _MOMENT_SQUARES
        squares += inputs[0].shape[0] * inputs[0].shape[2] * inputs[0].shape[3]
        new = [_seen_of(x, kernel, with_moments) for x, kernel in zip(inputs, kernels, strict=True)]
        seen = [_both(*pair) for pair in zip(seen, new, strict=True)] if seen else new
    return seen


def _batches(compiled: ov.CompiledModel, features: Floats) -> Iterator[list[Floats]]:
    for begin in range(0, len(features), _BATCH):
        outputs = compiled(features[begin : begin + _BATCH])
        yield [np.asarray(outputs[i]) for i in range(len(compiled.outputs))]


def _seen_of(x: Floats, kernel: int, with_moments: bool) -> _Seen:
    rows = patches(x, kernel) if with_moments else np.zeros((0, x.shape[1] * kernel * kernel), np.float32)
    return _Seen(x.min(axis=(0, 2, 3)), x.max(axis=(0, 2, 3)), (rows.T @ rows).astype(np.float64))


def _both(one: _Seen, other: _Seen) -> _Seen:
    least, greatest = np.minimum(one.least, other.least), np.maximum(one.greatest, other.greatest)
    return _Seen(least, greatest, one.moments + other.moments)


def _quantise(model: ov.Model, seen: list[_Seen]) -> None:
    """Replace inputs and weights of the convolutions by whole numbers times their steps."""
    first = model.inputs[0].get_node().get_friendly_name()
    rounded_inputs: dict[tuple[str, bytes], Any] = {}
    for layer, inputs in zip(_quantised(model), seen, strict=True):
        source, weights = layer.input_value(0), _weights(layer)
        is_first = source.get_node().get_friendly_name() == first
        if is_first and not _holds_counts(inputs):
            continue
        scales = _plane_scales(weights) if is_first else _channel_scales(weights, inputs)
        if is_first:
            scales[inputs.greatest > 1] = 1.0
            low, high = 0.0, float(_LEVELS)
        else:
            low, high = _range(float((inputs.least * scales).min()), float((inputs.greatest * scales).max()))
        key = source.get_node().get_friendly_name(), scales.tobytes()
        if key not in rounded_inputs:
            rounded_inputs[key] = _rounded_input(source, scales, low, high)
        layer.input(0).replace_source_output(rounded_inputs[key])
        layer.input(1).replace_source_output(_rounded_weights(weights, scales, inputs.moments))
    model.validate_nodes_and_infer_types()


def _weights(layer: Any) -> Floats:
    return np.asarray(layer.input_value(1).get_node().data, np.float32)


def _holds_counts(inputs: _Seen) -> bool:
    """Return whether the features look like planes of zeros and ones, and of counts that fit in 8 bits."""
    return float(inputs.least.min()) >= 0 and float(inputs.greatest.max()) <= _LEVELS


def _plane_scales(weights: Floats) -> Floats:
    """Whole numbers 1 to 255 that stand for a plane's 1, larger where its weights are: steps suit the plane."""
    size = np.sqrt((weights.astype(np.float64) ** 2).mean(axis=(0, 2, 3)))
    return np.asarray(np.clip(np.round(_LEVELS * size / max(size.max(), 1e-12)), 1, _LEVELS), np.float32)


def _channel_scales(weights: Floats, inputs: _Seen) -> Floats:
    """Factors of a convolution's input channels before rounding."""
    size = np.sqrt((weights.astype(np.float64) ** 2).mean(axis=(0, 2, 3)))
    reach = np.maximum(np.abs(inputs.least), np.abs(inputs.greatest)).astype(np.float64)
    reach, size = (np.maximum(values, max(values.max(), 1e-12) / 64) for values in (reach, size))
    return np.asarray(size ** (1 - _SMOOTHING) / reach**_SMOOTHING, np.float32)


def _range(low: float, high: float) -> tuple[float, float]:
    """The range that 256 levels stand for, such that zero is one of them."""
    low, high = min(low, 0.0), max(high, 1e-6)
    step = (high - low) / _LEVELS
    return float(np.floor(low / step)) * step, float(np.floor(low / step) + _LEVELS) * step


def _rounded_input(source: Any, scales: Floats, low: float, high: float) -> Any:
    ends = [operators.constant((end / scales).astype(np.float32).reshape(1, -1, 1, 1)) for end in (low, high)]
    outputs = [operators.constant(np.float32(end)) for end in (low, high)]
    return operators.fake_quantize(source, *ends, *outputs, _LEVELS + 1).output(0)


def _rounded_weights(weights: Floats, scales: Floats, moments: Doubles) -> Any:
    last = np.ascontiguousarray(weights.transpose(0, 2, 3, 1), np.float64)  # channels last, as in `patches`
    factors = np.tile(scales.astype(np.float64), weights.shape[-1] ** 2)
    whole, steps = rounded(last.reshape(len(last), -1) / factors, moments * factors[:, None] * factors)
    whole = np.ascontiguousarray(whole.reshape(last.shape).transpose(0, 3, 1, 2))
    numbers = operators.convert(operators.constant(whole), "f32")
    return operators.multiply(numbers, operators.constant(steps.reshape(-1, 1, 1, 1))).output(0)


def _save(model: ov.Model, target: Path) -> None:
    """Write the model's two files under temporary names; the `.xml`, by which it is found, is renamed last."""
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.stem}.{os.getpid()}.xml")
    try:
        ov.save_model(model, temporary, compress_to_fp16=False)
        temporary.with_suffix(".bin").replace(target.with_suffix(".bin"))
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
        temporary.with_suffix(".bin").unlink(missing_ok=True)
