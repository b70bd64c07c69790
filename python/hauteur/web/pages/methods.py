"""The page Methods: the search's methods, with a position to try each; the experiments that are installed."""

import asyncio
from pathlib import PurePosixPath

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hauteur.games.registry import names
from hauteur.mcts.methods import index_html, methods
from hauteur.studies.experiments import known_experiments
from hauteur.web.pages import Page
from hauteur.web.render import page

PAGE = Page("/methods", "Methods", "The methods of the search, with a position to try each; experiments.")


async def show_all(request: Request) -> Response:
    """Return all methods and all experiments."""
    known = await asyncio.to_thread(known_experiments)
    return page(request, "methods.html", methods=methods(), places=Markup(index_html(link)), experiments=known)


def link(target: str) -> str | None:
    """Return where a link of a method's page leads: to another method, or to another site; None for other files."""
    if target.startswith(("https://", "#")):
        return target
    path, hash_sign, place = target.partition("#")
    if path == "README.md":
        return PAGE.path
    known = {f"{method.name}.md" for method in methods()}
    if path not in known:
        return None
    return f"{PAGE.path}/{PurePosixPath(path).stem}{hash_sign}{place}"


async def show_method(request: Request) -> Response:
    """Return the page of a method."""
    name = request.path_params["name"]
    found = next((method for method in methods() if method.name == name), None)
    if found is None:
        raise HTTPException(404)
    words = [word.partition("=")[::2] for word in found.trial.split()]
    return page(request, "method.html", method=found, text=Markup(found.html(link)), words=words, games=names())


PAGES = (PAGE,)
ROUTES = [Route("/methods", show_all), Route("/methods/{name}", show_method)]
