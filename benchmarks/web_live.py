"""Measures the page Analyse of `hauteur web` in a real browser: live reports, a large tree, the speed of the search.

    python benchmarks/web_live.py reports --seconds 60     # from a report to the page: p50, p99; memory of the server
    python benchmarks/web_live.py tree --visits 1000000    # the first 200 nodes, and opening a node
    python benchmarks/web_live.py speed --seconds 10       # visits a second with the page open and without, in turns

The search is of chess with `--net uniform`, the fastest there is. It needs Chromium (`--browser`) and playwright.
Prints one JSON line.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from playwright.sync_api import Page, sync_playwright
from websockets.sync.client import connect

import hauteur as ht
from hauteur.engine.nets import NetChoice
from hauteur.engine.playing import PlayingSession
from hauteur.mcts.limits import limits_of
from hauteur.networks.names import resolve_net

WATCH = """
window.delays = [];
let made = null;
window.WebSocket = class extends WebSocket {
  constructor(...given) {
    super(...given);
    this.addEventListener("message", ({ data }) => {
      const { event, fields } = JSON.parse(data);
      if (event === "report") made = fields.made;
    });
  }
};
addEventListener("DOMContentLoaded", () => new MutationObserver(() => {
  if (made !== null) window.delays.push(performance.timeOrigin + performance.now() - 1000 * made);
  made = null;
}).observe(document.getElementById("pace"), { childList: true, characterData: true, subtree: true }));
"""
"""Notes, at every change of the line of figures, the milliseconds since its report was made."""

EXPAND = """() => new Promise((done) => {
  const tree = document.getElementById("tree"), began = performance.now();
  new MutationObserver((_, observer) => { observer.disconnect(); done(performance.now() - began); })
    .observe(tree, { childList: true });
  tree.querySelector('[aria-expanded="false"] .twist').click();
})"""
"""Opens the first closed node; the milliseconds until its moves are there."""

Parts = dict[str, float]


@contextmanager
def running_server() -> Iterator[tuple[str, int]]:
    """A server: its address and process number."""
    with tempfile.TemporaryDirectory() as root:
        command = [sys.executable, "-m", "hauteur.cli", "web", root, "--port", "0"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        found = re.search(r"http://\S+", process.stdout.readline())
        assert found is not None
        try:
            yield found[0], process.pid
        finally:
            process.terminate()
            process.wait()


@contextmanager
def opened_page(url: str, browser: str, query: str) -> Iterator[Page]:
    """The page in a browser, watched."""
    with sync_playwright() as playwright:
        window = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        page = window.new_page(viewport={"width": 1280, "height": 800})
        page.add_init_script(WATCH)
        page.goto(f"{url}analyse?{query}")
        page.locator("#pace", has_text="net ").wait_for()
        yield page
        window.close()


def memory(process: int) -> float:
    """Resident megabytes of a process (Linux)."""
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())
    return int(found[1]) / 1000 if found else float("nan")


def shares(values: list[float]) -> Parts:
    """Median, 99th percentile and greatest, in milliseconds."""
    p99 = quantiles(values, n=100, method="inclusive")[98]
    found = {"p50_ms": median(values), "p99_ms": p99, "max_ms": max(values)}
    return {name: round(value, 2) for name, value in found.items()}


def reports(options: argparse.Namespace) -> dict[str, Any]:
    """From a report to the page, while the search runs."""
    with (
        running_server() as (url, process),
        opened_page(url, options.browser, f"net={options.net}&seconds=86400") as page,
    ):
        page.click("#start")
        page.wait_for_timeout(2000)
        page.evaluate("() => { window.delays.length = 0; }")
        sizes = [memory(process)]
        for _ in range(4):
            page.wait_for_timeout(250 * options.seconds)
            sizes.append(memory(process))
        delays = page.evaluate("() => window.delays")
        figures = page.locator("#pace").inner_text()
    counts = {"reports": len(delays), "reports_a_second": round(len(delays) / options.seconds, 1)}
    return {**counts, **shares(delays), "server_mb": sizes, "at_the_end": figures}


class DeskClient:
    """A client without a browser."""

    def __init__(self, url: str) -> None:
        origin = url.rstrip("/")
        self._socket = connect(f"{origin.replace('http', 'ws')}/live/analyse", origin=origin, max_size=None)  # type: ignore[arg-type]
        self._number = 0
        self.wait(lambda message: message.get("event") == "ready")

    def wait(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Read on until such a message."""
        while True:
            message: dict[str, Any] = json.loads(self._socket.recv())
            if wanted(message):
                return message

    def ask(self, request: str, **fields: Any) -> Any:
        """The reply to a request."""
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "do": request, "fields": fields}))
        found = self.wait(lambda message: message.get("id") == self._number)
        if "error" in found:
            raise ValueError(found["error"])
        return found["reply"]


