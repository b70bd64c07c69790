"""The ratio (w + l)/d: laws of its interval, and the search for the setting that gives a requested one."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hauteur.matches.ratings import elo
from hauteur_experiments.measured import Record as MatchScore
from hauteur_experiments.ratio import (
    MeasuredRatio,
    RatioSearch,
    decisive_ratio,
    fit_ratio,
    ratio_factor,
    ratio_of,
    ratio_slope,
    tune_ratio,
)

Ratio = Callable[[float], float]
counts = st.integers(0, 300)


def players(ratio: Ratio, seed: int) -> Callable[[float, int], MatchScore]:
    """Games whose true ratio at x is known; the first games at an x are the same however many are asked for."""

    def measure(x: float, games: int) -> MatchScore:
        random = np.random.default_rng((seed, round(x * 1e6)))
        decisive = int((random.random(games) < ratio(x) / (1 + ratio(x))).sum())
        return MatchScore(decisive // 2, games - decisive, decisive - decisive // 2)

    return measure


def paper(n_scl: float) -> float:
    """Figure 2 of Joshi 2025: 1.38, 0.79 and 0.32 at 5, 10 and 32, and 0.09 without contempt."""
    return max(1.38 * math.pow(n_scl / 5, -0.79), 0.09)


N_SCL = RatioSearch(target=1.0, low=1, high=1000, starts=(5,), rising=False, whole=True, games=50, more=11)


@given(counts, counts, counts)
def test_the_interval_holds_the_ratio_and_only_draws_matter(wins: int, draws: int, losses: int) -> None:
    record = MatchScore(wins, draws, losses)
    low, high = ratio_of(record).interval(0.95)
    assert 0 <= low < high
    assert (low, high) == ratio_of(MatchScore(losses, draws, wins)).interval(0.95)
    ratio = decisive_ratio(record)
    if ratio is not None:
        assert low <= ratio <= high
    assert math.isinf(high) == (draws == 0)


def test_wilson_by_hand_and_the_ends() -> None:
    low, high = ratio_of(MatchScore(33, 42, 25)).interval(0.95)  # Wilson's 95 % of 42 draws of 100: 0.3280 to 0.5179
    assert low == pytest.approx(1 / 0.5179 - 1, abs=2e-3)
    assert high == pytest.approx(1 / 0.3280 - 1, abs=2e-3)
    assert ratio_of(MatchScore(0, 0, 0)).interval(0.95) == (0.0, math.inf)
    assert ratio_of(MatchScore(0, 9, 0)).interval(0.95)[0] == 0.0
    assert decisive_ratio(MatchScore(4, 0, 3)) is None


@given(st.tuples(*[st.integers(0, 500)] * 3), st.floats(0.5, 0.99))
def test_intervals_of_a_score_are_those_of_matches(counts: tuple[int, int, int], confidence: float) -> None:
    """Experiments use public names alone, so they have Wilson's formula of their own."""
    here = MatchScore(*counts).score_interval(confidence)
    assert here == pytest.approx(elo.score_interval(elo.MatchScore(*counts), confidence), abs=1e-12)


def test_the_line_goes_through_plenty_of_games() -> None:
    games = [MeasuredRatio(x, MatchScore(round(90_000 * x**-0.5), 90_000, 0)) for x in (0.5, 1.0, 2.0)]
    line = fit_ratio(games, 1.0, rising=False)
    assert line.slope == pytest.approx(-0.5, abs=0.01)
    assert line.x_for(1.0) == pytest.approx(1.0, abs=0.01)
    assert line.ratio_at(4.0) == pytest.approx(0.5, abs=0.01)
    low, high = line.x_interval(1.0)
    assert 0.97 < low < 1 < high < 1.03


def test_a_line_of_one_place_has_the_usual_slope_and_a_wide_interval() -> None:
    line = fit_ratio([MeasuredRatio(8.0, MatchScore(10, 20, 10))], 1.0, rising=True)
    assert line.slope == pytest.approx(1.0)
    low, high = line.x_interval(1.0)
    assert low < 8 < high
    assert high / low > 2
    noise = [MeasuredRatio(5.0, MatchScore(5, 10, 5)), MeasuredRatio(10.0, MatchScore(15, 2, 15))]
    assert fit_ratio(noise, 1.0, rising=False).slope < 0


