"""Sets of puzzles: those that ship, and the files of puzzles and the folders of measurements below given folders."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from hauteur.studies.puzzles.formats import COLUMNS
from hauteur.studies.puzzles.problems import Problem, read_problems
from hauteur.system.files import read_json

SHIPPED = Path(__file__).parent / "data"
"""Puzzles mined from games of the nets that ship; their solutions are confirmed as docs/how-to/puzzles.md says."""

MEASURED = ("answers.csv", "result.json")
"""Files of a folder of `solve`."""

MOST_LOOKED_AT = 20_000
"""Folders that one look takes."""
MOST_PROBLEMS = 2_000
"""Problems of a set that are read."""


def shipped_sets() -> dict[str, Path]:
    """Return the files of the puzzles that ship, by their names."""
    return {path.stem: path for path in sorted(SHIPPED.glob("*.json"))}


def problems_of(path: Path) -> list[Problem]:
    """Return the first MOST_PROBLEMS problems of a file."""
    return list(islice(read_problems(path), MOST_PROBLEMS))


@dataclass
class PuzzleFiles:
    """The puzzles that ship, and files of puzzles (.epd, Lichess's columns, of `mine`), folders of `solve` below roots.

    Clients name them by what `look` has found, the root's name and the path below it; no path is made of a name.
    """

    roots: Sequence[Path]
    sets: dict[str, Path] = field(default_factory=dict)
    measured: dict[str, Path] = field(default_factory=dict)

    def look(self) -> None:
        """Renew both lists."""
        self.sets, self.measured = shipped_sets(), {}
        for root in self.roots:
            for folder, below, files in islice(os.walk(root), MOST_LOOKED_AT):
                below[:] = sorted(name for name in below if not name.startswith("."))
                place = Path(root.name) / Path(folder).relative_to(root)
                plain = [Path(folder, name) for name in MEASURED if name in files]
                if len(plain) == len(MEASURED) and not any(path.is_symlink() for path in plain):
                    self.measured[str(place)] = Path(folder)
                for path in sorted(Path(folder, name) for name in files):
                    if not path.is_symlink() and _has_puzzles(path):
                        self.sets[str(place / path.name)] = path

    def find(self, name: str) -> Path:
        """Return the file of a set. Raise ValueError where there is none."""
        if name not in self.sets:
            self.look()
        if name not in self.sets:
            raise ValueError(f"there is no set of puzzles {name[:80]!r} here")
        return self.sets[name]


def _has_puzzles(path: Path) -> bool:
    if path.name == "puzzles.json" or path.suffix.lower() == ".epd":
        return True
    if path.suffix.lower() != ".csv" or (path.parent / "puzzles.json").exists():
        return False  # beside its JSON a CSV file has the same puzzles
    try:
        with path.open("rb") as file:
            return file.read(len(COLUMNS[0])) == COLUMNS[0].encode()
    except OSError:
        return False


def measured_visits(folder: Path) -> dict[str, dict[str, int | None]]:
    """Return the visits to solution by problem and player, of a folder of `solve`; None: not solved.

    Raise ValueError where its answers.csv is of something else.
    """
    found: dict[str, dict[str, int | None]] = {}
    path = folder / "answers.csv"
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        try:
            for row in csv.DictReader(file):
                visits = row["visits_to_solution"] or ""
                found.setdefault(row["problem"], {})[row["player"]] = int(visits) if visits.isdecimal() else None
        except (csv.Error, KeyError):
            raise ValueError(f"{path}: not the answers of hauteur puzzles solve") from None
    return found


def measured_result(folder: Path) -> Mapping[str, Any]:
    """Return the result of a folder of `solve`. Raise ValueError where it is of something else."""
    result = read_json(folder / "result.json")
    if not {"players", "counts", "problems"} <= result.keys():
        raise ValueError(f"{folder / 'result.json'}: not a result of hauteur puzzles solve")
    return result
