"""Reasons for the end of a game other than its rules."""

from __future__ import annotations

RESIGNATION = "resignation"
"""End reason of a game that a player gave up."""

TIME = "time"
"""End reason of a game whose loser had no time left."""

AGREEMENT = "agreement"
"""End reason of a game that both players called a draw."""

PLY_LIMIT = "ply limit"
"""End reason of a game that was stopped, and counted as a draw, at a limit of plies."""
