"""WDL contempt of lc0: the network's win, draw and loss are shifted as if one side were stronger.

Every evaluation w, d, l becomes logistic parameters, sharpness s and mean mu; s is multiplied by `ratio`, mu moved by
`diff` in units of s^2. The cache keeps the network's own values; the change is made when a leaf joins the tree.
"""

import math
from collections.abc import Callable

import numpy as np

from hauteur.mcts.params import SearchParams, WdlContempt
from reference.priors import lc0_exp, lc0_ln
from reference.tree import Value

LEAST_SHARE = 1e-4
"""A share of wins, draws or losses that is no greater leaves a value unchanged."""


def contempt_side(rule: WdlContempt, root_mover: int) -> int | None:
    """Return the player whom the values favour: in `play` the root's mover, in analysis the one named, or None."""
    sides = {"play": root_mover, "white_side_analysis": 0, "black_side_analysis": 1, "disable": None}
    return sides[rule.mode]


def ratio_and_diff(rule: WdlContempt) -> tuple[float, float]:
    """Return the factor of sharpness, and the shift of mu in units of s^2."""
    reference = sharpness_at(rule.draw_rate_reference)
    return by_elo(rule, reference) if rule.calibration_elo else by_draw_rate(rule, reference)


def by_draw_rate(rule: WdlContempt, reference: float) -> tuple[float, float]:
    """Contempt alone: an Elo advantage at the positions in which books end, mu = +-bias.

    diff = s_t / s_ref^2 / (sech^2((1 - bias) / (2 s_t)) + sech^2((1 + bias) / (2 s_t))) ln 10 / 200 C attenuation,
    C = contempt, bounded by `max_value`; ratio = s_t / s_ref.
    """
    target = sharpness_at(rule.draw_rate_target) if rule.draw_rate_target else reference
    bias = rule.book_exit_bias
    slopes = sech_squared(0.5 * (1.0 - bias) / target) + sech_squared(0.5 * (1.0 + bias) / target)
    advantage = min(max(rule.contempt, -rule.max_value), rule.max_value)
    elo = math.log(10.0) / 200.0 * advantage * rule.attenuation
    return target / reference, target / (reference * reference) / slopes * elo


def by_elo(rule: WdlContempt, reference: float) -> tuple[float, float]:
    """The contempt side has `calibration_elo`, its opponent `contempt` less.

    ratio = sqrt((s(own)^2 + s(opponent)^2) / 2) / s_ref; diff = (mu(own) - mu(opponent)) / s_ref^2 attenuation.
    """
    own = softened(rule.calibration_elo)
    opponent = softened(rule.calibration_elo - rule.contempt)
    squares = sharpness_of_elo(own) ** 2 + sharpness_of_elo(opponent) ** 2
    diff = (mu_of_elo(own) - mu_of_elo(opponent)) / (reference * reference) * rule.attenuation
    return math.sqrt(squares / 2.0) / reference, diff


def sharpness_at(draw_rate: float) -> float:
    """s of players who draw this share of games from equal positions: 1 / ln((1 + D) / (1 - D))."""
    return 1.0 / math.log((1.0 + draw_rate) / (1.0 - draw_rate))


def softened(elo: float) -> float:
    """e + 125 ln(1 + exp((2737 - e) / 250)): a scale on which a difference means the same among weak players too."""
    return elo + 125.0 * math.log(1.0 + math.exp((2737.0 - elo) / 250.0))


def sharpness_of_elo(elo: float) -> float:
    """s(e) = 1 / (1 / 15 + exp(e / 425 - 6.75))."""
    return 1.0 / (1.0 / 15.0 + math.exp(elo / 425.0 - 6.75))


def mu_of_elo(elo: float) -> float:
    """mu(e) = -ln 10 / 200 * 15 * 425 * ln(1 + exp(6.75 - e / 425) / 15)."""
    logarithm = math.log(1.0 + math.exp(6.75 - elo / 425.0) / 15.0)
    return -math.log(10.0) / 200.0 * 15.0 * 425.0 * logarithm


def shifted(value: Value, *, sign: float, params: SearchParams) -> Value:
    """A value of the network as the search takes it; `sign`: +1 for a mover whom it favours, -1 for the other, 0: none.

    a = ln(1 / l - 1), b = ln(1 / w - 1), s = min(2 / (a + b), max_s), mu = (a - b) / (a + b); s' = s ratio,
    mu' = mu + sign s^2 diff; w' = logistic((mu' - 1) / s'), l' = logistic((-mu' - 1) / s'), d' = 1 - w' - l'.
    """
    rule, (ln, logistic) = params.wdl_contempt, ARITHMETIC[params.arithmetic]
    win = (1.0 + value.wl - value.d) / 2.0
    loss = (1.0 - value.wl - value.d) / 2.0
    if rule is None or min(win, value.d, loss) <= LEAST_SHARE:
        return value
    ratio, diff = ratio_and_diff(rule)
    a = ln(1.0 / loss - 1.0)
    b = ln(1.0 / win - 1.0)
    s = min(2.0 / (a + b), rule.max_s)
    mu = (a - b) / (a + b)
    s, mu = s * ratio, mu + sign * s * s * diff
    win = logistic((mu - 1.0) / s)
    loss = logistic((-mu - 1.0) / s)
    return Value(win - loss, float(np.float32(max(1.0 - win - loss, 0.0))))


def sech_squared(x: float) -> float:
    """1 / cosh(x)^2."""
    return 1.0 / math.cosh(x) ** 2


def logistic(x: float) -> float:
    """1 / (1 + exp(-x)), also where exp(-x) is greater than any float64."""
    try:
        return 1.0 / (1.0 + math.exp(-x))
    except OverflowError:
        return 0.0


def lc0_logistic(x: float) -> float:
    """The same with lc0's exp, in float32; 0 or 1 beyond +-20."""
    if abs(x) > 20.0:
        return float(x > 0.0)
    return float(np.float32(1) / (np.float32(1) + np.float32(lc0_exp(-x))))


ARITHMETIC: dict[str, tuple[Callable[[float], float], Callable[[float], float]]] = {
    "exact": (math.log, logistic),
    "lc0": (lc0_ln, lc0_logistic),
}
"""ln and logistic by the setting `arithmetic`."""
