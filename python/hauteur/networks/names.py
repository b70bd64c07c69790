"""Names of nets: one resolver from what a user writes to the file that is meant.

A net is named by a file, by an evaluator that needs none (`uniform`, `rollout`), by a net that ships (`connect4`), or
by one that `hauteur net get` has downloaded (`maia-1900`); in this order.
"""

from __future__ import annotations

import os
import re
from functools import lru_cache
from pathlib import Path

from hauteur.networks.catalogue import KNOWN_NETS, known_net
from hauteur.system.files import sha256_of
from hauteur.system.formatting import did_you_mean
from hauteur.system.hardware import data_directory

WITHOUT_FILE = ("uniform", "rollout")
"""Evaluators in the place of a net."""

NETS_VARIABLE = "HAUTEUR_NETS"
"""Environment variable that names the folder of the downloaded nets."""

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,79}")

KINDS = (".pb.gz", ".safetensors")
"""Files that are downloaded, by the ends of their names."""


def data_path(name: str) -> Path:
    """Path of a file of the package's data folder, there or not."""
    return Path(__file__).parent / "data" / name


def shipped_names() -> list[str]:
    """Return the names of the nets that ship, e.g. `connect4`."""
    return sorted(path.name.removesuffix(".safetensors") for path in data_path("").glob("*.safetensors"))


def nets_folder() -> Path:
    """Folder of the downloaded nets: HAUTEUR_NETS, or `nets` in the user's data folder; there or not."""
    chosen = os.environ.get(NETS_VARIABLE)
    return Path(chosen) if chosen else data_directory() / "nets"


def downloaded_nets() -> dict[str, Path]:
    """Return the nets in the folder of downloads, by name; none where there is no such folder."""
    try:
        files = sorted(nets_folder().iterdir())
    except OSError:
        return {}
    found: dict[str, Path] = {}
    for path in files:
        kind = next((kind for kind in KINDS if path.name.endswith(kind)), None)
        if kind is not None and not path.name.startswith(".") and path.is_file():
            found.setdefault(path.name.removesuffix(kind), path)
    return found


def resolve_net(name: str | Path) -> str:
    """Return the file that a net's name means, or the name of an evaluator without a file, unchanged.

    A path is returned unchanged, there or not: the reader reports that. Raises ValueError for a name that is none,
    or of a public net that is not downloaded yet, with the command that gets it; and where a downloaded file is not
    what its catalogue entry says.

    >>> resolve_net("uniform")
    'uniform'
    """
    text = str(name)
    if text in WITHOUT_FILE or Path(text).is_file():
        return text
    if not is_name(text):
        _advise(text)
        return text
    if text in shipped_names():
        return str(data_path(f"{text}.safetensors"))
    path = downloaded_nets().get(text)
    if path is None:
        raise ValueError(_missing(text))
    _check_download(text, path, path.stat().st_mtime_ns)
    return str(path)


def is_name(text: str) -> bool:
    """Return whether a text could be the name of a net: letters, digits, `-` and `_`; others are paths."""
    return NAME.fullmatch(text) is not None


def _advise(path: str) -> None:
    """Raise ValueError for a file that is not there but has the name of a public net's."""
    known = known_net(path.removesuffix(".pb.gz"))
    if known is not None:
        raise ValueError(f"{path}: no such file here; `hauteur net get {known.name}` downloads the net {known.name}")


def _missing(name: str) -> str:
    """Return the error line for a name that no net has here."""
    if known_net(name) is not None:
        return f"the net {name} is not downloaded yet: hauteur net get {name}"
    here = [*shipped_names(), *downloaded_nets()]
    near = did_you_mean(name, [*here, *(net.name for net in KNOWN_NETS)])
    return (
        f"there is no net {name!r}{near}: give a file ({', '.join(KINDS)}), {', '.join(WITHOUT_FILE)} or one of "
        f"{', '.join(here)}; `hauteur net get` lists more"
    )


@lru_cache(64)
def _check_download(name: str, path: Path, _changed: int) -> None:
    """Check a downloaded file of a public net once: ValueError for another file, a line where no hash is recorded."""
    import logging

    known = known_net(name)
    if known is None:
        return
    if known.sha256 is None:
        logging.getLogger(__name__).warning(
            "hauteur: %s: its sha256 is not on record, so that the file is not verified", path
        )
    elif sha256_of(path) != known.sha256:
        raise ValueError(f"{path}: is not the net {name} (its sha256 differs): hauteur net get {name} --force")
