"""The controller of N_scl: the fit, and what it does with games whose true ratios are known."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from hauteur.learning.options import controller
from hauteur.learning.options.controller import ControllerState, Observation
from hauteur.learning.recipe import Recipe
from hauteur.learning.sections import ControllerSettings, SelfPlaySettings, SelfPlayTemperature

pytestmark = pytest.mark.quick

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
        self.settings = settings
        self.curve = curve
        self.games = games
        self.random = np.random.default_rng(seed)
        self.state = controller.begin(settings, 100)
        self.true_ratios: list[float] = []
        self.n_scls: list[int] = []
        self.visits: list[int] = []
        self.probes = 0

    def play(self, generations: int) -> ControllerState:
        for generation in range(1, generations + 1):
            while controller.wants_probe(self.settings, self.state, generation):
                self.probes += 1
                probe = self._games(generation, self.settings.probe_games)
                self.state = controller.after_probe(self.settings, self.state, probe)
            assert self.state.n_scl is not None
            self.true_ratios.append(self.curve(generation, self.state.n_scl, self.state.visits))
            self.n_scls.append(self.state.n_scl)
            self.visits.append(self.state.visits)
            played = self._games(generation, self.games)
            self.state = controller.after_generation(self.settings, self.state, played)
        return self.state

    def _games(self, generation: int, games: int) -> Observation:
        n_scl = self.state.n_scl
        visits = self.state.visits
        assert n_scl is not None
        ratio = self.curve(generation, n_scl, visits)
        decisive = int(self.random.binomial(games, ratio / (1 + ratio)))
        return seen(n_scl, decisive, games - decisive, generation=generation, visits=visits)


KEEP_VISITS = ControllerSettings(double_visits=False)


def test_many_games_speak_for_themselves() -> None:
    counts = {n: round(100_000 / (1 + 4 / n**0.5)) for n in (4, 8, 16, 32)}
    line = controller.fit([seen(n, 100_000 - draws, draws) for n, draws in counts.items()], 1000)
    assert line.slope == pytest.approx(-0.5, abs=0.01)
    assert line.lever_for(1.0) == pytest.approx(16, rel=0.02)


def test_the_newest_generations_count_most() -> None:
    old = [seen(10, 300, 100, generation=generation) for generation in range(1, 8)]
    line = controller.fit([*old, *(seen(10, 100, 300, generation=generation) for generation in (8, 9, 10))], 1000)
    assert line.level == pytest.approx(math.log(1 / 3) * 7 / 8 + math.log(3) / 8, abs=0.03)


def test_bounds_hold_and_visits_are_one() -> None:
    settings = ControllerSettings(low=3, high=12)
    assert controller.best_lever(settings, [seen(10, 400, 1)], 1000, generation=2) == 12
    assert controller.best_lever(settings, [seen(4, 1, 400)], 1000, generation=2) == 3
    assert controller.best_lever(ControllerSettings(), [seen(10, 400, 1, visits=16)], 16, generation=2) == 16
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
    assert controller.wants_probe(ControllerSettings(), state, 1)
    state = controller.after_probe(ControllerSettings(), state, seen(5, 48, 2, visits=100))
    assert state.n_scl == 40
    assert controller.wants_probe(ControllerSettings(), state, 1), "40 is far from 5"
    state = controller.after_probe(ControllerSettings(), state, seen(40, 26, 24, visits=100))
    assert not controller.wants_probe(ControllerSettings(), state, 1)


def test_probes_end_although_the_target_is_out_of_reach() -> None:
    settings = ControllerSettings()
    state = controller.begin(ControllerSettings(), 100_000)
    probes = 0
    while controller.wants_probe(ControllerSettings(), state, 1):
        probes += 1
        assert state.n_scl is not None
        state = controller.after_probe(settings, state, seen(state.n_scl, 50, 0, visits=100_000))
    assert probes == controller.MOST_PROBES


WARM = ControllerSettings(by="temperature", double_visits=False, targets=(0.5, 0.5, 2.0), probe_always=True)


def warm(warmth: float, decisive: int, drawn: int, *, generation: int = 1) -> Observation:
    return Observation(generation=generation, warmth=warmth, visits=16, decisive=decisive, drawn=drawn)


def test_temperatures_follow_the_target_of_each_generation() -> None:
    """(w + l)/d is twice the factor to the power 0.7: the targets are met at factors of 0.14 and 1."""
    state = controller.begin(WARM, 16)
    factors = []
    for generation in range(1, 9):
        assert controller.wants_probe(WARM, state, generation), "each generation begins with a probe"
        while controller.wants_probe(WARM, state, generation):
            probe = _warm_games(state, 1000, generation)
            state = controller.after_probe(WARM, state, probe)
        factors.append(state.warmth)
        state = controller.after_generation(WARM, state, _warm_games(state, 5000, generation))
    assert factors[1] == pytest.approx(0.25 ** (1 / 0.7), rel=0.1)
    assert factors[-1] == pytest.approx(1.0, rel=0.1)
    assert state.n_scl is None
    metrics = controller.controller_metrics(WARM, state)
    assert (metrics["target"], metrics["warmth"]) == (2.0, factors[-1])


def _warm_games(state: ControllerState, games: int, generation: int) -> Observation:
    """The expected numbers of games with this state's factor."""
    assert state.warmth is not None
    ratio = 2 * state.warmth**0.7
    decisive = round(games * ratio / (1 + ratio))
    return warm(state.warmth, decisive, games - decisive, generation=generation)


def test_factors_keep_their_bounds_and_change_both_temperatures() -> None:
    assert controller.best_lever(WARM, [warm(1.0, 1, 400)], 16, generation=1) == pytest.approx(1 / 8)
    assert controller.best_lever(WARM, [warm(8.0, 1, 400)], 16, generation=1) == pytest.approx(1 / WARM.high_warmth)
    play = SelfPlaySettings(temperature=SelfPlayTemperature(initial=1.0, cutoff_move=15, endgame=0.25))
    changed = controller.controlled(play, ControllerState(warmth=2.0, visits=16))
    assert (changed.temperature.initial, changed.temperature.endgame) == (2.0, 0.5)
    assert (changed.temperature.cutoff_move, changed.search) == (15, play.search)


def test_a_controller_of_temperatures_fits_its_recipe() -> None:
    for wrong, settings in (("double_visits must be false", {}), ("must be above 0", {"double_visits": False})):
        with pytest.raises(ValueError, match=wrong):
            Recipe(
                game="chess",
                selfplay={"temperature": {"initial": 0.0}},
                controller={"by": "temperature", **settings},
            )
