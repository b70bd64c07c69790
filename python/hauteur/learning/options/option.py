"""What an idea beyond AlphaZero may add to the loop: the moments at which it is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hauteur import _core
    from hauteur.learning.context import Run, Steps
    from hauteur.learning.planned import Starts
    from hauteur.learning.recipe import Recipe, SelfPlaySettings
    from hauteur.learning.recorded_games import Games


class Option:
    """An option of a run, asked at these moments; here every one of them changes nothing."""

    def check(self, game: _core.Game, recipe: Recipe) -> None:
        """Raise ValueError, before a run is begun, where its settings do not fit the game or their files."""

    def opened(self, run: Run) -> None:
        """Begin its own part of the state, where a new run has none yet. No game has been read."""

    def first_read(self, run: Run, games: Mapping[int, int], first: int) -> int:  # noqa: ARG002
        """Return the first generation whose games a resumed run reads; `first` is needed without this option.

        games: how many each finished generation has.
        """
        return first

    def games_read(self, run: Run, generation: int, games: Games) -> None:
        """Take the games of a generation, just played or read again by a resumed run."""

    def generation_read(self, run: Run, generation: int, first: int) -> None:
        """Repeat what was done to the replay buffer after the self-play of a generation that a resumed run reads.

        first: the oldest generation that the buffer needs.
        """

    def before_first_generation(self, run: Run) -> None:
        """Do what precedes generation 1, unless a checkpoint says that it is done."""

    def steps(self, steps: Steps) -> Steps:
        """Return the steps of a generation with its own."""
        return steps

    def selfplay(self, run: Run, generation: int, settings: SelfPlaySettings) -> SelfPlaySettings:  # noqa: ARG002
        """Return the settings of self-play of a generation, from those without this option."""
        return settings

    def starts(self, generation: int) -> Starts | None:  # noqa: ARG002
        """Return what draws where games of a generation begin; None: they begin as the settings say."""
        return None

    def after_generation(self, run: Run) -> None:
        """Learn from the generation that ends, before its metrics are written."""
