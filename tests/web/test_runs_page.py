"""The page Runs in a browser: a run is watched while it learns, and its games are replayed."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from lab_browser import NARROW, Windows, axe_faults, too_wide
from playwright.sync_api import Browser, Page, expect
from running_lab import start_lab, stop_lab

RECIPE = """
game = "tictactoe"
network = { filters = 4, blocks = 1, policy_channels = 2, value_channels = 2, value_hidden = 8 }
selfplay = { games = 8, visits = 8, parallel_games = 8, batch_size = 4 }
train = { batch_size = 16, samples_per_position = 1.0 }
gate = { games = 4 }
run = { generations = 2, threads = 1 }
"""

SLOW = 60_000
"""Milliseconds that a run has to begin: torch is imported by its process."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "tiny.toml").write_text(RECIPE)
    return tmp_path / "lab"


def generations(page: Page) -> int:
    """Finished generations, as the page says."""
    found = re.search(r"(\d+) of \d+ generations", page.get_by_role("region", name="progress").inner_text())
    assert found is not None
    return int(found[1])


def wait_for_more(page: Page) -> None:
    """Wait until the page shows a generation more, in figures too; it is not loaded again."""
    wanted = generations(page) + 1
    more = "|".join(map(str, range(wanted, wanted + 60)))
    expect(page.get_by_role("region", name="progress")).to_contain_text(
        re.compile(rf"\b({more}) of 400 generations"), timeout=SLOW
    )
    expect(page.get_by_role("region", name="figures")).to_contain_text(re.compile(rf"visits a move; ({more}) of 400"))


def watched(windows: Windows, root: Path) -> None:
    """Watch a run that another process learns, over a reload; when it is stopped, its command is named."""
    page = windows.open("/runs")
    expect(page.get_by_role("main")).to_contain_text("No runs yet")
    folder = root / "tictactoe" / "mine"
    command = [sys.executable, "-m", "hauteur.cli", "train", str(root / "tiny.toml"), "run.generations=400"]
    process = subprocess.Popen([*command, "run.tag=mine", "--run", str(folder)], stdout=subprocess.DEVNULL)
    try:
        page.get_by_role("link", name="tictactoe: mine").click(timeout=SLOW)
        expect(page.get_by_role("region", name="progress")).to_contain_text("of 400 generations", timeout=SLOW)
        wait_for_more(page)
        page.get_by_role("link", name="positions").click()
        expect(page.get_by_role("img", name="Losses")).to_contain_text("positions")
        before = generations(page)
        page.reload()
        assert generations(page) >= before
        process.send_signal(signal.SIGINT)
        expect(page.get_by_text("stopped", exact=True)).to_be_visible(timeout=SLOW)
        expect(page.get_by_role("region", name="progress")).to_contain_text(f"--run {folder}")
    finally:
        process.kill()
        process.wait()
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
    narrow.get_by_role("button", name="Compare the chosen runs").click()
    expect(narrow.locator("#notices")).to_have_text("Choose two or more of the list.")
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
