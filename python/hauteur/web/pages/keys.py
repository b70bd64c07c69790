"""The page Keys: the keys of every page."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hauteur.web.pages import Page
from hauteur.web.render import page

PAGE = Page("/keys", "Keys", "The keys of every page.")


async def show(request: Request) -> Response:
    """Return the page."""
    return page(request, "keys.html")


ROUTES = [Route(PAGE.path, show)]
