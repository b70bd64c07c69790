"""Settings of the core as nested values: what engines search with, which read no recipes.

`hauteur.mcts.params` has the same settings as models, for recipes, players and programs. An engine starts without
those: to import pydantic takes longer than the first move.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, Union

from hauteur import _core
from hauteur.system.formatting import described

if TYPE_CHECKING:
    from hauteur.mcts.params import SearchParams, Temperature


MOST_VISITS = 1_000_000_000
"""Visits that a call, a command, a query or a recipe may ask of a search."""


@dataclass(frozen=True)
class PlainSettings:
    """Settings by name, sections as dicts; what is not given has its default. The core checks what it reads."""

    values: dict[str, Any] = field(default_factory=dict)
    """The settings that are given."""

    def model_dump_json(self, *, exclude_none: bool = False) -> str:
        """Return the settings as JSON, which the core reads. exclude_none: nothing; what is not given is left out."""
        # The core calls this method of models and of these alike, with this argument.
        del exclude_none
        return json.dumps(self.values)


DEFAULTS = PlainSettings()
"""Every setting has its default."""

SearchSettings: TypeAlias = Union["SearchParams", PlainSettings]
"""Settings of a search."""
TemperatureSettings: TypeAlias = Union["Temperature", PlainSettings]
"""Randomness of the moves played."""


def checked_search(values: dict[str, Any]) -> PlainSettings:
    """Return settings of a search. ValueError, in one line, for those that the core refuses."""
    settings = PlainSettings(values)
    _core.check_settings("SearchParams", settings.model_dump_json())
    return settings


def given_search(params: SearchSettings | None) -> SearchSettings:
    """Return the settings that a caller gave, the default ones for None; ValueError for what are no settings."""
    if params is None:
        return DEFAULTS
    # Asked for what the core calls, because to import the models takes longer than an engine's first move.
    if not hasattr(params, "model_dump_json"):
        raise ValueError(f"params must be hauteur.SearchParams, got {described(params)}")
    return params


def has_section(settings: SearchSettings, name: str) -> bool:
    """Return whether settings of a search have an optional section."""
    if isinstance(settings, PlainSettings):
        return settings.values.get(name) is not None
    return getattr(settings, name) is not None


def plain_values(settings: SearchSettings) -> dict[str, Any]:
    """Return settings of a search as nested values, without sections that are absent."""
    if isinstance(settings, PlainSettings):
        return settings.values
    return settings.model_dump(mode="json", exclude_none=True)


def draws_moves(settings: TemperatureSettings) -> bool:
    """Return whether moves are drawn at some ply of a game; False: the best one is played."""
    if isinstance(settings, PlainSettings):
        return any(settings.values.get(name, 0.0) > 0.0 for name in ("initial", "endgame"))
    return settings.initial > 0.0 or settings.endgame > 0.0


def search_model(settings: SearchSettings) -> SearchParams:
    """Return settings of a search as a model."""
    from hauteur.mcts.params import SearchParams  # here: engines start without it

    if not isinstance(settings, PlainSettings):
        return settings
    return SearchParams.model_validate(settings.values)
