"""A server that other machines reach: nothing without the token, everything after it, and scripts never see it."""

from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from lab_browser import Windows
from playwright.sync_api import Browser, expect
from running_lab import start_lab, stop_lab


def test_the_token_opens_the_pages(browser: Browser, tmp_path: Path) -> None:
    lab = start_lab(tmp_path, "--host", "0.0.0.0")
    printed = urlsplit(lab.url)
    [token] = parse_qs(printed.query)["token"]
    windows = Windows(browser, f"http://127.0.0.1:{printed.port}/", expected="403 (Forbidden)")
    try:
        page = windows.open("/analyse")
        assert "open the address with ?token=... that `hauteur web` printed" in page.inner_text("main")
        page.goto(f"/analyse?game=connect4&token={token}")
        expect(page.locator("#board svg").first).to_be_visible()
        assert page.url.endswith("/analyse?game=connect4")
        assert page.evaluate("document.cookie") == ""
        assert token not in page.content()
        windows.close()
    finally:
        stop_lab(lab)
