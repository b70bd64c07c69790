"""The controller of self-play: which N_scl, or which temperature, keeps decisive games and draws in balance.

Joshi 2025, section 4.2.5 and figure 6: after every training step N_scl is chosen again, so that (w + l)/d of self-play
stays near a target; when N_scl has settled, the visits N are doubled. With `by = "temperature"` the temperatures of the
recipe are multiplied by a factor instead, so that PUCT can be compared at the draws of search-contempt. Here are the
pure functions that decide; `probe` plays the games and keeps the state.

The model is a line: ln((w + l)/d) = level + slope ln(x), slope < 0, fitted to the last generations' games, where the
lever x is N_scl, or 1 / factor: the greater, the more draws.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from hauteur.learning.sections import ControllerSettings, SelfPlaySettings, SelfPlayTemperature
from hauteur.mcts.params import SearchContempt

SECTION = "search_contempt"
"""Name of the controller's metrics, whatever it chooses: readers of runs know it."""

MEMORY = 0.5
"""Weight of a generation's games relative to those of the next one: the net has changed since."""

REMEMBERED = 10
"""Generations that are remembered; older ones would weigh nothing."""

USUAL_SLOPE = -0.8
"""d ln((w + l)/d) / d ln(x) before there is data: the paper's figure 2 has 1.38, 0.79, 0.32 at N_scl 5, 10, 32."""

SLOPE_SPREAD = 0.3
"""Standard deviation of the slope before there is data."""

FLATTEST_SLOPE = -0.25
"""The line is never taken for flatter than this: a step would have no end."""

OTHER_VISITS = 0.1
"""Weight of games with other visits relative to those with the present ones."""

LARGEST_STEP = 8.0
"""Greatest factor between a lever that was played and the next."""

PROBE_REACH = 3.0
"""A generation is played at a lever only when games were seen within this factor of it."""

MOST_PROBES = 5
"""Probes of one generation."""

GREATEST_TEMPERATURE = 100.0
"""Of a schedule; nearly all visited moves are as likely with it."""


class Observation(BaseModel):
    """Games of self-play with one setting of the lever and one number of visits a move.

    Where the length decides (controller.long_game), short games count as decisive and long ones as drawn.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    generation: int
    """Generation in which they were played."""
    n_scl: int | None = None
    """N_scl of search-contempt, where the controller chooses it."""
    warmth: float | None = None
    """Factor of the recipe's temperatures, where the controller chooses that."""
    visits: int
    """Visits a move."""
    decisive: int
    """Games won by either side."""
    drawn: int
    """Games that were drawn."""

    @property
    def lever(self) -> float:
        """N_scl, or 1 / factor of the temperatures: the greater, the more draws."""
        return _lever(self.n_scl, self.warmth)

    @property
    def games(self) -> int:
        """All games."""
        return self.decisive + self.drawn

    @property
    def ratio(self) -> float | None:
        """(w + l)/d; None without draws."""
        return self.decisive / self.drawn if self.drawn else None

    @property
    def log_ratio(self) -> float:
        """ln((w + l)/d) with half a game of each kind added, so that it is finite."""
        return math.log((self.decisive + 0.5) / (self.drawn + 0.5))

    @property
    def precision(self) -> float:
        """1 / variance of the log ratio; it grows with the games, and is small where one kind hardly occurs."""
        # The variance of the logarithm of a ratio of two counts is, to first order, the sum of their inverses.
        return 1 / (1 / (self.decisive + 0.5) + 1 / (self.drawn + 0.5))


class RatioLine(NamedTuple):
    """ln((w + l)/d) = level + slope (ln x - centre), x being the lever."""

    level: float
    slope: float
    centre: float

    def lever_for(self, ratio: float) -> float:
        """Return the lever at which the line has this ratio."""
        distance = math.log(ratio) - self.level
        log_lever = self.centre + distance / self.slope
        return math.exp(min(max(log_lever, -50.0), 50.0))


class ControllerState(BaseModel):
    """State of the controller; part of the checkpoint."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    n_scl: int | None = None
    """N_scl of the next generation, where the controller chooses it."""
    warmth: float | None = None
    """Factor of the next generation's temperatures, where the controller chooses that."""
    visits: int
    """Visits a move of the next generation."""
    seen: tuple[Observation, ...] = ()
    """Games of self-play and of probes, oldest first."""
    chosen: tuple[float, ...] = ()
    """Levers of the generations since the visits last changed."""

    @property
    def lever(self) -> float:
        """N_scl, or 1 / factor of the temperatures."""
        return _lever(self.n_scl, self.warmth)


