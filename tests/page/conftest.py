"""The page without a server, as `make page` has built it, on a plain file server, and a browser that looks at it."""

import os
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from lab_browser import Windows
from page_client import PageClient
from playwright.sync_api import Browser

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def built_page() -> Path:
    """The folder of the page; HAUTEUR_PAGE names another one than dist/page."""
    folder = Path(os.environ.get("HAUTEUR_PAGE", ROOT / "dist" / "page"))
    if not (folder / "facts.json").is_file():
        pytest.skip("the page was not built: make page (it needs Rust's target wasm32-unknown-unknown)")
    return folder


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves files and prints nothing."""

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture(scope="session")
def host(built_page: Path) -> Iterator[str]:
    """Address of a server that serves the page below a folder, as hosts of projects do."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(built_page.parent)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/{built_page.name}/"
    server.shutdown()


@pytest.fixture
def windows(browser: Browser, host: str) -> Iterator[Windows]:
    """Opens pages: `windows.open("analyse.html")`. Fails where a page reports an error."""
    opened = Windows(browser, host)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def shared_windows(browser: Browser, host: str) -> Iterator[Windows]:
    """Holds the one window of all clients: to open a window takes longer than most of what is asked in it."""
    opened = Windows(browser, host)
    opened.open("keys.html")
    yield opened
    opened.close()


@pytest.fixture
def client(shared_windows: Windows) -> Iterator[PageClient]:
    """Speaks to sessions of the page without its controls; each session is a worker, which ends with the test."""
    client = PageClient(shared_windows.contexts[0].pages[0])
    yield client
    client.leave()
    shared_windows.check()