def timed(times: int, work: Callable[[], object]) -> list[float]:
    """Milliseconds of each call."""
    found = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        found.append(1000 * (time.perf_counter() - began))
    return found


def tree(options: argparse.Namespace) -> dict[str, Any]:
    """A large tree: the first nodes and opening one, at rest and while it is searched, and in the browser."""
    with running_server() as (url, _):
        client = DeskClient(url)
        client.ask("open", net=options.net)
        client.ask("start", visits=options.visits)
        done = client.wait(lambda message: message.get("event") == "done")["fields"]
        first = timed(20, lambda: client.ask("tree"))
        line: list[int] = []
        opening: list[float] = []
        while True:
            found: list[Any] = []
            opening += timed(5, lambda: found.append(client.ask("nodes", lines=[line])))  # noqa: B023
            inner = [child for child in found[0]["nodes"][0]["children"] if child["replies"]]
            if not inner:
                break
            line = inner[0]["line"]
        client.ask("start")
        live = timed(20, lambda: (client.ask("nodes", lines=[[]]), time.sleep(0.1)))
        client.ask("stop")
        with opened_page(url, options.browser, f"net={options.net}&visits={options.visits}") as page:
            page.click("#start")
            page.locator("#start", has_text="Go on").wait_for(timeout=120_000)
            page.locator(".tree-row").nth(5).wait_for()
            page.wait_for_timeout(500)
            drawn = [page.evaluate(EXPAND) for _ in range(20)]
    nodes = {"nodes": done["nodes"], "visits": done["visits"]}
    searched = [value - 100 for value in live]
    parts = {"first_200": first, "open_a_node": opening, "open_while_searched": searched, "open_in_the_browser": drawn}
    return nodes | {name: shares(values) for name, values in parts.items()}


def alone(net: str, seconds: float) -> Parts:
    """The search in a process of its own."""
    script = f"import web_live; web_live.bare({net!r}, {seconds})"
    folder = Path(__file__).parent
    done = subprocess.run([sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, check=True)
    found: Parts = json.loads(done.stdout)
    return found


def bare(net: str, seconds: float) -> None:
    """Search as the desk does, without a server and a page, and print visits a second."""
    game = ht.load_game("chess")
    with PlayingSession(game, seed=0) as session:
        session.open(NetChoice(resolve_net(net)))
        session.set_position(game.new_initial_state())
        session.prepare()
        began = time.process_time()
        report = session.think(limits_of(None, seconds), lines=1).report
    assert report is not None
    visits = report.pace.new_visits
    print(json.dumps({"clock": report.pace.visits_per_second, "cpu": visits / (time.process_time() - began)}))


def desk_seconds(server: int) -> float:
    """Processor seconds of the server's desks (Linux)."""
    found = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == server:
            found += int(fields[11]) + int(fields[12])
    return found / os.sysconf("SC_CLK_TCK")


def shown(url: str, server: int, options: argparse.Namespace) -> Parts:
    """The search of a page."""
    with opened_page(url, options.browser, f"net={options.net}&seconds={options.seconds}") as page:
        page.wait_for_timeout(1500)  # the process for the next page has started too
        began = desk_seconds(server)
        page.click("#start")
        page.locator("#start", has_text="Go on").wait_for(timeout=120_000)
        spent = desk_seconds(server) - began
        found = re.search(r"([\d,]+) visits  ([\d,]+) / s", page.locator("#pace").inner_text())
        assert found is not None
    visits, pace = (float(text.replace(",", "")) for text in found.groups())
    return {"clock": pace, "cpu": visits / spent}


def speed(options: argparse.Namespace) -> dict[str, Any]:
    """Visits a second with the page open and without, in turns: by the clock, and by processor seconds."""
    without, with_page = [], []
    for _ in range(options.rounds):
        without.append(alone(options.net, options.seconds))
        with running_server() as (url, server):
            with_page.append(shown(url, server, options))
    figures: dict[str, Any] = {}
    for name in ("clock", "cpu"):
        alone_, page = [round(one[name]) for one in without], [round(one[name]) for one in with_page]
        figures[name] = {"without": alone_, "with": page, "ratio": round(median(page) / median(alone_), 3)}
    return figures


def main() -> int:
    """Measure what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("reports", "tree", "speed"))
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--visits", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--net", default="uniform")
    parser.add_argument("--browser", default=shutil.which("chromium") or "chromium")
    options = parser.parse_args()
    measure = {"reports": reports, "tree": tree, "speed": speed}[options.what]
    print(json.dumps({"what": options.what, "net": options.net, **measure(options)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
