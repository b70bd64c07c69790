"""Games whose positions come back, written in Python."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from search_toys import draw


@dataclass
class Wanderers:
    """Two tokens on a ring: a move shifts the mover's token by one of `steps`; nothing is ever won but by `result`.

    seed: 0: players take turns; else a hash of the position says who moves. result: what a repeat comes to. The game is
    over at the third occurrence (if `ends_at_third`) and after `max_plies`.
    """

    size: int = 4
    steps: tuple[int, ...] = (-1, 1)
    seed: int = 0
    result: int = 0
    ends_at_third: bool = True
    max_plies: int = 40
    places: tuple[int, int] = (0, 0)
    past: list[tuple[int, int, int]] = field(default_factory=list)
    feature_shape: tuple[int, int, int] = (3, 1, 16)

    @property
    def num_actions(self) -> int:
        return len(self.steps)

    @property
    def to_move(self) -> int:
        return draw(self.seed, *self.places) % 2 if self.seed else len(self.past) % 2

    @property
    def position(self) -> tuple[int, int, int]:
        return (*self.places, self.to_move)

    def legal_actions(self) -> list[int]:
        return list(range(self.num_actions)) if self.outcome() is None else []

    def apply(self, action: int) -> None:
        mover = self.to_move
        self.past.append(self.position)
        moved = list(self.places)
        moved[mover] = (moved[mover] + self.steps[action]) % self.size
        self.places = (moved[0], moved[1])

    def outcome(self) -> int | None:
        if self.ends_at_third and self.past.count(self.position) >= 2:
            return self.result
        return 0 if len(self.past) >= self.max_plies else None

    def repetition(self) -> tuple[int, int, int] | None:
        count = self.past.count(self.position)
        return (count, self.past[::-1].index(self.position) + 1, self.result) if count else None

    def features(self) -> NDArray[np.float32]:
        planes = np.zeros(self.feature_shape, np.float32)
        planes[0, 0, self.places[0]] = planes[1, 0, self.places[1]] = 1.0
        planes[2] = self.to_move
        return planes

    def copy(self) -> Wanderers:
        return replace(self, past=list(self.past))
