"""Starts of games in positions of a run's earlier games (`[selfplay.archive]`).

A. Trudeau and M. Bowling, "Targeted Search Control in AlphaZero for Effective Policy Improvement", AAMAS 2023 (Go-
Exploit): self-play seldom comes to most positions from the start of the game; games that begin there see more of them,
and their values are learned with fewer moves in between. Which positions: all alike, or by a weight that says how much
there may be to learn (regret-guided search control).

A draw depends on the seed, the generation, the number of the game and the games of generations that are over when this
one may begin, so it is the same in a resumed run and with any workers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hauteur.learning.context import Option
from hauteur.learning.recorded_games import Games
from hauteur.learning.replay import first_needed
from hauteur.learning.sections import ArchiveSettings
from hauteur.matches.record import GamePlan

if TYPE_CHECKING:
    from hauteur.learning.context import Run

LATER = 4
"""Moves after which the weight `change` looks at the value again."""


class ArchivedStarts(Option):
    """Games of self-play begin in positions of earlier games of the run."""

    def __init__(self, settings: ArchiveSettings, *, lag: int) -> None:
        self._archive = Archive(settings, lag=lag)

    def first_read(self, run: Run, games: Mapping[int, int], first: int) -> int:  # noqa: ARG002
        """Return the first generation of the run: starts were drawn from games that themselves had drawn starts."""
        return min(first, *games) if games else first

    def games_read(self, run: Run, generation: int, games: Games) -> None:  # noqa: ARG002
        """Put a generation's games into the archive."""
        self._archive.add(generation, games)

    def starts(self, generation: int) -> Archived | None:
        """Return the positions that games of a generation may begin in; None where there are none yet."""
        return self._archive.before(generation)


@dataclass
class Archive:
    """Games of the generations of a run. lag: generations before one that are not over when it may begin."""

    settings: ArchiveSettings
    lag: int = 0

    def __post_init__(self) -> None:
        self._games: dict[int, Games] = {}

    def add(self, generation: int, games: Games) -> None:
        """Take the games of a generation, after those of the one before; let go of those that are not needed again."""
        # A start and its weight need moves, values and surprise alone; policies are most of the bytes.
        self._games[generation] = games.without_policies()
        last_over = generation - self.lag
        over = {one: games.games for one, games in self._games.items() if one <= last_over}
        # Counted from the generations that are over: with a lag, one that begins now still draws from older ones.
        needed = first_needed(over, self.settings.window_games)
        self._games = {one: games for one, games in self._games.items() if one >= needed}

    def before(self, generation: int) -> Archived | None:
        """Return the positions that games of a generation may begin in; None where there are none."""
        parts = [games for one, games in self._games.items() if one < generation - self.lag]
        if not parts:
            return None
        games = Games.join(parts)
        return Archived(self.settings, games.last(self.settings.window_games))


@dataclass(frozen=True)
class Archived:
    """Positions that games of one generation may begin in: those of these games that were learned from."""

    settings: ArchiveSettings
    games: Games

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """Weights by which positions are drawn, one for each move of the games; all alike where all would be 0."""
        learned = self.games.learned.astype(np.float64)
        known = np.nan_to_num(weights_of(self.games, self.settings.weight))
        weights = learned * known**self.settings.power
        return weights if weights.any() else learned

    @cached_property
    def _drawn(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The moves that have a weight, and the sums of the weights up to each."""
        moves = np.flatnonzero(self.weights)
        return moves, np.cumsum(self.weights[moves])

    def plan(self, index: int, random: np.random.Generator) -> GamePlan | None:
        """Plan the game of this number; None where it begins as without an archive."""
        share, point = random.random(2)
        moves, summed = self._drawn
        if share >= self.settings.share or not len(moves):
            return None
        place = np.searchsorted(summed, point * summed[-1], side="right")
        drawn = min(int(place), len(moves) - 1)  # a point may be rounded up to the sum
        return self.games.plan_at(int(moves[drawn]), index)


def weights_of(games: Games, kind: str) -> NDArray[np.float64]:
    """Return what a kind of weight says of the positions before all moves, 0 or more; NaN: not known.

    regret: |root value - result of the game|; change: |root value - root value LATER moves later|, or the result where
    the game was over before: what a search misjudged that the next ones have seen; surprise: KL(policy target ||
    priors). Values are win - loss for the player to move.
    """
    if kind == "uniform":
        return np.ones(len(games.movers))
    if kind == "surprise":
        return games.surprise.astype(np.float64)
    value = games.root_wdl[:, 0].astype(np.float64) - games.root_wdl[:, 2]
    if kind == "regret":
        return np.abs(value - games.results)
    later = np.arange(len(value)) + LATER
    is_over = later >= np.repeat(games.moves_before[1:], games.move_counts)
    later = np.where(is_over, 0, later)
    is_own = games.movers[later] == games.movers
    same = np.where(is_own, value[later], -value[later])
    return np.abs(value - np.where(is_over, games.results, same))
