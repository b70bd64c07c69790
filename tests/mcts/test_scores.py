"""Scores and win/draw/loss as chess programs show them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hauteur.mcts.scores import (
    FORMULAS,
    LARGEST_SCORE,
    MATE,
    logistic_mean,
    mate_score,
    pawns,
    permille,
    score,
    score_text,
)

pytestmark = pytest.mark.quick

wl_and_d = st.floats(0.0, 1.0).flatmap(lambda d: st.tuples(st.floats(-(1.0 - d), 1.0 - d), st.just(d)))


@pytest.mark.parametrize(
    ("kind", "figure"),
    [
        ("centipawn", round(90 * math.tan(1.5637541897 * 0.3))),
        ("centipawn_with_drawscore", round(90 * math.tan(1.5637541897 * 0.25))),
        ("centipawn_2019", round(295 * 0.3 / (1 - 0.976953126 * 0.3**14))),
        ("centipawn_2018", round(290.680623072 * math.tan(1.548090806 * 0.3))),
        ("win_percentage", 6500),
        ("Q", 2500),
        ("W-L", 3000),
    ],
)
def test_kinds(kind: str, figure: int) -> None:
    assert score(kind, wl=0.3, d=0.4, q=0.25) == figure


def test_wdl_mu() -> None:
    """w = 0.5, d = 0.3, l = 0.2: a = ln 4, b = 0, mu = 1: a win is as likely as no win."""
    assert logistic_mean(0.3, 0.3) == pytest.approx(1.0)
    a = math.log(1 / 0.2 - 1)
    b = math.log(1 / 0.4 - 1)
    assert score("WDL_mu", wl=0.2, d=0.4, q=0.2) == round(100 * (a - b) / (a + b)) == 55
    assert score("WDL_mu", wl=0.0, d=0.5, q=0.0) == 0


@given(st.sampled_from(list(FORMULAS)), wl_and_d)
def test_scores_are_bounded(kind: str, value: tuple[float, float]) -> None:
    wl, d = value
    assert -LARGEST_SCORE <= score(kind, wl=wl, d=d, q=wl) <= LARGEST_SCORE


@given(st.sampled_from([kind for kind in FORMULAS if kind != "win_percentage"]), wl_and_d)
def test_the_other_player_sees_the_opposite(kind: str, value: tuple[float, float]) -> None:
    wl, d = value
    assert score(kind, wl=-wl, d=d, q=-wl) == -score(kind, wl=wl, d=d, q=wl)


@given(wl_and_d)
def test_permille_sums_to_thousand(value: tuple[float, float]) -> None:
    win, draw, loss = permille(*value)
    assert win + draw + loss == 1000
    assert min(win, draw, loss) >= 0
    assert abs(win - 500 * (1 + value[0] - value[1])) <= 0.5 + 1e-9


@given(st.floats(-1.0, 1.0))
def test_pawns_are_centipawns_over_hundred(wl: float) -> None:
    assert pawns(wl) * 100 == pytest.approx(score("centipawn", wl=wl, d=0, q=0))
    assert abs(pawns(wl)) < MATE / 2
    assert math.isnan(pawns(math.nan))


@given(st.integers(-400, 400))
def test_mates_among_scores(moves: int) -> None:
    text = score_text(mate_score(moves))
    assert text == (f"+M{moves}" if moves > 0 else f"-M{-moves}")
    assert mate_score(3) > mate_score(5) > 200 > -200 > mate_score(-5) > mate_score(-3) > mate_score(0)


def test_text_of_scores() -> None:
    assert [score_text(value) for value in (0.254, -3.0, 0.0, math.nan)] == ["+0.25", "-3.00", "+0.00", ""]
    assert score_text(mate_score(10_000)) == "+M500"
