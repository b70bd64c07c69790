"""The search that a player of a net has: the net's own settings for play, under those that the user gives.

A net may carry settings of the search that it should be played with, as a text like that of a player,
`solver.threats=1000 solver.lost_child_mode=zero_prior`. Of a net that ships it stands in `data/shipped_nets.toml`, of
others among the facts of the training in the file, as `FACT`, where a run writes that of its recipe. Whatever makes a
player or an analysis of a net calls `search_of_net`; self-play of a learning run does not, its recipe says all.
"""

from __future__ import annotations

import copy
import json
import shlex
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from hauteur.mcts.plain_settings import search_model
from hauteur.networks.names import ResolvedNet, data_path, resolve_net

if TYPE_CHECKING:
    from hauteur import _core
    from hauteur.mcts.params import SearchParams
    from hauteur.mcts.plain_settings import SearchSettings
    from hauteur.system.settings import Key

FACT = "play_search"
"""Name of the text among the facts of the training in a file."""
OF_RESOURCES = ("max_in_flight", "max_collisions", "cache_size", "max_tree_bytes")
"""Settings of resources, which are the user's."""
OF_OTHER_NETS = ("second_net", "opponent_net")
"""Rules of a second net, which a file does not bring."""


@overload
def search_of_net(search: SearchParams, net: ResolvedNet, second: object = None) -> SearchParams: ...
@overload
def search_of_net(search: SearchSettings, net: ResolvedNet, second: object = None) -> SearchSettings: ...
def search_of_net(search: SearchSettings, net: ResolvedNet, second: object = None) -> SearchSettings:
    """Return the settings with those that the net carries in the place of the ones that were not given.

    second: a second net, None for none; those that a net carries are for a search with this net alone.

    Given is what was set, default or not: `solver.threats=0` stays, and `solver=off` leaves out all of the net's
    solver. The same object is returned where the net carries nothing. ValueError, with the net's file, for a text that
    is not allowed.
    """
    text = "" if second else play_search_text(net)
    if not text:
        return search
    from hauteur.mcts.params import SearchParams  # here: engines of nets that carry nothing start without it
    from hauteur.system.settings import validated

    own = play_search_values(text, net.path)
    return validated(SearchParams, merged(own, search_model(search).model_dump(exclude_unset=True)), "search")


def search_over_usual(
    search: SearchSettings, usual: SearchSettings, net: ResolvedNet, second: object
) -> SearchSettings:
    """Return the same where all settings are always set, as by options of an engine: given is what is not `usual`.

    ValueError as in `search_of_net`.
    """
    if second or not play_search_text(net):
        return search
    from hauteur.mcts.params import SearchParams
    from hauteur.system.settings import validated

    values = search_model(usual).model_dump()
    given = SearchParams.model_validate(_changes(search_model(search).model_dump(), values))
    played = search_of_net(given, net)
    return validated(SearchParams, merged(values, played.model_dump(exclude_unset=True)), "search")


@overload
def search_of_source(search: SearchParams, source: object, game: _core.Game, second: object = None) -> SearchParams: ...
@overload
def search_of_source(
    search: SearchSettings, source: object, game: _core.Game, second: object = None
) -> SearchSettings: ...
def search_of_source(search: SearchSettings, source: object, game: _core.Game, second: object = None) -> SearchSettings:
    """Return the same for what `hauteur.evaluator` makes an evaluator of; an object carries no settings."""
    if second is None and (source is None or isinstance(source, str | Path | ResolvedNet)):
        return search_of_net(search, resolve_net(source, game))
    return search


# The text and its settings.


def checked_play_search(text: str) -> str:
    """Return the text of settings, in a recipe or catalogue; ValueError for what is not allowed."""
    _values(text, FACT)
    return text


