"""Evaluators made of Python callables, the check of what a callable returns, and positions to try evaluators on."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hauteur import _core
from hauteur.networks.evaluators.base import PREFERRED_ROWS, Answers, Floats, GameEvaluator
from hauteur.system.formatting import described

# Two, not one: a function that answers for the first row alone is found out.
PROBE_ROWS = 2
"""Positions of the batch on which a callable or module is checked when it becomes an evaluator."""

WDL_TOLERANCE = 0.01
"""Largest difference from 1 of the sum of a row's probabilities."""


class CallableEvaluator(GameEvaluator):
    """A plain callable: features float32 [B, C, H, W] -> (policy logits [B, A], wdl probabilities [B, 3]).

    It runs in one worker thread, one batch at a time, while the core gathers the next. What it raises reaches the
    caller of the search with its own traceback.
    """

    def __init__(self, game: _core.Game, function: Callable[[Floats], Any], *, batch_size: int | None = None) -> None:
        """Raise ValueError where its answers for one batch of positions do not have the form of an evaluator."""
        name = getattr(function, "__name__", type(function).__name__)
        super().__init__(game, name, batch_size or PREFERRED_ROWS)
        self._function = function
        check_probe(game, self)

    def compute(self, features: Floats) -> Answers:
        """Call the function and check the shapes and numbers that it returns."""
        returned = self._function(features)
        if not isinstance(returned, tuple | list) or len(returned) != 2:
            raise ValueError(
                f"evaluator {self.name} returned {described(returned)}; allowed: "
                f"(policy_logits float32 [{len(features)}, {self.num_actions}], wdl float32 [{len(features)}, 3])"
            )
        logits, wdl = returned
        rows = len(features)
        return (
            _array(self.name, "policy_logits", logits, (rows, self.num_actions)),
            _array(self.name, "wdl", wdl, (rows, 3)),
        )


def _array(name: str, what: str, values: object, shape: tuple[int, int]) -> Floats:
    """The values as a contiguous float32 array of this shape; ValueError where they are something else."""
    required = f"{what} must be float32 [{shape[0]}, {shape[1]}] for {shape[0]} rows of features"
    try:
        array = np.asarray(values)
    except (RuntimeError, TypeError, ValueError) as error:  # such as a tensor that requires a gradient
        raise ValueError(f"evaluator {name}: {required}, got {described(values)} ({error})") from None
    if array.shape != shape or array.dtype.kind != "f":
        raise ValueError(f"evaluator {name}: {required}, got {described(array)}")
    return np.ascontiguousarray(array, np.float32)


def check_probe(game: _core.Game, evaluator: GameEvaluator) -> None:
    """Evaluate two positions of the game; ValueError where logits or wdl are not finite, or wdl no probabilities."""
    # Here and not in the search: a mistake is named before the first game, in the line that made it.
    logits, wdl = evaluator(features_of(game, random_positions(game, PROBE_ROWS)))
    for what, values in (("policy_logits", logits), ("wdl", wdl)):
        bad = values[~np.isfinite(values)]
        if len(bad):
            raise ValueError(f"evaluator {evaluator.name}: {what} must be finite, got {bad[0]} among {values.size}")
    is_negative = (wdl < -WDL_TOLERANCE).any(axis=1)
    error_of_sum = np.abs(wdl.sum(axis=1) - 1)
    wrong = is_negative | (error_of_sum > WDL_TOLERANCE)
    if wrong.any():
        row = ", ".join(f"{value:.4g}" for value in wdl[wrong.argmax()])
        raise ValueError(
            f"evaluator {evaluator.name}: wdl must be probabilities of win, draw and loss of the player to move, each "
            f"0 to 1 with sum 1, got [{row}]"
        )


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
