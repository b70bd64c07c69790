"""The application: its routes, what all of them share, and the server that runs it."""

import asyncio
import os
import socket
import threading
import time
import webbrowser
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles

from hauteur.plots import boards
from hauteur.plots.page import STYLE
from hauteur.system.folders import FolderList
from hauteur.web.client_faults import keep_out_of_the_terminal
from hauteur.web.jobs import Desk, Jobs
from hauteur.web.live import MOST_MESSAGE, live
from hauteur.web.pages import Pages, all_pages
from hauteur.web.render import error_page
from hauteur.web.safety import EVERYWHERE, AccessMiddleware, AccessPolicy
from hauteur.web.sessions.pool import Pool
from hauteur.web.settings import WebSettings
from hauteur.web.watch import StoredFolders

HEARTBEAT = 4.0
"""Seconds between two pings of a websocket, and to wait for the answer: who is silent for both is cut, and its search
ends.
"""
MOST_CLIENTS = 1000
"""Connections and requests that are served at once."""


@dataclass
class Lab:
    """Shared state of all requests."""

    settings: WebSettings
    """Where it listens, what it may read and use."""
    pool: Pool
    """The searches, games and reviews of all clients."""
    desk: Desk
    """The runs and matches that pages have begun, and the folders of all."""
    stored: StoredFolders = field(default_factory=StoredFolders)
    """What was read of folders, kept in memory."""
    pages: Pages = field(default_factory=all_pages)
    """The pages of the navigation and their routes."""

    @property
    def folders(self) -> FolderList:
        """The folders of runs, matches and the rest under the roots."""
        return self.desk.folders

    @property
    def jobs(self) -> Jobs:
        """The processes that this server has begun."""
        return self.desk.jobs

    async def close(self) -> None:
        """End all sessions and jobs."""
        stopped = await asyncio.to_thread(self.jobs.close)
        if stopped:
            print(f"runs and matches stopped: {stopped}; they go on with Continue on their pages", flush=True)
        await self.pool.close()


def create_app(settings: WebSettings, *, on_started: Callable[[], None] = lambda: None) -> Starlette:
    """Return the application; on_started is called once it can answer."""
    desk = Desk(settings, FolderList(settings.roots), Jobs(settings.jobs))
    lab = Lab(settings, Pool(settings), desk)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        on_started()
        yield
        await lab.close()

    app = Starlette(
        routes=[
            Route("/", _first_page),
            Route("/static/figures.css", _figures_style),
            Route("/static/walks.js", _walks_script),
            Mount("/static", StaticFiles(packages=[("hauteur.web", "static")])),
            WebSocketRoute("/live/{session}", live),
            *lab.pages.routes,
        ],
        exception_handlers={HTTPException: _on_http_error, ValueError: _on_value_error, Exception: _on_fault},
        lifespan=lifespan,
    )
    app.state.lab = lab
    return app


async def _first_page(request: Request) -> Response:
    """Lead to the first page, with what the address asks of it: `/?game=tictactoe`."""
    path = request.app.state.lab.pages.navigation[0].path
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(path + query)


async def _figures_style(_request: Request) -> Response:
    """Answer the style of figures, which reports carry inside themselves and pages share."""
    return Response(STYLE, media_type="text/css")


async def _walks_script(_request: Request) -> Response:
    """Answer the script of boards that step through games, which is put together from its parts."""
    return Response(boards.script(), media_type="text/javascript")


async def _on_http_error(request: Request, error: Exception) -> Response:
    """Answer an error of HTTP as a page: of 404 the path that there is not, else what was refused."""
    assert isinstance(error, HTTPException)
    text = f"There is no page {request.url.path}." if error.status_code == 404 else error.detail
    return error_page(request, error.status_code, text)


async def _on_value_error(request: Request, error: Exception) -> Response:
    """Answer 400 with the line of an error that is the client's."""
    return error_page(request, 400, str(error))


async def _on_fault(request: Request, error: Exception) -> Response:
    """Answer 500 without details, which are for the terminal of the server alone."""
    text = f"The program has a fault here ({type(error).__name__}). Where it is stands in the terminal of the server."
    return error_page(request, 500, text)


def listen(settings: WebSettings) -> socket.socket:
    """Return a socket that listens at the address. Raise ValueError where that cannot be."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
        listener.listen(2048)  # who connects as soon as the address is printed waits, and is not refused
    except (socket.gaierror, UnicodeError):
        listener.close()
        raise ValueError(f"--host {settings.host}: there is no such address") from None
    except OSError as error:
        listener.close()
        raise ValueError(f"--host {settings.host} --port {settings.port}: {os.strerror(error.errno or 0)}") from None
    return listener


def address_of(listener: socket.socket, token: str | None) -> str:
    """Return what a browser opens: host, port, and the token where one is needed.

    A server that listens everywhere is named by its machine's name; an IPv6 address stands in brackets.
    """
    host, port = listener.getsockname()[:2]
    if host in EVERYWHERE:
        host = socket.gethostname()
    elif ":" in host:
        host = f"[{host}]"
    query = f"?token={token}" if token else ""
    return f"http://{host}:{port}/{query}"


def serve(settings: WebSettings, *, open_browser: bool = False) -> None:
    """Serve until Ctrl-C or SIGTERM; the address is printed once pages can be opened."""
    listener = listen(settings)
    policy = AccessPolicy.at(settings.host)
    address = address_of(listener, policy.token)

    def started() -> None:
        print(f"{address}  (ready after {time.process_time():.1f} CPU seconds; Ctrl-C ends it)", flush=True)
        if open_browser:
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    config = uvicorn.Config(
        AccessMiddleware(create_app(settings, on_started=started), policy),
        http="h11",
        ws="websockets-sansio",
        limit_concurrency=MOST_CLIENTS,
        ws_ping_interval=HEARTBEAT,
        ws_ping_timeout=HEARTBEAT,
        h11_max_incomplete_event_size=2 * policy.most_header,
        proxy_headers=False,
        log_level="warning",
        access_log=False,
        server_header=False,
        ws_max_size=MOST_MESSAGE,
        ws_max_queue=8,
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=2,
    )
    keep_out_of_the_terminal()  # the configuration has made the loggers
    uvicorn.Server(config).run(sockets=[listener])
