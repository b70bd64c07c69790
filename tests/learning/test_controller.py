"""The controller of N_scl: the fit, and what it does with games whose true ratios are known."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from hauteur.learning import controller
from hauteur.learning.controller import ControllerState, Observation
from hauteur.learning.recipe import ControllerSettings

Curve = Callable[[int, int, int], float]
"""True (w + l)/d by generation, N_scl and visits."""


def seen(n_scl: int, decisive: int, drawn: int, *, generation: int = 1, visits: int = 1000) -> Observation:
    return Observation(generation=generation, n_scl=n_scl, visits=visits, decisive=decisive, drawn=drawn)


def paper(generation: int, n_scl: int, visits: int) -> float:
    """Near the paper's figure 2: 1.38, 0.79, 0.32 and 0.09 at N_scl 5, 10, 32 and none."""
    return 5.0 * math.pow(n_scl, -0.8) + 0.09


def improving(generation: int, n_scl: int, visits: int) -> float:
    """The N_scl of ratio 1 grows from 5 to 25 while the net improves, then stays; more visits want more."""
    best = 25 - 20 * math.exp(-generation / 8) + 2 * math.log2(visits / 100)
    return float((best / n_scl) ** 0.8)


class Games:
    """Plays generations of games with known ratios under a controller."""

    def __init__(self, settings: ControllerSettings, curve: Curve, *, seed: int, games: int = 400) -> None:
        self.settings, self.curve, self.games = settings, curve, games
        self.random = np.random.default_rng(seed)
        self.state = controller.begin(settings, 100)
        self.true_ratios: list[float] = []
        self.n_scls: list[int] = []
        self.visits: list[int] = []
        self.probes = 0

    def play(self, generations: int) -> ControllerState:
        for generation in range(1, generations + 1):
            while controller.wants_probe(self.state, generation):
                self.probes += 1
                probe = self._games(generation, self.settings.probe_games)
                self.state = controller.after_probe(self.settings, self.state, probe)
            self.true_ratios.append(self.curve(generation, self.state.n_scl, self.state.visits))
            self.n_scls.append(self.state.n_scl)
            self.visits.append(self.state.visits)
            played = self._games(generation, self.games)
            self.state = controller.after_generation(self.settings, self.state, played)
        return self.state

    def _games(self, generation: int, games: int) -> Observation:
        n_scl, visits = self.state.n_scl, self.state.visits
        ratio = self.curve(generation, n_scl, visits)
        decisive = int(self.random.binomial(games, ratio / (1 + ratio)))
        return seen(n_scl, decisive, games - decisive, generation=generation, visits=visits)


KEEP_VISITS = ControllerSettings(double_visits=False)


def test_many_games_speak_for_themselves() -> None:
    counts = {n: round(100_000 / (1 + 4 / n**0.5)) for n in (4, 8, 16, 32)}
    line = controller.fit([seen(n, 100_000 - draws, draws) for n, draws in counts.items()], 1000)
    assert line.slope == pytest.approx(-0.5, abs=0.01)
    assert line.n_scl_for(1.0) == pytest.approx(16, rel=0.02)


def test_the_newest_generations_count_most() -> None:
    old = [seen(10, 300, 100, generation=generation) for generation in range(1, 8)]
    line = controller.fit([*old, *(seen(10, 100, 300, generation=generation) for generation in (8, 9, 10))], 1000)
    assert line.level == pytest.approx(math.log(1 / 3) * 7 / 8 + math.log(3) / 8, abs=0.03)


def test_bounds_hold_and_visits_are_one() -> None:
    settings = ControllerSettings(low=3, high=12)
    assert controller.best_n_scl(settings, [seen(10, 400, 1)], 1000) == 12
    assert controller.best_n_scl(settings, [seen(4, 1, 400)], 1000) == 3
    assert controller.best_n_scl(ControllerSettings(), [seen(10, 400, 1, visits=16)], 16) == 16
    assert controller.begin(ControllerSettings(initial_n_scl=50), 30).n_scl == 30


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("initial", "curve"), [(1, paper), (5, paper), (60, paper), (5, improving)])
def test_the_ratio_converges_from_far_and_stays(seed: int, initial: int, curve: Curve) -> None:
    """Also while the net improves."""
    games = Games(KEEP_VISITS.model_copy(update={"initial_n_scl": initial}), curve, seed=seed)
    games.play(40)
    assert all(0.7 <= ratio <= 1.4 for ratio in games.true_ratios[3:])
    assert np.mean(games.true_ratios[10:]) == pytest.approx(1.0, abs=0.08)
    assert games.probes <= controller.MOST_PROBES
    if curve is improving:
        assert games.n_scls[-1] == pytest.approx(25, rel=0.25)


def test_visits_double_when_n_scl_settles_and_probes_follow() -> None:
    games = Games(ControllerSettings(max_visits=400), improving, seed=3)
    games.play(60)
    assert sorted(set(games.visits)) == [100, 200, 400]
    first = games.visits.index(200)
    recent = games.n_scls[first - 3 : first]
    assert max(recent) <= max(1.25 * min(recent), min(recent) + 1)
    assert first > 4, "while the net still improves fast, N_scl moves"
    assert all(0.6 <= ratio <= 1.6 for ratio in games.true_ratios[3:])
    assert games.probes >= 3, "nothing is known at new visits"


def test_a_generation_is_played_near_what_was_seen() -> None:
    state = controller.begin(ControllerSettings(), 100)
    assert controller.wants_probe(state, 1)
    state = controller.after_probe(ControllerSettings(), state, seen(5, 48, 2, visits=100))
    assert state.n_scl == 40
    assert controller.wants_probe(state, 1), "40 is far from 5"
    state = controller.after_probe(ControllerSettings(), state, seen(40, 26, 24, visits=100))
    assert not controller.wants_probe(state, 1)


def test_probes_end_although_the_target_is_out_of_reach() -> None:
    settings, state = ControllerSettings(), controller.begin(ControllerSettings(), 100_000)
    probes = 0
    while controller.wants_probe(state, 1):
        probes += 1
        state = controller.after_probe(settings, state, seen(state.n_scl, 50, 0, visits=100_000))
    assert probes == controller.MOST_PROBES
