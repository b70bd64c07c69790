"""Verdicts: each is reachable, errors are rare where the truth is at the border, intervals contain the truth."""

import math
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st
from simulated_claims import KINDS, Kind, error_rates

from hauteur_experiments.measured import ClusterMean, Interval, Mean, Share, by_opening, differences
from hauteur_experiments.verdict import (
    LEVEL,
    LOOKS,
    MOST_UNITS,
    POWER,
    Claim,
    Inequality,
    Look,
    final_z,
    needed,
    standard_error,
)


def normal(value: float, error: float, units: int = 1000) -> Interval:
    """A quantity with a normal interval."""

    def ends(confidence: float) -> tuple[float, float]:
        half = NormalDist().inv_cdf((1 + confidence) / 2) * error
        return value - half, value + half

    return Interval(value, units, ends)


def above(value: float, error: float = 1.0, units: int = 1000, matters: float = 3.0) -> Inequality:
    return Inequality("x", normal(value, error, units), 0.0, "above", 100, matters=matters)


@pytest.mark.parametrize(
    ("value", "matters", "verdict"),
    [
        (3.0, 3.0, "holds"),
        (-3.0, 3.0, "does not hold"),
        (1.0, 3.0, "open"),
        (0.5, 3.0, "no such effect"),  # 0.5 is surely below 3, if 1 is the error
        (0.5, 2.0, "open"),
    ],
)
def test_one_inequality_is_shown_refuted_or_without_effect(value: float, matters: float, verdict: str) -> None:
    assert Claim((above(value, matters=matters),)).verdict == verdict
    below = Inequality("x", normal(-value, 1.0), 0.0, "below", 100, matters=-matters)
    assert Claim((below,)).verdict == verdict


def test_too_few_units_decide_nothing() -> None:
    claim = Claim((above(30.0, units=99),))
    assert claim.verdict == "open"
    assert "too few: 100 games or more may decide" in claim.text
    assert Claim((above(30.0, units=100),)).verdict == "holds"


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        (Claim((above(3), above(3))), "holds"),
        (Claim((above(3), above(1))), "open"),
        (Claim((above(3), above(-3))), "does not hold"),
        (Claim((above(3), above(-2.2))), "no such effect"),  # one of two: the level is halved
        (Claim((above(3), above(0.2, matters=2.0))), "open"),
        (Claim((above(3), above(-3)), needs="any"), "holds"),
        (Claim((above(2.2), above(-3)), needs="any"), "open"),
        (Claim((above(-3), above(-2.2)), needs="any"), "does not hold"),
        (Claim((above(-3), above(0.5)), needs="any"), "no such effect"),
        (Claim((above(2.5),)), "holds"),
        (Claim((above(2.5),), cells=12), "open"),
        (Claim((above(3.2),), cells=12), "holds"),
    ],
)
def test_all_or_any_must_be_shown_and_cells_of_a_table_need_more(claim: Claim, verdict: str) -> None:
    assert claim.verdict == verdict


@given(st.floats(0.2, 10), st.integers(200, 5000))
def test_the_units_that_are_missing_would_decide(value: float, units: int) -> None:
    side = above(value / math.sqrt(units), 1 / math.sqrt(units), units)
    enough = needed(side, 0.0)
    assert 100 <= enough < MOST_UNITS
    more = above(value / math.sqrt(units), 1 / math.sqrt(enough), enough)
    seen = (final_z(LEVEL) + NormalDist().inv_cdf(POWER)) * standard_error(more.measured)
    assert seen <= side.measured.value * 1.01 or enough == 100
    assert needed(above(0.0), 0.0) == MOST_UNITS


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
    eight = Mean([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])
    assert list(eight.interval(0.95)) == pytest.approx([2.4521, 6.5479], abs=1e-4)


