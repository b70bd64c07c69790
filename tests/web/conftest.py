"""A server as `hauteur web` starts it, and a browser that looks at it; both are shared by all tests of this folder."""

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from lab_browser import Windows, start_browser
from playwright.sync_api import Browser, Page


@dataclass(frozen=True)
class RunningLab:
    """A server. url: with a slash at the end; root: the folder of runs and other files that it was given."""

    url: str
    root: Path
    process: subprocess.Popen[str]


def start_lab(root: Path, *options: str) -> RunningLab:
    """Start a server at a free port and wait until it answers."""
    command = [sys.executable, "-m", "hauteur.cli", "web", str(root), "--port", "0", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root)
    assert process.stdout is not None
    line = process.stdout.readline()
    found = re.search(r"http://\S+", line)
    assert found is not None, f"no address in {line!r}"
    return RunningLab(found[0], root, process)


def stop_lab(lab: RunningLab) -> int:
    """End a server, return its exit status."""
    lab.process.terminate()
    return lab.process.wait(timeout=20)


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


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """The browser; while it runs, asyncio.run is for other threads (see async_runs.py)."""
    yield from start_browser()


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
