"""Measure the page without a server in Chromium, beside the wheel on the same machine: rows and visits a second.

`python checks/page_speed.py` needs `make page` and Debian's Chromium. It prints one line a measurement; each figure is
the median of REPEATS, taken in turns, so that all have the same load of the machine. The browser computes with both
builds of the core, in one worker; then a search is shared by as many workers as there are cores, up to four.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median

from playwright.sync_api import Page, Route, sync_playwright

from hauteur.games.registry import load_game
from hauteur.mcts.analysis import Analysis
from hauteur.mcts.limits import Limits
from hauteur.networks.evaluators.base import UniformEvaluator
from hauteur.networks.evaluators.core import CoreEvaluator
from hauteur.networks.evaluators.factory import evaluations_per_second
from hauteur.networks.names import data_path
from hauteur.networks.registry import load

ROOT = Path(__file__).resolve().parent.parent
NETS = {"chess": "chess", "connect4": "connect4", "nogo9": "nogo(size=9)"}
REPEATS, SECONDS = 5, 2.0
SHARED_VISITS = 6_000
VISITS = {"uniform": 200_000, "chess": 2_000}
SCRIPT = Path(__file__).with_suffix(".js").read_text(encoding="utf-8").partition("\n")[2].strip().removesuffix(";")


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves files and prints nothing."""

    def log_message(self, *_: object) -> None:
        """Print nothing."""


BUILDS = {"relaxed": "core_relaxed_bg.wasm", "plain": "core_bg.wasm"}
CORES = "navigator.hardwareConcurrency ?? 1"
"""What the script of the page asks for."""


@dataclass(frozen=True)
class Windows:
    """Windows of Chromium at the page: one for each build, and the page alone with one worker and with all."""

    builds: dict[str, Page]
    one_worker: Page
    all_workers: Page


@contextmanager
def opened(folder: Path) -> Iterator[Windows]:
    """Serve the page and open it in Chromium."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_address[1]}/keys.html"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])

        def window() -> Page:
            """Open the page with storage of its own."""
            page = browser.new_context().new_page()
            page.goto(address)
            return page

        builds = {name: window() for name in BUILDS}
        for name, page in builds.items():
            page.evaluate(f"({SCRIPT}).load", [BUILDS[name], list(NETS)])
        one = window()
        one.context.route("**/shares.js", _alone)
        yield Windows(builds, one, window())
        browser.close()
    server.shutdown()


def _alone(route: Route) -> None:
    """Let the script of the page believe that there is one core."""
    text = route.fetch().text()
    if CORES not in text:
        raise ValueError(f"shares.js has no {CORES!r}")
    route.fulfill(body=text.replace(CORES, "1"), content_type="text/javascript")


def wheel_rows(net: str, game: str, instructions: str | None) -> float:
    """Rows a second of the wheel's evaluator in one thread."""
    found = load(data_path(f"{net}.safetensors"))
    return evaluations_per_second(CoreEvaluator(load_game(game), found, threads=1, instructions=instructions), SECONDS)


def wheel_visits(net: str) -> float:
    """Visits a second of the wheel's search of the start of chess, in one thread."""
    game = load_game("chess")
    uniform = UniformEvaluator(game)
    evaluator = uniform if net == "uniform" else CoreEvaluator(game, load(data_path(f"{net}.safetensors")), threads=1)
    with Analysis(evaluator) as analysis:
        analysis.set_position(game.new_initial_state())
        began = time.perf_counter()
        analysis.search(Limits(visits=VISITS[net]))
        return VISITS[net] / (time.perf_counter() - began)


def compare(what: str, ways: dict[str, Callable[[], float]]) -> None:
    """Measure all ways in turns, and print their medians."""
    found: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(REPEATS):
        for name, way in ways.items():
            found[name].append(way())
    print(f"{what}: {', '.join(f'{name} {median(values):,.0f}' for name, values in found.items())}", flush=True)


def main() -> int:
    """Measure as the command line says; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--page", type=Path, default=ROOT / "dist" / "page", help="the page, as built")
    folder = parser.parse_args().page
    if not (folder / "facts.json").is_file() or shutil.which("chromium") is None:
        print(f"page_speed: needs {folder} (make page) and Chromium", file=sys.stderr)
        return 1
    with opened(folder) as windows:
        for net, game in NETS.items():
            ways: dict[str, Callable[[], float]] = {
                name: partial(page.evaluate, f"({SCRIPT}).rows", [net, game, SECONDS])
                for name, page in windows.builds.items()
            }
            for name, instructions in (("wheel", None), ("wheel unfused", "unfused")):
                ways[name] = partial(wheel_rows, net, game, instructions)
            compare(f"rows a second, {net}", ways)
        for net in VISITS:
            ways = {
                name: partial(page.evaluate, f"({SCRIPT}).search", [net, VISITS[net]])
                for name, page in windows.builds.items()
            }
            compare(f"visits a second, chess, {net}", {**ways, "wheel": partial(wheel_visits, net)})
        workers = {"one worker": windows.one_worker, "all workers": windows.all_workers}
        shared: dict[str, Callable[[], float]] = {
            name: partial(page.evaluate, f"({SCRIPT}).shared", ["chess", SHARED_VISITS])
            for name, page in workers.items()
        }
        compare("visits a second, chess, chess, as the page searches", shared)
    return 0


if __name__ == "__main__":
    sys.exit(main())
