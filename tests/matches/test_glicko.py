"""Glicko ratings against the example of Glickman's paper."""

from __future__ import annotations

import pytest

from hauteur.matches.ratings.glicko import LEAST_DEVIATION, GlickoRating


def test_the_example_of_the_paper() -> None:
    """1500 (200) wins against 1400 (30), loses to 1550 (100) and 1700 (300): 1464 (151.4)."""
    opponents = GlickoRating(1400, 30), GlickoRating(1550, 100), GlickoRating(1700, 300)
    player = GlickoRating(1500, 200)
    assert [round(player.expected(opponent), 3) for opponent in opponents] == [0.639, 0.432, 0.303]
    after = player.after(zip(opponents, (1.0, 0.0, 0.0), strict=True))
    assert after.rating == pytest.approx(1464.1, abs=0.1)
    assert after.deviation == pytest.approx(151.4, abs=0.1)


def test_results_make_a_rating_surer_and_no_surer_than_the_least_deviation() -> None:
    """A period without games changes nothing; after many the deviation stays at its least."""
    player = GlickoRating(1500, 100)
    assert player.after([]) == player
    for _ in range(1000):
        player = player.after([(GlickoRating(1500, 30), 0.5)])
    assert player.deviation == LEAST_DEVIATION
    assert player.rating == pytest.approx(1500)
