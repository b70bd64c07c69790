"""The page Runs: learning runs below the roots, live; their figures by any axis, games, comparisons; new ones."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

from markupsafe import Markup
from pydantic import Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from hauteur.games.registry import load_game, names
from hauteur.studies.folders import FolderFacts, FoundFolder
from hauteur.system.errors import explain
from hauteur.system.extras import require
from hauteur.system.files import write_bytes
from hauteur.system.settings import Section, validated
from hauteur.web.job_requests import sent_with, started_job, stopped_job
from hauteur.web.jobs import Job, JobCommand
from hauteur.web.pages import WALK_KEYS, Page
from hauteur.web.parts import error_line, made, part, whole_number
from hauteur.web.render import html, page
from hauteur.web.search_form import SettingTexts

if TYPE_CHECKING:
    from hauteur.learning.report.live import RunNumbers
    from hauteur.learning.run_folder import RunFolder
    from hauteur.web.app import Lab

PAGE = Page("/runs", "Runs", "Watch learning runs, compare them, replay their games, start one.", WALK_KEYS)

PROGRESS_FILES = ("config.toml", "metrics.jsonl", "progress.json", "running", "job")
FIGURE_FILES = ("metrics.jsonl",)
"""What parts of a run's page are made of."""

MOST_COMPARED = 24
MOST_LISTED = 1000
"""Games of a generation that are listed; any other is reached by its number."""


class NewRun(Section):
    """What the form of a new run gives. recipe: name of a file, empty: the defaults; name: of the run."""

    recipe: Annotated[str, Field(max_length=1000)] = ""
    game: Annotated[str, Field(min_length=1, max_length=300)]
    name: Annotated[str, Field(min_length=1, max_length=100)]
    settings: SettingTexts = Field(default_factory=dict)


class ResumedRun(Section):
    """What is given with a run that goes on. generations: in all; None: as many as before."""

    generations: Annotated[int, Field(ge=1, le=1_000_000_000)] | None = None


class ShownRun:
    """A run as pages show it. found: its folder, None: it has not begun yet; job: the newest in it."""

    def __init__(self, lab: Lab, name: str) -> None:
        self.lab = lab
        self.name = name
        self.job: Job | None = lab.watcher.job_of(name)
        self.found: FoundFolder | None = None
        try:
            self.found = lab.folders.find(name, "run")
        except ValueError:
            if self.job is None:
                raise

    @property
    def facts(self) -> FolderFacts:
        """Title and state."""
        if self.found is not None:
            return self.lab.folders.facts(self.found)
        assert self.job is not None
        return FolderFacts(self.job.command.title, "running" if self.job.is_running else "stopped", self.job.began)

    @property
    def folder(self) -> RunFolder:
        """The folder. ValueError where the run has not begun yet."""
        if self.found is None:
            raise ValueError("the run has not begun yet")
        return self.found.folder  # type: ignore[return-value]

    def address(self, what: str) -> str:
        """Return the address of something about the run."""
        return f"/runs/{what}/{quote(self.name)}"

    def progress(self) -> str:
        """Return how far the run is, with what can be done about it."""
        from hauteur.learning.report.live import progress_html, run_numbers

        facts = self.facts
        if self.found is None or facts.problem is not None:
            return html("runs_progress.html", run=self, facts=facts, content="", planned=1)
        content, planned = Markup(progress_html(self.folder, facts.state)), run_numbers(self.folder).total
        return html("runs_progress.html", run=self, facts=facts, content=content, planned=planned)

    def figures(self, axis: str) -> str:
        """Return facts, the choice of an axis, and figures."""
        if self.found is None:
            return "<p>Figures come with the first generation.</p>"
        return drawn(self.folder, self.name, axis, str(self.found.folder.stamps().get("metrics.jsonl")))


@lru_cache(32)
def drawn(folder: RunFolder, name: str, axis: str, _stamp: str) -> str:
    """Return the figures of a run whose metrics have this stamp."""
    from hauteur.learning.report.live import axes_of, live_html

    return html(
        "runs_figures.html", name=name, axes=axes_of(folder), axis=axis, content=Markup(live_html(folder, axis))
    )


