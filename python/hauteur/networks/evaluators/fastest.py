"""The precision in which the core computes a net fastest on this processor: measured once for each shape of a net."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from hauteur import _core
from hauteur.networks.layers import CoreLayers, core_layers, resnet_shapes

if TYPE_CHECKING:
    from hauteur.networks.architecture import Architecture
    from hauteur.networks.evaluators.base import Precision

Shape = tuple[object, ...]
"""What the time of a net depends on: the board, the activation and the shapes of all layers."""

SECONDS = 0.02
"""Time that the measurement of a net takes, and that of two batches in each precision at least."""

ROWS = 8
"""Rows of a batch that is timed, for each thread."""

CLEAR_GAIN = 0.95
"""Share of float32's time that another precision may take at most: a difference that is none costs no digits."""

_known: dict[Shape, Precision] = {}
_measuring = Lock()


def core_precisions() -> tuple[Precision, ...]:
    """Return the precisions that the core's best instructions here compute, float32 first."""
    return ("float32", "bfloat16") if "bfloat16" in precisions_of_core() else ("float32",)


def precisions_of_core() -> set[str]:
    """Return the precisions that the core computes on this machine, by any set of instructions."""
    found: set[str] = set()
    for _, precisions in _core.Network.available():
        found.update(precisions)
    return found


def fastest_network(layers: CoreLayers, threads: int, batch_size: int) -> _core.Network:
    """Return the net in the precision in which this processor computes it fastest.

    Nets of one shape have one precision in a process: the first that is opened is timed, for about 20 ms.
    """
    # One at a time: two measurements would disturb each other, and might give nets of one shape two precisions.
    with _measuring:
        known = _known.get(shape_of(layers))
        if known is not None:
            return _core.Network(layers, known, threads, batch_size)
        nets = {name: _core.Network(layers, name, threads, batch_size) for name in core_precisions()}
        chosen = _measured(nets, layers, threads) if len(nets) > 1 else "float32"
        _known[shape_of(layers)] = chosen
        return nets[chosen]


def fastest_precision(architecture: Architecture) -> Precision:
    """Return the precision in which this processor computes nets of this architecture fastest.

    It is measured on one with random weights. float32 where the core does not compute it.
    """
    if architecture.kind != "resnet":
        return "float32"
    random = np.random.default_rng(0)
    tensors = {}
    for name, shape in resnet_shapes(architecture).items():
        drawn = random.standard_normal(shape, np.float32)
        tensors[name] = np.abs(drawn) * np.float32(0.05)
    chosen = fastest_network(core_layers(architecture, tensors), 1, ROWS).precision
    return "bfloat16" if chosen == "bfloat16" else "float32"


def shape_of(layers: CoreLayers) -> Shape:
    """Return what the time of these layers depends on."""
    found: list[object] = [layers["board"], layers["activation"], layers["pooled"]]
    _add_shapes(found, [layers["input"], layers["blocks"], layers["policy"], layers["value"]])
    return tuple(found)


def _add_shapes(found: list[object], part: object) -> None:
    """Add the shapes of the arrays of a part of the layers, in order; its other leaves by their kind."""
    if isinstance(part, np.ndarray):
        found.append(part.shape)
    elif isinstance(part, list | tuple):
        found.append(len(part))
        for one in part:
            # The indices of actions among planes: they cost the same whatever they are.
            if not isinstance(one, int):
                _add_shapes(found, one)
    else:
        found.append(part is None)


def _measured(nets: Mapping[Precision, _core.Network], layers: CoreLayers, threads: int) -> Precision:
    """Return the precision of the fastest net, on planes of which a third of the squares are 1."""
    planes = layers["input"].weights.shape[1]
    random = np.random.default_rng(0)
    shape = (ROWS * threads, planes, *layers["board"])
    features = (random.random(shape) < 1 / 3).astype(np.float32)

    def batch_of(net: _core.Network) -> Callable[[], object]:
        return lambda: net.evaluate(features)

    return fastest({name: batch_of(net) for name, net in nets.items()})


def fastest(
    batches: Mapping[Precision, Callable[[], object]], clock: Callable[[], float] = time.perf_counter
) -> Precision:
    """Return the precision whose batch takes the shortest time, float32 unless another one's is clearly shorter.

    Batches are computed in turns until `SECONDS` have passed, each at least twice; the shortest time of each counts,
    which other programs disturb least. clock: seconds.
    """
    shortest = dict.fromkeys(batches, float("inf"))
    begun = clock()
    turns = 0
    while turns < 2 or clock() - begun < SECONDS:
        for name, batch in batches.items():
            before = clock()
            batch()
            shortest[name] = min(shortest[name], clock() - before)
        turns += 1
    best = min(shortest, key=lambda name: shortest[name])
    if shortest[best] < CLEAR_GAIN * shortest["float32"]:
        return best
    return "float32"
