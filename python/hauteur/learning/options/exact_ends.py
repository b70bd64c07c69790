"""The option of exact targets: the last positions of finished games are solved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hauteur import _core
from hauteur.learning.context import Option
from hauteur.learning.exact_ends import with_exact_ends

if TYPE_CHECKING:
    from hauteur.learning.recipe import Recipe


class ExactEnds(Option):
    """The ends of self-play games are solved where they are played, which may be in a worker (`learning.units`)."""

    def __init__(self, nodes: int) -> None:
        self._nodes = nodes

    def check(self, game: _core.Game, recipe: Recipe) -> None:  # noqa: ARG002
        """Raise ValueError for a game that cannot be solved by its positions."""
        try:
            with_exact_ends([], game, self._nodes)
        except ValueError as error:
            raise ValueError(f"train.exact_nodes: {error}") from None
