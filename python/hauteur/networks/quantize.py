"""int8 networks: static quantisation of the ONNX model after training, by nncf (extra `quantize`), cached.

Ranges of the activations are the least and the greatest value on calibration rows: cutting off rare values costs more
than it gains. The first convolution stays in float32: a plane that holds a count (chess: plies since the last capture,
up to 100) would leave the planes of zeros and ones two or three levels. Dense layers stay too; they take little time.
"""

import contextlib
import hashlib
import io
import logging
import os
from pathlib import Path
from typing import Any

import numpy as np

from hauteur import _core
from hauteur.networks.evaluators.compare import features_of, random_positions
from hauteur.networks.lc0_layers import Floats
from hauteur.networks.registry import onnx_model
from hauteur.system.extras import require
from hauteur.system.files import sha256_of
from hauteur.system.hardware import cache_directory

CALIBRATION_ROWS = 512
QUANTIZE_VERSION = 3
"""Raised when quantisation changes, so that old files are not used."""

_BATCH = 64
_SEED = 0


def ensure_int8(path: str | Path, game: _core.Game, rows: Floats | None = None) -> Path:
    """The quantised model (OpenVINO's `.xml` and `.bin`) of a network file: made once, then read from the cache.

    rows: calibration features float32 [N, planes, rows, columns]; default: positions of seeded random games.
    Raises ValueError when the extra is missing or the rows do not fit.
    """
    rows = features_of(game, random_positions(game, CALIBRATION_ROWS, seed=_SEED)) if rows is None else rows
    if rows.ndim != 4 or rows.shape[1:] != tuple(game.feature_shape) or len(rows) < 1:
        raise ValueError(f"calibration rows must be [N, {game.feature_shape}], got shape {rows.shape}")
    target = cache_directory() / f"{Path(path).name}.{_key(path, rows)}.int8.v{QUANTIZE_VERSION}.xml"
    if not (target.is_file() and target.with_suffix(".bin").is_file()):
        target.parent.mkdir(parents=True, exist_ok=True)
        _save(_quantize(path, rows), target)
    return target


def _key(path: str | Path, rows: Floats) -> str:
    """Hash of the net and the calibration rows."""
    return hashlib.sha256(sha256_of(Path(path)).encode() + np.ascontiguousarray(rows).tobytes()).hexdigest()[:16]


def _quantize(path: str | Path, rows: Floats) -> Any:
    """Return the quantised OpenVINO model. Keep the terminal output of nncf from programs that talk over stdout."""
    require("precision int8", "nncf", "openvino")
    import openvino as ov

    with contextlib.redirect_stdout(io.StringIO()):
        import nncf

    nncf.set_log_level(logging.ERROR)
    model = ov.Core().read_model(onnx_model(path))
    layers = model.get_ordered_ops()
    convolutions = [layer.get_friendly_name() for layer in layers if layer.get_type_name() == "Convolution"]
    if not convolutions:
        raise ValueError(f"{path}: precision int8 is for convolutions, and this network has none")
    dense = [layer.get_friendly_name() for layer in layers if layer.get_type_name() == "MatMul"]
    ranges = nncf.quantization.range_estimator.RangeEstimatorParametersSet.MINMAX
    batches = [rows[i : i + _BATCH] for i in range(0, len(rows), _BATCH)]
    with contextlib.redirect_stdout(io.StringIO()):
        return nncf.quantize(
            model,
            nncf.Dataset(batches),
            subset_size=len(batches),
            preset=nncf.QuantizationPreset.MIXED,
            ignored_scope=nncf.IgnoredScope(names=[convolutions[0], *dense]),
            advanced_parameters=nncf.AdvancedQuantizationParameters(activations_range_estimator_params=ranges),
        )


def _save(model: Any, target: Path) -> None:
    """Write the model's two files under temporary names; the `.xml`, by which it is found, is renamed last."""
    import openvino as ov

    temporary = target.with_name(f".{target.stem}.{os.getpid()}.xml")
    try:
        ov.save_model(model, temporary, compress_to_fp16=False)
        temporary.with_suffix(".bin").replace(target.with_suffix(".bin"))
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
        temporary.with_suffix(".bin").unlink(missing_ok=True)
