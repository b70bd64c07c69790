"""Recipes as the form of new runs has them: which there are, what may be changed, and what was chosen.

A form changes numbers, switches and choices alone. What names files or programs (a start from nets or games, books of
openings, opponents) stands in the recipe files of the owner.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from hauteur.learning.recipe import Recipe, parse_recipe
from hauteur.studies.folders import FolderList
from hauteur.system.setting_facts import first_sentence, section_of
from hauteur.system.settings import flat_settings, read_toml
from hauteur.web.search_form import group_entry, setting_entry, setting_text

NOT_IN_THE_FORM = ("start", "opponent")
"""Sections that name files or players."""

SHOWN = (
    "run.generations",
    "run.seed",
    "selfplay.games",
    "selfplay.visits",
    "network.filters",
    "network.blocks",
    "gate.games",
)
"""Settings that the form shows at first."""

MOST_BYTES = 100_000
"""Larger files are no recipes."""


def recipe_files(folders: FolderList) -> dict[str, Path]:
    """Return the recipes among the files of the roots, by name."""
    found = {}
    for name, path in folders.files(".toml").items():
        try:
            if path.stat().st_size <= MOST_BYTES:
                parse_recipe(read_toml(path), name)
                found[name] = path
        except (ValueError, OSError):
            continue
    return found


def recipe_form(recipe: Recipe) -> list[dict[str, Any]]:
    """Return the groups of settings with the values of a recipe, as static/settings.js takes them."""
    values = flat_settings(recipe.model_dump())
    return [
        {
            **group,
            "optional": group["optional"] and values.get(group["name"], "") is None,
            "settings": [
                {**one, "default": setting_text(values.get(one["key"], one["default"]))} for one in group["settings"]
            ],
        }
        for group in _groups()
    ]


def chosen_recipe(path: Path | None, game: str, tag: str, settings: Mapping[str, str]) -> Recipe:
    """Return the recipe of a file (None: the defaults) with what a form has changed. ValueError where it does not fit.

    settings: by key, of those that the form has.
    """
    known = {one["key"] for group in _groups() for one in group["settings"]}
    known |= {group["name"] for group in _groups() if group["optional"]}
    if wrong := next((key for key in settings if key not in known), None):
        raise ValueError(f"{wrong[:80]} cannot be changed here")
    values = {} if path is None else read_toml(path)
    values["game"] = game
    values.setdefault("run", {})["tag"] = tag
    return parse_recipe(values, "recipe", [f"{key}={value}" for key, value in settings.items()])


@lru_cache(1)
def _groups() -> list[dict[str, Any]]:
    groups = []
    for prefix, section, optional in _sections(Recipe):
        entries = [setting_entry(section, name, prefix) for name in section.model_fields]
        entries = [entry for entry in entries if entry["kind"] != "text"]
        groups.append(group_entry(prefix.rstrip("."), first_sentence(section.__doc__), entries, optional=optional))
    return [group for group in groups if group["settings"] or group["optional"]]


def _sections(
    model: type[BaseModel], prefix: str = "", optional: bool = False
) -> Iterator[tuple[str, type[BaseModel], bool]]:
    """Yield a section and those in it: what its keys begin with, its model, whether it may be off."""
    yield prefix, model, optional
    for name, field in model.model_fields.items():
        section = section_of(field)
        if section is not None and prefix + name not in NOT_IN_THE_FORM:
            yield from _sections(section, f"{prefix}{name}.", field.default is None)
