"""The control arm of the small chess thesis: the sign-flip test, its interval and levels, the plan's recipes."""

import math

import numpy as np
import pytest

from hauteur.learning.report import verdict as comparison
from hauteur_experiments.measured import subset_interval
from hauteur_experiments.search_contempt.chess_thesis import JudgedNet
from hauteur_experiments.search_contempt.thesis_control import (
    CONFIDENCE,
    FRESH,
    FROZEN,
    LOOK_LEVEL,
    finding,
    recipes_of,
    sign_flip_p,
    verdict_of,
)


def test_p_is_the_share_of_signs() -> None:
    assert sign_flip_p([1, 2]) == pytest.approx(1 / 4)
    assert sign_flip_p([-1, 2]) == pytest.approx(2 / 4)
    assert sign_flip_p([-1, -2]) == 1
    assert sign_flip_p([0, 0]) == 1
    assert sign_flip_p([1, 2, 3, 4, 5, 6]) == pytest.approx(LOOK_LEVEL)


def test_p_is_uniform_where_there_is_no_difference() -> None:
    random = np.random.default_rng(1)
    ps = np.array([sign_flip_p(list(random.normal(size=8))) for _ in range(2000)])
    assert 0.015 < np.mean(ps <= 6 / 256) < 0.033


def test_the_interval_has_the_means_that_the_test_keeps() -> None:
    values = list(np.random.default_rng(2).normal(0.05, 0.04, 8))
    low, high = subset_interval(values, CONFIDENCE)
    assert sign_flip_p([value - low + 1e-4 for value in values]) <= 0.025
    assert sign_flip_p([value - low - 1e-4 for value in values]) > 0.025
    assert low < np.mean(values) < high
    assert subset_interval([0.9], CONFIDENCE) == (-math.inf, math.inf)


def test_the_interval_is_that_of_a_comparison_of_recipes() -> None:
    for count in range(9):
        values = list(np.random.default_rng(count).normal(size=count))
        assert subset_interval(values, CONFIDENCE) == pytest.approx(comparison.subset_interval(values))


def test_six_pairs_decide_only_where_all_lead_and_eight_at_the_rest_of_the_level() -> None:
    assert verdict_of(1 / 64, 1.0, 6) == "holds"
    assert verdict_of(2 / 64, 1.0, 6) == "open"
    assert verdict_of(1.0, 1 / 64, 6) == "does not hold"
    assert verdict_of(2 / 256, 1.0, 8) == "holds"
    assert verdict_of(3 / 256, 1.0, 8) == "open"
    assert verdict_of(0.0, 1.0, 7) == "open"


def judged(**means: float) -> list[JudgedNet]:
    """Return runs of eight seeds, which differ by far more than the arms do."""
    found = []
    for arm, mean in means.items():
        found += [JudgedNet(arm, seed, 6, {"material": mean + 0.03 * seed}, 1, 1, 1.0) for seed in range(8)]
    return found


def test_a_lead_in_every_pair_holds_however_far_the_seeds_lie_apart() -> None:
    runs = judged(contempt=0.42, fresh=0.41, puct=0.40)
    assert finding(runs, FROZEN).verdict == "holds"
    assert finding(runs, FROZEN).units == "8 pairs of runs"
    assert finding(runs, FRESH).decides.startswith("PUCT that begins every search anew less PUCT 1.0 [")
    assert finding(judged(contempt=0.40, fresh=0.41, puct=0.40), FROZEN).verdict == "does not hold"


def test_the_fresh_arm_differs_from_puct_in_its_trees_alone() -> None:
    recipes = {arm: recipe.model_dump() for arm, recipe in recipes_of(12).items()}
    fresh = recipes["fresh"]
    assert fresh["selfplay"]["search"].pop("reuse_tree") is False
    assert recipes["puct"]["selfplay"]["search"].pop("reuse_tree") is True
    assert fresh == recipes["puct"]
