"""The page Matches: matches, tournaments, tunings and rating lists under the roots, live, with their games."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from markupsafe import Markup as Safe
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route

from hauteur.games.registry import names
from hauteur.games.walks import drawing_of
from hauteur.matches.report.board_games import newest_games_table, walk_of_game
from hauteur.matches.report.live import FOLDERS, Stored, live_parts
from hauteur.matches.report.stored_match import StoredMatch
from hauteur.plots.boards import empty_walks_html
from hauteur.plots.page import Markup, table_html
from hauteur.studies.folders import FoundFolder
from hauteur.system.settings import validated
from hauteur.web.match_orders import MatchOrder, match_job, resumed_job
from hauteur.web.pages import Page
from hauteur.web.render import page

if TYPE_CHECKING:
    from hauteur.web.app import Lab

PAGE = Page("/matches", "Matches", "Watch matches and tournaments while they are played, and start them.")

GAMES_A_PAGE = 25
LINES = 8
"""Lines of what a job prints that are shown."""


async def show_all(request: Request) -> Response:
    """Return the list; with `part=list` its table alone."""
    lab: Lab = request.app.state.lab
    table = await asyncio.to_thread(_list_table, lab)
    if request.query_params.get("part") == "list":
        return JSONResponse({"html": table})
    return page(request, "matches.html", table=Safe(table), games=names(), settings=lab.settings)


def _list_table(lab: Lab) -> str:
    found = [one for one in lab.folders.look() if isinstance(one.folder, FOLDERS) and one.inside is None]
    facts = [(one, lab.folders.facts(one)) for one in found]
    rows = [
        (
            Markup(f'<a href="{address(one.name)}">{Safe.escape(one.name)}</a>'),
            fact.title,
            fact.state,
            fact.problem or lab.stored.line(one.folder),
        )
        for one, fact in sorted(facts, key=lambda item: (item[1].state != "running", -item[1].changed))
    ]
    cut = "<p>Not all folders were looked at: there are too many.</p>" if lab.folders.cut else ""
    if not rows:
        return f"<p>There is none yet in the folders of this server.</p>{cut}"
    return table_html(("folder", "what", "state", "result"), rows, words=True) + cut


def address(name: str) -> str:
    """Return the address of a folder's page."""
    return f"/matches/{quote(name)}"


async def show_one(request: Request) -> Response:
    """Return the page of a folder, or a part of it: part=live, part=games with first, or game with its number."""
    lab: Lab = request.app.state.lab
    query, name = request.query_params, request.path_params["name"]
    found = await asyncio.to_thread(_found, lab, name)
    if "game" in query:
        return JSONResponse(await asyncio.to_thread(_walk, lab, found, _number(query["game"])))
    if query.get("part") == "games":
        return JSONResponse(await asyncio.to_thread(_games, lab, found, _number(query.get("first", "0"))))
    live = await asyncio.to_thread(_live, lab, found, name)
    if query.get("part") == "live":
        return JSONResponse(live)
    games = await asyncio.to_thread(_games, lab, found, 0)
    return page(request, "match.html", name=name, live=live, games=games, inside=_match_around(lab, found))


def _found(lab: Lab, name: str) -> FoundFolder | None:
    """Return the folder of a name; None where a job is about to make it. HTTPException where there is none."""
    try:
        found = lab.folders.find(name)
    except ValueError:
        if lab.watcher.job_of(name) is None:
            raise HTTPException(404) from None
        return None
    if not isinstance(found.folder, FOLDERS):
        raise HTTPException(404)
    return found


def _match_around(lab: Lab, found: FoundFolder | None) -> str | None:
    """Return the name of the tournament or tuning that a match is part of."""
    around = None if found is None or found.inside is None else lab.folders.known_as(found.inside)
    return around.name if around is not None and isinstance(around.folder, FOLDERS) else None


