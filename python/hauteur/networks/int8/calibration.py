"""Positions that an int8 network is calibrated on: of games that the network plays, or of the user's games."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict

from hauteur.networks.evaluators.compare import features_of, legal_policy
from hauteur.networks.lc0_layers import Floats

if TYPE_CHECKING:
    from hauteur import _core

POSITIONS = 1500
_GAMES = 96
_MOST_PLIES = 200
"""Of a game that the net plays; what comes later is left out."""


class CalibrationRecord(BaseModel):
    """What a network was calibrated on, kept in its quantised model.

    kind: `own games` (moves drawn from the net's policy), or the name of the file with the positions; positions: their
    number; seed: of the games, or of the choice from the file; sha256: of the positions' features.
    """

    model_config = ConfigDict(frozen=True)
    kind: str
    positions: int
    seed: int
    sha256: str

    def __str__(self) -> str:
        return f"{self.positions:,} positions of {self.kind}, seed {self.seed}"


class Calibration(NamedTuple):
    """Positions in random order, their features float32 [N, planes, rows, columns], and where they come from."""

    states: Sequence[_core.State]
    features: Floats
    record: CalibrationRecord


def own_games(game: _core.Game, logits_of: Callable[[Floats], Floats], *, seed: int = 0) -> Calibration:
    """Positions of games in which both sides draw their moves from the net's policy. The same for the same answers.

    logits_of: features to policy logits [B, actions].
    """
    random = np.random.Generator(np.random.Philox(key=seed))
    played: list[list[_core.State]] = [[] for _ in range(_GAMES)]
    states = [game.new_initial_state() for _ in played]
    for _ in range(_MOST_PLIES):
        going = [i for i, state in enumerate(states) if state.outcome() is None]
        if not going:
            break
        for i, logits in zip(going, logits_of(features_of(game, [states[i] for i in going])), strict=True):
            played[i].append(states[i].copy())
            states[i].apply(int(random.choice(states[i].legal_actions(), p=legal_policy(states[i], logits))))
    return chosen_positions(game, played, "own games", seed=seed)


def chosen_positions(
    game: _core.Game, games: Sequence[Sequence[_core.State]], kind: str, *, seed: int = 0, count: int = POSITIONS
) -> Calibration:
    """At most `count` of the positions: as many of every game, spread over its length. ValueError if there are none."""
    random = np.random.Generator(np.random.Philox(key=(seed, 1)))
    games = [game for game in games if game]
    if len(games) > count:
        games = [games[i] for i in random.choice(len(games), count, replace=False)]
    each = -(-count // max(1, len(games)))
    states = [states[place] for states in games for place in _spread(len(states), each, random)]
    if not states:
        raise ValueError(f"{kind}: holds no position to calibrate on")
    states = [states[i] for i in random.permutation(len(states))[:count]]
    features = features_of(game, states)
    digest = hashlib.sha256(features.tobytes()).hexdigest()
    return Calibration(
        states, features, CalibrationRecord(kind=kind, positions=len(features), seed=seed, sha256=digest)
    )


def _spread(length: int, count: int, random: np.random.Generator) -> Iterable[int]:
    """One place in each of `count` equal spans of a game, or all its places."""
    ends = np.linspace(0, length, min(length, count) + 1).astype(int)
    return (int(random.integers(begin, end)) for begin, end in pairwise(ends))
