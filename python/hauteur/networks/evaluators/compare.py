"""Positions to try evaluators on."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hauteur import _core

Floats = NDArray[np.float32]


def random_positions(game: _core.Game, count: int, *, seed: int = 0) -> list[_core.State]:
    """The start position, then positions along games of random moves; none of them over. The same for the same seed."""
    rng = np.random.Generator(np.random.Philox(key=seed))
    positions: list[_core.State] = []
    state = game.new_initial_state()
    while len(positions) < count:
        if state.outcome() is not None:
            state = game.new_initial_state()
        if state.ply or not positions:
            positions.append(state.copy())
        state.apply(int(rng.choice(state.legal_actions())))
    return positions


def features_of(game: _core.Game, positions: Sequence[_core.State]) -> Floats:
    """Features of the positions, float32 [B, planes, rows, columns]."""
    features = np.empty((len(positions), *game.feature_shape), np.float32)
    _core.encode_positions(positions, features)
    return features
