"""Resignation in self-play, with a share of the games played out to see how often it is wrong (Silver et al. 2017)."""

from typing import Annotated

from pydantic import Field

from hauteur.system.settings import Section


class Resignation(Section):
    """Rule of resignation in self-play.

    threshold: a player resigns once the root value of its searches, -1 to 1, is at most this `moves` times in a row;
    earliest_ply: plies of the game, opening included, before which no player resigns; play_through: share of games
    played on regardless, to measure how often resigning is wrong.
    """

    threshold: Annotated[float, Field(ge=-1, lt=0)] = -0.9
    moves: Annotated[int, Field(ge=1, le=10_000)] = 3
    earliest_ply: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    play_through: Annotated[float, Field(ge=0, le=1)] = 0.1
