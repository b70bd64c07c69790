"""Elo and its error bars against published and hand-computed numbers."""

import math

import pytest

from hauteur.rating import (
    Record,
    elo,
    elo_interval,
    elo_of_score,
    finite_elo,
    likelihood_of_superiority,
    score_interval,
    score_of_elo,
)


@pytest.mark.parametrize(
    ("record", "expected_elo", "expected_los"),
    [
        (Record(wins=181, losses=152, draws=667), 10.08, 0.9440),
        (Record(wins=65, losses=39, draws=521), 14.46, 0.9946),
        (Record(wins=17, draws=46, losses=37), -70.43, None),
    ],
)
def test_published_checks(record: Record, expected_elo: float, expected_los: float | None) -> None:
    assert elo(record) == pytest.approx(expected_elo, abs=0.01)
    if expected_los is not None:
        assert likelihood_of_superiority(record) == pytest.approx(expected_los, abs=5e-5)


def test_elo_and_score_are_inverse() -> None:
    for difference in (-900.0, -35.0, 0.0, 200.0):
        assert elo_of_score(score_of_elo(difference)) == pytest.approx(difference)


def test_a_clean_sheet_is_infinite_but_bounded_on_one_side() -> None:
    record = Record(wins=20)
    low, high = elo_interval(record)
    assert elo(record) == high == math.inf
    assert 100 < low < 400
    mirrored = elo_interval(Record(losses=20))
    assert mirrored[0] == -math.inf
    assert mirrored[1] == pytest.approx(-low)
    assert finite_elo(record) == pytest.approx(elo_of_score(20.5 / 21))


def test_interval_without_draws_is_wilsons() -> None:
    # Wilson, 55 of 100, 95 %: 0.4524 to 0.6439; the half win and loss added change nothing without draws
    assert score_interval(Record(wins=55, losses=45)) == pytest.approx((0.4524, 0.6439), abs=2e-4)


def test_draws_narrow_the_interval_as_the_variance_says() -> None:
    few, many = Record(wins=300, losses=300, draws=400), Record(wins=10, losses=10, draws=980)
    width = [high - low for low, high in map(score_interval, (few, many))]
    # standard deviation of a game: sqrt(0.6/4) and sqrt(0.02/4); times 2 * 1.96 / sqrt(1000)
    assert width[0] == pytest.approx(2 * 1.96 * math.sqrt(0.15 / 1000), rel=0.01)
    assert width[1] == pytest.approx(2 * 1.96 * math.sqrt(0.005 / 1000), rel=0.05)


def test_only_draws_still_leave_doubt() -> None:
    low, high = score_interval(Record(draws=10))
    assert 0.3 < low < 0.5 < high < 0.7


def test_no_games() -> None:
    assert score_interval(Record()) == (0.0, 1.0)
    assert Record().score == 0.5
    assert likelihood_of_superiority(Record(draws=3)) == 0.5


def test_records_add_up() -> None:
    record = Record()
    for score in (1.0, 0.5, 0.5, 0.0):
        record = record.add(score)
    assert record == Record(wins=1, draws=2, losses=1)
    assert str(record) == "+1 =2 -1"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Record(wins=-1), ">= 0"),
        (lambda: Record().add(0.3), "must be 0, 0.5 or 1, got 0.3"),
        (lambda: elo_of_score(1.5), "between 0 and 1, got 1.5"),
        (lambda: score_interval(Record(), 1.0), "confidence must be between 0 and 1"),
    ],
)
def test_bad_input_is_refused(call: object, message: str) -> None:
    assert callable(call)
    with pytest.raises(ValueError, match=message):
        call()
