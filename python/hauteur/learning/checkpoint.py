"""Checkpoint of a learning run: tensors and state in one file, so that they always agree.

A safetensors file whose header holds the state as JSON; written under a temporary name and renamed.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, ValidationError
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from hauteur.system.files import write_bytes

FORMAT = "hauteur checkpoint 1"


class RunState(BaseModel):
    """Progress of a learning run.

    Random numbers need no state: they are derived from seed, purpose and number (see hauteur.system.seeds).
    """

    model_config = ConfigDict(extra="forbid")

    generation: int = 1
    """The present generation; 0 while the run learns from recorded games."""
    done: list[str] = []
    """Steps of the present generation that are finished, by name."""
    current: dict[str, Any] = {}
    """Metrics of the present generation so far."""
    best: int = 0
    """Generation of the best net."""
    best_elo: float = 0.0
    """Elo of the best net, the first net having 0."""
    train_steps: int = 0
    """Optimiser steps."""
    games: dict[int, int] = {}
    """Number of games of each generation that was played: the index of the replay buffer."""
    digests: dict[int, str] = {}
    """Hashes of the games of each generation, where known."""
    controller: dict[str, Any] | None = None
    """State of the controller as JSON, where the recipe has one (`options.controller.ControllerState`)."""
    start: dict[str, Any] | None = None
    """Metrics of generation 0; None for a run without recorded games."""
    history: list[dict[str, Any]] = []
    """Metrics of the finished generations, from 1."""
    seconds: float = 0.0
    """Seconds of the clock in steps, over all processes that took part in the run."""
    cpu_seconds: float = 0.0
    """Seconds of the processor, likewise."""

    @property
    def is_begun(self) -> bool:
        """Whether a step, or the start from recorded games, is finished."""
        return self.generation > 1 or bool(self.done) or self.start is not None

    @property
    def lines(self) -> list[dict[str, Any]]:
        """Metrics of all finished generations, 0 included where there was one."""
        first = [] if self.start is None else [self.start]
        return [*first, *self.history]


def save_checkpoint(path: Path, state: RunState, tensors: dict[str, NDArray[np.float32]]) -> None:
    """Write state and tensors as one file, whole or not at all, with their hash."""
    # State and tensors in one file: two files could be of two moments after a kill between their writes.
    text = state.model_dump_json()
    metadata = {"format": FORMAT, "state": text, "sha256": _digest(text, tensors)}
    write_bytes(path, save(tensors, metadata=metadata))


def load_checkpoint(path: Path) -> tuple[RunState, dict[str, NDArray[np.float32]]]:
    """Read a checkpoint; ValueError naming the file when it is none, or not what was written."""
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            names = list(file.keys())
            tensors = {name: file.get_tensor(name) for name in names}
    except (SafetensorError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: not a whole safetensors file: {error}") from error
    found = metadata.get("format", "")
    if found != FORMAT:
        raise ValueError(f"{path}: its format is {found[:80]!r}, expected {FORMAT!r}")
    # safetensors has no check sum: damaged numbers would be trained on.
    if metadata.get("sha256") != _digest(metadata.get("state", ""), tensors):
        raise ValueError(f"{path}: its state and tensors are not those that were written (their sha256 differs)")
    try:
        return RunState.model_validate_json(metadata["state"]), tensors
    except (KeyError, ValidationError) as error:
        raise ValueError(f"{path}: its state cannot be read: {str(error).splitlines()[0]}") from error


def _digest(state: str, tensors: Mapping[str, NDArray[np.float32]]) -> str:
    """Return the sha256 of the state's text and the tensors, hexadecimal."""
    from hauteur.networks.files import tensors_digest  # with all formats of networks

    return hashlib.sha256(f"{tensors_digest(tensors)} {state}".encode()).hexdigest()
