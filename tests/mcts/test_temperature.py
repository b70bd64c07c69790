"""The choice of moves by temperature: the reference against cases computed by hand, the core against the reference."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hauteur import _core
from hauteur.mcts.params import Temperature
from reference.choice import Candidate, chances, choose, temperature_at

pytestmark = pytest.mark.quick

NAN = float("nan")
PRIORS = (0.1, 0.2, 0.3, 0.4)


def candidates(visits: tuple[int, ...] = (10, 30, 60, 0)) -> list[Candidate]:
    return [Candidate(*row) for row in zip(range(4), visits, (0.5, 0.2, 0.1, NAN), PRIORS, strict=True)]


@pytest.mark.parametrize(
    ("settings", "plies", "expected"),
    [
        (Temperature(initial=0.8), (0, 1, 500), [0.8, 0.8, 0.8]),
        # m = ply // 2: 1 and 2 up to the delay, 7 -> (12 - 7) / 10, 11 -> 0.1 -> endgame, 12 -> 0 -> endgame
        (
            Temperature(initial=1.0, decay_moves=10, decay_delay_moves=2, endgame=0.25),
            (3, 4, 14, 15, 22, 24, 400),
            [1.0, 1.0, 0.5, 0.5, 0.25, 0.25, 0.25],
        ),
        (Temperature(initial=2.0, decay_moves=4), (0, 2, 6, 8), [2.0, 1.5, 0.5, 0.0]),
        # the cutoff comes before the decay: m + 1 >= 3 from ply 4 on
        (Temperature(initial=1.0, decay_moves=100, cutoff_move=3, endgame=0.5), (0, 3, 4, 5), [1.0, 0.99, 0.5, 0.5]),
    ],
)
def test_temperature_at_plies(settings: Temperature, plies: tuple[int, ...], expected: list[float]) -> None:
    assert [temperature_at(settings, ply) for ply in plies] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("settings", "visits", "temperature", "expected"),
    [
        (Temperature(), (10, 30, 60, 0), 1.0, [0.1, 0.3, 0.6, 0.0]),
        (Temperature(), (10, 30, 60, 0), 0.5, [1 / 46, 9 / 46, 36 / 46, 0]),
        (Temperature(visit_offset=-20), (10, 30, 60, 0), 1.0, [0.0, 0.2, 0.8, 0.0]),
        (Temperature(visit_offset=10), (10, 30, 60, 0), 1.0, [20 / 140, 40 / 140, 70 / 140, 10 / 140]),
        (Temperature(visit_offset=-1000), (10, 30, 60, 0), 1.0, [0.0, 0.0, 1.0, 0.0]),
        # Q_best = 0.1 of action 2; the limit 0.1 - 5 / 50 = 0 lets all visited ones pass, but not the unvisited one
        (Temperature(value_cutoff=5, visit_offset=10), (10, 30, 60, 0), 1.0, [20 / 130, 40 / 130, 70 / 130, 0]),
        # Q_best = 0.5, limit 0.5 - 17.5 / 50 = 0.15
        (Temperature(value_cutoff=17.5), (60, 30, 10, 0), 1.0, [2 / 3, 1 / 3, 0, 0]),
        (Temperature(), (0, 0, 0, 0), 0.5, [1 / 30, 4 / 30, 9 / 30, 16 / 30]),
        (Temperature(), (10, 30, 60, 0), 5e-324, [0, 0, 1, 0]),
    ],
)
def test_chances(settings: Temperature, visits: tuple[int, ...], temperature: float, expected: list[float]) -> None:
    assert chances(candidates(visits), temperature, settings) == pytest.approx(expected)


def test_draws_follow_the_uniform_numbers() -> None:
    settings = Temperature(initial=1.0)
    drawn = [choose(candidates(), 1, 0, uniform, settings) for uniform in (0.0, 0.0999, 0.1001, 0.41, 0.9999999)]
    assert drawn == [0, 0, 1, 2, 2]
    assert choose(candidates(), 1, 0, 0.0, Temperature()) == 1


@pytest.mark.parametrize(
    ("proven", "visits", "best", "drawn"),
    [
        ([None, None, 1, None], [50, 20, 1, 5], 2, {2}),
        ([None, -1, 0, None], [50, 20, 1, 0], 0, {0, 2}),
        ([-1, -1, -1, None], [50, 20, 1, 0], 3, {3}),
        ([-1, -1, -1, -1], [50, 50, 0, 0], 1, {0, 1}),
        ([None] * 4, [50, 20, 1, 0], 0, {0, 1, 2}),
    ],
)
def test_wins_are_played_and_losses_spared(
    proven: list[int | None], visits: list[int], best: int, drawn: set[int]
) -> None:
    moves = [Candidate(k, visits[k], 0.0, 0.25, proven[k]) for k in range(4)]
    uniforms = np.linspace(0, 0.999, 50).tolist()
    assert {choose(moves, best, 0, uniform, Temperature(initial=1.0)) for uniform in uniforms} == drawn


MOVE = st.tuples(
    st.integers(0, 50),
    st.floats(-1, 1, width=32),
    st.floats(0.0078125, 1, width=32),
    st.sampled_from([None, None, None, -1, 0, 1]),
)


@given(
    st.lists(MOVE, min_size=1, max_size=8),
    st.integers(0, 40),
    st.floats(0, 1, exclude_max=True),
    st.sampled_from(
        [
            Temperature(initial=1.0),
            Temperature(initial=0.3, decay_moves=8, endgame=0.1, visit_offset=-3.0),
            Temperature(initial=2.0, cutoff_move=9, value_cutoff=12.0),
        ]
    ),
)
def test_the_core_chooses_as_the_reference(
    moves: list[tuple[int, float, float, int | None]], ply: int, uniform: float, settings: Temperature
) -> None:
    found = [Candidate(k, n, q if n else NAN, p, proven) for k, (n, q, p, proven) in enumerate(moves)]
    best = max(found, key=lambda move: move.rank).action
    core = _core.choose_action(found, best, ply, uniform, settings.model_dump_json())
    assert core == choose(found, best, ply, uniform, settings)
