"""The controller of search-contempt in self-play: which N_scl keeps decisive games and draws in balance.

Joshi 2025, section 4.2.5 and figure 6: after every training step N_scl is chosen again, so that (w + l)/d of self-play
stays near a target; when N_scl has settled, the visits N are doubled. Here are the pure functions that decide; the
learning loop (hauteur.learning.pipeline) plays the games and keeps the state.

The model is a line: ln((w + l)/d) = level + slope ln(N_scl), slope < 0, fitted to the last generations' games.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from hauteur.learning.recipe import ControllerSettings, SelfPlaySettings
from hauteur.mcts.params import SearchContempt

MEMORY = 0.5
"""Weight of a generation's games beside those of the next one: the net has changed since."""

REMEMBERED = 10
"""Generations that are remembered; older ones would weigh nothing."""

USUAL_SLOPE = -0.8
"""d ln((w + l)/d) / d ln(N_scl) before there is data: the paper's figure 2 has 1.38, 0.79, 0.32 at N_scl 5, 10, 32."""

SLOPE_SPREAD = 0.3
"""Standard deviation of the slope before there is data."""

FLATTEST_SLOPE = -0.25
"""The line is never taken for flatter than this: a step would have no end."""

OTHER_VISITS = 0.1
"""Weight of games with other visits beside those with the present ones."""

LARGEST_STEP = 8.0
"""Greatest factor between an N_scl that was played and the next."""

PROBE_REACH = 3.0
"""A generation is played at an N_scl only when games were seen within this factor of it."""

MOST_PROBES = 5
"""Probes of one generation."""


class Observation(BaseModel):
    """Games of self-play at one N_scl and one number of visits a move: how many were decisive, and how many drawn.

    Where the length decides (controller.long_game), short games count as decisive and long ones as drawn.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    generation: int
    n_scl: int
    visits: int
    decisive: int
    drawn: int

    @property
    def games(self) -> int:
        return self.decisive + self.drawn

    @property
    def ratio(self) -> float | None:
        return self.decisive / self.drawn if self.drawn else None

    @property
    def log_ratio(self) -> float:
        """ln((w + l)/d) with half a game of each kind added, so that it is finite."""
        return math.log((self.decisive + 0.5) / (self.drawn + 0.5))

    @property
    def precision(self) -> float:
        """1 / variance of the log ratio; it grows with the games, and is small where one kind hardly occurs."""
        return 1 / (1 / (self.decisive + 0.5) + 1 / (self.drawn + 0.5))


class RatioLine(NamedTuple):
    """ln((w + l)/d) = level + slope (ln N_scl - centre)."""

    level: float
    slope: float
    centre: float

    def n_scl_for(self, ratio: float) -> float:
        """Return the N_scl at which the line has this ratio."""
        return math.exp(min(max(self.centre + (math.log(ratio) - self.level) / self.slope, -50.0), 50.0))


class ControllerState(BaseModel):
    """State of the controller; part of the checkpoint.

    n_scl, visits: of the next generation; seen: observations, oldest first; chosen: the N_scl of the generations since
    the visits last changed.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    n_scl: int
    visits: int
    seen: tuple[Observation, ...] = ()
    chosen: tuple[int, ...] = ()


def begin(settings: ControllerSettings, visits: int) -> ControllerState:
    """The state of a new run whose self-play has this number of visits a move."""
    return ControllerState(n_scl=_within(settings, settings.initial_n_scl, visits), visits=visits)


def controlled(settings: SelfPlaySettings, state: ControllerState | None) -> SelfPlaySettings:
    """Settings of self-play with the controller's N_scl and visits; without a controller they stay as they are."""
    if state is None:
        return settings
    rule = settings.search.search_contempt or SearchContempt()
    search = settings.search.model_copy(
        update={"search_contempt": rule.model_copy(update={"n_scl": state.n_scl})},
    )
    return settings.model_copy(update={"visits": state.visits, "search": search})


def observe(
    settings: ControllerSettings,
    state: ControllerState,
    outcomes: NDArray[Any],
    plies: NDArray[Any],
    *,
    generation: int,
) -> Observation:
    """Return the observation of games played in this state; outcomes [G]: 0 is a draw; plies [G]: of each game."""
    drawn = int((plies >= settings.long_game).sum() if settings.long_game else (outcomes == 0).sum())
    counts = {"decisive": len(outcomes) - drawn, "drawn": drawn}
    return Observation(generation=generation, n_scl=state.n_scl, visits=state.visits, **counts)


def wants_probe(state: ControllerState, generation: int) -> bool:
    """Return whether to play probe games first: none were seen near this N_scl at these visits, and probes are left."""
    probes = sum(seen.generation == generation for seen in state.seen)
    here = [seen for seen in state.seen if seen.visits == state.visits]
    near = any(max(seen.n_scl, state.n_scl) <= PROBE_REACH * min(seen.n_scl, state.n_scl) for seen in here)
    return not near and probes < MOST_PROBES


