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
from hauteur.studies.folders import FoundFolder
from hauteur.studies.methods import index_html, methods
from hauteur.studies.papers.experiment import ExperimentFolder
from hauteur.studies.papers.results import result_parts
from hauteur.system.files import read_json
from hauteur.web.pages import Page
from hauteur.web.pages.matches import address as match_address
from hauteur.web.render import page

if TYPE_CHECKING:
    from hauteur.web.app import Lab

PAGE = Page("/methods", "Methods", "What each method of the search does, with a position to try it; experiments.")


async def show_all(request: Request) -> Response:
    """Return all methods, all experiments, and the results of experiments under the roots."""
    lab: Lab = request.app.state.lab
    facts = await asyncio.to_thread(_index, lab)
    return page(request, "methods.html", methods=methods(), places=Safe(index_html(link)), **facts)


def _index(lab: Lab) -> dict[str, Any]:
    from hauteur.studies.papers.registry import EXPERIMENTS  # here: it imports every experiment

    found = [one for one in lab.folders.look() if isinstance(one.folder, ExperimentFolder)]
    results = [
        {"name": one.name, "address": result_address(one.name), "facts": lab.folders.facts(one), "line": _line(one)}
        for one in found
    ]
    return {"experiments": EXPERIMENTS, "results": sorted(results, key=lambda result: -result["facts"].changed)}


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
    """Return the results of an experiment, and its matches."""
    lab: Lab = request.app.state.lab
    return page(request, "result.html", **await asyncio.to_thread(_result, lab, request.path_params["name"]))


def _result(lab: Lab, name: str) -> dict[str, Any]:
    try:
        found = lab.folders.find(name, "experiment")
    except ValueError:
        raise HTTPException(404) from None
    matches = [
        {
            "name": one.name.removeprefix(f"{name}/"),
            "address": match_address(one.name),
            "line": lab.stored.line(one.folder),
        }
        for one in lab.folders.known()
        if one.inside == name and one.kind in ("match", "tournament", "tuning")
    ]
    has_result = found.folder.result_file.exists()
    facts = read_json(found.folder.result_file) if has_result else {}
    shown = "".join(result_parts(facts)) if has_result else "<p>The experiment has no result yet.</p>"
    stored = found.folder.stored()["settings"]
    return {
        "name": name,
        "title": facts.get("title") or stored.get("experiment") or name,
        "state": lab.folders.facts(found).state,
        "html": Safe(shown),
        "matches": matches,
    }


ROUTES = [
    Route("/methods", show_all),
    Mount("/methods", routes=[Route("/results/{name:path}", show_result), Route("/{name}", show_method)]),
]
