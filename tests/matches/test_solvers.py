"""The solvers of ratings, against scipy's."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize

from hauteur.matches.ratings.bradley_terry import minimum
from hauteur.matches.ratings.elo import falling_root
from hauteur.matches.ratings.rating_list import Floats

Shares = st.lists(st.floats(0.001, 1.0), min_size=3, max_size=6)


@given(shares=Shares, shift=st.floats(-0.9, 0.9))
def test_roots_are_those_of_scipy(shares: list[float], shift: float) -> None:
    values = [shift + i - (len(shares) - 1) / 2 for i in range(len(shares))]
    low, high = -1 / max(values) + 1e-9, -1 / min(values) - 1e-9

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
