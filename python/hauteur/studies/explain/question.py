"""The question of a comparison: one position, two sides that differ in search settings or nets, one seed and limit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from hauteur import _core
from hauteur.engine.nets import NetChoice
from hauteur.mcts.params import SearchParams
from hauteur.mcts.result import refuse_finished
from hauteur.networks.bundled import net_or_shipped
from hauteur.networks.names import resolve_net
from hauteur.players.settings import PlayerSettings, changed_player, player_text

DEFAULT_VISITS = 800
MOST_VISITS = 1_000_000
BATCH_SIZE = 16
"""Most rows of a batch, the same on every machine: searches depend on it. 1: exactly sequential."""
MOST_BATCH = 4096

PRESETS = {"search-contempt": ("search_contempt.n_scl=5", "")}
"""Pairs of settings worth a look, by name."""

NOT_OF_A_SIDE = ("name", "visits", "temperature")
"""Settings of a player that mean nothing here: both sides have the same limit, and no move is chosen."""


@dataclass(frozen=True)
class Side:
    """What one of the two searches is made of. text: how its settings were given."""

    text: str
    nets: NetChoice
    search: SearchParams

    def without(self, name: str) -> Side:
        """Return the side with one section or setting of the search as it is by default; second_net: one net alone."""
        default = SearchParams.model_fields[name].default
        nets = replace(self.nets, large="") if name == "second_net" else self.nets
        return replace(self, nets=nets, search=self.search.model_copy(update={name: default}))


@dataclass(frozen=True)
class Question:
    """Two sides, and what both have: the position (start and actions), visits of the root, seed, rows of a batch."""

    start: _core.State
    actions: tuple[int, ...]
    a: Side
    b: Side
    visits: int = DEFAULT_VISITS
    seed: int = 0
    batch_size: int = BATCH_SIZE

    def __post_init__(self) -> None:
        ranges = (("visits", self.visits, 2, MOST_VISITS), ("seed", self.seed, 0, 2**63 - 1))
        for name, value, least, most in (*ranges, ("batch_size", self.batch_size, 1, MOST_BATCH)):
            if not least <= value <= most:
                raise ValueError(f"{name} must be {least} to {most}, got {value}")
        refuse_finished(self.position)

    @property
    def position(self) -> _core.State:
        """The position that is searched."""
        state = self.start.copy()
        for action in self.actions:
            state.apply(action)
        return state

    @property
    def sides(self) -> tuple[Side, Side]:
        """Both sides."""
        return self.a, self.b


def side_of(text: str, game: _core.Game, label: str, common: PlayerSettings, threads: int = 0) -> Side:
    """Return the side that the words of `text` make of the settings that both have in common.

    text: key=value words as of a player of a match: net, large_net, precision, and any setting of the search. Raise
    ValueError, which begins with `label`, for what is not allowed.
    """
    settings = changed_player(common, text, label)
    stranger = next((name for name in NOT_OF_A_SIDE if name in settings.model_fields_set), None)
    if not settings.has_net or stranger:
        what = stranger or settings.baseline or "a program"
        raise ValueError(
            f"{label}: {what} is not part of a search; allowed: net, large_net, precision, search settings"
        )
    try:
        small = net_or_shipped(settings.net, game)
        large = resolve_net(settings.large_net) if settings.large_net else ""
    except ValueError as error:
        raise ValueError(f"{label}: {error}") from None
    return checked_side(
        Side(text, NetChoice(small, large, precision=settings.precision, threads=threads), settings.search), label
    )


def checked_side(side: Side, label: str) -> Side:
    """Return the side; ValueError, which begins with `label`, where its settings want a large net and it has none."""
    second = side.search.second_net
    if second is not None and not second.is_neutral and not side.nets.large:
        raise ValueError(f"{label}: second_net needs a large net: give large_net=")
    return side


def settings_text(search: SearchParams, name: str) -> str:
    """Return the settings of a section, or the value of a setting, as words that give them."""
    value = getattr(search, name)
    alone = SearchParams.model_construct(**{**dict(SearchParams()), name: value})
    words = player_text(PlayerSettings.model_construct(**{**dict(PlayerSettings()), "search": alone}))
    return words.replace("search.", "")


def side_json(side: Side) -> dict[str, Any]:
    """Return a side as JSON holds it, without the folders of nets."""
    changed = {"search": side.search.model_dump(exclude_defaults=True)}
    names = {"net": net_name(side.nets.net), "large_net": net_name(side.nets.large) or None}
    return {"settings": side.text, **names, **changed}


def net_name(path: str) -> str:
    """Return the name of a net's file without its folder."""
    return path.replace("\\", "/").rpartition("/")[2]