def test_fewer_than_eight_seeds_have_the_interval_of_a_permutation_test() -> None:
    """Six of six decide with an error of 1 in 64, five of five (1 in 32) nothing."""
    assert Mean([3.0, 1.0, 2.0, 9.0, 5.0, 4.0]).interval(0.95) == (1.0, 9.0)
    assert Mean([3.0, 1.0, 2.0, 9.0, 5.0]).interval(0.95) == (-math.inf, math.inf)
    assert Mean([1.0, 2.0, 4.0]).interval(0.5) == (1.5, 3.0)  # the second of 1, 1.5, 2, 7/3, 2.5, 3, 4 from each end
    assert Mean([]).interval(0.95) == (-math.inf, math.inf)


def test_groups_that_are_alike_are_the_units() -> None:
    values = [0.0, 1.0] * 30
    groups = list(range(20)) * 3
    ordered = [float(group % 2) for group in groups]
    mean = by_opening(ordered, groups)
    assert isinstance(mean, ClusterMean)
    assert (mean.value, mean.units) == (0.5, 20)
    assert mean.interval(0.95) == pytest.approx(Mean([float(one % 2) for one in range(20)]).interval(0.95))
    assert isinstance(by_opening(values, list(range(60))), Mean)
    assert isinstance(by_opening(values, ["the start"] * 60), Mean)
    assert ClusterMean([1.0] * 8, [0, 0, 1, 1, 2, 2, 3, 3]).interval(0.95) == (-math.inf, math.inf)


def test_differences_are_of_equal_numbers() -> None:
    assert differences({0: 0.0, 1: 1.0}, {1: 1.0, 0: 1.0}).samples == [1.0, 0.0]
    with pytest.raises(ValueError, match="same numbers on both sides"):
        differences({0: 0.0}, {1: 1.0})


def test_what_matters_is_on_the_side_of_the_claim() -> None:
    with pytest.raises(ValueError, match="x: what matters is above 0, got -1"):
        above(1.0, matters=-1.0)
    with pytest.raises(ValueError, match="x: what matters is at 0, got 0"):
        Inequality("x", normal(0.0, 1.0), 0.0, "at", 100, matters=0.0)


def at(value: float, error: float) -> Claim:
    return Claim((Inequality("x", normal(value, error), 0.0, "at", 100, matters=30.0),))


def test_two_results_agree_where_their_difference_is_compatible_with_nothing() -> None:
    assert at(10.0, 10.0).verdict == "holds"
    assert at(30.0, 10.0).verdict == "does not hold"
    assert at(21.0, 10.0).verdict == "open"  # beyond the interval of 95 %, and not by as much as is refuted
    assert at(10.0, 16.0).verdict == "open"  # not known well enough
    assert at(10.0, 16.0).missing == math.ceil(1000 * (16 * 1.959964 / 30) ** 2)
    assert at(0.0, 10.0).at(Look(0.5)).verdict == "open"  # agreement is found at the end alone


def test_the_premise_must_be_shown() -> None:
    claim = Claim((above(3.0),), premise=(above(1.0),))
    assert claim.verdict == "open"
    assert "premise: x 1 [" in claim.text
    assert (claim.missing or 0) > 1000
    assert Claim((above(3.0),), premise=(above(3.0),)).verdict == "holds"


def test_the_best_of_several_decides_what_is_missing() -> None:
    near = above(0.1, matters=1.0)
    far = above(1.5, matters=1.0)
    level = LEVEL / 2
    assert Claim((near, far), needs="any").missing == far.needed_to_show(level)
    assert far.needed_to_show(level) < near.needed_to_show(level)
    # All must be true: the one that has no effect is the nearest to a verdict.
    assert Claim((near, far)).missing == near.needed_to_deny(level)


def test_the_bound_of_o_brien_and_fleming() -> None:
    """Jennison and Turnbull 2000, table 2.3, eight looks: 2.072 at 5 % of both sides, 2.645 at 1 %."""
    assert LOOKS == 8
    assert final_z(0.025) == pytest.approx(2.072, abs=0.001)
    assert final_z(0.005) == pytest.approx(2.645, abs=0.003)
    assert Look(0.5).level(0.025) == pytest.approx(NormalDist().cdf(-2.072 * math.sqrt(2)), rel=0.01)
    assert Look(0.6).level(0.025) == Look(0.5).level(0.025)
    assert Look(0.1).level(0.025) == 0.0
    with pytest.raises(ValueError, match="a look is at a share above 0 to 1"):
        Look(1.5)


