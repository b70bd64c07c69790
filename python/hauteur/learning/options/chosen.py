"""The options that a recipe switches on. Those that it leaves out are not even loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hauteur.learning.context import Option
    from hauteur.learning.recipe import Recipe


def options_of(recipe: Recipe) -> list[Option]:
    """Return what a recipe adds to the loop, in the order in which the loop asks."""
    options: list[Option] = []
    if recipe.start is not None:
        from hauteur.learning.options.start import Started

        options.append(Started(recipe.start))
    if recipe.gate.by == "episodes":
        from hauteur.learning.options.episodes import GateOnEpisodes

        options.append(GateOnEpisodes())
    if recipe.train.exact_nodes:
        from hauteur.learning.options.exact_ends import ExactEnds

        options.append(ExactEnds(recipe.train.exact_nodes))
    if recipe.train.reanalyse is not None:
        from hauteur.learning.options.reanalyse import Reanalysed

        options.append(Reanalysed(recipe.train.reanalyse))
    if recipe.selfplay.archive is not None:
        from hauteur.learning.options.archive import ArchivedStarts

        options.append(ArchivedStarts(recipe.selfplay.archive, lag=recipe.selfplay.max_policy_lag))
    if recipe.controller is not None:
        from hauteur.learning.options.probe import Controlled

        options.append(Controlled(recipe.controller))
    return options
