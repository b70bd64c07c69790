"""The page Play: any game against any player, or between two."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hauteur.games.registry import names
from hauteur.web.pages import BOARD_KEYS, Key, Page
from hauteur.web.render import page

KEYS = (
    Key("ArrowLeft", "previous", "a move back, to look at it"),
    Key("ArrowRight", "next", "a move on"),
    Key("Home", "first", "the start of the game"),
    Key("End", "last", "the newest position"),
    *BOARD_KEYS,
    Key("t", "type", "a move as text, such as e4 or Nf3"),
    Key("u", "back", "take back"),
    Key("h", "hint", "hint"),
    Key("f", "flip", "the board from the other side"),
    Key("p", "pause", "pause, go on"),
    Key("m", "now", "the engine moves at once"),
    Key("n", "choose", "new game"),
)
PAGE = Page("/play", "Play", "Play any game against a net, another player, a program or a person.", KEYS)

SIZES = ("nogo(size=7)",)
"""Games with parameters that are offered beside the names."""


async def show(request: Request) -> Response:
    """Return the page; `?game=` in its address begins a game."""
    listed = [*names(), *SIZES]
    return page(request, "play.html", games=sorted(listed), programs=request.app.state.lab.settings.allow_programs)


ROUTES = [Route("/play", show)]
