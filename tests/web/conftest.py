"""A server as `hauteur web` starts it, and a browser that looks at it; both are shared by all tests of this folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from lab_browser import RunningLab, Windows, start_lab, stop_lab
from playwright.sync_api import Browser, Page
from session_events import Events
from starlette.testclient import TestClient

from hauteur.web.app import create_app
from hauteur.web.settings import WebSettings


@pytest.fixture(scope="session")
def lab_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the server is given; what a page shows is put there."""
    return tmp_path_factory.mktemp("lab")


@pytest.fixture(scope="session")
def lab(lab_root: Path) -> Iterator[RunningLab]:
    """The server."""
    running = start_lab(lab_root)
    yield running
    stop_lab(running)


@pytest.fixture
def second_lab(lab_root: Path) -> Iterator[RunningLab]:
    """Another server with the same folder, as after a restart."""
    running = start_lab(lab_root)
    yield running
    stop_lab(running)


@pytest.fixture
def windows(browser: Browser, lab: RunningLab) -> Iterator[Windows]:
    """Opens pages: `windows.open("/analyse", size=NARROW, dark=True)`. Fails where a page reports an error."""
    opened = Windows(browser, lab.url)
    yield opened
    opened.close()


@pytest.fixture
def page(windows: Windows) -> Page:
    """A wide, light window: `page.goto("/analyse")`."""
    return windows.open()


@pytest.fixture
def events() -> Events:
    """The messages that a session sends."""
    return Events()


@pytest.fixture
def client(tmp_path: Path) -> TestClient:
    """The application over a folder, without a server and without sessions."""
    return TestClient(create_app(WebSettings(roots=(tmp_path,))), raise_server_exceptions=False)
