"""The page Runs in a browser: a run is watched while it learns, and its games are replayed."""

import re
from pathlib import Path

import pytest
from lab_browser import NARROW, Windows, axe_faults, start_lab, stop_lab, too_wide
from playwright.sync_api import Browser, expect

from hauteur.cli.main import main
from hauteur.system.lock import locked

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
    page.get_by_role("button", name="on", exact=True).click()
    expect(page.locator(".walk-note")).to_contain_text(re.compile(r"8 visits: [abc][123] \d+%"))
    assert axe_faults(page) == []
    narrow = windows.open("/runs", size=NARROW, dark=True)
    expect(narrow.get_by_role("link", name="tictactoe: mine")).to_be_visible()
    assert axe_faults(narrow) == []
    for address in ("/runs", "/runs/run/lab/tictactoe/mine", "/runs/games/lab/tictactoe/mine"):
        narrow.goto(address)
        assert too_wide(narrow) == [], address


def test_a_run_is_watched_and_its_games_replayed(browser: Browser, root: Path) -> None:
    lab = start_lab(root)
    windows = Windows(browser, lab.url)
    try:
        watched(windows, root)
        replayed(windows)
        windows.close()
    finally:
        stop_lab(lab)
