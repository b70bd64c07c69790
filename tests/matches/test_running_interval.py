"""Intervals of matches that go on, and of openings that repeat: simulated matches, and what they are made of."""

import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from hauteur.matches.ratings.elo import (
    MatchScore,
    Pairs,
    opening_interval,
    pair_score_interval,
    running_interval,
    score_interval,
)
from hauteur.matches.results import MatchGame, Tally

pytestmark = pytest.mark.quick


@pytest.fixture(scope="module")
def checks() -> Iterator[ModuleType]:
    """benchmarks/running_checks.py, which is no part of the package."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
        yield importlib.import_module("running_checks")


def tally_of(scores: dict[int, float], openings: int = 10_000, *, paired: bool = True) -> Tally:
    found = Tally(paired)
    for index, score in scores.items():
        opening = str(index // 2 % openings)
        moves = str(index)  # no two games are alike
        found.add(MatchGame(index=index, a="first", score=score, end="", plies=1, opening=opening, moves=moves))
    return found


@pytest.mark.parametrize("number", range(6))
def test_the_interval_of_a_running_match_holds_the_score_at_the_end(checks: ModuleType, number: int) -> None:
    found = checks.coverage(checks.KINDS[number], 200, 64, 60, 3)
    # At 95 %, fewer than 50 of 60 have a chance of 1e-3.
    assert min(held for held, _ in found.values()) >= 50 / 60


@pytest.mark.slow
@pytest.mark.parametrize("games", [100, 400])
@pytest.mark.parametrize("number", range(6))
def test_two_thousand_running_matches(checks: ModuleType, games: int, number: int) -> None:
    found = checks.coverage(checks.KINDS[number], games, 64, 2000, 4)
    assert min(held for held, _ in found.values()) > 0.95 - 3.5 * 0.0049


def test_pairs_that_end_early_and_alike_do_not_make_it_narrow() -> None:
    ended = {2 * number + side: float(side == 0) for number in range(0, 40, 2) for side in (0, 1)}
    tally = tally_of(ended)
    low, high = tally.score_interval
    assert tally.interval_from == "running"
    assert tally.pairs == Pairs((0, 0, 20, 0, 0))
    assert pair_score_interval(tally.pairs)[1] - 0.5 < 0.06  # twenty pairs of a point each
    games = score_interval(MatchScore(20, 0, 20))
    assert low < games[0]
    assert high > games[1]


def test_games_that_go_on_may_be_lost_or_won() -> None:
    won = dict.fromkeys(range(0, 100, 2), 1.0)
    assert running_interval(won, Pairs())[0] < 0.5  # the other half may all be lost
    assert running_interval({**won, **dict.fromkeys(range(1, 100, 2), 1.0)}, Pairs((0, 0, 0, 0, 50)))[0] > 0.9
    assert running_interval({}, Pairs()) == (0.0, 1.0)


def test_games_without_their_partner_count_too() -> None:
    tally = tally_of({0: 1.0, 1: 0.5, 2: 0.0, 3: 0.5, 4: 1.0})
    low, high = tally.score_interval
    assert low < tally.record.score == 0.6 < high
    assert high - low >= np.ptp(score_interval(tally.record))


def test_openings_that_repeat_are_the_units() -> None:
    # Twenty openings of which each decides: played once, or five times with the same results.
    random = np.random.default_rng(1)
    sums = random.integers(0, 3, 20)
    once = {2 * number + side: float(sums[number] > side) for number in range(20) for side in (0, 1)}
    often = {index + 40 * turn: score for turn in range(5) for index, score in once.items()}
    assert tally_of(often).interval_from == "pairs"
    repeated = tally_of(often, openings=20)
    assert repeated.interval_from == "openings"
    assert np.ptp(repeated.score_interval) == pytest.approx(np.ptp(tally_of(once).score_interval), rel=0.15)
    assert np.ptp(repeated.score_interval) > 1.8 * np.ptp(tally_of(often).score_interval)
    assert tally_of(often, openings=7).interval_from == "pairs"  # too few to be a sample of openings


def test_independent_games_lose_little_by_openings() -> None:
    random = np.random.default_rng(2)
    inside = 0
    for _ in range(300):
        results = [MatchScore(*random.multinomial(6, (0.35, 0.3, 0.35)).tolist()) for _ in range(40)]
        low, high = opening_interval(results)
        inside += low <= 0.5 <= high
    assert 0.91 < inside / 300 < 0.99


def test_openings_with_one_result() -> None:
    assert opening_interval([MatchScore(2)]) == (0.0, 1.0)
    low, high = opening_interval([MatchScore(2)] * 10)
    assert 0.6 < low < high == 1.0
    assert opening_interval([MatchScore(1, 0, 1)] * 10) == (0.5, 0.5)
