"""Targets beside policy and value: short-term values of recorded games, and what a user's function says of them.

Every target is float32 with one row a move. Sources: D. J. Wu, "Accelerating Self-Play Learning in Go", 2019, section
4.2, and the methods of KataGo described since (auxiliary soft policy, short-term values and errors).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from hauteur.learning.recorded_games import Games
from hauteur.networks.registered import BUILT_IN_OUTPUTS, Targets

Columns = dict[str, NDArray[np.float32]]
"""Targets by name, [moves, ...]."""


def short_term_values(games: Games, horizons: Sequence[float]) -> NDArray[np.float32]:
    """Return win, draw and loss of the mover soon after each move, [moves, horizons, 3].

    s_t = w_t / h + (1 - 1 / h) s_(t + 1) for a horizon of h plies, with the root's value w_t, or s_(t + 1) where it is
    not known, and the result of the game after its last move.
    """
    own = np.where(games.movers[:, None] == 0, games.root_wdl, games.root_wdl[:, ::-1])  # of the first player
    later = np.repeat(np.eye(3)[1 - games.outcome.astype(np.int64)][:, None], len(horizons), axis=1)
    values = np.empty((len(own), len(horizons), 3))
    shares = 1 / np.asarray(horizons, np.float64)[:, None]
    for back in range(1, 1 + int(games.move_counts.max(initial=0))):
        some = np.flatnonzero(games.move_counts >= back)
        moves = games.moves_before[some + 1] - back
        step = shares * (own[moves][:, None] - later[some])
        later[some] += np.where(np.isfinite(step), step, 0)
        values[moves] = later[some]
    return np.where(games.movers[:, None, None] == 0, values, values[:, :, ::-1]).astype(np.float32)


def own_columns(targets: Targets, games: Games) -> Columns:
    """Return what a user's function says of the moves of all games; ValueError where its arrays do not fit them."""
    parts = [_checked(targets(games.record(number)), games, number) for number in range(games.games)]
    forms = [{name: values.shape[1:] for name, values in part.items()} for part in parts]
    odd = next((number for number, form in enumerate(forms) if form != forms[0]), None)
    if odd is not None:
        raise ValueError(
            f"targets of game {games.index[odd]} are {forms[odd]}, those of game {games.index[0]} {forms[0]}; they "
            "must be the same for all games"
        )
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]} if parts else {}


def _checked(returned: object, games: Games, number: int) -> Columns:
    moves, index = int(games.move_counts[number]), games.index[number]
    if not isinstance(returned, Mapping):
        raise ValueError(f"targets of game {index} must be a dict of arrays by name, got {type(returned).__name__}")
    columns = {str(name): np.asarray(values, np.float32) for name, values in returned.items()}
    for name, values in columns.items():
        if name in BUILT_IN_OUTPUTS:
            raise ValueError(f"a target of one's own cannot be called {name!r}: hauteur has one")
        if values.shape[:1] != (moves,) or not np.isfinite(values).all():
            need = f"must have a row of finite numbers for each of its {moves} moves"
            raise ValueError(f"target {name} of game {index} {need}, got shape {values.shape}")
    return columns
