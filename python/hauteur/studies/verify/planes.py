"""Input planes: every cell of every plane against the reference."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hauteur._core import State
from hauteur.studies.verify.files import NUM_PLANES, PlanesFile, PlanesPosition, check_input_format, reached, read

Planes = NDArray[np.float32]

SQUARES = np.arange(64, dtype=np.uint64)
TOLERANCE = 0.0
"""Cells that may differ."""


@dataclass(frozen=True)
class PlanesReport:
    """Cells that differ in all positions, and the planes they are in by position."""

    positions: int
    cells: int
    different: int
    where: dict[str, list[int]]

    def exceeds(self, tolerance: float) -> bool:
        """Return whether more cells differ than `tolerance`."""
        return self.different > tolerance

    def as_json(self) -> dict[str, Any]:
        """The report as JSON holds it."""
        return {"positions": self.positions, "cells": self.cells, "different": self.different, "where": self.where}

    def lines(self) -> list[str]:
        """The report in words."""
        summary = f"{self.positions} positions, {self.cells} cells, {self.different} differ"
        return [summary, *(f"  {name}: planes {', '.join(map(str, where))}" for name, where in self.where.items())]


def planes(path: Path) -> PlanesReport:
    """Compare the features of every position with the planes of a reference file."""
    reference = read(path, PlanesFile)
    check_input_format(path, reference.input_format)
    different, where = 0, {}
    for position in reference.positions:
        unequal = unequal_cells(reached(position), position)
        if unequal.any():
            different += int(unequal.sum())
            where[position.id] = np.flatnonzero(unequal.any(axis=1)).tolist()
    count = len(reference.positions)
    return PlanesReport(positions=count, cells=count * NUM_PLANES * 64, different=different, where=where)


def unequal_cells(state: State, position: PlanesPosition) -> NDArray[np.bool_]:
    """Cells in which the features, written out or packed, are not the reference's; bool [112, 64]."""
    wanted = listed_planes(position)
    masks, values = state.features_packed()
    packed = unpack(masks, values)
    plain = state.features().reshape(NUM_PLANES, 64)
    return np.asarray((plain != wanted) | (packed != wanted))


def listed_planes(position: PlanesPosition) -> Planes:
    """The planes of a reference position, float32 [112, 64]."""
    masks, values = np.zeros(NUM_PLANES, np.uint64), np.ones(NUM_PLANES, np.float32)
    for plane, (mask, value) in position.planes.items():
        masks[plane], values[plane] = int(mask, 16), value
    return unpack(masks, values)


def unpack(masks: NDArray[np.uint64], values: Planes) -> Planes:
    """Mask uint64 [112] and values [112] as float32 [112, 64]."""
    bits = (masks[:, None] >> SQUARES) & np.uint64(1)
    return np.where(bits != 0, values[:, None], np.float32(0))
