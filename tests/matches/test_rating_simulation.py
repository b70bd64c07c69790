"""Simulated matches: intervals hold the truth in 95 % of them, sequential tests err in some 5 %; and the simulation."""

import numpy as np
import pytest

import rating_checks
from hauteur.matches.ratings.elo import Model, Pairs, Sprt


@pytest.mark.parametrize("model", ["logistic", "normalised"])
def test_many_tests_at_once_are_those_of_the_program(model: Model) -> None:
    random = np.random.default_rng(0)
    counts = np.concatenate([random.integers(0, 40, (40, 5)), random.integers(0, 2, (20, 5)), np.eye(5, dtype=int)])
    counts = counts[counts.sum(1) > 0]
    test = Sprt(-5, 30, model=model)
    found, _ = rating_checks.likelihood_ratios(test, counts.astype(float))
    assert found == pytest.approx([test.llr(Pairs(tuple(row))) for row in counts.tolist()], abs=1e-6)


@pytest.mark.parametrize(
    ("what", "games"), [("games", 20), ("games", 400), ("pairs", 10), ("pairs", 40), ("pairs", 400)]
)
def test_intervals_hold_the_truth(what: str, games: int) -> None:
    random = np.random.default_rng(games)
    found = rating_checks.coverage(what, rating_checks.random_truths(200, random), games, 100, random)
    assert 0.94 < found.mean < 0.962  # the mean of 200 truths is within 0.003 of that of all, few games are cautious


@pytest.mark.parametrize("score", [0.99, 0.01])
def test_intervals_hold_extreme_truths(score: float) -> None:
    """Close to 100 % the results are too few to be right in 95 %, but they are not wrong more often."""
    random = np.random.default_rng(9)
    truths = [rating_checks.Truth(score, draws, openings) for draws in (0.0, 0.5, 0.9) for openings in (0.0, 2.0)]
    for what in ("games", "pairs"):
        assert 0.93 < rating_checks.coverage(what, truths, 200, 1000, random).mean < 0.99


def error_rates(model: Model, elo1: float, runs: int) -> list[float]:
    random = np.random.default_rng(2)
    test = Sprt(0, elo1, model=model)
    return [
        rating_checks.errors(test, truth, draws=0.5, openings=openings, runs=runs, random=random).share
        for truth in ("elo0", "elo1")
        for openings in (0.0, 1.0)
    ]


@pytest.mark.parametrize("model", ["logistic", "normalised"])
def test_sequential_tests_err_as_rarely_as_designed(model: Model) -> None:
    rates = error_rates(model, 100, 500)
    assert max(rates) < 0.05 + 3.5 * 0.0097  # 0.0097: standard error of 5 % of 500
    assert sum(rates) / len(rates) > 0.015  # nor so rarely that the test would be longer than it has to be


@pytest.mark.slow
@pytest.mark.parametrize("model", ["logistic", "normalised"])
def test_ten_thousand_sequential_tests(model: Model) -> None:
    assert max(error_rates(model, 50, 10_000)) < 0.05 + 3.5 * 0.0022
