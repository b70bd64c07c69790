"""Ratios, Elo and intervals against what fastchess, OpenBench and cutechess printed of the same counts."""

import json
from pathlib import Path
from typing import Any

import pytest

from hauteur.matches.ratings.elo import (
    MatchScore,
    Pairs,
    Sprt,
    elo_of_interval,
    elo_of_score,
    likelihood_of_superiority,
    normalised_elo,
    pair_likelihood_of_superiority,
    pair_score_interval,
    score_interval,
)

PUBLISHED = json.loads(
    (Path(__file__).parents[1] / "support/field/trainers/published_statistics.json").read_text("utf-8")
)


def pairs_of(row: dict[str, Any]) -> Pairs:
    a, b, c, d, e = row["pairs"]
    return Pairs((a, b, c, d, e))


def half_width(interval: tuple[float, float]) -> float:
    low, high = elo_of_interval(interval)
    return (high - low) / 2


@pytest.mark.parametrize("row", PUBLISHED["llr"], ids=lambda row: row["source"])
def test_log_likelihood_ratios(row: dict[str, Any]) -> None:
    test = Sprt(row["elo0"], row["elo1"], row.get("alpha", 0.05), row.get("beta", 0.05), row["model"])
    assert test.llr(pairs_of(row)) == pytest.approx(row["published"], abs=0.011)


@pytest.mark.parametrize("row", PUBLISHED["elo_of_pairs"], ids=lambda row: row["source"])
def test_elo_of_pairs(row: dict[str, Any]) -> None:
    pairs = pairs_of(row)
    assert elo_of_score(pairs.score) == pytest.approx(row["elo"], abs=0.006)
    assert normalised_elo(pairs) == pytest.approx(row["nelo"], abs=0.006)
    assert half_width(pair_score_interval(pairs)) == pytest.approx(row["half_width"], rel=0.01)
    if "los" in row:
        assert 100 * pair_likelihood_of_superiority(pairs) == pytest.approx(row["los"], abs=0.1)


@pytest.mark.parametrize("row", PUBLISHED["elo_of_games_wdl"], ids=lambda row: row["source"])
def test_elo_of_games(row: dict[str, Any]) -> None:
    wins, draws, losses = row["wdl"]
    record = MatchScore(wins=wins, draws=draws, losses=losses)
    digits = 0.06 if isinstance(row["elo"], float) else 0.6
    assert elo_of_score(record.score) == pytest.approx(row["elo"], abs=digits)
    assert half_width(score_interval(record)) == pytest.approx(row["half_width"], abs=digits)
    if "los" in row:
        assert 100 * likelihood_of_superiority(record) == pytest.approx(row["los"], abs=0.06)
