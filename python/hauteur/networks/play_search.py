"""The search that a net carries for play: a text of settings, in the catalogue of nets that ship or in a net's file.

The text is that of a player, `solver.threats=1000 solver.lost_child_mode=zero_prior`. Of a net that ships it stands in
`data/shipped_nets.toml`, of others among the facts of the training in the file, as `FACT`, where a run writes that of
its recipe. `hauteur.mcts.net_search` reads it and puts it under what a user gives.
"""

from __future__ import annotations

import json
import struct
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hauteur.networks.names import ResolvedNet

FACT = "play_search"
"""Name of the text among the facts of the training in a file."""
MOST_HEADER = 2**20
"""Bytes of a file's header that are looked into; those of nets have some ten thousand."""


def play_search_text(net: ResolvedNet) -> str:
    """Return the settings of the search that a net carries for play; empty: none.

    A file that is none, or no net, carries nothing: its reader says what is wrong with it. ValueError for a fact that
    is no text.
    """
    if not net.has_file:
        return ""
    path = Path(net.path).resolve()
    shipped = _shipped_text(path)
    if shipped:
        return shipped
    try:
        about = path.stat()
    except OSError:
        return ""
    text = _stored_text(path, about.st_mtime_ns, about.st_size)
    if not isinstance(text, str):
        raise ValueError(f"{net.path}: {FACT} in its metadata must be a text of settings, got {text!r}")
    return text


def _shipped_text(path: Path) -> str:
    """Return the text of a net that ships; empty for another file."""
    from hauteur.networks.names import data_path

    if path.parent != data_path("").resolve():
        return ""
    from hauteur.networks.strength import shipped_nets  # with tomllib, which other nets need not

    shipped = shipped_nets().get(path.name.removesuffix(".safetensors"))
    return "" if shipped is None else shipped.play_search


@lru_cache(256)
def _stored_text(path: Path, _changed: int, _size: int) -> Any:
    """Return the fact of a safetensors file, read once; empty where there is none."""
    try:
        metadata = _header(path).get("__metadata__", {})
        return json.loads(metadata.get("hauteur.training", "{}")).get(FACT, "")
    except (OSError, ValueError, AttributeError, TypeError):
        return ""  # no such file: its reader reports that


def _header(path: Path) -> Any:
    """Return the header of a safetensors file; ValueError for another file."""
    with path.open("rb") as file:
        start = file.read(9)
        if len(start) < 9 or start[8:] != b"{":
            raise ValueError(f"{path}: is not a safetensors file")
        (length,) = struct.unpack("<Q", start[:8])
        if length > MOST_HEADER:
            raise ValueError(f"{path}: its header is too long")
        return json.loads(start[8:] + file.read(length - 1))
