"""A real browser at a real server: Debian's Chromium, driven by Playwright, and what no page may do.

A page must not report errors or violations of its Content-Security-Policy, nor ask any other host for anything.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    Response,
    expect,
    sync_playwright,
)

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
WIDE = (1280, 800)
NARROW = (390, 844)
PHONE: dict[str, Any] = {"size": NARROW, "has_touch": True, "is_mobile": True}
"""How `Windows.open` opens a window of a phone."""
PATIENCE = 600_000
"""Milliseconds that a locator waits before a test fails: on a busy machine its state comes late. A test has 900 s."""

SERIOUS = ("serious", "critical")

FITS = "() => document.documentElement.scrollWidth <= document.documentElement.clientWidth"
TOO_WIDE = """() => {
    const width = document.documentElement.clientWidth;
    const hides = (node) => /auto|scroll|hidden|clip/.test(getComputedStyle(node).overflowX);
    const scrolls = (node) => node && node !== document.documentElement && (hides(node) || scrolls(node.parentElement));
    return [...document.body.querySelectorAll("*")]
        .filter((node) => node.getBoundingClientRect().right > width + 1 && !scrolls(node.parentElement))
        .map((node) => node.outerHTML.slice(0, 120));
}"""

TOO_SMALL = """(least) => {
    const inText = (node) => node.matches("a") && !node.matches(".button, nav a, .foot a, .choices a");
    const shown = (node) => node.checkVisibility({ visibilityProperty: true, opacityProperty: true });
    const held = (node) => (node.matches("[type=checkbox], [type=file]") && node.closest("label")) || node;
    return [...document.querySelectorAll("a, button, select, input, summary, [role=treeitem]")]
        .filter((node) => shown(node) && !inText(node) && !node.matches(".skip"))
        .map((node) => [node, held(node).getBoundingClientRect()])
        .filter(([, { width, height }]) => width && (height < least - 0.5 || width < least - 0.5))
        .map(([node, { width, height }]) => `${width} x ${height}: ${node.outerHTML.slice(0, 120)}`);
}"""
LEAST_FOR_FINGERS = 40
"""Pixels."""


def chromium() -> str:
    """Program of the browser; skips the test where there is none."""
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None or not Path(found).is_file():
        pytest.skip(f"no browser: none of {', '.join(BROWSERS)} is installed, and CHROMIUM names none")
    return found


def start_browser() -> Iterator[Browser]:
    """Start the browser, end it afterwards."""
    program = chromium()
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()


@dataclass
class Windows:
    """Windows of the browser at one server, and what went wrong in them."""

    browser: Browser
    url: str
    faults: list[str] = field(default_factory=list)
    expected: str = ""
    """Text of the faults that belong to the test; empty: none does."""
    bytes_loaded: dict[str, int] = field(default_factory=dict)
    """Bytes of every address that the last window loaded."""
    contexts: list[BrowserContext] = field(default_factory=list)
    """What was opened here and not closed yet."""

    def open(self, path: str = "", *, size: tuple[int, int] = WIDE, dark: bool = False, **more: Any) -> Page:
        """Open a window of a new person, at a page if one is named."""
        scheme: Any = "dark" if dark else "light"
        viewport: Any = {"width": size[0], "height": size[1]}
        context = self.browser.new_context(base_url=self.url, viewport=viewport, color_scheme=scheme, **more)
        self.contexts.append(context)
        context.set_default_timeout(PATIENCE)
        context.on("console", self._console)
        context.on("weberror", lambda error: self.faults.append(f"uncaught: {error.error}"))
        context.on("request", self._request)
        self.bytes_loaded = {}
        context.on("response", self._response)
        page = context.new_page()
        page.on("websocket", lambda socket: self._check_host(socket.url))
        if path:
            page.goto(path)
        return page

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.faults.append(f"{message.type} on the console: {message.text} ({message.location.get('url', '')})")

    def _request(self, request: Request) -> None:
        self._check_host(request.url)

    def _check_host(self, url: str) -> None:
        own = self.url.partition("://")[2].partition("/")[0]
        if url != "about:blank" and url.partition("://")[2].partition("/")[0] != own:
            self.faults.append(f"a request to another host: {url}")

    def _response(self, response: Response) -> None:
        length = response.headers.get("content-length", "0")
        self.bytes_loaded[response.url] = int(length)
        if response.status >= 500:
            self.faults.append(f"status {response.status}: {response.url}")

    def close(self) -> None:
        """Close all windows; fail if anything went wrong in one."""
        for context in self.contexts:
            context.close()
        self.contexts.clear()
        self.check()

    def check(self) -> None:
        """Fail if anything went wrong in a window; what was said is said once."""
        faults = [fault for fault in self.faults if not self.expected or self.expected not in fault]
        self.faults.clear()
        assert not faults, "\n".join(faults)


def axe_faults(page: Page) -> list[str]:
    """Return what axe finds to be a serious or critical barrier, one line each with the elements."""
    found = Axe().run(page).response["violations"]
    return [
        f"{fault['id']} ({fault['impact']}): {fault['help']}: {[node['html'][:150] for node in fault['nodes'][:5]]}"
        for fault in found
        if fault["impact"] in SERIOUS
    ]


def too_wide(page: Page) -> list[str]:
    """Elements that stick out of the window, where it can be scrolled sideways."""
    return [] if page.evaluate(FITS) else [*page.evaluate(TOO_WIDE), "the page can be scrolled sideways"]


def too_small(page: Page) -> list[str]:
    """Controls that a finger hardly meets; links within text are as large as their words."""
    found: list[str] = page.evaluate(TOO_SMALL, LEAST_FOR_FINGERS)
    return found


@dataclass(frozen=True)
class RunningLab:
    """A server. url: with a slash at the end; root: the folder of runs and other files that it was given."""

    url: str
    root: Path
    process: subprocess.Popen[str]


def start_lab(root: Path, *options: str, port: int = 0) -> RunningLab:
    """Start a server, at a free port if none is named, and wait until it answers."""
    command = [sys.executable, "-m", "hauteur.cli", "web", str(root), "--port", str(port), *options]
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
