"""Move choice and temperature schedules against cases computed by hand."""

import numpy as np
import pytest
from numpy.typing import NDArray

from hauteur.mcts.move_choice import choose_actions, most_visited, temperature_chances, temperatures_at
from hauteur.mcts.params import Temperature

VISITS = np.array([[10, 30, 60, 0]], np.uint32)
Q = np.array([[0.5, 0.2, 0.1, np.nan]], np.float32)
PRIORS = np.array([[0.1, 0.2, 0.3, 0.4]], np.float32)


def temperatures(settings: Temperature, *plies: int) -> list[float]:
    return [float(t) for t in temperatures_at(settings, np.array(plies))]


def chances(
    settings: Temperature, *, visits: NDArray[np.uint32] = VISITS, temperature: float = 1.0
) -> NDArray[np.float64]:
    found = temperature_chances(visits, Q, PRIORS, temperatures=np.array([temperature]), settings=settings)
    assert found.sum(axis=1) == pytest.approx(1.0)
    return np.asarray(found[0])


def test_constant_temperature() -> None:
    assert temperatures(Temperature(initial=0.8), 0, 1, 500) == [0.8, 0.8, 0.8]


def test_decay_begins_after_the_delay_and_ends_at_the_endgame_temperature() -> None:
    settings = Temperature(initial=1.0, decay_moves=10, decay_delay_moves=2, endgame=0.25)
    # m = ply // 2: 1 and 2 up to the delay, 7 -> (12 - 7) / 10, 11 -> 0.1 -> endgame, 12 -> 0 -> endgame
    assert temperatures(settings, 3, 4, 14, 15, 22, 24, 400) == pytest.approx([1.0, 1.0, 0.5, 0.5, 0.25, 0.25, 0.25])


def test_decay_without_endgame_reaches_zero() -> None:
    assert temperatures(Temperature(initial=2.0, decay_moves=4), 0, 2, 6, 8) == [2.0, 1.5, 0.5, 0.0]


def test_cutoff_takes_precedence_over_decay() -> None:
    settings = Temperature(initial=1.0, decay_moves=100, cutoff_move=3, endgame=0.5)
    # m + 1 >= 3 from ply 4 on
    assert temperatures(settings, 0, 3, 4, 5) == pytest.approx([1.0, 0.99, 0.5, 0.5])


def test_most_visited_is_most_visits_then_q_then_prior_then_index() -> None:
    visits = np.array([[3, 5, 5, 1], [2, 2, 2, 0], [2, 2, 2, 2], [0, 0, 0, 0]], np.uint32)
    q = np.array([[0.9, 0.1, 0.2, 1.0], [0.5, 0.5, 0.1, np.nan], [0.5] * 4, [np.nan] * 4], np.float32)
    priors = np.array([[0.25] * 4, [0.1, 0.4, 0.4, 0.1], [0.25] * 4, [0.1, 0.2, 0.7, 0.0]], np.float32)
    assert most_visited(visits, q, priors).tolist() == [2, 1, 0, 2]


def test_best_of_no_legal_action_is_refused() -> None:
    with pytest.raises(ValueError, match="without legal actions"):
        most_visited(np.zeros((1, 3), np.uint32), np.full((1, 3), np.nan, np.float32), np.zeros((1, 3), np.float32))


def test_chances_are_visit_shares_at_temperature_one_and_squares_at_one_half() -> None:
    assert chances(Temperature()) == pytest.approx([0.1, 0.3, 0.6, 0.0])
    assert chances(Temperature(), temperature=0.5) == pytest.approx(np.array([1, 9, 36, 0]) / 46)


def test_visit_offset_shifts_counts_and_clips_at_zero() -> None:
    assert chances(Temperature(visit_offset=-20)) == pytest.approx([0.0, 0.2, 0.8, 0.0])
    assert chances(Temperature(visit_offset=10)) == pytest.approx(np.array([20, 40, 70, 10]) / 140)
    assert chances(Temperature(visit_offset=-1000)) == pytest.approx([0.0, 0.0, 1.0, 0.0])


def test_value_cutoff_is_measured_from_the_most_visited_action() -> None:
    # Q_best = 0.1 of action 2; the limit 0.1 - 5 / 50 = 0 lets all visited ones pass, but not the unvisited one
    assert chances(Temperature(value_cutoff=5, visit_offset=10)) == pytest.approx(np.array([20, 40, 70, 0]) / 130)
    flipped = np.array([[60, 30, 10, 0]], np.uint32)  # Q_best = 0.5, limit 0.5 - 17.5 / 50 = 0.15
    assert chances(Temperature(value_cutoff=17.5), visits=flipped) == pytest.approx([2 / 3, 1 / 3, 0, 0])


def test_without_visits_priors_decide() -> None:
    nothing = np.zeros((1, 4), np.uint32)
    assert chances(Temperature(), visits=nothing, temperature=0.5) == pytest.approx(np.array([1, 4, 9, 16]) / 30)


def test_draws_follow_the_uniform_numbers_per_tree() -> None:
    drawn = choose_actions(
        np.repeat(VISITS, 6, axis=0),
        np.repeat(Q, 6, axis=0),
        np.repeat(PRIORS, 6, axis=0),
        best=np.full(6, 1, np.uint16),
        temperatures=np.array([1, 1, 1, 1, 1, 0.0]),
        uniforms=np.array([0.0, 0.0999, 0.1001, 0.41, 0.9999999, 0.0]),
        settings=Temperature(initial=1.0),
    )
    assert drawn.tolist() == [0, 0, 1, 2, 2, 1]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("temperature", [5e-324, 1e-320, 1e-300, 1e-5, 100.0])
def test_extreme_temperatures_raise_no_warning(temperature: float) -> None:
    found = chances(Temperature(), temperature=temperature)
    assert found[2] == pytest.approx(1.0) or temperature == 100.0
