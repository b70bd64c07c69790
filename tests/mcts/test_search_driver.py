"""The driver of searches: what an evaluator reads does not change the tree; counters of a tree are its statistics."""

import numpy as np
import pytest
from forests import make_forest
from numpy.typing import NDArray
from search_toys import hash_evaluator

from hauteur._core import Forest, Game
from hauteur.mcts.driver import SearchDriver
from hauteur.mcts.params import SearchParams, SecondNet, Solver
from hauteur.networks.evaluators.base import Answers, Floats, GameEvaluator, Pending, UniformEvaluator

pytestmark = pytest.mark.quick


class Reading(GameEvaluator):
    """The answers of `uniform`, with features."""

    def compute(self, features: Floats) -> Answers:
        return np.zeros((len(features), self.num_actions), np.float32), np.array(
            [[0.5, 0, 0.5]] * len(features), np.float32
        )


@pytest.mark.parametrize("spec", ["connect4", "chess"])
def test_a_search_without_features_grows_the_same_tree(spec: str) -> None:
    game = Game(spec)
    blind = UniformEvaluator(game, batch_size=4)
    reading = Reading(game, "reading", 16)
    digests = []
    for evaluator in (blind, reading):
        forest = make_forest(game, SearchParams(solver=Solver()), trees=2)
        forest.set_visit_limits(forest.active(), np.array([700, 900], np.uint32))
        SearchDriver(forest, evaluator, batch_size=16, in_flight=1).run()
        digests.append([forest.digest(tree) for tree in range(2)])
    assert digests[0] == digests[1]


class Unpacking(GameEvaluator):
    """Answers drawn from the features, which it takes as bit planes where they are given so."""

    def compute(self, features: Floats) -> Answers:
        answers: Answers = hash_evaluator(self.num_actions)(features)
        return answers


class Packed(Unpacking):
    packed_batches = 0

    def submit_packed(self, masks: NDArray[np.uint64], values: Floats) -> Pending:
        self.packed_batches += 1
        planes, rows, columns = self.feature_shape
        bits = masks[:, :, None] >> np.arange(rows * columns, dtype=np.uint64) & 1
        return self.submit((bits * values[:, :, None]).astype(np.float32).reshape(-1, planes, rows, columns))


@pytest.mark.parametrize("spec", ["connect4", "chess", "nogo(size=9)"])
def test_a_search_by_bit_planes_grows_the_same_tree(spec: str) -> None:
    game = Game(spec)
    digests = []
    packed = Packed(game, "packed", 16)
    for evaluator in (Unpacking(game, "features", 16), packed):
        forest = make_forest(game, trees=2)
        forest.set_visit_limits(forest.active(), np.array([150, 200], np.uint32))
        SearchDriver(forest, evaluator, batch_size=16).run()
        digests.append([forest.digest(tree) for tree in range(2)])
        evaluator.close()
    assert digests[0] == digests[1]
    assert (packed.packed_batches > 0) == (spec != "nogo(size=9)")  # planes of more than 64 squares are not packed


@pytest.mark.parametrize("params", [SearchParams(), SearchParams(second_net=SecondNet(small_visits=4, large_visits=2))])
def test_counters_and_rivals_are_the_statistics_of_the_tree(params: SearchParams) -> None:
    game = Game("connect4")
    ids = np.array([0])
    forest = make_forest(game, params)
    assert forest.root_rivals(0) == ([], [])
    forest.restrict_root(0, [1, 2, 3, 5])
    _search(forest, 300)
    root_visits, visits, depth, rows, hits = forest.root_counters(0)
    stats = forest.tree_stats(0)
    assert root_visits == forest.root_node_visits(ids)[0] == 300
    assert (visits, depth, rows, hits) == (
        stats["visits"] - stats["large_visits"],
        stats["depth_sum"],
        stats["rows"],
        stats["oracle_hits"],
    )
    pairs = sorted(zip(*forest.root_rivals(0), strict=True))
    allowed = np.array([1, 2, 3, 5])
    expected = zip(forest.root_visits(ids)[0, allowed].tolist(), forest.root_q(ids)[0, allowed].tolist(), strict=True)
    assert pairs == sorted(expected)


def _search(forest: Forest, visits: int) -> None:
    forest.set_visit_limits(forest.active(), np.array([visits], np.uint32))
    small, large = (UniformEvaluator(forest.game) for _ in range(2))
    SearchDriver(forest, small, large=large if len(forest.nets) == 2 else None, batch_size=8).run()


@pytest.mark.parametrize("trees", [100, 142, 200, 255, 256])
def test_two_batches_are_full_whatever_the_number_of_trees(trees: int) -> None:
    """Rows that a whole number a tree leaves over go to one tree each; with one leaf a tree there is one for each."""
    game = Game("connect4")
    for most in (0, 1):
        params = SearchParams(max_in_flight=most, cache_size=0)  # equal positions have rows of their own
        forest = make_forest(game, params, trees=trees)
        rows = list[int]()
        forest.set_visit_limits(forest.active(), np.full(trees, 1000, np.uint32))
        waiting = [forest.gather(128), forest.gather(128)]
        for turn in range(8):
            batch = waiting.pop(0)
            answers = np.random.default_rng(turn).normal(size=(len(batch), 7)).astype(np.float32)
            forest.apply(batch, answers, np.full((len(batch), 3), 1 / 3, np.float32))
            waiting.append(forest.gather(128))
            rows.append(len(waiting[-1]))
        one_each = [min(128, trees), max(0, trees - 128)] * 2
        assert rows[4:] == ([128] * 4 if most == 0 else one_each)
