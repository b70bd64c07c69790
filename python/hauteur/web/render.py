"""Pages and parts of pages from templates; an error takes the place of a part."""

from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime
from functools import lru_cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse

from hauteur import _core
from hauteur.system.errors import explain
from hauteur.system.formatting import duration


@lru_cache(1)
def _environment() -> Environment:
    """Return the templates: values are escaped, and a name that is missing is an error."""
    environment = Environment(
        loader=PackageLoader("hauteur.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"duration": duration, "moment": moment}
    return environment


def moment(seconds: float) -> str:
    """Return seconds since 1970 as a date and time of this machine."""
    return f"{datetime.fromtimestamp(seconds):%Y-%m-%d %H:%M}"


def html(template: str, **facts: Any) -> str:
    """Return a template filled in. Facts are escaped, unless they are markupsafe.Markup."""
    return _environment().get_template(template).render(**facts)


def page(request: Request, template: str, *, status: int = 200, **facts: Any) -> HTMLResponse:
    """Return a whole page; its template extends base.html."""
    lab = request.app.state.lab
    entry = lab.pages.of(request.url.path)
    common = {
        "path": request.url.path,
        "navigation": lab.pages.navigation,
        "version": _core.__version__,
        "keys": [] if entry is None else [asdict(key) for key in entry.keys],
        "alone": False,
    }
    return HTMLResponse(html(template, **common, **facts), status)


def error_page(request: Request, status: int, text: str) -> HTMLResponse:
    """Return a page that reports an error in words."""
    section = request.app.state.lab.pages.of(request.url.path)
    return page(request, "error.html", status=status, code=status, text=text, section=section)


def error_line(error: Exception) -> Markup:
    """Return an error as a line of a page."""
    return Markup('<p class="notice error">{}</p>').format(explain(error))


def made(make: Callable[[], str]) -> Markup:
    """Return a part of a page, or what went wrong with it."""
    try:
        return Markup(make())
    except (ValueError, OSError, ImportError) as error:
        return error_line(error)


def whole_number(request: Request, name: str) -> int | None:
    """Return a whole number of the address, None where there is none; ValueError for anything else."""
    text = request.query_params.get(name, "")
    if text and not (text.isascii() and text.isdigit() and len(text) < 10):
        raise ValueError(f"{name} must be a whole number, got {text[:40]!r}")
    return int(text) if text else None