def test_searches_find_the_setting_and_know_how_well() -> None:
    found = [tune_ratio(players(paper, seed), N_SCL) for seed in range(100)]
    truth = 5 * 1.38 ** (1 / 0.79)
    assert {one.reached for one in found} == {"found"}
    assert np.median([one.x for one in found]) == pytest.approx(truth, rel=0.15)
    assert np.mean([one.interval[0] <= truth <= one.interval[1] for one in found]) >= 0.9
    assert np.mean([truth / 2 <= one.x <= truth * 2 for one in found]) >= 0.97
    assert {sum(at.record.games for at in one.measured) for one in found} == {600}


@pytest.mark.parametrize("start", [1, 1000])
def test_a_bad_start_is_left_in_steps(start: float) -> None:
    search = RatioSearch(1.0, 1, 1000, (start,), rising=False, whole=True, games=100, more=14)
    found = [tune_ratio(players(paper, seed), search) for seed in range(10)]
    assert np.mean([3 <= one.x <= 20 for one in found]) >= 0.9
    assert all(float(one.x).is_integer() for one in found)


def test_a_rising_ratio_is_found_too() -> None:
    search = RatioSearch(1.0, 0.2, 3.0, (1.0,), rising=True, games=100, more=9)
    found = tune_ratio(players(lambda x: 1.38 * x**2.5, 1), search)
    assert found.reached == "found"
    assert found.x == pytest.approx(1.38**-0.4, rel=0.2)


@pytest.mark.parametrize(("target", "reached", "x"), [(50.0, "low", 1.0), (0.001, "high", 1000.0)])
def test_a_ratio_out_of_reach_ends_at_the_bound(target: float, reached: str, x: float) -> None:
    search = RatioSearch(target, 1, 1000, (5, 300), rising=False, whole=True, games=100, more=6)
    found = tune_ratio(players(paper, 3), search)
    assert (found.reached, found.x) == (reached, x)
    assert found.interval[0] <= x <= found.interval[1]


def test_the_slope_of_the_papers_figure() -> None:
    figure = ((5, 33, 42, 25), (10, 19, 56, 25), (32, 14, 76, 10), (1000, 3, 92, 5))
    slope = ratio_slope([MeasuredRatio(x, MatchScore(*counts)) for x, *counts in figure])
    assert slope.interval(0.95)[1] < 0
    assert slope.value == pytest.approx(-0.5, abs=0.1)
    with pytest.raises(ValueError, match="two places or more"):
        ratio_slope([MeasuredRatio(5, MatchScore(1, 1, 1))])


@pytest.mark.parametrize(("truth", "slope"), [(0.3, 0.0), (0.5, -0.4)])
def test_the_interval_of_the_slope_covers_the_truth(truth: float, slope: float) -> None:
    random = np.random.default_rng(4)
    xs = (5.0, 10.0, 32.0, 200.0)
    covered = 0
    for _ in range(400):
        chances = [1 / (1 + math.exp(-(truth + slope * math.log(x / 20)))) for x in xs]
        counts = [int(random.binomial(100, chance)) for chance in chances]
        games = [MeasuredRatio(x, MatchScore(n, 100 - n, 0)) for x, n in zip(xs, counts, strict=True)]
        low, high = ratio_slope(games).interval(0.95)
        covered += low <= slope <= high
    assert 0.92 <= covered / 400 <= 0.98


def test_the_factor_of_figure_3() -> None:
    factor = ratio_factor(MatchScore(32, 42, 26), MatchScore(4, 94, 2))
    assert factor.value == pytest.approx(58.5 / 42.5 / (6.5 / 94.5))
    low, high = factor.interval(0.95)
    assert 1 < low < factor.value < high
    assert ratio_factor(MatchScore(4, 94, 2), MatchScore(32, 42, 26)).value == pytest.approx(1 / factor.value)
    low, high = ratio_factor(MatchScore(0, 0, 0), MatchScore(0, 0, 0)).interval(0.95)
    assert low < 1 < high
