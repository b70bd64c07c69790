"""Forests of tests: made, gathered from and searched in one line."""

from __future__ import annotations

import numpy as np
from search_toys import Evaluator, Floats

from hauteur._core import Batch, Forest, Game
from hauteur.mcts.params import Dirichlet, SearchParams

NOISY = SearchParams(dirichlet=Dirichlet())


def make_forest(game: Game, params: SearchParams = NOISY, trees: int = 1, *, seed: int = 0, threads: int = 1) -> Forest:
    """A forest with trees at the start of the game; tree k has seed k."""
    forest = Forest(game, params, seed, threads)
    for k in range(trees):
        forest.add(game.new_initial_state(), seed=k)
    return forest


def gather(forest: Forest, rows: int) -> tuple[Batch, Floats]:
    """The batch and its rows."""
    features = np.zeros((rows, *forest.game.feature_shape), np.float32)
    batch = forest.gather(features)
    return batch, features[: len(batch)]


def search(forest: Forest, evaluator: Evaluator, *, visits: int, rows: int) -> None:
    """Brings every tree to `visits` root visits."""
    ids = np.concatenate([forest.active(), forest.finished()])
    forest.set_visit_limits(ids, np.full(len(ids), visits, np.uint32))
    while len(forest.active()):
        batch, features = gather(forest, rows)
        forest.apply(batch, *evaluator(features))


def search_one_by_one(forest: Forest, *evaluators: Evaluator) -> None:
    """Searches with several nets to the limits of the trees, one evaluation at a time."""
    row = np.zeros((1, *forest.game.feature_shape), np.float32)
    while len(forest.active()):
        for net in forest.nets:
            batch = forest.gather(row, net)
            forest.apply(batch, *evaluators[net](row[: len(batch)]))
