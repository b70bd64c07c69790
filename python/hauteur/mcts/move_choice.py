"""Choosing moves from finished searches: the best move, or one drawn by temperature schedules with lc0's meanings.

Functions of arrays work on T trees at once.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hauteur import _core
from hauteur.mcts.params import Temperature
from hauteur.mcts.report import RootMove, RootReport

LEAST_TEMPERATURE = 1e-300
"""Temperatures below count as this, since 1/T must be finite."""


def choose_move(report: RootReport, settings: Temperature, ply: int, rng: np.random.Generator) -> RootMove | None:
    """Return the move to play `ply` plies into the game; None where there is none."""
    temperature = temperatures_at(settings, np.array([ply], np.int64))
    if report.best is None or temperature[0] == 0.0:
        return report.best
    chosen = choose_actions(
        np.array([[move.visits for move in report.moves]], np.uint32),
        np.array([[move.q if move.visits else np.nan for move in report.moves]], np.float32),
        np.array([[move.prior for move in report.moves]], np.float32),
        best=np.zeros(1, np.uint16),
        temperatures=temperature,
        uniforms=rng.random(1),
        settings=settings,
        proven=np.array([[np.nan if move.proven is None else move.proven for move in report.moves]], np.float32),
    )
    return report.moves[int(chosen[0])]


def chosen_action(settings: Temperature, forest: _core.Forest, tree: Any, ply: int, uniform: float) -> int:
    """Return the move of a finished tree (int64 [1]), `ply` plies into the game; uniform, in [0, 1), decides a draw."""
    actions = choose_actions(
        forest.root_visits(tree),
        forest.root_q(tree),
        forest.root_priors(tree),
        best=forest.best_actions(tree),
        temperatures=temperatures_at(settings, np.array([ply], np.int64)),
        uniforms=np.array([uniform]),
        settings=settings,
        proven=forest.proven_results(tree),
    )
    return int(actions[0])


def temperatures_at(settings: Temperature, plies: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the temperature at each ply (counted from 0), float64 [T].

    With the full-move index m = ply // 2: from `cutoff_move` on (m + 1 >= cutoff_move > 0) `endgame`; else, if
    `decay_moves` > 0: T until m = delay, then falling linearly, T (delay + decay - m) / decay, to 0 at m = delay +
    decay, and never below `endgame`; else T.
    """
    moves = np.asarray(plies, np.int64) // 2
    result = np.full(moves.shape, settings.initial, np.float64)
    if settings.decay_moves > 0:
        end = settings.decay_delay_moves + settings.decay_moves
        falling = settings.initial * np.clip(end - moves, 0, None) / settings.decay_moves
        result = np.maximum(np.minimum(result, falling), settings.endgame)
    if settings.cutoff_move > 0:
        result[moves + 1 >= settings.cutoff_move] = settings.endgame
    return result


def choose_actions(
    visits: NDArray[np.uint32],
    q: NDArray[np.float32],
    priors: NDArray[np.float32],
    *,
    best: NDArray[np.uint16],
    temperatures: NDArray[np.float64],
    uniforms: NDArray[np.float64],
    settings: Temperature,
    proven: NDArray[np.float32] | None = None,
) -> NDArray[np.uint16]:
    """Return one action a tree, uint16 [T]: the best where the temperature is 0, else drawn by `uniforms` (in [0, 1)).

    visits, q (NaN where unvisited), priors (0 where illegal): [T, A]; best [T], as `Forest.best_actions` says. proven
    [T, A], as `Forest.proven_results`: where a win is proven the best is played, and proven losses are not drawn while
    there is another move.
    """
    actions = best.copy()
    drawn = np.flatnonzero(temperatures > 0)
    if proven is not None:
        drawn = drawn[~(proven[drawn] == 1).any(axis=1)]
        spared = _spare_losses(visits, priors, proven)
        visits, priors = np.where(spared, visits, 0), np.where(spared, priors, 0)
    if len(drawn):
        chances = temperature_chances(
            visits[drawn], q[drawn], priors[drawn], temperatures=temperatures[drawn], settings=settings
        )
        actions[drawn] = _draw(chances, uniforms[drawn])
    return actions


