"""The page Explain: two searches of one position side by side."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hauteur.games.registry import names
from hauteur.studies.explain.question import BATCH_SIZE, DEFAULT_VISITS, MOST_BATCH, MOST_VISITS, PRESETS
from hauteur.web.pages import BOARD_KEYS, Key, Page
from hauteur.web.render import page
from hauteur.web.search_form import search_form

KEYS = (
    *BOARD_KEYS,
    Key("s", "search", "search both, stop"),
    Key("u", "back", "take back"),
    Key("f", "flip", "the board from the other side"),
)
TEXT = "Two settings, or two nets, on one position: what differs, and what each rule did."
PAGE = Page("/explain", "Explain", TEXT, KEYS)


async def show(request: Request) -> Response:
    """Return the page. Its state is in the address: game, fen, moves, a.KEY, b.KEY, visits, seed, batch_size."""
    return page(
        request,
        "explain.html",
        games=names(),
        form={"groups": search_form(), "presets": {name: list(map(_pairs, sides)) for name, sides in PRESETS.items()}},
        visits=DEFAULT_VISITS,
        most_visits=MOST_VISITS,
        batch_size=BATCH_SIZE,
        most_batch=MOST_BATCH,
    )


def _pairs(text: str) -> dict[str, str]:
    return {key: value for key, _, value in (word.partition("=") for word in text.split())}


ROUTES = [Route("/explain", show)]