def _lever(n_scl: int | None, warmth: float | None) -> float:
    """Return N_scl, or 1 / factor of the temperatures. ValueError where there is neither."""
    if n_scl is not None:
        return float(n_scl)
    if warmth is not None:
        return 1 / warmth
    raise ValueError("a controller has N_scl or a factor of the temperatures, got neither")


def _with_lever(settings: ControllerSettings, state: ControllerState, lever: float) -> ControllerState:
    """Return the state whose next generation has this lever."""
    if settings.by == "temperature":
        return state.model_copy(update={"n_scl": None, "warmth": 1 / lever})
    return state.model_copy(update={"n_scl": round(lever), "warmth": None})


def begin(settings: ControllerSettings, visits: int) -> ControllerState:
    """The state of a new run whose self-play has this number of visits a move."""
    lever = 1.0 if settings.by == "temperature" else float(settings.initial_n_scl)
    return _with_lever(settings, ControllerState(visits=visits), _within(settings, lever, visits))


def controlled(settings: SelfPlaySettings, state: ControllerState | None) -> SelfPlaySettings:
    """Settings of self-play with what the controller chose; without a controller they stay as they are."""
    if state is None:
        return settings
    changed: dict[str, Any] = {"visits": state.visits}
    if state.n_scl is not None:
        rule = settings.search.search_contempt or SearchContempt()
        rule = rule.model_copy(update={"n_scl": state.n_scl})
        changed["search"] = settings.search.model_copy(update={"search_contempt": rule})
    if state.warmth is not None:
        changed["temperature"] = _warmed(settings.temperature, state.warmth)
    return settings.model_copy(update=changed)


def _warmed(temperature: SelfPlayTemperature, factor: float) -> SelfPlayTemperature:
    """Return a schedule with both of its temperatures multiplied, as far as they may go."""
    initial = min(temperature.initial * factor, GREATEST_TEMPERATURE)
    endgame = min(temperature.endgame * factor, GREATEST_TEMPERATURE)
    return temperature.model_copy(update={"initial": initial, "endgame": endgame})


def observe(
    settings: ControllerSettings,
    state: ControllerState,
    outcomes: NDArray[Any],
    plies: NDArray[Any],
    *,
    generation: int,
) -> Observation:
    """Return the observation of games played in this state; outcomes [G]: 0 is a draw; plies [G]: of each game."""
    is_drawn = plies >= settings.long_game if settings.long_game else outcomes == 0
    drawn = int(is_drawn.sum())
    return Observation(
        generation=generation,
        n_scl=state.n_scl,
        warmth=state.warmth,
        visits=state.visits,
        decisive=len(outcomes) - drawn,
        drawn=drawn,
    )


def wants_probe(settings: ControllerSettings, state: ControllerState, generation: int) -> bool:
    """Return whether to play probe games before a generation, as far as its probes are not used up.

    They are played where no games were seen near this lever at these visits; with `probe_always` also once in every
    generation, since the net is another one than that of the games before.
    """
    probes = sum(seen.generation == generation for seen in state.seen)
    # Where the target is out of reach no probe comes near it, and there would be no end of them.
    if probes >= MOST_PROBES:
        return False
    if settings.probe_always and not probes:
        return True
    for seen in state.seen:
        low, high = sorted((seen.lever, state.lever))
        if seen.visits == state.visits and high <= PROBE_REACH * low:
            return False
    return True


def controller_metrics(settings: ControllerSettings, after: ControllerState) -> dict[str, Any]:
    """Return the metrics of the generation that led to this state."""
    played = after.seen[-1]
    here = [seen for seen in after.seen if seen.generation == played.generation]
    name = "warmth" if settings.by == "temperature" else "n_scl"
    return {
        name: getattr(played, name),
        "visits": played.visits,
        "target": target_of(settings, played.generation),
        "ratio": played.ratio,
        "probes": [{name: getattr(probe, name), "ratio": probe.ratio, "games": probe.games} for probe in here[:-1]],
        "slope": fit(after.seen, played.visits).slope,
        "settled": after.visits != played.visits or is_settled(settings, after),
        f"next_{name}": getattr(after, name),
        "next_visits": after.visits,
    }


def target_of(settings: ControllerSettings, generation: int) -> float:
    """Return the target (w + l)/d of a generation, from 1: its own, or that of all."""
    if not settings.targets:
        return settings.target
    return settings.targets[min(generation, len(settings.targets)) - 1]


def after_probe(settings: ControllerSettings, state: ControllerState, probe: Observation) -> ControllerState:
    """The state with the games of a probe, and the lever that they speak for."""
    seen = (*state.seen, probe)
    lever = best_lever(settings, seen, state.visits, generation=probe.generation)
    return _with_lever(settings, state.model_copy(update={"seen": seen}), lever)