def controller_metrics(settings: ControllerSettings, after: ControllerState) -> dict[str, Any]:
    """Return the metrics of the generation that led to this state."""
    played = after.seen[-1]
    here = [seen for seen in after.seen if seen.generation == played.generation]
    return {
        "n_scl": played.n_scl,
        "visits": played.visits,
        "ratio": played.ratio,
        "probes": [{"n_scl": probe.n_scl, "ratio": probe.ratio, "games": probe.games} for probe in here[:-1]],
        "slope": fit(after.seen, played.visits).slope,
        "settled": after.visits != played.visits or is_settled(settings, after),
        "next_n_scl": after.n_scl,
        "next_visits": after.visits,
    }


def after_probe(settings: ControllerSettings, state: ControllerState, probe: Observation) -> ControllerState:
    """The state with the games of a probe, and the N_scl that they speak for."""
    seen = (*state.seen, probe)
    return state.model_copy(update={"seen": seen, "n_scl": best_n_scl(settings, seen, state.visits)})


def after_generation(settings: ControllerSettings, state: ControllerState, played: Observation) -> ControllerState:
    """The state after a generation's games: the next N_scl; and twice the visits when N_scl has settled."""
    seen = (*(old for old in state.seen if old.generation > played.generation - REMEMBERED), played)
    n_scl = best_n_scl(settings, seen, state.visits)
    after = ControllerState(n_scl=n_scl, visits=state.visits, seen=seen, chosen=(*state.chosen, played.n_scl))
    if not (settings.double_visits and is_settled(settings, after) and 2 * state.visits <= settings.max_visits):
        return after
    return ControllerState(n_scl=n_scl, visits=2 * state.visits, seen=seen)


def is_settled(settings: ControllerSettings, state: ControllerState) -> bool:
    """Return whether recent N_scl and the next one lie within settle_factor, or differ by 1 at most.

    False at a bound: the target is out of reach there.
    """
    recent = (*state.chosen[-settings.settle_generations :], state.n_scl)
    if len(state.chosen) < settings.settle_generations:
        return False
    low, high = _bounds(settings, state.visits)
    if any(n_scl in (low, high) for n_scl in recent):
        return False
    return max(recent) <= max(settings.settle_factor * min(recent), min(recent) + 1)


def best_n_scl(settings: ControllerSettings, seen: Sequence[Observation], visits: int) -> int:
    """The N_scl at which the line through the observations has the target ratio at these visits.

    At most LARGEST_STEP away from all that was seen with them, and within the bounds.
    """
    here = [observation for observation in seen if observation.visits == visits]
    target = fit(seen, visits).n_scl_for(settings.target)
    low, high = min(o.n_scl for o in here) / LARGEST_STEP, max(o.n_scl for o in here) * LARGEST_STEP
    return _within(settings, min(max(target, low), high), visits)


def fit(seen: Sequence[Observation], visits: int) -> RatioLine:
    """Return the line through observations at this number of visits, the newest counting most; ValueError for none.

    Games weigh MEMORY^age, times OTHER_VISITS where the visits are not these; the slope is drawn to USUAL_SLOPE as by
    an observation of standard deviation SLOPE_SPREAD, and at most FLATTEST_SLOPE: more contempt never means more draws.
    """
    newest = max((observation.generation for observation in seen), default=0)
    weights = [MEMORY ** (newest - o.generation) * (1.0 if o.visits == visits else OTHER_VISITS) for o in seen]
    if not seen:
        raise ValueError("a line needs one observation or more, got none")
    xs = np.array([math.log(one.n_scl) for one in seen])
    ys = np.array([one.log_ratio for one in seen])
    precisions = np.array([weight * one.precision for weight, one in zip(weights, seen, strict=True)])
    total, prior = precisions.sum(), SLOPE_SPREAD**-2
    centre, level = (precisions * xs).sum() / total, (precisions * ys).sum() / total
    square = prior + (precisions * (xs - centre) ** 2).sum()
    product = prior * USUAL_SLOPE + (precisions * (xs - centre) * (ys - level)).sum()
    return RatioLine(float(level), min(float(product / square), FLATTEST_SLOPE), float(centre))


def _bounds(settings: ControllerSettings, visits: int) -> tuple[int, int]:
    """Least and greatest N_scl; with as many as there are visits the rule never acts."""
    high = min(settings.high, visits)
    return min(settings.low, high), high


def _within(settings: ControllerSettings, n_scl: float, visits: int) -> int:
    low, high = _bounds(settings, visits)
    return min(max(round(n_scl), low), high)
