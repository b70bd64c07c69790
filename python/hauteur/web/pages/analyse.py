"""The page Analyse: a position and the search of it, live."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hauteur.games.registry import names
from hauteur.web.pages import BOARD_KEYS, Key, Page
from hauteur.web.render import page
from hauteur.web.search_form import search_form

KEYS = (
    *BOARD_KEYS,
    Key("s", "start", "search, go on, stop"),
    Key("u", "back", "a move back"),
    Key("r", "forward", "forward again"),
    Key("f", "flip", "the board from the other side"),
    Key("m", "marks", "the next kind of marks"),
    Key("b", "board", "to the board"),
    Key("t", "tree", "to the tree"),
    Key("ArrowUp ArrowDown Home End PageUp PageDown", "", "in the tree: from node to node"),
    Key("ArrowRight ArrowLeft", "", "in the tree: open and close a node"),
    Key("Enter", "", "in the tree: the position of the node; Escape: that of the root"),
)
PAGE = Page("/analyse", "Analyse", "Search a position, and look into the search while it runs.", KEYS)


async def show(request: Request) -> Response:
    """Return the page; its position is in the address: game, fen, moves, net."""
    return page(request, "analyse.html", games=names(), settings=search_form())


ROUTES = [Route("/analyse", show)]
