"""What search a net plays with, and what it was trained with: strength is of a net and a search together.

A net may carry settings of the search for play; where a player has them, one line says so. A run keeps its recipe
beside its nets. Where a match takes such a net with other visits, noise or rules, another line says that: a rating of
another search than that of self-play is often taken for one of the training.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hauteur import _core
from hauteur.learning.recipe import Recipe
from hauteur.learning.run_folder import RunFolder
from hauteur.mcts.net_search import OF_RESOURCES, play_search_keys, play_search_text, search_of_net
from hauteur.mcts.params import SearchParams
from hauteur.networks.names import ResolvedNet, resolve_net
from hauteur.players.player import Player
from hauteur.players.settings import PlayerSettings, given_over_net
from hauteur.system.formatting import setting_text
from hauteur.system.settings import flat_settings

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


def search_notes(label: str, player: PlayerSettings, game: _core.Game) -> list[str]:
    """Return lines about the search of a player: which its net carries, and where it is not that of the training."""
    if not player.has_net or (isinstance(player, Player) and player.evaluator is not None):
        return []
    try:
        net = resolve_net(player.net, game)
        notes = (_carried_note(label, player, net), _training_note(label, player, net))
    except ValueError as error:
        raise ValueError(f"player {label}: {error}") from None
    return [note for note in notes if note is not None]


def _carried_note(label: str, player: PlayerSettings, net: ResolvedNet) -> str | None:
    """Return a line where a player has settings that its net carries; None where the net carries none."""
    if player.other_net or not play_search_keys(net):
        return None
    given = []
    for key, value in given_over_net(_named(player, net)):
        name = ".".join(key)
        given.append(f"{name}={setting_text(value, absent='off')}")
    instead = f"; given instead: {' '.join(given)}" if given else ""
    return f"{label} plays with the search of its net, {play_search_text(net)}{instead}"


def _training_note(label: str, player: PlayerSettings, net: ResolvedNet) -> str | None:
    """Return a line where the net of a player was trained with another search; None where there is nothing to say.

    What the net carries and the player was not given anew is the search that the recipe is for.
    """
    if player.net is None or not Path(player.net).is_file():
        return None
    recipe = recipe_beside(Path(player.net).resolve())
    if recipe is None:
        return None
    carried = {key[0] for key in play_search_keys(net)}
    given = {key[0] for key, _ in given_over_net(_named(player, net))}
    search = search_of_net(player.search, net, player.other_net)
    found = []
    for line in search_differences(recipe, player.model_copy(update={"search": search})):
        key, _, _ = line.partition(" ")
        section, _, _ = key.partition(".")
        if section not in carried - given:
            found.append(line)
    if not found:
        return None
    named = ", ".join(found[:MOST_NAMED])
    more = ""
    if len(found) > MOST_NAMED:
        more = f" and {len(found) - MOST_NAMED} more"
    return f"{label} does not play with the search that its net was trained with: {named}{more}"


def _named(player: PlayerSettings, net: ResolvedNet) -> PlayerSettings:
    """Return the player with its net named."""
    return player.model_copy(update={"net": net.path})


def search_differences(recipe: Recipe, player: PlayerSettings) -> list[str]:
    """Return what differs between the search of self-play and a player's, visits and rules first."""
    trained = _comparable(recipe.selfplay.search, recipe.selfplay.visits)
    played = _comparable(player.search, player.visits)
    found = []
    keys = sorted({*trained, *played})
    keys.sort(key=lambda key: (key != "visits", "." in key))  # visits, then rules, then their settings
    for key in keys:
        before = trained.get(key)
        now = played.get(key)
        if before != now:
            ours = setting_text(now, absent="off")
            theirs = setting_text(before, absent="off")
            found.append(f"{key} {ours} instead of {theirs}")
    return found


def _comparable(search: SearchParams, visits: int) -> dict[str, Any]:
    """Return visits and settings of a search by their keys; a rule that is off or neutral as its name alone."""
    values = {"visits": visits, **search.without_neutral_rules().model_dump(exclude={*OF_RESOURCES})}
    noise = search.dirichlet
    if noise is None or not noise.epsilon:
        values["dirichlet"] = None
    return {key: value for key, value in flat_settings(values).items() if value is not None}
