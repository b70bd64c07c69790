"""The description of a network file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hauteur.networks.architecture import Architecture

TrainingFacts = dict[str, str | int | float | bool | None]
"""Facts of a network's training in its file, by name."""


@dataclass(frozen=True, kw_only=True)
class NetDescription:
    """Description of a network file."""

    format: str
    """Name of the file format."""
    architecture: Architecture
    """Layers and sizes."""
    game: str
    """Spec of the game."""
    parameters: int
    """Number of trained values."""
    encodings: tuple[str, ...] = ()
    """Storage formats of the tensors, such as `float16`."""
    training: TrainingFacts = field(default_factory=dict)
    """Facts of the training that the file states."""
    sha256: str
    """SHA-256 of the file's bytes, hexadecimal."""
    file_bytes: int
    """Size of the file."""

    @property
    def feature_shape(self) -> tuple[int, int, int]:
        """Planes, rows, columns that the network reads."""
        return self.architecture.feature_shape

    @property
    def num_actions(self) -> int:
        """Length of the policy."""
        return self.architecture.num_actions