def _spare_losses(
    visits: NDArray[np.uint32], priors: NDArray[np.float32], proven: NDArray[np.float32]
) -> NDArray[np.bool_]:
    """Return which actions may be drawn, [T, A]: those that are not proven lost; all where every legal one is."""
    open_ones = proven != -1
    any_open = (_legal(visits, priors) & open_ones).any(axis=1, keepdims=True)
    return np.asarray(np.where(any_open, open_ones, True), np.bool_)


def most_visited(visits: NDArray[np.uint32], q: NDArray[np.float32], priors: NDArray[np.float32]) -> NDArray[np.uint16]:
    """Return the most visited action; of equals the higher Q, then prior, then the lower index. uint16 [T]."""
    candidates = _argmax_mask(visits.astype(np.float64), _legal(visits, priors))
    candidates = _argmax_mask(np.where(np.isnan(q), -np.inf, q), candidates)
    candidates = _argmax_mask(priors, candidates)
    return np.asarray(candidates.argmax(axis=1), np.uint16)


def temperature_chances(
    visits: NDArray[np.uint32],
    q: NDArray[np.float32],
    priors: NDArray[np.float32],
    *,
    temperatures: NDArray[np.float64],
    settings: Temperature,
) -> NDArray[np.float64]:
    """Return the chance of every action, float64 [T, A], rows sum to 1; temperatures > 0.

    p_a ~ max(0, (n_a + offset) / (n_max + offset))^(1/T) over legal actions with Q_a >= Q_best - value_cutoff / 50,
    where best is the most visited one; an unvisited action (no Q) passes only when the cutoff is off (100). Where no
    action has a visit, p_a ~ P_a^(1/T).
    """
    counts = visits.astype(np.float64)
    searched = counts.max(axis=1, keepdims=True) > 0
    weights = np.where(_legal(visits, priors), np.maximum(counts + settings.visit_offset, 0.0), 0.0)
    if settings.value_cutoff < 100:
        weights = np.where(_within_cutoff(visits, q, priors, settings), weights, 0.0)
    weights = np.where(searched, weights, priors)
    top = weights.max(axis=1, keepdims=True)
    if (top <= 0).any():  # an offset below -n_max leaves nothing to draw from: the most visited remains
        weights = np.where(top > 0, weights, _one_hot(most_visited(visits, q, priors), visits.shape[1]))
        top = weights.max(axis=1, keepdims=True)
    chances = (weights / top) ** (1.0 / np.maximum(temperatures, LEAST_TEMPERATURE)[:, None])
    return np.asarray(chances / chances.sum(axis=1, keepdims=True), np.float64)


def _legal(visits: NDArray[np.uint32], priors: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Return which actions are legal, [T, A]; ValueError for a tree that has none."""
    legal = (priors > 0) | (visits > 0)
    if not legal.any(axis=1).all():
        raise ValueError("a tree without legal actions has no move to play; ask only for trees whose game goes on")
    return legal


def _within_cutoff(
    visits: NDArray[np.uint32], q: NDArray[np.float32], priors: NDArray[np.float32], settings: Temperature
) -> NDArray[np.bool_]:
    best = most_visited(visits, q, priors).astype(np.int64)
    q_best = np.take_along_axis(q, best[:, None], axis=1)
    return np.asarray(np.where(np.isnan(q), -np.inf, q) >= q_best - settings.value_cutoff / 50.0)


def _argmax_mask(values: NDArray[np.floating], mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return where `values` reaches its row maximum over `mask`."""
    masked = np.where(mask, values, -np.inf)
    return np.asarray(mask & (masked == masked.max(axis=1, keepdims=True)))


def _one_hot(indices: NDArray[np.uint16], width: int) -> NDArray[np.float64]:
    result = np.zeros((len(indices), width))
    result[np.arange(len(indices)), indices] = 1.0
    return result


def _draw(chances: NDArray[np.float64], uniforms: NDArray[np.float64]) -> NDArray[np.uint16]:
    """Inverse of the cumulative distribution at `uniforms`; never an action of chance 0."""
    cumulative = np.cumsum(chances, axis=1)
    drawn = (cumulative <= uniforms[:, None] * cumulative[:, -1:]).sum(axis=1)
    last = chances.shape[1] - 1 - (chances[:, ::-1] > 0).argmax(axis=1)
    return np.asarray(np.minimum(drawn, last), np.uint16)