def _live(lab: Lab, found: FoundFolder | None, name: str) -> dict[str, Any]:
    """Return what changes while work goes on in a folder."""
    job = lab.watcher.job_of(name)
    running = job is not None and job.is_running
    if found is None:
        made = {
            "title": job.command.title if job else name,
            "state": "starting" if running else "not begun",
            "html": "",
        }
    else:
        made = lab.stored.get(found.folder, lambda stored: _standing(stored, name), "live")
    told = None if job is None else {"state": job.state, "lines": list(job.lines)[-LINES:]}
    return {**made, "job": told, "stoppable": running, "resumable": not running and _resumable(lab, found)}


def _resumable(lab: Lab, found: FoundFolder | None) -> bool:
    if found is None or lab.folders.facts(found).state != "stopped":
        return False
    try:
        resumed_job(found, lab.settings)
    except ValueError:
        return False
    return True


def _standing(stored: Stored, name: str) -> dict[str, Any]:
    def linked(folder: str, text: str) -> str:
        return Markup(f'<a href="{address(f"{name}/{folder}")}">{Safe.escape(text)}</a>')

    return {"title": stored.title, "state": stored.state_text, "html": "".join(live_parts(stored, linked))}


def _games(lab: Lab, found: FoundFolder | None, first: int) -> dict[str, Any]:
    """Return a table of finished games, the newest numbers first, and the board for them."""

    def make(stored: Stored) -> dict[str, Any]:
        if not isinstance(stored, StoredMatch):
            return none
        html = newest_games_table(stored.games, stored.names, first, GAMES_A_PAGE)
        board = empty_walks_html(drawing_of(stored.game.initial_state()))
        return {"games": len(stored.games), "first": first, "count": GAMES_A_PAGE, "html": html, "board": board}

    none = {"games": 0, "first": 0, "count": GAMES_A_PAGE, "html": "", "board": ""}
    return none if found is None else lab.stored.get(found.folder, make)


def _walk(lab: Lab, found: FoundFolder | None, index: int) -> dict[str, Any]:
    def make(stored: Stored) -> dict[str, Any]:
        if not isinstance(stored, StoredMatch):
            raise HTTPException(404)
        return walk_of_game(stored.game, stored.names, stored.whole(index))

    if found is None:
        raise HTTPException(404)
    return lab.stored.get(found.folder, make)


def _number(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise ValueError(f"not a number of a game: {text[:40]!r}")
    return int(text)


async def start(request: Request) -> Response:
    """Start the match that the fields describe; reply: the address of its page."""
    lab: Lab = request.app.state.lab
    try:
        order = validated(MatchOrder, await request.json(), "match")
        command = await asyncio.to_thread(match_job, order, lab.settings)
        await lab.jobs.start(command)
    except ValueError as error:
        return JSONResponse({"error": str(error)}, 400)
    name = lab.folders.name_of(command.folder)
    return JSONResponse({"name": name, "address": address(str(name))})


async def resume(request: Request) -> Response:
    """Go on with a match or a tournament."""
    lab: Lab = request.app.state.lab
    try:
        found = await asyncio.to_thread(lab.folders.find, request.path_params["name"])
        await lab.jobs.start(await asyncio.to_thread(resumed_job, found, lab.settings))
    except ValueError as error:
        return JSONResponse({"error": str(error)}, 400)
    return JSONResponse({})


async def stop(request: Request) -> Response:
    """Stop the match that was started from a page; what is finished stays."""
    lab: Lab = request.app.state.lab
    job = lab.watcher.job_of(request.path_params["name"])
    if job is None or not job.is_running:
        return JSONResponse({"error": "this server has not started it, so it cannot stop it"}, 400)
    job.stop()
    return JSONResponse({})


ROUTES = [
    Route("/matches", show_all),
    Mount(
        "/matches",
        routes=[
            Route("/start", start, methods=["POST"]),
            Route("/resume/{name:path}", resume, methods=["POST"]),
            Route("/stop/{name:path}", stop, methods=["POST"]),
            Route("/{name:path}", show_one),
        ],
    ),
]
