"""The page Matches: matches, tournaments and tunings under the roots, live, with their games; new matches."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route

from hauteur.games.walks import drawing_of
from hauteur.matches.report.pages import KINDS, games_table, report_of, walk_of_game
from hauteur.matches.report.stored import Stored, StoredMatch
from hauteur.plots import page as plots
from hauteur.plots.boards import empty_walks_html
from hauteur.system.folders import FoundFolder
from hauteur.system.hardware import usable_cores
from hauteur.web.pages import WALK_KEYS, Page
from hauteur.web.pages.boards import offered_games
from hauteur.web.render import html, made, page, whole_number
from hauteur.web.watch import followed, part
from hauteur.web.work_rows import rows_of, work_state

if TYPE_CHECKING:
    from hauteur.web.app import Lab

PAGE = Page("/matches", "Matches", "Begin matches, watch matches and tournaments while they are played.", WALK_KEYS)

GAMES_FILES = ("games.jsonl",)
FILES = (*GAMES_FILES, *(folder.SETTINGS for folder in KINDS), "result.json", "running")
"""Files that parts of a match's page follow."""

GAMES_A_PAGE = 25


def address(name: str, what: str = "of") -> str:
    """Return the address of a folder's page, or of something else about it."""
    return f"{PAGE.path}/{what}/{quote(name)}"


class MatchOnPage:
    """A match or another of KINDS as pages show it. HTTPException where there is none."""

    def __init__(self, lab: Lab, name: str) -> None:
        self.lab = lab
        self.name = name
        try:
            self.found: FoundFolder = lab.folders.find(name)
        except ValueError:
            raise HTTPException(404) from None
        if not isinstance(self.found.folder, KINDS):
            raise HTTPException(404)

    def address(self, what: str) -> str:
        """Return the address of a part of its page, such as `standing`."""
        return address(self.name, what)

    @property
    def title(self) -> str:
        """Its title by its files, read again where they have changed; ValueError for damaged ones."""
        return str(self.get(lambda stored: stored.title))

    @property
    def is_match(self) -> bool:
        """Tell whether it is a match, and so has games of its own."""
        return self.found.kind == "match"

    @property
    def around(self) -> str | None:
        """The name of the tournament or tuning that a match is part of."""
        inside = self.found.inside
        around = self.lab.folders.known_as(inside) if inside else None
        if around is not None and isinstance(around.folder, KINDS):
            return around.name
        return None

    def get(self, make: Callable[[Stored], Any]) -> Any:
        """Return what `make` makes of the folder; see `StoredFolders.get`."""
        return self.lab.stored.get(self.found.folder, make)

    def match(self, make: Callable[[StoredMatch], Any]) -> Any:
        """Return what `make` makes of a match, None for other folders."""
        return self.get(lambda stored: make(stored) if isinstance(stored, StoredMatch) else None)

    def standing(self) -> str:
        """Return state, share done and result as a part of the page, with buttons for its job."""
        state, share, content = self.get(self._standing)
        work = work_state(self.lab, self.found)
        return html("match_standing.html", match=self, work=work, state=state, share=share, content=Markup(content))

    def _standing(self, stored: Stored) -> tuple[str, float | None, str]:
        """Return the state in words, the share that is done (None: unknown) and the figures, without their text."""

        def linked(folder: str, text: str) -> str:
            link = Markup('<a href="{}">{}</a>').format(address(f"{self.name}/{folder}"), text)
            return plots.Markup(link)

        report = replace(report_of(stored, linked), text="")
        return stored.state_text, stored.share_done, report.body()

    def games(self, first: int) -> str:
        """Return a table of finished games, the newest numbers first; first: how many of them are left out."""

        def table(match: StoredMatch) -> tuple[int, str]:
            newest_first = match.games[::-1]
            shown = newest_first[first : first + GAMES_A_PAGE]
            buttons = {game.index: f'data-game="{game.index}"' for game in shown}
            listed = games_table(shown, match.names, buttons)
            return len(match.games), listed.html()

        count, content = self.match(table) or (0, "")
        return html("match_games.html", count=count, first=first, most=GAMES_A_PAGE, content=Markup(content))

    def board(self) -> Markup:
        """Return the board for its games, empty for what is no match."""
        return Markup(self.match(_empty_board) or "")


def _empty_board(match: StoredMatch) -> str:
    return empty_walks_html(drawing_of(match.game.new_initial_state()))


def listed(lab: Lab) -> str:
    """Return the table of all folders, those in progress and the newest first."""
    matches = {}
    for one in lab.folders.look():
        if isinstance(one.folder, KINDS):
            matches[one.name] = one
    found = [one for one in matches.values() if one.inside not in matches]
    rows = rows_of(lab, "match", found, lambda one: lab.stored.line(one.folder))
    return html("matches_list.html", rows=rows, address=address, cut=lab.folders.cut, roots=lab.settings.roots)


async def show_all(request: Request) -> Response:
    """Return the list and the form of a new match."""
    lab: Lab = request.app.state.lab
    follows = followed(lab.desk, f"{PAGE.path}/list", "")
    content = await asyncio.to_thread(made, lambda: listed(lab))
    return page(
        request,
        "matches.html",
        content=content,
        part=follows,
        games=offered_games(),
        programs=lab.settings.allow_programs,
        cores=usable_cores(),
    )


async def show_list(request: Request) -> Response:
    """Return the table of all."""
    return await part(request, "", (), lambda: listed(request.app.state.lab))


def match_of(request: Request) -> MatchOnPage:
    """Return what a request is about."""
    return MatchOnPage(request.app.state.lab, request.path_params["name"])


async def show_one(request: Request) -> Response:
    """Return the page of a match, a tournament or a tuning."""
    first = whole_number(request, "first") or 0

    def facts() -> dict[str, Any]:
        match = match_of(request)
        parts = {
            "standing": followed(match.lab.desk, match.address("standing"), match.name, FILES),
            "games": followed(match.lab.desk, match.address("games"), match.name, GAMES_FILES, first=first),
        }
        content = {
            "standing": made(match.standing),
            "games": made(lambda: match.games(first)),
            "board": made(match.board),
        }
        return {"match": match, "parts": parts, **content}

    return page(request, "match.html", **await asyncio.to_thread(facts))


async def show_standing(request: Request) -> Response:
    """Return state and result."""
    return await part(request, request.path_params["name"], FILES, lambda: match_of(request).standing())


async def show_games(request: Request) -> Response:
    """Return a table of games."""
    first = whole_number(request, "first") or 0
    return await part(request, request.path_params["name"], GAMES_FILES, lambda: match_of(request).games(first))


async def show_game(request: Request) -> Response:
    """Return a game for the board, as JSON."""
    number = whole_number(request, "number") or 0

    def walk() -> Any:
        def drawn(match: StoredMatch) -> dict[str, Any]:
            return walk_of_game(match.game, match.names, match.whole(number))

        found = match_of(request).match(drawn)
        if found is None:
            raise HTTPException(404)
        return found

    return JSONResponse(await asyncio.to_thread(walk))


PAGES = (PAGE,)
ROUTES = [
    Route("/matches", show_all),
    Mount(
        "/matches",
        routes=[
            Route("/list", show_list),
            Route("/of/{name:path}", show_one),
            Route("/standing/{name:path}", show_standing),
            Route("/games/{name:path}", show_games),
            Route("/game/{name:path}", show_game),
        ],
    ),
]
