"""Saved trees in the folders of the server, by name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

FOLDER = "trees"
"""Folder of a root that trees are saved in."""
MOST_FILES = 500
"""Trees that are listed, the newest ones."""


def saved_trees(roots: Sequence[str]) -> dict[str, Path]:
    """Return the trees in the roots by name, the newest first; names begin with the root's: `runs/trees/a.json`."""
    files = [
        (path.stat().st_mtime_ns, Path(root).name, path)
        for root in roots
        for path in (Path(root) / FOLDER).glob("*")
        if path.suffix == ".json" and not path.name.startswith(".") and path.is_file()
    ]
    files.sort(key=lambda found: found[0], reverse=True)
    return {f"{root}/{FOLDER}/{path.name}": path for _, root, path in files[:MOST_FILES]}


def tree_named(name: str, roots: Sequence[str]) -> Path:
    """Return the file of a tree. Raise ValueError for a name that is not listed."""
    found = saved_trees(roots).get(name)
    if found is None:
        raise ValueError(f"there is no saved tree {name[:120]!r} in the folders that the server was given")
    return found


def new_tree_file(roots: Sequence[str], facts: dict[str, Any]) -> Path:
    """Return a path for a tree that will be saved, in the first root; its name has game, visits and digest."""
    if not roots:
        raise ValueError("this server was given no folder to save in: hauteur web FOLDER")
    folder = Path(roots[0]) / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    game = re.sub(r"[^a-z0-9]+", "-", str(facts["game"]).lower()).strip("-")[:40]
    return folder / f"{game}-{facts['visits']}-{facts['digest'][:8]}.json"
