"""What a person sees when a process or the whole server dies: a line that says so, and then the page goes on."""

import os
import signal
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from lab_browser import Windows
from playwright.sync_api import Browser, expect
from running_lab import RunningLab, start_lab, stop_lab

ADDRESS = "/analyse?game=connect4&moves=4+4&visits=200"


def children(pid: int) -> list[int]:
    """Processes that a process has started."""
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks the system for processes")
def test_a_killed_process_is_said_and_replaced(windows: Windows, lab: RunningLab) -> None:
    page = windows.open(ADDRESS)
    board = page.locator("#board")
    expect(board.locator("svg").first).to_be_visible()
    for child in children(lab.process.pid):
        os.kill(child, signal.SIGKILL)
    expect(page.get_by_role("status").first).to_contain_text("ended by signal 9; another one takes its place")
    page.get_by_role("button", name="Search").click()
    expect(page.locator("#moves tbody tr").first).to_be_visible()


def test_a_server_that_comes_back_is_found_again(browser: Browser, tmp_path: Path) -> None:
    lab = start_lab(tmp_path)
    windows = Windows(browser, lab.url)
    try:
        page = windows.open(ADDRESS)
        expect(page.locator("#board svg").first).to_be_visible()
        lab.process.kill()
        lab.process.wait()
        expect(page.get_by_role("status").first).to_contain_text("trying again")
        lab = start_lab(tmp_path, port=urlsplit(lab.url).port or 0)
        expect(page.get_by_role("status").first).to_have_text("", timeout=20_000)
        expect(page.locator("#board svg").first).to_be_visible()
        assert page.url.endswith(ADDRESS)
    finally:
        stop_lab(lab)
        windows.expected = "ERR_CONNECTION_REFUSED"
        windows.close()