@lru_cache(4096)
def numbers_of(folder: RunFolder, _stamp: str) -> RunNumbers:
    """Return the facts in the list about a run whose files have these stamps."""
    from hauteur.learning.report.live import run_numbers

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
    names = {found.name for found, _, _ in rows}
    begin = [(job, lab.folders.name_of(job.command.folder)) for job in lab.jobs.all if job.command.command == "train"]
    begin = [(job, name) for job, name in begin if name not in names]
    return html("runs_list.html", rows=rows, begin=begin, cut=lab.folders.cut, roots=lab.settings.roots)


async def show(request: Request) -> Response:
    """Return the list of runs."""
    lab = request.app.state.lab
    content = await asyncio.to_thread(made, lambda: listed(lab))
    return page(request, "runs.html", content=content, part=lab.watcher.part("/runs/list", [""], ["list"]))


async def show_list(request: Request) -> Response:
    """Return the table of runs."""
    return await part(lambda: listed(request.app.state.lab, known=True))


def run_of(request: Request) -> ShownRun:
    """Return the run that a request is about. ValueError where there is none."""
    return ShownRun(request.app.state.lab, request.path_params["name"])


def axis_in(request: Request) -> str:
    """Return what the figures are to be drawn by."""
    return request.query_params.get("by", "generation")[:100]


async def show_run(request: Request) -> Response:
    """Return the page of a run."""
    run, axis = await asyncio.to_thread(run_of, request), axis_in(request)
    watcher, names = run.lab.watcher, [run.name]
    parts = {
        "progress": watcher.part(run.address("progress"), names, PROGRESS_FILES),
        "figures": watcher.part(run.address("figures"), names, FIGURE_FILES, by=axis),
    }
    content = await asyncio.to_thread(lambda: (made(run.progress), made(lambda: run.figures(axis))))
    return page(
        request, "runs_run.html", run=run, facts=run.facts, parts=parts, progress=content[0], figures=content[1]
    )


async def show_progress(request: Request) -> Response:
    """Return how far a run is."""
    return await part(lambda: run_of(request).progress())


async def show_figures(request: Request) -> Response:
    """Return the figures of a run."""
    return await part(lambda: run_of(request).figures(axis_in(request)))


async def show_games(request: Request) -> Response:
    """Return the page with a generation's games, and one of them to step through."""
    run = await asyncio.to_thread(run_of, request)
    generation, number = (whole_number(request, name) for name in ("generation", "game"))

    def facts() -> dict[str, Any]:
        from hauteur.learning.report.played_games import game_html, generations_with_games, played_games

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


async def show_comparison(request: Request) -> Response:
    """Return the page that compares runs; `part` in its address: the figures alone."""
    lab, axis = request.app.state.lab, axis_in(request)
    names = list(dict.fromkeys(request.query_params.getlist("run")))
    if not 2 <= len(names) <= MOST_COMPARED:
        raise ValueError(f"choose 2 to {MOST_COMPARED} runs of one game to compare, not {len(names)}")

    def compared() -> str:
        from hauteur.learning.report.comparison import comparison_parts, grouped, read_runs

        folders = [lab.folders.find(name, "run").folder.path for name in names]
        runs = read_runs(folders)
        known = [axis.key for axis in axes([run.history for run in runs], tuple(AXES))[0]]
        content = Markup("".join(comparison_parts(grouped(runs), axis)))
        return html(
            "runs_compared.html", names=names, axes={key: AXES[key] for key in known}, axis=axis, content=content
        )

    from hauteur.learning.report.axes import AXES, axes

    if "part" in request.query_params:
        return await part(compared)
    follows = lab.watcher.part("/runs/compare", names, FIGURE_FILES, run=names, by=axis, part="figures")
    return page(
        request, "runs_compare.html", names=names, part=follows, content=await asyncio.to_thread(made, compared)
    )


