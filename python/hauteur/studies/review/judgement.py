"""The classes of moves, inaccuracies, mistakes and blunders: the expected score lost, against what there was to lose.

With E = W + D/2 of the position before the move and of the position after it, both for the mover:

    loss  = max(0, E_before - E_after)                           0 for the move that the search would have played
    share = loss / min(E_before, 1/2)                            of what there was to lose

From equality upwards these are the thresholds of Lichess (scalachess, `Advice.scala`: 0.1, 0.2 and 0.3 of the winning
chances from -1 to 1, which is 0.05, 0.10 and 0.15 of the expected score). Below equality the scale shrinks with the
position: whoever gives odds begins with little, is not blamed for that, and is blamed for throwing away the little.
"""

from __future__ import annotations

from typing import Literal

from hauteur.mcts.report import Wdl

Mark = Literal["", "inaccuracy", "mistake", "blunder"]

THRESHOLDS: tuple[tuple[Mark, float], ...] = (("blunder", 0.3), ("mistake", 0.2), ("inaccuracy", 0.1))
"""Least share of each mark."""

LEAST_LOSS = 0.02
"""Smaller losses of expected score are never marked: about the standard deviation of the difference between searches of
neighbouring positions at 100 to 400 visits (docs/how-to/review-a-game.md)."""

CONFIRMATION = 4
"""Factor on visits, or seconds, with which searches must come to a mark too for one to stand."""

SIGNS: dict[Mark, str] = {"": "", "inaccuracy": "?!", "mistake": "?", "blunder": "??"}
"""The marks as people write them."""

NAGS: dict[Mark, int | None] = {"": None, "inaccuracy": 6, "mistake": 2, "blunder": 4}
"""Their Numeric Annotation Glyphs in PGN."""


def expected_score(wdl: Wdl) -> float:
    """Return W + D/2, from 0 to 1."""
    return wdl[0] + 0.5 * wdl[1]


def flipped(wdl: Wdl) -> Wdl:
    """Return win, draw, loss as the other player has them."""
    return wdl[2], wdl[1], wdl[0]


def lost(before: Wdl, after: Wdl) -> float:
    """Return the expected score that a move lost, from 0 to 1; both are for the mover."""
    return max(0.0, expected_score(before) - expected_score(after))


def share_lost(before: Wdl, loss: float) -> float:
    """Return the loss as a share of what there was to lose, from 0 to 2; 0 where there was nothing."""
    worth = min(expected_score(before), 0.5)
    return loss / worth if worth > 0.0 else 0.0


def mark_of(before: Wdl, loss: float) -> Mark:
    """Return the mark of a move that lost this much.

    >>> from hauteur.studies.review.judgement import mark_of
    >>> mark_of((0.4, 0.2, 0.4), 0.16)
    'blunder'
    """
    if loss < LEAST_LOSS:
        return ""
    share = share_lost(before, loss)
    return next((mark for mark, least in THRESHOLDS if share >= least - 1e-9), "")


def punished(loss: float, reply_loss: float) -> float:
    """Return the share of a loss that the opponent's reply kept, from 0 to 1; reply_loss: what the reply lost itself.

    >>> from hauteur.studies.review.judgement import punished
    >>> punished(0.4, 0.1)
    0.75
    """
    return 1.0 - min(reply_loss / loss, 1.0)
