"""The page Runs: what it shows of runs, what it refuses; in a browser a run is watched, and its games are replayed."""

import json
import re
import shutil
from html import unescape
from pathlib import Path

import pytest
from lab_browser import PHONE, Windows, axe_faults, start_lab, stop_lab, too_small, too_wide
from playwright.sync_api import Browser, expect
from report_toys import folder_with, line
from starlette.testclient import TestClient

from hauteur.cli.main import main
from hauteur.system import extras
from hauteur.system.files import write_json
from hauteur.system.lock import locked
from hauteur.web.app import create_app
from hauteur.web.settings import WebSettings


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A root with two runs of tic-tac-toe and one of Connect Four."""
    place = tmp_path / "lab"
    folder_with(place / "ttt" / "one", [line(1), line(2)], run={"generations": 5, "tag": "one"})
    folder_with(place / "ttt" / "two", [line(1)], run={"generations": 1, "tag": "two"}, selfplay={"visits": 7})
    folder_with(place / "four", [], game="connect4")
    return place


@pytest.fixture
def client(place: Path) -> TestClient:
    return TestClient(create_app(WebSettings(roots=(place,), threads=1)))


def test_the_list_has_every_run(client: TestClient, place: Path) -> None:
    with locked(place / "four", "learning"):
        text = client.get("/runs").text
    rows = text.split("<tr>")[2:]
    assert rows[0].split("</a>")[0].endswith(">connect4: four")
    assert 'class="state running">running' in rows[0]
    (one,) = (row for row in rows if "tictactoe: one" in row)
    assert "2 of 5" in one
    assert "+140" in one
    assert 'href="/runs/run/lab/ttt/one"' in one
    (place / "ttt" / "one" / "metrics.jsonl").write_text("nonsense")
    assert "not JSON" in client.get("/runs/list").text


def test_a_run_and_its_figures_by_an_axis(client: TestClient, place: Path) -> None:
    text = client.get("/runs/run/lab/ttt/one?by=budget").text
    assert "2 of 5 generations, stopped" in text
    assert 'href="?by=budget" aria-current="true"' in text
    assert f"hauteur train {place}/ttt/one/config.toml --run {place}/ttt/one" in text
    part = client.get("/runs/figures/lab/ttt/one?by=games").text
    assert 'href="?by=games" aria-current="true"' in part
    assert 'href="?by=time"' in part
    assert "there is no axis" in client.get("/runs/figures/lab/ttt/one?by=%3Cb%3E").text
    assert "no axis" in client.get("/runs/run/lab/ttt/one?by=evaluations").text
    write_json(place / "ttt" / "one" / "progress.json", {"generation": 3})
    assert "progress.json: generations is missing" in client.get("/runs/progress/lab/ttt/one").text
    assert "No generation is finished yet" in client.get("/runs/run/lab/four").text


def test_figures_are_drawn_again_after_a_generation(client: TestClient, place: Path) -> None:
    assert "<b>100</b><span>games</span>" in client.get("/runs/figures/lab/ttt/one").text
    (place / "ttt" / "one" / "metrics.jsonl").write_text("".join(json.dumps(line(i)) + "\n" for i in (1, 2, 3)))
    assert "<b>150</b><span>games</span>" in client.get("/runs/figures/lab/ttt/one").text


@pytest.mark.parametrize(
    "name", ["lab", "lab/ttt", "lab/ttt/three", "%2e%2e", "lab/%2e%2e/lab/four", "lab//four", "x%00y"]
)
def test_runs_that_there_are_not(client: TestClient, name: str) -> None:
    answer = client.get(f"/runs/run/{name}")
    assert answer.status_code in (400, 404)
    assert "there is no run" in answer.text or "There is no page" in answer.text


def test_games_that_cannot_be_shown(client: TestClient, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "No games yet" in client.get("/runs/games/lab/ttt/one").text
    (place / "ttt" / "one" / "games" / "gen-00001-0000.parquet").write_bytes(b"PAR1")
    assert "not a whole Parquet file" in client.get("/runs/games/lab/ttt/one").text
    assert "there are no games of generation 9" in client.get("/runs/games/lab/ttt/one?generation=9").text
    assert client.get("/runs/games/lab/ttt/one?game=-1").status_code == 400
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    text = client.get("/runs/games/lab/ttt/one").text
    assert "replaying games of a run needs pyarrow, not installed here" in text


def test_folders_of_any_name(client: TestClient, place: Path) -> None:
    name = """a <b> & "c" #?%'""" + "\u00e9"
    folder_with(place / name, [line(1)], run={"generations": 5})
    text = client.get("/runs").text
    (address,) = re.findall(r'href="(/runs/run/lab/a[^"]*)"', text)
    page = client.get(unescape(address)).text
    assert "1 of 5 generations, stopped" in page
    (follows,) = re.findall(r'data-part="(/runs/progress/[^"]*)"', page)
    assert "1 of 5 generations, stopped" in client.get(unescape(follows)).text
    assert "<b>" not in unescape(address)


