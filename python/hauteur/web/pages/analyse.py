"""The page Analyse: a position and the search of it, live."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hauteur.games.registry import names
from hauteur.web.pages import Page
from hauteur.web.render import page
from hauteur.web.search_form import search_form

PAGE = Page("/analyse", "Analyse", "Search a position, and look into the search while it runs.")


async def show(request: Request) -> Response:
    """Return the page; its position is in the address: game, fen, moves, net."""
    return page(request, "analyse.html", games=names(), settings=search_form())


ROUTES = [Route("/analyse", show)]
