"""benchmarks/prophet_bench.py: the rating by levels, and what its result says of the protocol."""

import math
from argparse import Namespace
from typing import Any

import pytest

import prophet_bench
from hauteur.matches.ratings.elo import MatchScore


def levels(*records: tuple[int, int, int, int]) -> list[Any]:
    return [prophet_bench.Level(rating, rating, MatchScore(*record)) for rating, *record in records]


def test_the_rating_explains_the_points() -> None:
    found = levels((1350, 27, 2, 31), (1500, 14, 1, 45), (1700, 2, 0, 58), (2000, 0, 1, 59), (2300, 0, 0, 60))
    value, low, high = prophet_bench.rating(found)
    assert value == pytest.approx(1290, abs=2)
    assert low < value < high
    assert high - low < 160
    expected = sum(60 / (1 + 10 ** ((level.played - value) / 400)) for level in found)
    assert expected == pytest.approx(sum(level.score.points for level in found), abs=1e-3)
    even = levels((1500, 20, 20, 20))
    assert prophet_bench.rating(even)[0] == pytest.approx(1500, abs=1e-3)
    assert prophet_bench.rating(levels((1500, 0, 0, 60)))[0] == -math.inf


def test_a_result_says_what_differs_from_the_protocol() -> None:
    given = prophet_bench.parsed(["net.safetensors", "--quick", "--nodes", "500"])
    assert isinstance(given, Namespace)
    played = [
        prophet_bench.Level(1320, 1350, MatchScore(3, 2, 5)),
        prophet_bench.Level(1500, 1500, MatchScore(1, 2, 7)),
    ]
    result = prophet_bench.result_of(given, "Stockfish 15.1", played)
    assert not result["official"]
    assert result["differs"] == ["1320 played at 1350", "500 nodes a move", "10 games a level"]
    assert "not by the letter" in prophet_bench.shown(result)
    even = levels((1320, 30, 0, 30))
    official = prophet_bench.result_of(prophet_bench.parsed(["net.safetensors"]), "Stockfish 11", even)
    assert official["official"]
    assert official["elo"] == pytest.approx(1320, abs=0.1)


def test_another_program_is_no_stockfish(capsys: pytest.CaptureFixture[str]) -> None:
    assert prophet_bench.main(["net.safetensors", "--stockfish", "cat"]) == 2
    assert "expected a Stockfish" in capsys.readouterr().err
