"""The pages, one module each: what they are called, and which addresses they answer."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import NamedTuple

from starlette.routing import BaseRoute

NAMES = (
    "play",
    "analyse",
    "explain",
    "review",
    "runs",
    "matches",
    "puzzles",
    "methods",
)
"""Modules of this folder that are pages, in the order of the navigation. Each has PAGE and ROUTES."""


@dataclass(frozen=True)
class Page:
    """A page in the navigation. path: its address; title: its name; text: one sentence about it."""

    path: str
    title: str
    text: str


class Pages(NamedTuple):
    """All pages and all their routes."""

    navigation: tuple[Page, ...]
    routes: tuple[BaseRoute, ...]


def all_pages() -> Pages:
    """Return every page, imported with this call."""
    modules: list[ModuleType] = [import_module(f"{__name__}.{name}") for name in NAMES]
    return Pages(
        tuple(module.PAGE for module in modules), tuple(route for module in modules for route in module.ROUTES)
    )
