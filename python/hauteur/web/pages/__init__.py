"""The pages: their names, keys and addresses."""

from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import NamedTuple

from starlette.routing import BaseRoute

MODULES = ("boards", "runs", "matches", "methods")
"""Modules of this folder that have pages. Each has PAGES and ROUTES."""

NAVIGATION = ("Play", "Odds", "Analyse", "Explain", "Review", "Runs", "Matches", "Puzzles", "Methods")
"""Titles of the pages in the order of the navigation."""


@dataclass(frozen=True)
class Key:
    """A key of a page, as static/keys.js acts on it.

    names: as a browser calls it (KeyboardEvent.key), several with a space between; act: the button that it presses, by
    id or data-go, or what the page's script has under this name; empty: what has the focus knows the key; text: for
    people.
    """

    names: str
    act: str
    text: str


BOARD_KEYS = (
    Key("Tab", "", "to the board, and on"),
    Key("ArrowLeft ArrowRight ArrowUp ArrowDown", "", "on the board, once Tab has led there: from square to square"),
    Key("Enter", "", "on the board: choose a square, from and then to; Escape lets go"),
)
WALK_KEYS = (
    Key("ArrowLeft ArrowRight", "", "a move back, a move on, in the game on the board"),
    Key("Home End", "", "on the board of a game: first and last position"),
    Key("f", "", "on the board of a game: other side"),
)


@dataclass(frozen=True)
class Page:
    """A page. path: its address; title: its name; text: one sentence about it; keys: those it has."""

    path: str
    title: str
    text: str
    keys: tuple[Key, ...] = ()


class Pages(NamedTuple):
    """The pages in the navigation, and the routes of all."""

    navigation: tuple[Page, ...]
    routes: tuple[BaseRoute, ...]

    def of(self, path: str) -> Page | None:
        """Return the page that an address belongs to."""
        for page in self.navigation:
            if f"{path}/".startswith(f"{page.path}/"):
                return page
        return None


def all_pages() -> Pages:
    """Return every page, imported with this call."""
    modules: list[ModuleType] = [import_module(f"{__name__}.{name}") for name in MODULES]
    pages: dict[str, Page] = {}
    routes: list[BaseRoute] = []
    for module in modules:
        pages |= {page.title: page for page in module.PAGES}
        routes += module.ROUTES
    return Pages(tuple(pages[title] for title in NAVIGATION), tuple(routes))
