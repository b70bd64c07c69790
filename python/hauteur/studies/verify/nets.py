"""The nets of a reference file: found by name in a folder, opened as evaluators in float32."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from hauteur._core import Game

if TYPE_CHECKING:
    from hauteur.networks.evaluators.base import Backend, Evaluator

SUFFIXES = ("", ".pb.gz", ".pb", ".safetensors")


def find_net(folder: Path, name: str) -> Path:
    """The file of a net in a folder; ValueError where there is none. Names never lead out of the folder."""
    if not folder.is_dir():
        raise ValueError(f"--nets must be a folder that holds the nets of the reference file, got {str(folder)!r}")
    if Path(name).name != name:
        raise ValueError(f"a net's name must be a file name, got {name!r}")
    for path in (folder / f"{name}{suffix}" for suffix in SUFFIXES):
        if path.is_file():
            return path
    tried = ", ".join(f"{name}{suffix}" for suffix in SUFFIXES)
    raise ValueError(f"net {name!r} of the reference file is not in {folder} (looked for {tried})")


def is_same_file(path: Path, sha256: str | None) -> bool:
    """Return whether a file has this hash; true where none is given."""
    return sha256 is None or hashlib.sha256(path.read_bytes()).hexdigest() == sha256.lower()


@contextmanager
def reference_evaluator(path: Path, backend: "Backend | None", threads: int | None) -> Iterator["Evaluator"]:
    """An evaluator of a chess net in float32 on the processor, the same from run to run."""
    from hauteur.networks.evaluators.factory import make_evaluator

    game = Game("chess")
    evaluator = make_evaluator(game, path, backend=backend, precision="float32", threads=threads, device="cpu")
    try:
        yield evaluator
    finally:
        evaluator.close()