def after_generation(settings: ControllerSettings, state: ControllerState, played: Observation) -> ControllerState:
    """The state after a generation's games: the next lever; and twice the visits when it has settled."""
    forgotten = played.generation - REMEMBERED
    remembered = [old for old in state.seen if old.generation > forgotten]
    seen = (*remembered, played)
    # For the target of the generation that will be played with it: `controller.targets` may name another one.
    lever = best_lever(settings, seen, state.visits, generation=played.generation + 1)
    chosen = (*state.chosen, played.lever)
    found = ControllerState(visits=state.visits, seen=seen, chosen=chosen)
    after = _with_lever(settings, found, lever)
    # Settled at these visits: continue with twice as many. What was chosen is forgotten, so that the new visits have to
    # settle by themselves; the games are remembered, but weigh little (OTHER_VISITS).
    doubled = 2 * state.visits
    if settings.double_visits and doubled <= settings.max_visits and is_settled(settings, after):
        return _with_lever(settings, ControllerState(visits=doubled, seen=seen), lever)
    return after


def is_settled(settings: ControllerSettings, state: ControllerState) -> bool:
    """Return whether recent levers and the next one lie within settle_factor, or N_scl differ by 1 at most.

    False at a bound: the target is out of reach there.
    """
    recent = (*state.chosen[-settings.settle_generations :], state.lever)
    if len(state.chosen) < settings.settle_generations:
        return False
    low, high = _bounds(settings, state.visits)
    # At a bound the lever stands still because it must, which is no sign that the net has found its draws: a weak net
    # plays without contempt for many generations, and the visits would double all the while.
    if any(lever in (low, high) for lever in recent):
        return False
    # N_scl is a whole number: from 2 to 3 is more than any usual factor, so that a small one would never settle.
    step = 0 if settings.by == "temperature" else 1
    lowest = min(recent)
    highest = max(settings.settle_factor * lowest, lowest + step)
    return max(recent) <= highest


def best_lever(settings: ControllerSettings, seen: Sequence[Observation], visits: int, *, generation: int) -> float:
    """The lever at which the line through the observations has the target ratio of a generation at these visits.

    At most LARGEST_STEP away from all that was seen with them, and within the bounds; a whole number for N_scl.
    """
    # The line is trusted near the levers that were played: one noisy generation must not throw N_scl far away.
    here = [observation.lever for observation in seen if observation.visits == visits]
    wanted = fit(seen, visits).lever_for(target_of(settings, generation))
    lowest = min(here) / LARGEST_STEP
    highest = max(here) * LARGEST_STEP
    reachable = min(max(wanted, lowest), highest)
    return _within(settings, reachable, visits)


def fit(seen: Sequence[Observation], visits: int) -> RatioLine:
    """Return the line through observations at this number of visits, the newest counting most; ValueError for none.

    Games weigh MEMORY^age, times OTHER_VISITS where the visits are not these; the slope is drawn to USUAL_SLOPE as by
    an observation of standard deviation SLOPE_SPREAD, and at most FLATTEST_SLOPE: more contempt never means more draws.
    """
    if not seen:
        raise ValueError("a line needs one observation or more, got none")
    newest = max(observation.generation for observation in seen)
    # A weighted least-squares line with a normal prior on its slope: few games near one lever say little about it.
    weights = []
    for observation in seen:
        of_visits = 1.0 if observation.visits == visits else OTHER_VISITS
        weight = MEMORY ** (newest - observation.generation) * of_visits
        weights.append(weight * observation.precision)
    xs = np.array([math.log(one.lever) for one in seen])
    ys = np.array([one.log_ratio for one in seen])
    # The paper sketches in figure 6 that N_scl is chosen anew, and not how: the line and its prior are this program's.
    precisions = np.array(weights)
    total = precisions.sum()
    prior = SLOPE_SPREAD**-2
    centre = (precisions * xs).sum() / total
    level = (precisions * ys).sum() / total
    square = prior + (precisions * (xs - centre) ** 2).sum()
    product = prior * USUAL_SLOPE + (precisions * (xs - centre) * (ys - level)).sum()
    slope = min(float(product / square), FLATTEST_SLOPE)
    return RatioLine(float(level), slope, float(centre))


def _bounds(settings: ControllerSettings, visits: int) -> tuple[float, float]:
    """Least and greatest lever; with as many N_scl as there are visits search-contempt never acts."""
    if settings.by == "temperature":
        return 1 / settings.high_warmth, 1 / settings.low_warmth
    high = min(settings.high, visits)
    return min(settings.low, high), high


def _within(settings: ControllerSettings, lever: float, visits: int) -> float:
    """Return the nearest lever that is allowed; a whole number for N_scl."""
    low, high = _bounds(settings, visits)
    whole = lever if settings.by == "temperature" else round(lever)
    return min(max(whole, low), high)
