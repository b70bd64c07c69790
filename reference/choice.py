"""The move that is played after a search: the best, or one drawn by a temperature, with lc0's meanings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from hauteur.mcts.params import Temperature

LEAST_TEMPERATURE = 1e-300
"""Temperatures below count as this, since 1/T must be finite."""


class Candidate(NamedTuple):
    """A legal move of the root: visits n, Q for the mover (NaN where unvisited), prior P, proven result or None."""

    action: int
    visits: int
    q: float
    prior: float
    proven: int | None = None

    @property
    def rank(self) -> tuple[int, float, float, int]:
        """Most visited first, then the higher Q, the higher prior, the lower action."""
        return self.visits, -math.inf if math.isnan(self.q) else self.q, self.prior, -self.action


def temperature_at(settings: Temperature, ply: int) -> float:
    """Return the temperature at a ply, counted from 0.

    With the full-move index m = ply // 2: from `cutoff_move` on (m + 1 >= cutoff_move > 0) `endgame`; else, if
    `decay_moves` > 0: T until m = delay, then falling linearly, T (delay + decay - m) / decay, to 0 at m = delay +
    decay, and never below `endgame`; else T.
    """
    move = ply // 2
    if 0 < settings.cutoff_move <= move + 1:
        return settings.endgame
    if settings.decay_moves == 0:
        return settings.initial
    left = max(settings.decay_delay_moves + settings.decay_moves - move, 0)
    return max(min(settings.initial, settings.initial * left / settings.decay_moves), settings.endgame)


def chances(moves: Sequence[Candidate], temperature: float, settings: Temperature) -> list[float]:
    """Return the chance of each move, which sum to 1; temperature > 0.

    p ~ max(0, n + offset)^(1/T) of the moves with Q >= Q_best - value_cutoff / 50, where best is the most visited one;
    an unvisited move (no Q) passes only when the cutoff is off (100). Where no move has a visit, p ~ P^(1/T); where an
    offset below -n leaves nothing, the most visited one remains. Proven losses are left out unless all are lost.
    """
    spared = [move.proven != -1 for move in moves]
    spared = spared if any(spared) else [True] * len(moves)
    best = max((move for move, kept in zip(moves, spared, strict=True) if kept), key=lambda move: move.rank)
    weights = []
    for move, kept in zip(moves, spared, strict=True):
        within = settings.value_cutoff >= 100 or move.q >= best.q - settings.value_cutoff / 50
        weight = max(move.visits + settings.visit_offset, 0.0) if best.visits else move.prior
        weights.append(weight if kept and (within or not best.visits) else 0.0)
    if not any(weights):
        weights = [float(move is best) for move in moves]
    powers = [(weight / max(weights)) ** (1 / max(temperature, LEAST_TEMPERATURE)) for weight in weights]
    return [power / sum(powers) for power in powers]


def choose(moves: Sequence[Candidate], best: int, ply: int, uniform: float, settings: Temperature) -> int:
    """Return the action to play: `best` at temperature 0 or with a proven win, else drawn by `uniform`, in [0, 1)."""
    temperature = temperature_at(settings, ply)
    if temperature == 0 or any(move.proven == 1 for move in moves):
        return best
    reached = 0.0
    drawn = best
    for move, chance in zip(moves, chances(moves, temperature, settings), strict=True):
        reached = reached + chance
        drawn = move.action if chance > 0 else drawn
        if reached > uniform:
            return move.action
    return drawn
