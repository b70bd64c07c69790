"""Verdicts: each is reachable, errors are rare where the truth is at the border, intervals contain the truth."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hauteur.studies.papers.measured import Interval, Mean, Resampled, Share, differences
from hauteur.studies.papers.verdict import LEVEL, MOST_UNITS, Claim, Inequality, detectable, needed
from hauteur.studies.papers.verdict_errors import KINDS, error_rates


def normal(value: float, error: float, units: int = 1000) -> Interval:
    """A quantity with a normal interval."""
    from statistics import NormalDist

    def ends(confidence: float) -> tuple[float, float]:
        half = NormalDist().inv_cdf((1 + confidence) / 2) * error
        return value - half, value + half

    return Interval(value, units, ends)


def above(value: float, error: float = 1.0, units: int = 1000) -> Inequality:
    return Inequality("x", normal(value, error, units), 0.0, "above", 100)


@pytest.mark.parametrize(("value", "verdict"), [(3.0, "holds"), (-3.0, "does not hold"), (1.0, "open"), (-1.0, "open")])
def test_one_inequality_has_three_verdicts(value: float, verdict: str) -> None:
    assert Claim((above(value),)).verdict == verdict
    below = Inequality("x", normal(value, 1.0), 0.0, "below", 100)
    opposite = {"holds": "does not hold", "does not hold": "holds", "open": "open"}
    assert Claim((below,)).verdict == opposite[verdict]


def test_too_few_units_decide_nothing() -> None:
    claim = Claim((above(30.0, units=99),))
    assert claim.verdict == "open"
    assert "too few: 100 games or more may decide" in claim.text
    assert Claim((above(30.0, units=100),)).verdict == "holds"


def test_all_must_be_shown_and_one_refutes() -> None:
    assert Claim((above(3), above(3))).verdict == "holds"
    assert Claim((above(3), above(1))).verdict == "open"
    assert Claim((above(3), above(-3))).verdict == "does not hold"
    assert Claim((above(3), above(-2.1))).verdict == "open"  # one of two: the level is halved


def test_one_is_enough_and_all_refute() -> None:
    assert Claim((above(3), above(-3)), needs="any").verdict == "holds"
    assert Claim((above(2.1), above(-3)), needs="any").verdict == "open"
    assert Claim((above(-3), above(-2.1)), needs="any").verdict == "does not hold"


def test_cells_of_a_table_need_more() -> None:
    assert Claim((above(2.5),)).verdict == "holds"
    assert Claim((above(2.5),), cells=12).verdict == "open"
    assert Claim((above(3.2),), cells=12).verdict == "holds"


@given(st.floats(0.2, 10), st.integers(200, 5000))
def test_the_units_that_are_missing_would_decide(value: float, units: int) -> None:
    side = above(value / math.sqrt(units), 1 / math.sqrt(units), units)
    wanted = needed(side)
    assert 100 <= wanted < MOST_UNITS
    more = above(value / math.sqrt(units), 1 / math.sqrt(wanted), wanted)
    assert detectable(more) <= side.measured.value * 1.01 or wanted == 100


def test_nothing_decides_a_difference_of_nothing() -> None:
    assert needed(above(0.0)) == MOST_UNITS


@given(st.integers(0, 60), st.integers(1, 60))
def test_shares_have_the_exact_interval(counted: int, trials: int) -> None:
    share = Share(min(counted, trials), trials)
    low, high = share.interval(0.95)
    assert low <= share.value <= high
    if share.counted:
        tail = sum(math.comb(trials, k) * low**k * (1 - low) ** (trials - k) for k in range(share.counted, trials + 1))
        assert tail == pytest.approx(0.025, rel=1e-6)


def test_known_intervals() -> None:
    assert list(Share(10, 10).interval(0.95)) == pytest.approx([0.6915, 1.0], abs=1e-4)
    assert list(Mean([1.0, 2.0, 3.0, 4.0, 5.0]).interval(0.95)) == pytest.approx([1.0368, 4.9632], abs=1e-4)


def test_groups_are_drawn_whole() -> None:
    alike = np.repeat([[1.0, 10.0], [9.0, 10.0]], 50, axis=0)
    mean = Resampled((alike,), lambda sums: sums[0][:, 0] / sums[0][:, 1])
    low, high = mean.interval(0.95)
    assert mean.value == 0.5
    assert high - low == pytest.approx(2 * 1.96 * 0.4 / 10, rel=0.1)


def test_differences_are_of_equal_numbers() -> None:
    assert differences({0: 0.0, 1: 1.0}, {1: 1.0, 0: 1.0}).samples == [1.0, 0.0]
    with pytest.raises(ValueError, match="same numbers on both sides"):
        differences({0: 0.0}, {1: 1.0})


@pytest.mark.parametrize(
    "kind", [kind for kind in KINDS if "match of 2,000" not in kind.name], ids=lambda kind: kind.name
)
def test_errors_are_rare_at_the_border(kind: object) -> None:
    found = error_rates(kind, 60, 5)  # type: ignore[arg-type]
    # At LEVEL, more than 7 of 60 have a chance of 1e-4; hauteur experiment verdicts simulates more.
    assert found.held <= 7 / 60
    assert found.failed <= 7 / 60
    assert found.covered >= 0.85
    assert found.power >= 0.3
    assert LEVEL == 0.025
