"""Names that can be given: nets, and the settings of players and searches."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel

from hauteur import _core, networks
from hauteur.games.registry import load_game
from hauteur.mcts.params import SearchParams
from hauteur.networks.names import data_path, downloaded_nets, known_nets, shipped_names
from hauteur.players.settings import PlayerSettings
from hauteur.system.formatting import described
from hauteur.system.setting_facts import SettingFacts, setting_facts
from hauteur.system.settings import section_of
from hauteur.system.tables import Rows


class NetRow(NamedTuple):
    """A net by name. game: that it is for; where: `shipped`, `downloaded`, or `public`: `hauteur net get` gets it."""

    name: str
    game: str
    where: str
    about: str


class SettingRow(NamedTuple):
    """A setting by the key that texts of players, recipes and `SearchParams` have for it.

    allowed: its range or choices; empty: any text.
    """

    key: str
    default: Any
    allowed: str
    meaning: str


def nets(game: str | _core.Game | None = None) -> Rows[NetRow]:
    """Return the nets that have a name: those that ship, those that were downloaded, public ones. game: for this alone.

    >>> import hauteur as ht
    >>> [net.name for net in ht.nets("connect4") if net.where == "shipped"]
    ['connect4', 'connect4-64x6']
    """
    found = _all_nets()
    if game is None:
        return Rows(found)
    loaded = load_game(game)
    return Rows(net for net in found if _fits(net, loaded))


def settings(matching: str = "") -> Rows[SettingRow]:
    """Return the settings of a player and its search: key, default, allowed values, meaning.

    matching: a part of the key or of the meaning, in any case. Keys are those of the text of a player; those of its
    search are those of `SearchParams` too.

    >>> import hauteur as ht
    >>> [setting.key for setting in ht.settings("dirichlet")]
    ['dirichlet.epsilon', 'dirichlet.alpha']
    """
    if not isinstance(matching, str):
        raise TypeError(f"matching must be a text, got {described(matching)}")
    rows = settings_of(PlayerSettings)
    return Rows(row for row in rows if matching.lower() in f"{row.key} {row.meaning}".lower())


def _all_nets() -> Iterator[NetRow]:
    """Yield the nets that ship, those that were downloaded, and those that can be."""
    here = downloaded_nets()
    for name in shipped_names():
        yield _net_row(name, data_path(f"{name}.safetensors"), "shipped")
    for name, path in here.items():
        yield _net_row(name, path, "downloaded")
    for known in known_nets():
        if known.name not in here:
            yield NetRow(known.name, "chess", "public", known.about)


def _net_row(name: str, path: Path, where: str) -> NetRow:
    """Return the row of a net that is here; one that cannot be read says why."""
    try:
        net = networks.describe(path)
    except (ValueError, OSError) as error:
        return NetRow(name, "", where, str(error))
    return NetRow(name, net.game, where, net.architecture.summary())


def _fits(net: NetRow, game: _core.Game) -> bool:
    """Return whether a net is for boards of this game and size."""
    if not net.game:
        return False
    theirs = load_game(net.game)
    return (theirs.name, theirs.feature_shape, theirs.num_actions) == (game.name, game.feature_shape, game.num_actions)


def settings_of(model: type[BaseModel], prefix: str = "") -> Iterator[SettingRow]:
    """Yield each setting of a model, those of its sections too."""
    for name, field in model.model_fields.items():
        section = section_of(field)
        if section is not None:
            yield from settings_of(section, "" if section is SearchParams else f"{prefix}{name}.")
        elif not field.exclude:
            yield _row(f"{prefix}{name}", setting_facts(model, name))


def _row(key: str, facts: SettingFacts) -> SettingRow:
    """Return a setting as a row of the listing."""
    ends = facts.ends
    least = ends.get("ge", ends.get("gt"))
    most = ends.get("le", ends.get("lt"))
    span = " to ".join(f"{end:g}" for end in (least, most) if end is not None)
    allowed = ", ".join(facts.choices) or ("true, false" if facts.kind == "switch" else span)
    return SettingRow(key, facts.default, allowed, facts.text)
