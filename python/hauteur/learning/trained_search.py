"""The search that a net was trained with, beside that it plays with: strength is of a net and a search together.

A run keeps its recipe beside its nets. Where a match takes such a net with other visits, noise or rules, one line says
so: a rating of another search than that of self-play is often taken for one of the training.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hauteur.learning.recipe import Recipe
from hauteur.learning.run_folder import RunFolder
from hauteur.mcts.params import SearchParams
from hauteur.players.settings import PlayerSettings
from hauteur.system.settings import flat_settings

WITHOUT_EFFECT = ("max_in_flight", "max_collisions", "cache_size", "max_tree_bytes")
"""Settings of resources."""
MOST_NAMED = 5
"""Differences that the line names."""


def recipe_beside(net: Path) -> Recipe | None:
    """Return the recipe of the run whose folder a net lies in; None where it lies in none.

    ValueError for a run whose recipe cannot be read.
    """
    for place in (net.parent, net.parent.parent):
        folder = RunFolder(place)
        if folder.config.is_file() and (place / "meta.json").is_file():
            return folder.stored_recipe()
    return None


def search_note(label: str, player: PlayerSettings) -> str | None:
    """Return a line where the net of a player was trained with another search; None where there is nothing to say."""
    if not player.has_net or player.net is None or not Path(player.net).is_file():
        return None
    recipe = recipe_beside(Path(player.net).resolve())
    if recipe is None:
        return None
    found = search_differences(recipe, player)
    if not found:
        return None
    named = ", ".join(found[:MOST_NAMED])
    more = f" and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
    return f"{label} does not play with the search that its net was trained with: {named}{more}"


def search_differences(recipe: Recipe, player: PlayerSettings) -> list[str]:
    """Return what differs between the search of self-play and a player's, visits and rules first."""
    trained = _comparable(recipe.selfplay.search, recipe.selfplay.visits)
    played = _comparable(player.search, player.visits)
    found = []
    for key in sorted({*trained, *played}, key=lambda key: (key != "visits", "." in key, key)):
        before, now = trained.get(key), played.get(key)
        if before != now:
            found.append(f"{key} {_text(now)} instead of {_text(before)}")
    return found


def _comparable(search: SearchParams, visits: int) -> dict[str, Any]:
    """Return visits and settings of a search by their keys; a rule that is off or neutral as its name alone."""
    values = {"visits": visits, **search.without_neutral_rules().model_dump(exclude={*WITHOUT_EFFECT})}
    noise = search.dirichlet
    if noise is None or not noise.epsilon:
        values["dirichlet"] = None
    return {key: value for key, value in flat_settings(values).items() if value is not None}


def _text(value: Any) -> str:
    """Return a value as the line has it."""
    if value is None:
        return "off"
    return str(value).lower() if isinstance(value, bool) else f"{value}"
