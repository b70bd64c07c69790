"""Exports to ONNX, cached by content: the same net is exported once. Reading an export does not import torch."""

from __future__ import annotations

import os
from pathlib import Path

from hauteur.networks.onnx import export_onnx
from hauteur.networks.registry import load
from hauteur.system.files import sha256_of
from hauteur.system.hardware import cache_directory

EXPORT_VERSION = 1
"""Raised when the exported graph changes, so that old exports are not used."""


def ensure_onnx(path: str | Path) -> Path:
    """The ONNX file of a network file: itself, an earlier export, or a new one.

    Exports lie beside the net as `NAME.HASH.onnx`, or in the user's cache directory when that folder cannot be written
    or the variable HAUTEUR_CACHE names a cache.
    Raises ValueError and OSError as `networks.load`.
    """
    path = Path(path)
    if path.name.endswith(".onnx"):
        return path
    name = f"{path.name}.{sha256_of(path)[:16]}.v{EXPORT_VERSION}.onnx"
    beside = [] if os.environ.get("HAUTEUR_CACHE") else [path.parent]
    candidates = [folder / name for folder in (*beside, cache_directory())]
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    target = candidates[0] if os.access(path.parent, os.W_OK) else candidates[-1]
    target.parent.mkdir(parents=True, exist_ok=True)
    export_onnx(load(path), target)
    return target


def renew_onnx(path: str | Path, unreadable: Path, complaint: str) -> Path:
    """A new export of a network file in the place of one that an engine could not read.

    Raises ValueError when the file that cannot be read is the user's own.
    """
    if unreadable == Path(path):
        raise ValueError(f"{path}: is not an ONNX file that can be computed: {complaint.strip().splitlines()[0]}")
    unreadable.unlink(missing_ok=True)
    return ensure_onnx(path)
