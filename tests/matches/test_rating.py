"""Elo and its error bars against published and hand-computed numbers; the solvers of ratings against scipy's."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize

from hauteur.matches.ratings.bradley_terry import minimum
from hauteur.matches.ratings.elo import (
    MatchScore,
    Model,
    Pairs,
    Sprt,
    elo_of_interval,
    elo_of_score,
    falling_root,
    finite_elo,
    likelihood_of_superiority,
    normalised_elo,
    pair_likelihood_of_superiority,
    pair_score_interval,
    score_interval,
    score_of_elo,
)
from hauteur.matches.ratings.rating_list import Floats

pytestmark = pytest.mark.quick


@pytest.mark.parametrize(
    ("record", "expected_elo", "expected_los"),
    [
        (MatchScore(wins=181, losses=152, draws=667), 10.08, 0.9440),
        (MatchScore(wins=65, losses=39, draws=521), 14.46, 0.9946),
        (MatchScore(wins=17, draws=46, losses=37), -70.43, None),
    ],
)
def test_published_checks(record: MatchScore, expected_elo: float, expected_los: float | None) -> None:
    assert elo_of_score(record.score) == pytest.approx(expected_elo, abs=0.01)
    assert score_of_elo(elo_of_score(record.score)) == pytest.approx(record.score)
    if expected_los is not None:
        assert likelihood_of_superiority(record) == pytest.approx(expected_los, abs=5e-5)


def test_a_clean_sheet_is_infinite_but_bounded_on_one_side() -> None:
    record = MatchScore(wins=20)
    low, high = elo_of_interval(score_interval(record))
    assert elo_of_score(record.score) == high == math.inf
    assert 100 < low < 400
    mirrored = elo_of_interval(score_interval(MatchScore(losses=20)))
    assert mirrored[0] == -math.inf
    assert mirrored[1] == pytest.approx(-low)
    assert finite_elo(record) == pytest.approx(elo_of_score(20.5 / 21))


def test_interval_without_draws_is_wilsons() -> None:
    # Wilson, 55 of 100, 95 %: 0.4524 to 0.6439; the half win and loss added change nothing without draws
    assert score_interval(MatchScore(wins=55, losses=45)) == pytest.approx((0.4524, 0.6439), abs=2e-4)


def test_draws_narrow_the_interval_as_the_variance_says() -> None:
    few = MatchScore(wins=300, losses=300, draws=400)
    many = MatchScore(wins=10, losses=10, draws=980)
    width = [high - low for low, high in map(score_interval, (few, many))]
    # standard deviation of a game: sqrt(0.6/4) and sqrt(0.02/4); times 2 * 1.96 / sqrt(1000)
    assert width[0] == pytest.approx(2 * 1.96 * math.sqrt(0.15 / 1000), rel=0.01)
    assert width[1] == pytest.approx(2 * 1.96 * math.sqrt(0.005 / 1000), rel=0.05)


def test_no_games() -> None:
    assert score_interval(MatchScore()) == pair_score_interval(Pairs()) == (0.0, 1.0)
    assert MatchScore().score == 0.5
    assert likelihood_of_superiority(MatchScore(draws=3)) == 0.5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: MatchScore(wins=-1), ">= 0"),
        (lambda: Pairs((0, 0, -1, 0, 0)), ">= 0"),
        (lambda: Pairs().add(0.25), "must be 0, 0.5, 1, 1.5 or 2, got 0.25"),
        (lambda: pair_score_interval(Pairs((1, 0, 0, 0, 0)), 1), "confidence must be between 0 and 1, got 1"),
        (lambda: MatchScore().add(0.3), "must be 0, 0.5 or 1, got 0.3"),
        (lambda: elo_of_score(1.5), "between 0 and 1, got 1.5"),
        (lambda: score_interval(MatchScore(1), 1.0), "confidence must be between 0 and 1"),
    ],
)
def test_bad_input_is_refused(call: object, message: str) -> None:
    assert callable(call)
    with pytest.raises(ValueError, match=message):
        call()


def test_pairs_count_points() -> None:
    pairs = Pairs()
    for points in (0.0, 0.5, 0.5, 1.0, 1.5, 2.0, 2.0, 2.0):
        pairs = pairs.add(points)
    assert pairs.counts == (1, 2, 1, 1, 3)
    assert pairs.pairs == 8
    assert pairs.score == pytest.approx(9.5 / 16)
    assert Pairs().score == 0.5


def test_pairs_of_independent_games_have_the_interval_of_the_games() -> None:
    """Won and lost games with chance p: pairs in the shares (1-p)^2, 2p(1-p), p^2 know what the games know."""
    wins = 0.6
    n = 10_000
    counts = (round(n * 0.16), 0, round(n * 0.48), 0, round(n * 0.36))
    by_pairs = pair_score_interval(Pairs(counts))
    by_games = score_interval(MatchScore(wins=round(2 * n * wins), losses=round(2 * n * (1 - wins))))
    assert by_pairs == pytest.approx(by_games, abs=2e-5)


def test_openings_that_decide_games_narrow_the_interval_of_pairs() -> None:
    """200 games of which each pair is split but for a few: the games alone say far less."""
    pairs = Pairs((5, 0, 85, 0, 10))
    low, high = pair_score_interval(pairs)
    wide = score_interval(MatchScore(wins=105, losses=95))
    assert low < pairs.score < high
    assert high - low < 0.6 * (wide[1] - wide[0])
    # By hand: mean 0.525, variance of a pair's share (5 * 0 + 85 / 4 + 10) / 100 - 0.525^2 = 0.036875.
    assert high - low == pytest.approx(2 * 1.96 * math.sqrt(0.036875 / 100), rel=0.06)


def test_superiority_by_pairs() -> None:
    assert pair_likelihood_of_superiority(Pairs()) == 0.5
    assert pair_likelihood_of_superiority(Pairs((0, 0, 50, 0, 0))) == 0.5
    record = MatchScore(wins=10, losses=5)
    assert pair_likelihood_of_superiority(Pairs((5, 0, 85, 0, 10))) == likelihood_of_superiority(record)
    mirrored = pair_likelihood_of_superiority(Pairs((10, 0, 85, 0, 5)))
    assert mirrored == pytest.approx(1 - likelihood_of_superiority(record))


@pytest.mark.parametrize("counts", [(0, 0, 0, 0, 8), (8, 0, 0, 0, 0), (0, 0, 8, 0, 0), (0, 0, 0, 0, 1)])
def test_intervals_of_extreme_pairs_stay_in_bounds(counts: tuple[int, int, int, int, int]) -> None:
    low, high = pair_score_interval(Pairs(counts))
    assert 0 <= low < high <= 1
    assert low <= Pairs(counts).score <= high


def test_a_sequential_test_against_published_output() -> None:
    """fastchess prints LLR 2.96 and normalised Elo 1056.68 for these pairs."""
    pairs = Pairs((0, 0, 2, 0, 37))
    test = Sprt(0, 20, model="normalised")
    assert test.llr(pairs) == pytest.approx(2.96, abs=0.005)
    assert normalised_elo(pairs) == pytest.approx(1056.68, abs=0.005)
    assert test.verdict(test.llr(pairs)) is True
    assert test.bounds == pytest.approx((-2.944, 2.944), abs=5e-4)


@pytest.mark.parametrize("model", ["logistic", "normalised"])
@pytest.mark.parametrize("counts", [(5, 20, 50, 23, 6), (0, 0, 0, 0, 9), (40, 1, 3, 1, 40)])
def test_swapping_the_players_turns_the_sign(model: Model, counts: tuple[int, int, int, int, int]) -> None:
    forth = Sprt(-10, 10, model=model).llr(Pairs(counts))
    back = Sprt(-10, 10, model=model).llr(Pairs(counts[::-1]))
    assert forth == pytest.approx(-back, abs=1e-9)
    assert Sprt(-10, 10, model=model).llr(Pairs()) == 0
    assert (forth > 0) == (Pairs(counts).score > 0.5) or forth == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("counts", [(5, 5, 5, 5, 5), (0, 0, 30, 0, 0), (1, 3, 9, 12, 20), (40, 1, 0, 0, 0)])
def test_a_difference_of_any_size_can_be_tested(counts: tuple[int, int, int, int, int]) -> None:
    """The likelihood of a difference falls on both sides of the most likely one, however large it is."""
    likelihoods = [Sprt(0, elo, model="normalised").llr(Pairs(counts)) for elo in (1, 30, 100, 300, 1000, 2000)]
    assert all(map(math.isfinite, likelihoods))
    best = likelihoods.index(max(likelihoods))
    assert likelihoods[: best + 1] == sorted(likelihoods[: best + 1])
    assert likelihoods[best:] == sorted(likelihoods[best:], reverse=True)


# -- solvers -----------------------------------------------------------------------------------------------------------


Shares = st.lists(st.floats(0.001, 1.0), min_size=3, max_size=6)


@given(shares=Shares, shift=st.floats(-0.9, 0.9))
def test_roots_are_those_of_scipy(shares: list[float], shift: float) -> None:
    values = [shift + i - (len(shares) - 1) / 2 for i in range(len(shares))]
    low = -1 / max(values) + 1e-9
    high = -1 / min(values) - 1e-9

    def function(x: float) -> tuple[float, float]:
        terms = [v / (1 + x * v) for v in values]
        return sum(p * t for p, t in zip(shares, terms)), -sum(p * t * t for p, t in zip(shares, terms))  # noqa: B905

    found = falling_root(function, low, high)
    assert found == pytest.approx(brentq(lambda x: function(x)[0], low, high, xtol=1e-14), abs=1e-9)


def test_a_function_without_a_root_is_refused() -> None:
    with pytest.raises(ValueError, match="no root between 0 and 1"):
        falling_root(lambda x: (2 - x, -1.0), 0, 1)


@settings(deadline=None)
@given(size=st.integers(1, 6), seed=st.integers(0, 999), away=st.floats(0, 30))
def test_minima_are_those_of_scipy(size: int, seed: int, away: float) -> None:
    """sum of log(1 + exp(rows)) and a small square: smooth, nearly flat far away."""
    random = np.random.default_rng(seed)
    rows = random.normal(size=(20, size))

    def function(x: Floats) -> tuple[float, Floats, Floats]:
        u = rows @ x
        chance = 1 / (1 + np.exp(-u))
        value = float(np.logaddexp(0, u).sum() + 0.005 * x @ x)
        hessian = (rows.T * (chance * (1 - chance))) @ rows + 0.01 * np.eye(size)
        return value, rows.T @ chance + 0.01 * x, hessian

    start = away * random.normal(size=size)
    found, hessian = minimum(function, start, 1e-9)
    best = minimize(lambda x: function(x)[:2], start, jac=True, method="BFGS", options={"gtol": 1e-7})
    np.testing.assert_allclose(found, best.x, atol=1e-4 * max(1.0, float(np.abs(best.x).max())))
    np.testing.assert_allclose(hessian, function(found)[2])


def test_a_saddle_is_left() -> None:
    def function(x: Floats) -> tuple[float, Floats, Floats]:
        gradient = np.array([2 * x[0], 4 * x[1] ** 3 - 2 * x[1]])
        return float(x[0] ** 2 + x[1] ** 4 - x[1] ** 2), gradient, np.diag([2.0, 12 * x[1] ** 2 - 2])

    found, _ = minimum(function, np.array([3.0, 0.01]), 1e-10)
    np.testing.assert_allclose(found, [0, math.sqrt(0.5)], atol=1e-8)


def test_a_function_without_a_minimum_is_refused() -> None:
    with pytest.raises(RuntimeError, match="no minimum was found"):
        minimum(lambda x: (-float(x[0]), np.array([-1.0]), np.zeros((1, 1))), np.zeros(1), 1e-9)
