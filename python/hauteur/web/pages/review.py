"""The page Review: a recorded game with a search's findings about every move, live."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hauteur.games.registry import names
from hauteur.web.pages import Key, Page
from hauteur.web.players import net_names
from hauteur.web.render import page
from hauteur.web.sessions.review import MOST_TEXT

KEYS = (
    Key("ArrowLeft", "back", "a move back"),
    Key("ArrowRight", "on", "a move on"),
    Key("Home", "first", "first position"),
    Key("End", "last", "last position"),
    Key("m", "mark", "the next marked move"),
    Key("f", "flip", "the board from the other side"),
)
PAGE = Page("/review", "Review", "Find out which moves of a game threw something away.", KEYS)


def show(request: Request) -> Response:
    """Return the page; the game comes from the reader."""
    roots = [str(root) for root in request.app.state.lab.settings.roots]
    return page(request, "review.html", games=names(), nets=net_names(roots), most=MOST_TEXT)


ROUTES = [Route("/review", show)]
