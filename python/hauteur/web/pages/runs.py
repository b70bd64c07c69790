"""The page Runs: learning runs below the roots, live, with their figures and games; new ones by recipe."""

from __future__ import annotations

import asyncio
import shlex
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hauteur.system.folders import FolderFacts, FoundFolder
from hauteur.system.hardware import usable_cores
from hauteur.system.settings import read_toml
from hauteur.web.pages import WALK_KEYS, Page
from hauteur.web.render import error_line, html, made, page, whole_number
from hauteur.web.watch import followed, part
from hauteur.web.work_rows import rows_of, work_state

if TYPE_CHECKING:
    from hauteur.learning.report.page import RunNumbers
    from hauteur.learning.run_folder import RunFolder
    from hauteur.web.app import Lab

PAGE = Page("/runs", "Runs", "Begin and watch learning runs, replay their games.", WALK_KEYS)

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
        """State, title and what is wrong with its files; see `FolderList.facts`."""
        return self.lab.folders.facts(self.found)

    @property
    def folder(self) -> RunFolder:
        """The folder as one of a run, which `find` has checked."""
        return self.found.folder  # type: ignore[return-value]

    def address(self, what: str) -> str:
        """Return the address of a part of its page, such as `progress`."""
        return f"/runs/{what}/{quote(self.name)}"

    def progress(self) -> str:
        """Return how far the run is, its buttons, and the command that goes on with it."""
        from hauteur.learning.report.page import progress_html

        facts = self.facts
        config = self.folder.config
        work = work_state(self.lab, self.found)
        state = "running" if work.in_progress else facts.state
        content = "" if facts.problem is not None else Markup(progress_html(self.folder, state))
        command = shlex.join(["hauteur", "train", str(config), "--run", str(self.folder.path)])
        return html("runs_progress.html", run=self, work=work, content=content, command=command)

    def figures(self, axis: str) -> str:
        """Return the figures by an axis, such as `generation`; drawn once for each state of the metrics."""
        stamp = str(self.found.folder.stamps().get("metrics.jsonl"))
        return drawn(self.folder, self.name, axis, stamp)


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


@dataclass(frozen=True)
class OfferedRecipe:
    """A recipe of the form of a new run. about: what it reaches, takes and needs, in a line."""

    name: str
    game: str
    generations: int
    about: str


@cache
def offered_recipes() -> list[OfferedRecipe]:
    """Return the recipes that ship, those that a newcomer begins with first."""
    from hauteur.learning.sections import RunSettings
    from hauteur.learning.shipped_recipes import minutes_text, shipped_recipes

    offered = []
    for recipe in shipped_recipes():
        run = read_toml(recipe.path).get("run", {})
        generations = int(run.get("generations", RunSettings().generations))
        about = f"Reaches: {recipe.reaches}."
        if recipe.minutes is not None:
            about += f" Processor time: {minutes_text(recipe.minutes)}."
        if recipe.needs:
            about += f" Needs: {recipe.needs}."
        offered.append(OfferedRecipe(recipe.name, recipe.game, generations, about))
    return offered


def listed(lab: Lab, *, known: bool = False) -> str:
    """Return the table of all runs, those in progress and the newest first. known: of those of the last look."""

    def numbers(found: FoundFolder) -> RunNumbers:
        stamps = found.folder.stamps()
        stamp = f"{stamps.get('config.toml')} {stamps.get('metrics.jsonl')}"
        return numbers_of(found.folder, stamp)

    folders = lab.folders.known() if known else lab.folders.look()
    runs = [found for found in folders if found.kind == "run"]
    rows = rows_of(lab, "run", runs, numbers)
    return html("runs_list.html", rows=rows, cut=lab.folders.cut, roots=lab.settings.roots)


async def show(request: Request) -> Response:
    """Return the list of runs and the form of a new one."""
    lab = request.app.state.lab
    follows = followed(lab.desk, "/runs/list", "")
    content = await asyncio.to_thread(made, lambda: listed(lab))
    recipes = await asyncio.to_thread(offered_recipes)
    return page(request, "runs.html", content=content, part=follows, recipes=recipes, cores=usable_cores())


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
    run = await asyncio.to_thread(run_of, request)
    axis = axis_in(request)
    parts = {
        "progress": followed(run.lab.desk, run.address("progress"), run.name, PROGRESS_FILES),
        "figures": followed(run.lab.desk, run.address("figures"), run.name, FIGURE_FILES, by=axis),
    }

    def content() -> tuple[Markup, Markup]:
        return made(run.progress), made(lambda: run.figures(axis))

    progress, figures = await asyncio.to_thread(content)
    return page(
        request,
        "runs_run.html",
        run=run,
        facts=run.facts,
        parts=parts,
        progress=progress,
        figures=figures,
    )


async def show_progress(request: Request) -> Response:
    """Return how far a run is."""
    return await part(request, request.path_params["name"], PROGRESS_FILES, lambda: run_of(request).progress())


async def show_figures(request: Request) -> Response:
    """Return the figures of a run."""
    return await part(
        request,
        request.path_params["name"],
        FIGURE_FILES,
        lambda: run_of(request).figures(axis_in(request)),
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