def test_a_run_that_has_gone(client: TestClient, place: Path) -> None:
    assert client.get("/runs/run/lab/ttt/one").status_code == 200
    shutil.rmtree(place / "ttt" / "one")
    assert "ttt/one: there is no such folder" in client.get("/runs/figures/lab/ttt/one").text
    assert "tictactoe: one" not in client.get("/runs").text
    assert client.get("/runs/run/lab/ttt/one").status_code == 400


# -- in a browser ------------------------------------------------------------------------------------------------------


RECIPE = """
game = "tictactoe"
network = { filters = 4, blocks = 1, policy_channels = 2, value_channels = 2, value_hidden = 8 }
selfplay = { games = 8, visits = 8, parallel_games = 8, batch_size = 4 }
train = { batch_size = 16, samples_per_position = 1.0 }
gate = { games = 4 }
run = { generations = 3, threads = 1, tag = "mine" }
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "tiny.toml").write_text(RECIPE)
    return tmp_path / "lab"


def watched(windows: Windows, root: Path) -> None:
    """Watch a run while its metrics grow, over a reload; when it has stopped, its command is named."""
    page = windows.open("/runs")
    expect(page.get_by_role("main")).to_contain_text("No runs yet")
    folder = root / "tictactoe" / "mine"
    assert main(["train", str(root / "tiny.toml"), "--run", str(folder)]) == 0
    lines = (folder / "metrics.jsonl").read_text().splitlines(keepends=True)
    (folder / "metrics.jsonl").write_text(lines[0])
    with locked(folder, "learning"):
        page.get_by_role("link", name="tictactoe: mine").click()
        progress, figures = (page.get_by_role("region", name=name) for name in ("progress", "figures"))
        expect(progress).to_contain_text("1 of 3 generations")
        expect(progress).to_contain_text("running")
        (folder / "metrics.jsonl").write_text("".join(lines[:2]))
        expect(progress).to_contain_text("2 of 3 generations")
        expect(figures).to_contain_text("visits a move; 2 of 3")
        page.get_by_role("link", name="games", exact=True).click()
        expect(page.get_by_role("img", name="Losses")).to_contain_text("games")
        page.reload()
        expect(progress).to_contain_text("2 of 3 generations")
    expect(page.get_by_text("stopped", exact=True)).to_be_visible()
    expect(progress).to_contain_text(f"--run {folder}")
    assert axe_faults(page) == []


def replayed(windows: Windows) -> None:
    """Step through a game, and look at all pages on a small screen."""
    page = windows.open("/runs/run/lab/tictactoe/mine")
    page.get_by_role("link", name="Games", exact=True).click()
    page.get_by_label("Generation").select_option("2")
    page.get_by_label("Game", exact=True).fill("5")
    page.get_by_role("button", name="Show").click()
    expect(page.locator(".walk-moves button").first).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".walk-note")).to_contain_text(re.compile(r"8 visits: [abc][123] \d+%"))
    assert axe_faults(page) == []
    narrow = windows.open("/runs", dark=True, **PHONE)
    expect(narrow.get_by_role("link", name="tictactoe: mine")).to_be_visible()
    assert axe_faults(narrow) == []
    for address in ("/runs", "/runs/run/lab/tictactoe/mine", "/runs/games/lab/tictactoe/mine"):
        narrow.goto(address)
        assert too_wide(narrow) == [], address
        assert too_small(narrow) == [], address


def test_a_run_is_watched_and_its_games_replayed(browser: Browser, root: Path) -> None:
    lab = start_lab(root)
    windows = Windows(browser, lab.url)
    try:
        watched(windows, root)
        replayed(windows)
        windows.close()
    finally:
        stop_lab(lab)
