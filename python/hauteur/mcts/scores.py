"""A value of the search as the figures that programs show: centipawns of several kinds, win/draw/loss in permille, the
ends of Wilson's interval.

wl = W - L and d are for the player to move. All formulas of scores are lc0's (option ScoreType).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import chess.engine

LARGEST_SCORE = 30_000
"""No score is beyond; certain mates have their own."""
MATE = 1000.0
"""Pawns of a mate on the board; see `mate_score`."""
SMALLEST_SHARE = 1e-4
"""Of wins, draws, losses: below it the logistic parameters say nothing."""
LARGEST_DECIDED = 0.996
"""|W - L| + D beyond which WDL_mu is not used."""


def _logistic(factor: float, slope: float, value: float) -> float:
    """Return factor tan(slope value)."""
    # The slopes are just below pi / 2: a value a little above 1 would come out at the other end of the tangent.
    return factor * math.tan(slope * min(max(value, -1.0), 1.0))


# lc0's constants let centipawns of every kind end near 12,800 (128 pawns) at W - L = 1.
FORMULAS: dict[str, Callable[[float, float, float], float]] = {
    "centipawn": lambda wl, _, __: _logistic(90.0, 1.5637541897, wl),
    "centipawn_with_drawscore": lambda _, __, q: _logistic(90.0, 1.5637541897, q),
    "centipawn_2019": lambda wl, _, __: 295.0 * wl / (1.0 - 0.976953126 * wl**14),
    "centipawn_2018": lambda wl, _, __: _logistic(290.680623072, 1.548090806, wl),
    "win_percentage": lambda wl, _, __: 5000.0 * wl + 5000.0,
    "Q": lambda _, __, q: 10_000.0 * q,
    "W-L": lambda wl, _, __: 10_000.0 * wl,
    "WDL_mu": lambda wl, d, _: _wdl_mu(wl, d),
}
"""Figures by the names of ScoreType, of wl, d and q."""


def score(kind: str, *, wl: float, d: float, q: float) -> int:
    """The figure of `score cp`, of a kind of FORMULAS. q: the value with the draw score, W - L + drawscore D."""
    value = FORMULAS[kind](wl, d, q)
    return round(min(max(value, -LARGEST_SCORE), LARGEST_SCORE))


def pov_score(wdl: tuple[float, float, float], mate: int | None, *, first_to_move: bool) -> chess.engine.PovScore:
    """Return a value for the player to move as python-chess has scores; White is the first player.

    mate: moves to a proven mate, None: centipawns of the win, draw, loss.
    """
    # Here: python-chess takes time to import, and engines answer without it.
    import chess.engine

    win, draw, loss = wdl
    figure = score("centipawn", wl=win - loss, d=draw, q=win - loss)
    value = chess.engine.Cp(figure) if mate is None else chess.engine.Mate(mate)
    return chess.engine.PovScore(value, first_to_move)


def pawns(wl: float) -> float:
    """W - L as pawns, by the formula of `centipawn`; NaN for NaN."""
    if math.isnan(wl):
        return wl
    return score("centipawn", wl=wl, d=0.0, q=wl) / 100.0


def value_of_pawns(score: float) -> float:
    """W - L that `pawns` shows as this score."""
    return math.atan(score * 100.0 / 90.0) / 1.5637541897


def mate_score(moves: int) -> float:
    """A mate in N moves among scores in pawns: 1000 - moves; negative: the mover is mated (0 counts as that)."""
    size = MATE - min(abs(moves), MATE / 2)
    return size if moves > 0 else -size


def score_text(score: float) -> str:
    """A score in pawns as PGN comments have it: +0.25, or +M5 for a mate in 5 moves; empty where it is unknown."""
    if math.isnan(score):
        return ""
    if abs(score) >= MATE / 2:
        return f"{'-' if score < 0 else '+'}M{MATE - abs(score):.0f}"
    return f"{score:+.2f}"


def permille(wl: float, d: float) -> tuple[int, int, int]:
    """Win, draw, loss in thousandths; they sum to 1000."""
    # The draw takes what rounding leaves, so that the three always sum to 1000.
    win = round(500.0 * (1.0 + wl - d))
    win = min(max(win, 0), 1000)
    loss = round(500.0 * (1.0 - wl - d))
    loss = min(max(loss, 0), 1000 - win)
    return win, 1000 - win - loss, loss


def logistic_mean(wl: float, d: float) -> float | None:
    """Return mu of the logistic model of win, draw, loss; None where a share is too small.

    With a = ln(1/l - 1), b = ln(1/w - 1): mu = (a - b) / (a + b). At mu = 1 a win is as likely as no win.
    """
    win = (1.0 + wl - d) / 2.0
    loss = (1.0 - wl - d) / 2.0
    if min(win, d, loss) <= SMALLEST_SHARE:
        return None
    # The divisor a + b is above 0 exactly where there are draws, so the least share keeps it away from 0.
    a = math.log(1.0 / loss - 1.0)
    b = math.log(1.0 / win - 1.0)
    return (a - b) / (a + b)


def _wdl_mu(wl: float, d: float) -> float:
    """Return 100 mu where meaningful and |mu| < 1 or |100 mu| > |W - L figure|, else that figure."""
    plain = _logistic(45.0, 1.56728071628, wl)
    mu = logistic_mean(wl, d)
    if mu is None or abs(wl) + d >= LARGEST_DECIDED:
        return plain
    figure = 100.0 * mu
    if abs(mu) < 1.0 or abs(plain) < abs(figure):
        return figure
    return plain


def wilson(p: float, n: float, z: float) -> tuple[float, float]:
    """Return Wilson's interval of a share p, 0 to 1, of n independent trials (not always whole).

    z: the normal quantile, such as 1.96 for 95 %. The ends are within 0 and 1, and p is between them.

    E. B. Wilson, Probable inference, the law of succession, and statistical inference, JASA 22, 1927.

    >>> [round(end, 4) for end in wilson(0.42, 100, 1.96)]
    [0.328, 0.5179]
    """
    widened = 1 + z * z / n
    middle = (p + z * z / (2 * n)) / widened
    half = z / widened * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    # Rounding must not exclude p.
    low = min(p, middle - half)
    high = max(p, middle + half)
    return max(0.0, low), min(1.0, high)
