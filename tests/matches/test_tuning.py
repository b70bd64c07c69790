"""Tuning: parameters as places, SPSA on a noisy hill, tunings by matches that are interrupted, what is refused."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hauteur.cli.main import main
from hauteur.matches.tuning import (
    Parameter,
    Place,
    Schedule,
    parse_parameter,
    parse_parameters,
    places_of,
    settled,
    spsa,
)
from hauteur.players.settings import parse_player

TICTACTOE = ["--game", "tictactoe", "--threads", "1", "--parallel", "8"]


@st.composite
def parameters(draw: st.DrawFn) -> Parameter:
    """Any two bounds, even or in the logarithm, of fractions or whole numbers."""
    whole = draw(st.booleans())
    log = draw(st.booleans())
    least = (1 if whole else 1e-3) if log else -1000
    numbers = st.integers(int(least), 1000).map(float) if whole else st.floats(least, 1000)
    low, high = sorted(draw(st.tuples(numbers, numbers).filter(lambda ends: abs(ends[0] - ends[1]) > 1e-3)))
    return Parameter("x", ("x",), low, high, log=log, whole=whole)


@given(parameters(), st.floats(0, 1), st.floats(0, 1))
def test_places_and_values(parameter: Parameter, one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert parameter.low <= parameter.value(low) <= parameter.value(high) <= parameter.high
    assert isinstance(parameter.value(one), int) == parameter.whole
    assert parameter.value(0) == pytest.approx(parameter.low, rel=1e-4)
    assert parameter.value(1) == pytest.approx(parameter.high, rel=1e-4)
    if not parameter.whole:
        near = parameter.value(parameter.place(parameter.value(one)))
        assert near == pytest.approx(parameter.value(one), rel=1e-3, abs=1e-3 * parameter.width)


@given(parameters(), st.floats(0, 1))
def test_two_sides_of_a_whole_number_differ(parameter: Parameter, place: float) -> None:
    spread = parameter.least_spread(place)
    if parameter.whole and not parameter.log:
        middle = min(max(place, spread), 1 - spread)
        assert parameter.value(middle + spread) > parameter.value(middle - spread)
    assert spread <= 0.5


def test_factors_count_with_log() -> None:
    player = parse_player("visits=50")
    assert parse_parameter("cpuct.init=0.5:2", player).value(0.5) == 1.25
    assert parse_parameter("cpuct.init=0.5:2:log", player).value(0.5) == 1
    assert parse_parameter("search-contempt.n-scl=1:100:log", player).value(0.5) == 10


def test_tuning_begins_with_the_values_of_the_player() -> None:
    player = parse_player("visits=50 cpuct.init=1 temperature=0.5")
    found = parse_parameters(["cpuct.init=0.5:3", "temperature=0:2", "prior-mixing.share=0:1"], player)
    assert places_of(player, found) == [0.2, 0.25, 0.5]  # the last is of a rule that is off


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cpuct.init=0.5", "KEY=LOW:HIGH"),
        ("cpuct.init=0.5:1:exp", "KEY=LOW:HIGH"),
        ("cpuct.inti=0.5:1", "did you mean init"),
        ("cpuct.init=a:b", "'a' is not a number"),
        ("cpuct.init=3:1", "lower bound must be below the upper, got 3:1"),
        ("cpuct.init=nan:1", "lower bound must be below the upper"),
        ("cpuct.init=0:300", "from 0 to 100, got '300.0'"),
        ("draw-score=-1:1:log", "both bounds must be above 0"),
        ("reuse-tree=0:1", "reuse-tree is not a number"),
        ("fpu.kind=0:1", "fpu.kind is not a number"),
        ("search-contempt.n-scl=1.5:3", "whole number"),
    ],
)
def test_parameters_that_are_none(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        parse_parameter(text, parse_player("visits=50"))
    assert "\n" not in str(caught.value)


def noisy_hill(best: Place, games: int) -> tuple[list[int], object]:
    """Compares two points by a match: 100 Elo are between the best point and one a half away."""
    asked: list[int] = []

    def compare(number: int, plus: Place, minus: Place) -> float:
        asked.append(number)
        strengths = [-400 * float(((place - best) ** 2).sum()) for place in (plus, minus)]
        chance = 1 / (1 + 10 ** ((strengths[1] - strengths[0]) / 400))
        wins = np.random.default_rng(number).binomial(games, chance)
        return 2 * wins / games - 1

    return asked, compare


@pytest.mark.parametrize("seed", range(2))
def test_spsa_climbs_a_noisy_hill(seed: int) -> None:
    best = np.array([0.8, 0.3])
    _, compare = noisy_hill(best, games=40)
    found = list(spsa(compare, [0.2, 0.9], Schedule(60), seed=seed))  # type: ignore[arg-type]
    assert np.abs(settled(found) - best).max() < 0.15
    assert all(0 <= value <= 1 for one in found for point in (one.plus, one.minus, one.place) for value in point)


def test_near_a_bound_both_points_move_inwards() -> None:
    first = next(spsa(lambda number, plus, minus: 0.0, [0.0, 1.0], Schedule(5, spread=0.2), seed=1))
    assert sorted((float(first.plus[0]), float(first.minus[0]))) == pytest.approx([0.0, 0.4])
    assert sorted((float(first.plus[1]), float(first.minus[1]))) == pytest.approx([0.6, 1.0])
    assert first.place.tolist() == [0.0, 1.0]


def test_steps_are_as_large_as_it_says() -> None:
    schedule = Schedule(100, spread=0.2, step=0.3)
    one = next(spsa(lambda number, plus, minus: 1.0, [0.5], schedule, seed=0))
    assert abs(one.place[0] - 0.5) == pytest.approx(0.3)
    assert schedule.step_at(99) < 0.15
    assert 0.1 < schedule.spread_at(99) < 0.15
    assert math.isclose(schedule.spread_at(0), 0.2)


@pytest.mark.parametrize("sizes", [(0, 0.2, 0.3), (5, 0.6, 0.3), (5, 0.2, 0.0)])
def test_schedules_that_cannot_be(sizes: tuple[int, float, float]) -> None:
    with pytest.raises(ValueError, match="must be"):
        Schedule(*sizes)


def strength(folder: Path, *more: str) -> int:
    sizes = {"--iterations": "3", "--games": "4", "--verification": "4"}
    words = ["visits=4 net=uniform", "--parameter", "cpuct.init=0.1:10:log", *without_given(sizes, more)]
    return main(["tune", "strength", *words, "--out", str(folder), *TICTACTOE, *more])


def without_given(sizes: dict[str, str], more: tuple[str, ...]) -> list[str]:
    return [word for name, value in sizes.items() if name not in more for word in (name, value)]


def result(folder: Path) -> dict[str, object]:
    values: dict[str, object] = json.loads((folder / "result.json").read_text())
    del values["written"]
    return values


def test_a_tuning_for_strength_is_the_same_after_an_interruption(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert strength(tmp_path / "whole") == 0
    printed = capsys.readouterr()
    assert "iteration 3/3" in printed.err
    assert "tuned against given: " in printed.out
    assert strength(tmp_path / "cut") == 0
    games = tmp_path / "cut" / "iteration-0002" / "games.jsonl"
    games.write_text("".join(games.read_text().splitlines(keepends=True)[:1]))
    for gone in ("iteration-0003", "verification"):
        (tmp_path / "cut" / gone / "games.jsonl").unlink()
        (tmp_path / "cut" / gone / "match.json").unlink()
    (tmp_path / "cut" / "result.json").unlink()
    assert strength(tmp_path / "cut") == 0
    assert result(tmp_path / "cut") == result(tmp_path / "whole")


def test_an_opponent_plays_both_sides(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert strength(tmp_path, "--opponent", "random") == 0
    assert "tuned player: " in capsys.readouterr().out
    folders = sorted(path.name for path in tmp_path.iterdir() if path.name.startswith("iteration-0001"))
    assert folders == ["iteration-0001-minus", "iteration-0001-plus"]
    first, second = (json.loads((tmp_path / name / "result.json").read_text())["results"] for name in folders[::-1])
    iterations = result(tmp_path)["iterations"]
    assert isinstance(iterations, list)
    assert iterations[0]["wins"] == first["wins"] + second["losses"]


def test_another_tuning_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert strength(tmp_path) == 0
    assert strength(tmp_path, "--step", "0.5") == 2
    assert "holds a tuning with other settings: step was 0.3 and is now 0.5" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--parameter", "search.cpuct.init=1:2"], "search.cpuct.init is given twice"),
        (["--parameter", "visits=5:9"], "visits is 4 and must be within its bounds 5:9"),
        (["--games", "3"], "multiple of 2"),
        (["--opponent", "random", "--games", "6"], "multiple of 4"),
        (["--verification", "3"], "must be even"),
        (["--iterations", "0"], "iterations must be 1"),
    ],
)
def test_what_is_refused_leaves_no_folder(
    more: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert strength(tmp_path / "out", *more) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_openings_of_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "openings.txt"
    file.write_text("b2 a1\na3 b2\n")
    assert strength(tmp_path / "out", "--openings", str(file)) == 0
    lines = (tmp_path / "out" / "iteration-0001" / "games.jsonl").read_text().splitlines()
    assert {json.loads(line)["opening"] for line in lines} <= {"b2 a1", "a3 b2"}
    assert strength(tmp_path / "out", "--openings", str(file), "--random-plies", "2") == 2
    assert "exclude each other" in capsys.readouterr().err