def test_looks_need_more_the_earlier_they_are() -> None:
    assert [Claim((above(2.5),)).at(Look(share)).verdict for share in (0.1, 0.5, 0.75, 1.0)] == [
        "open",
        "open",
        "holds",
        "holds",
    ]
    assert Claim((above(2.03, matters=9.0),)).verdict != "holds"  # 1.96 would have been enough for one look


def test_extensions_share_what_the_end_left() -> None:
    levels = [Look(1.0, times).level(LEVEL) for times in range(20)]
    assert sum(levels) <= LEVEL
    assert levels[1] == pytest.approx((LEVEL - levels[0]) / 2)
    assert Claim((above(2.5),)).at(Look(1.0, 1)).verdict == "open"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_errors_are_rare_at_the_border(kind: Kind) -> None:
    slow = "repeat" in kind.name
    found = error_rates(kind, 20 if slow else 60, 5)
    # At LEVEL, more than 7 of 60, and 4 of 20, have a chance of 2e-4; the slow test simulates more.
    assert max(found.false.values()) <= (4 / 20 if slow else 7 / 60)
    assert found.covered >= 0.8
    assert found.power >= 0.3


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_errors_of_two_thousand_experiments(kind: Kind) -> None:
    found = error_rates(kind, 2000, 6)
    assert max(found.false.values()) <= LEVEL + 3 * 0.0035  # 0.0035: the standard error
    assert found.covered >= 0.93


# -- what decides ------------------------------------------------------------------------------------------------------


def test_the_inequality_that_decides_is_named() -> None:
    """Not the first, but the weakest of those that must all be true, and the strongest where any is enough."""
    weak = above(2.5)
    strong = above(9.0)
    assert Claim((strong, weak)).decisive is weak
    assert Claim((weak, strong), needs="any").decisive is strong
    refuted = above(-5.0)
    none = above(0.5, matters=3.0)
    assert Claim((strong, refuted)).decisive is refuted
    assert Claim((strong, none, above(9.0))).verdict == "no such effect"
    assert Claim((strong, none, above(9.0))).decisive is none
    below = Inequality("x", normal(-9.0, 1.0), 0.0, "below", 100, matters=-3.0)
    assert Claim((below, weak)).decisive is weak


def test_sign_and_size() -> None:
    assert Claim((above(3.0),)).test == "sign"
    assert at(10.0, 10.0).test == "size"
    ratio = Inequality("x", normal(12.0, 1.0), 2.5, "above", 100, matters=5.0)
    assert Claim((above(3.0), ratio)).test == "size"
    assert Inequality("x", normal(3.0, 1.0), 1.0, "above", 100, matters=1.25).test == "sign"


def test_ours_is_shown_and_how_many_times_the_sources_it_is() -> None:
    less = Inequality(
        "x", normal(92.8, 21.0), 0.0, "at", 100, unit="Elo", matters=30.0, source=5.0, here=normal(97.8, 20.0)
    )
    assert less.quantity == "x 97.8 [58.6, 137] Elo (less the source's: 92.8 [51.6, 134] Elo)"
    assert less.ours == "97.8 [58.6, 137] Elo"
    assert less.times == pytest.approx(19.56)
    assert above(3.0).times is None


def test_an_effect_may_be_excluded_by_one_on_the_other_side() -> None:
    """After an extension -2.5 standard errors refute nothing, and exclude a positive effect."""
    claim = Claim((above(-2.5),), look=Look(1.0, 1))
    assert (claim.verdict, claim.on_the_other_side) == ("no such effect", True)
    assert not Claim((above(0.5, matters=3.0),)).on_the_other_side
    assert Claim((above(-2.5),)).verdict == "does not hold"


def test_a_claim_that_is_open_for_its_premise_alone() -> None:
    assert Claim((above(3.0),), premise=(above(1.0),)).lacks_premise
    assert not Claim((above(1.0),), premise=(above(1.0),)).lacks_premise
    assert not Claim((above(3.0),), premise=(above(3.0),)).lacks_premise
    assert not Claim((above(1.0),)).lacks_premise
