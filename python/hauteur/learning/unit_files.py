"""Files of units: gen-GGGGG-UUUU.parquet has the games of unit U of generation G, in the order of their numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import pyarrow as pa

from hauteur.learning.planned import PlannedGames
from hauteur.system.files import write_bytes

SECOND = ".second"
"""Marks a second file of a unit, with other games than the first."""


def unit_path(folder: Path, generation: int, number: int) -> Path:
    """The file of a unit."""
    return folder / f"gen-{generation:05d}-{number:04d}.parquet"


def missing_units(
    planned: PlannedGames, folder: Path, warn: Callable[[str], object], distrusted: Mapping[int, str]
) -> list[int]:
    """Return the units of a generation without a right file; name files that are damaged or of other games.

    distrusted: units that do not count, and which worker played them; their files are deleted.
    """
    missing = []
    for number, worker in distrusted.items():
        path = unit_path(folder, planned.generation, number)
        if path.exists():
            warn(f"{path}: {worker} played it, which was shut out; its games are played again")
            path.unlink()
    for number in planned.units:
        path = unit_path(folder, planned.generation, number)
        if not path.exists():
            missing.append(number)
            continue
        try:
            planned.checked(path, number, str(path))
        except ValueError as error:
            warn(f"{error}; its games are played again")
            missing.append(number)
    known = {unit_path(folder, planned.generation, number) for number in planned.units}
    for path in sorted(set(folder.glob(f"gen-{planned.generation:05d}-*.parquet")) - known):
        warn(f"{path}: is the file of no unit of this generation, and is not used")
    return missing


def write_unit(planned: PlannedGames, folder: Path, number: int, content: bytes, *, replaces: bool = False) -> None:
    """Write the file of a unit, whole or not at all.

    replaces: in the place of any file that is there. Otherwise ValueError where a right one is there with other games;
    the new one is then beside it, and both are named.
    """
    path = unit_path(folder, planned.generation, number)
    before = None
    if path.exists() and not replaces:
        with suppress(ValueError):  # damaged, or of other games
            before = planned.checked(path, number, str(path))[1]
    if before is None or before == planned.checked(pa.BufferReader(content), number, path.name)[1]:
        write_bytes(path, content)
        return
    second = path.with_name(path.name + SECOND)
    write_bytes(second, content)
    raise ValueError(f"{path} and {second} are the same unit with different games; delete the wrong one, or both")
