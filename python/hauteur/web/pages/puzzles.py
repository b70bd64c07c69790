"""The page Puzzles: sets that ship or lie in the folders of the server."""

from __future__ import annotations

from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hauteur.studies.puzzles.problems import PuzzleFiles, shipped_sets
from hauteur.web.pages import BOARD_KEYS, Key, Page
from hauteur.web.players import net_names
from hauteur.web.render import page
from hauteur.web.sessions.puzzles import MOST_TEXT, SUFFIXES

KEYS = (
    *BOARD_KEYS,
    Key("n", "next", "next puzzle"),
    Key("p", "back", "the puzzle before"),
    Key("h", "hint", "hint"),
    Key("s", "solution", "solution"),
    Key("f", "flip", "the board from the other side"),
)
TEXT = "Solve positions with one good move, and see how many visits a net needs for them."
PAGE = Page("/puzzles", "Puzzles", TEXT, KEYS)


def show(request: Request) -> Response:
    """Return the page; set and number of the puzzle are in the address."""
    roots = request.app.state.lab.settings.roots
    files = PuzzleFiles([Path(root) for root in roots])
    files.look()
    return page(
        request,
        "puzzles.html",
        shipped=list(shipped_sets()),
        files=[name for name in files.sets if name not in shipped_sets()],
        suffixes=",".join(SUFFIXES),
        most=MOST_TEXT,
        nets=net_names([str(root) for root in roots]),
    )


ROUTES = [Route("/puzzles", show)]