def play_search_keys(net: ResolvedNet) -> list[Key]:
    """Return the keys of the settings that a net carries."""
    from hauteur.system.settings import leaves

    text = play_search_text(net)
    if not text:
        return []
    return [key for key, _ in leaves(play_search_values(text, net.path))]


def play_search_values(text: str, source: str) -> dict[str, Any]:
    """Return the nested settings of a text; ValueError, a line that names `source`, for what is not allowed."""
    # A copy: what is cached is shared, and who changed it would change the next search with this net.
    return copy.deepcopy(_values(text, f"{source}: {FACT}"))


@lru_cache(64)
def _values(text: str, source: str) -> dict[str, Any]:
    """Read and check a text, once."""
    from hauteur.mcts.params import SearchParams
    from hauteur.system.settings import assign, validated

    values: dict[str, Any] = {}
    try:
        for key, value in _pairs(text):
            assign(SearchParams, values, key, value)
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from None
    validated(SearchParams, values, source)
    return values


def _pairs(text: str) -> Iterator[tuple[Key, str]]:
    """Yield key and value of every word; ValueError for a word that is no setting of a net."""
    for word in shlex.split(text):
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise ValueError(f"{word!r} is not key=value")
        key = tuple(name.replace("-", "_").removeprefix("search.").split("."))
        # A file may come from anyone: it must not say what memory a search takes, or ask for nets that are not there.
        if key[0] in (*OF_RESOURCES, *OF_OTHER_NETS):
            raise ValueError(f"{name} is not a net's to say: it is of resources or of another net")
        yield key, value


def merged(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """Return nested settings of both; `above` counts where both have a setting."""
    found = dict(below)
    for name, value in above.items():
        before = found.get(name)
        if isinstance(before, dict) and isinstance(value, dict):
            found[name] = merged(before, value)
        else:
            found[name] = value
    return found


def _changes(values: dict[str, Any], usual: dict[str, Any]) -> dict[str, Any]:
    """Return the nested settings that are not as usual."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        before = usual[name]
        if isinstance(before, dict) and isinstance(value, dict):
            inner = _changes(value, before)
            if inner:
                found[name] = inner
        elif value != before:
            found[name] = value
    return found


# What a net carries.


def play_search_text(net: ResolvedNet) -> str:
    """Return the settings of the search that a net carries for play; empty: none.

    A file that is none, or no net, carries nothing: its reader says what is wrong with it. ValueError for a fact that
    is no text.
    """
    if not net.has_file:
        return ""
    path = Path(net.path).resolve()
    if path.parent == data_path("").resolve():
        from hauteur.networks.strength import shipped_play_search  # with tomllib, which other nets need not

        if shipped := shipped_play_search(path):
            return shipped
    try:
        about = path.stat()
    except OSError:
        return ""
    # By time and size: a run writes its best net anew under the same name.
    text = _stored_text(path, about.st_mtime_ns, about.st_size)
    if not isinstance(text, str):
        raise ValueError(f"{net.path}: {FACT} in its metadata must be a text of settings, got {text!r}")
    return text


@lru_cache(256)
def _stored_text(path: Path, _changed: int, _size: int) -> Any:
    """Return the fact of a safetensors file, read once; empty where there is none."""
    # Looked at without safetensors, whose import an engine with a net of lc0 does without.
    if not _may_be_safetensors(path):
        return ""
    from safetensors import SafetensorError, safe_open  # here: engines of lc0's nets start without it

    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
        return json.loads(metadata.get("hauteur.training", "{}")).get(FACT, "")
    # RecursionError: the JSON of a stranger may be nested without end. AttributeError: it may be no object.
    except (OSError, ValueError, AttributeError, RecursionError, SafetensorError):
        return ""  # its reader reports what is wrong with it


def _may_be_safetensors(path: Path) -> bool:
    """Return whether JSON begins after eight bytes, as the header of a safetensors file does after its length."""
    try:
        with path.open("rb") as file:
            return file.read(9)[8:] == b"{"
    except OSError:
        return False
