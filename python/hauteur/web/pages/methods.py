"""The page Methods: what the search's methods are, with a position to try each, and results of experiments."""

from __future__ import annotations

import asyncio
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from markupsafe import Markup as Safe
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route

from hauteur.games.registry import names
from hauteur.matches.report.pages import KINDS
from hauteur.studies.experiments import ExperimentFolder, known_experiments, result_parts
from hauteur.studies.folders import FoundFolder
from hauteur.studies.methods import index_html, methods
from hauteur.system.files import read_json
from hauteur.web.pages import Page
from hauteur.web.pages.matches import address as match_address
from hauteur.web.render import html, made, page, part

if TYPE_CHECKING:
    from hauteur.web.app import Lab

PAGE = Page("/methods", "Methods", "What each method of the search does, with a position to try it; experiments.")


RESULT_FILES = ("experiment.json", "result.json", "running")
"""What the page of a result is made of."""


async def show_all(request: Request) -> Response:
    """Return all methods, all experiments, and the results of experiments under the roots."""
    lab: Lab = request.app.state.lab
    facts = await asyncio.to_thread(_index, lab)
    return page(request, "methods.html", methods=methods(), places=Safe(index_html(link)), **facts)


def _index(lab: Lab) -> dict[str, Any]:
    found = [one for one in lab.folders.look() if isinstance(one.folder, ExperimentFolder)]
    results = [
        {"name": one.name, "address": result_address(one.name), "facts": lab.folders.facts(one), "line": _line(one)}
        for one in found
    ]
    return {"experiments": known_experiments(), "results": sorted(results, key=lambda result: -result["facts"].changed)}


def _line(found: FoundFolder) -> str:
    """Return what an experiment found, in a line."""
    try:
        result = read_json(found.folder.result_file)
        verdicts = [finding["verdict"] for finding in result["findings"]]
        counted = ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in dict.fromkeys(verdicts))
        return f"{result.get('title', result['experiment'])}: {counted or 'no findings'}"
    except FileNotFoundError:
        return "no result yet"
    except (ValueError, KeyError, TypeError) as error:
        return f"result.json cannot be read: {error}"


def result_address(name: str) -> str:
    """Return the address of an experiment's results."""
    return f"{PAGE.path}/results/{quote(name)}"


def link(target: str) -> str | None:
    """Return where a link of a method's page leads: to another method, or to another site; None for other files."""
    if target.startswith(("https://", "#")):
        return target
    path, hash_sign, place = target.partition("#")
    if path == "README.md":
        return PAGE.path
    known = {f"{method.name}.md" for method in methods()}
    return f"{PAGE.path}/{PurePosixPath(path).stem}{hash_sign}{place}" if path in known else None


async def show_method(request: Request) -> Response:
    """Return the page of a method."""
    name = request.path_params["name"]
    found = next((method for method in methods() if method.name == name), None)
    if found is None:
        raise HTTPException(404)
    words = [word.partition("=")[::2] for word in found.trial.split()]
    return page(request, "method.html", method=found, text=Safe(found.html(link)), words=words, games=names())


async def show_result(request: Request) -> Response:
    """Return the results of an experiment and its matches; with `part` in its address what follows its files alone."""
    lab: Lab = request.app.state.lab
    name = request.path_params["name"]
    found = await asyncio.to_thread(_found, lab, name)
    if "part" in request.query_params:
        return await part(lambda: _result(lab, found))
    follows = lab.watcher.part(result_address(name), [name], RESULT_FILES, part="result")
    content = await asyncio.to_thread(made, lambda: _result(lab, found))
    return page(request, "result.html", name=name, title=found.folder.path.name, part=follows, content=content)


def _found(lab: Lab, name: str) -> FoundFolder:
    try:
        return lab.folders.find(name, "experiment")
    except ValueError:
        raise HTTPException(404) from None


def _result(lab: Lab, found: FoundFolder) -> str:
    """Return what an experiment found until now, and its matches."""
    known = [one for one in lab.folders.known() if one.inside == found.name and isinstance(one.folder, KINDS)]
    matches = [
        (one.name.removeprefix(f"{found.name}/"), match_address(one.name), lab.stored.line(one.folder)) for one in known
    ]
    result = read_json(found.folder.result_file) if found.folder.result_file.exists() else None
    content = "<p>The experiment has no result yet.</p>" if result is None else "".join(result_parts(result))
    title = (result or {}).get("title") or found.folder.stored()["settings"].get("experiment") or found.name
    facts = lab.folders.facts(found)
    return html("result_found.html", title=title, state=facts.state, content=Safe(content), matches=matches)


PAGES = (PAGE,)
ROUTES = [
    Route("/methods", show_all),
    Mount("/methods", routes=[Route("/results/{name:path}", show_result), Route("/{name}", show_method)]),
]