async def show_new(request: Request) -> Response:
    """Return the form of a new run; `recipe` in its address: the file that it begins with."""
    lab, chosen = request.app.state.lab, request.query_params.get("recipe", "")

    def facts() -> dict[str, Any]:
        from hauteur.learning.recipe import Recipe, load_recipe
        from hauteur.web.recipe_form import SHOWN, recipe_files, recipe_form

        files = recipe_files(lab.folders)
        if chosen and chosen not in files:
            raise ValueError(f"there is no recipe {chosen[:200]!r} here")
        recipe = load_recipe(files[chosen]) if chosen else Recipe(game=request.query_params.get("game", "connect4"))
        taken = {found.name.rpartition("/")[2] for found in lab.folders.look()}
        free = next(f"page-{number}" for number in count(1) if f"page-{number}" not in taken)
        return {"files": list(files), "recipe": recipe, "groups": recipe_form(recipe), "shown": SHOWN, "free": free}

    try:
        first_root(lab)
        require("learning", "torch", "pyarrow")
    except (ValueError, ImportError) as error:
        return page(request, "runs_new.html", problem=explain(error), chosen=chosen)
    known = await asyncio.to_thread(facts)
    return page(request, "runs_new.html", problem=None, chosen=chosen, games=names(), **known)


async def start(request: Request) -> Response:
    """Start a new run; the reply has its address."""
    return await started(request, new_run)


async def resume(request: Request) -> Response:
    """Go on with a run that was stopped, or that is to have more generations; the reply has its address."""
    return await started(request, resumed_run)


def new_run(request: Request, sent: Any) -> JobCommand:
    """Return the command of a new run. ValueError where the fields of the form do not fit."""
    from hauteur.learning.recipe import recipe_toml
    from hauteur.web.recipe_form import chosen_recipe, recipe_files

    lab, given = request.app.state.lab, validated(NewRun, sent, "form")
    files = recipe_files(lab.folders)
    if given.recipe and given.recipe not in files:
        raise ValueError(f"there is no recipe {given.recipe[:200]!r} here")
    recipe = chosen_recipe(files.get(given.recipe), given.game, given.name, given.settings)
    load_game(recipe.game)
    update = {"directory": str(first_root(lab)), "threads": lab.settings.threads or recipe.run.threads}
    recipe = recipe.model_copy(update={"run": recipe.run.model_copy(update=update)})
    if recipe.folder.exists():
        raise ValueError(f"there is a run {recipe.run.tag} of {recipe.game} already; choose another name")
    path = lab.jobs.scratch / f"{recipe.run.tag}.toml"
    write_bytes(path, recipe_toml(recipe).encode(), lasting=False)
    options: dict[str, str | bool] = {"run": str(recipe.folder), "fresh": True}
    return JobCommand("train", f"{recipe.game}: {recipe.run.tag}", recipe.folder, (str(path),), options)


def resumed_run(request: Request, sent: Any) -> JobCommand:
    """Return the command that goes on with a run. ValueError where the fields of the form do not fit."""
    run, given = run_of(request), validated(ResumedRun, sent, "form")
    folder, done = run.folder, len(run.folder.read_metrics())
    if given.generations is not None and given.generations < done:
        raise ValueError(f"{done} generations are done; the run cannot have {given.generations}")
    more = [] if given.generations is None else [f"run.generations={given.generations}"]
    words = (str(folder.config), *more)
    return JobCommand("train", run.facts.title, folder.path, words, {"run": str(folder.path)})


def first_root(lab: Lab) -> Path:
    """Return where new runs are kept. ValueError where the server has no folder."""
    if not lab.settings.roots:
        raise ValueError("the server was started without a folder for runs: hauteur web FOLDER")
    return lab.settings.roots[0]


async def started(request: Request, command: Callable[[Request, Any], JobCommand]) -> Response:
    """Start a command; the reply has the address of its run, or an error line."""
    try:
        sent = await sent_with(request)
    except ValueError as error:
        return JSONResponse({"error": explain(error)}, 400)
    return await started_job(request, lambda: command(request, sent), lambda name: f"/runs/run/{quote(name)}")


async def stop(request: Request) -> Response:
    """Stop a run that was started here."""
    return stopped_job(request, "this run does not run, or was not started here")


ROUTES = [
    Route("/runs", show),
    Route("/runs/list", show_list),
    Route("/runs/new", show_new),
    Route("/runs/compare", show_comparison),
    Route("/runs/start", start, methods=["POST"]),
    Route("/runs/run/{name:path}", show_run),
    Route("/runs/progress/{name:path}", show_progress),
    Route("/runs/figures/{name:path}", show_figures),
    Route("/runs/games/{name:path}", show_games),
    Route("/runs/resume/{name:path}", resume, methods=["POST"]),
    Route("/runs/stop/{name:path}", stop, methods=["POST"]),
]
