"""Reasons for the end of a game other than its rules."""

from __future__ import annotations

RESIGNATION = "resignation"
"""End reason of a game that a player gave up."""


PLY_LIMIT = "ply limit"
"""End reason of a game that was stopped, and counted as a draw, at a limit of plies."""
