"""Files of experiments: read as JSON, and written whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def read_json(path: Path) -> dict[str, Any]:
    """Read an object; ValueError, with the file's name, where there is none."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: not JSON: {error}") from None
    if not isinstance(found, dict):
        raise ValueError(f"{path}: not a JSON object")
    return found


def write_whole(path: Path, text: str) -> None:
    """Write a file whole or not at all; other processes see the one before until then."""
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = path.with_name(f"{path.name}.tmp")
    whole.write_text(text, encoding="utf-8")
    whole.replace(path)
