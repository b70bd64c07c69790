"""The page Runs: learning runs below the roots, live; their figures by any axis, and games."""

from __future__ import annotations

import asyncio
import shlex
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hauteur.system.folders import FolderFacts, FoundFolder
from hauteur.web.pages import WALK_KEYS, Page
from hauteur.web.render import error_line, html, made, page, whole_number
from hauteur.web.watch import followed, part

if TYPE_CHECKING:
    from hauteur.learning.report.page import RunNumbers
    from hauteur.learning.run_folder import RunFolder
    from hauteur.web.app import Lab

PAGE = Page("/runs", "Runs", "Watch learning runs, replay their games.", WALK_KEYS)

PROGRESS_FILES = ("config.toml", "metrics.jsonl", "progress.json", "running")
FIGURE_FILES = ("metrics.jsonl",)
"""Files that parts of a run's page follow."""

MOST_LISTED = 1000
"""Games of a generation that are listed; any other is reached by its number."""


class ShownRun:
    """A run as pages show it. ValueError where there is none of this name."""

    def __init__(self, lab: Lab, name: str) -> None:
        self.lab = lab
        self.name = name
        self.found: FoundFolder = lab.folders.find(name, "run")

    @property
    def facts(self) -> FolderFacts:
        return self.lab.folders.facts(self.found)

    @property
    def folder(self) -> RunFolder:
        return self.found.folder  # type: ignore[return-value]

    def address(self, what: str) -> str:
        return f"/runs/{what}/{quote(self.name)}"

    def progress(self) -> str:
        """Return how far the run is, and the command that goes on with it."""
        from hauteur.learning.report.page import progress_html

        facts, config = self.facts, self.folder.config
        content = "" if facts.problem is not None else Markup(progress_html(self.folder, facts.state))
        command = f"hauteur train {shlex.quote(str(config))} --run {shlex.quote(str(self.folder.path))}"
        return html("runs_progress.html", facts=facts, content=content, command=command)

    def figures(self, axis: str) -> str:
        return drawn(self.folder, self.name, axis, str(self.found.folder.stamps().get("metrics.jsonl")))


@lru_cache(32)
def drawn(folder: RunFolder, name: str, axis: str, _stamp: str) -> str:
    """Return the figures of a run whose metrics have this stamp."""
    from hauteur.learning.report.page import axes_of, live_report

    return html(
        "runs_figures.html",
        name=name,
        axes=axes_of(folder),
        axis=axis,
        content=Markup(live_report(folder, axis).body()),
    )


@lru_cache(4096)
def numbers_of(folder: RunFolder, _stamp: str) -> RunNumbers:
    """Return the facts in the list about a run whose files have these stamps."""
    from hauteur.learning.report.page import run_numbers

    return run_numbers(folder)


def listed(lab: Lab, *, known: bool = False) -> str:
    """Return the table of all runs, the running ones and the newest first. known: of those that the last look found."""
    rows = []
    for found in lab.folders.known() if known else lab.folders.look():
        if found.kind == "run":
            facts = lab.folders.facts(found)
            stamps = found.folder.stamps()
            stamp = f"{stamps.get('config.toml')} {stamps.get('metrics.jsonl')}"
            numbers = numbers_of(found.folder, stamp) if facts.problem is None else None
            rows.append((found, facts, numbers))
    rows.sort(key=lambda row: (row[1].state != "running", -row[1].changed))
    return html("runs_list.html", rows=rows, cut=lab.folders.cut, roots=lab.settings.roots)


async def show(request: Request) -> Response:
    """Return the list of runs."""
    lab = request.app.state.lab
    follows = followed(lab.folders, "/runs/list", "")
    return page(request, "runs.html", content=await asyncio.to_thread(made, lambda: listed(lab)), part=follows)


async def show_list(request: Request) -> Response:
    """Return the table of runs."""
    return await part(request, "", (), lambda: listed(request.app.state.lab, known=True))


def run_of(request: Request) -> ShownRun:
    """Return the run that a request is about. ValueError where there is none."""
    return ShownRun(request.app.state.lab, request.path_params["name"])


def axis_in(request: Request) -> str:
    """Return what the figures are to be drawn by."""
    return request.query_params.get("by", "generation")[:100]


async def show_run(request: Request) -> Response:
    """Return the page of a run."""
    run, axis = await asyncio.to_thread(run_of, request), axis_in(request)
    folders = run.lab.folders
    parts = {
        "progress": followed(folders, run.address("progress"), run.name, PROGRESS_FILES),
        "figures": followed(folders, run.address("figures"), run.name, FIGURE_FILES, by=axis),
    }
    content = await asyncio.to_thread(lambda: (made(run.progress), made(lambda: run.figures(axis))))
    return page(
        request, "runs_run.html", run=run, facts=run.facts, parts=parts, progress=content[0], figures=content[1]
    )


async def show_progress(request: Request) -> Response:
    """Return how far a run is."""
    return await part(request, request.path_params["name"], PROGRESS_FILES, lambda: run_of(request).progress())


async def show_figures(request: Request) -> Response:
    """Return the figures of a run."""
    return await part(
        request, request.path_params["name"], FIGURE_FILES, lambda: run_of(request).figures(axis_in(request))
    )


async def show_games(request: Request) -> Response:
    """Return the page with a generation's games, and one of them to step through."""
    run = await asyncio.to_thread(run_of, request)
    generation, number = (whole_number(request, name) for name in ("generation", "game"))

    def facts() -> dict[str, Any]:
        from hauteur.learning.report.games import game_html, generations_with_games, played_games

        known = generations_with_games(run.folder)
        if not known:
            return {"known": known, "problem": Markup("<p>No games yet.</p>")}
        chosen = known[-1] if generation is None else generation
        shown: dict[str, Any] = {"known": known, "generation": chosen, "problem": ""}
        try:
            games = played_games(run.folder, chosen)
            one = games[0].number if number is None else number - 1
            walk = Markup(game_html(run.folder, chosen, one))
        except (ValueError, OSError, ImportError) as error:
            return shown | {"problem": error_line(error)}
        return shown | {"games": games[:MOST_LISTED], "count": len(games), "number": one, "walk": walk}

    return page(request, "runs_games.html", run=run, **await asyncio.to_thread(facts))


PAGES = (PAGE,)
ROUTES = [
    Route("/runs", show),
    Route("/runs/list", show_list),
    Route("/runs/run/{name:path}", show_run),
    Route("/runs/progress/{name:path}", show_progress),
    Route("/runs/figures/{name:path}", show_figures),
    Route("/runs/games/{name:path}", show_games),
]
