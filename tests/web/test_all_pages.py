"""Properties of every page: no barriers, no sideways scrolling, all by keyboard, little to load, no other host."""

from urllib.parse import urlsplit

import pytest
from lab_browser import NARROW, PHONE, WIDE, Windows, axe_faults, too_small, too_wide
from playwright.sync_api import Page

from hauteur.web.pages import all_pages

PATHS = [*(page.path for page in all_pages().navigation), "/keys"]
WITH_A_BOARD = ("/play", "/analyse")
"""Pages that show a board from the beginning."""
MOST_BYTES = 160_000
"""Of a page with its scripts and styles."""
MOST_TABS = 400

REACHABLE = """() => {
    const selector = 'a[href], button, input, select, textarea, summary, [tabindex]:not([tabindex^="-"])';
    const focusable = [...document.querySelectorAll(selector)].filter((node) =>
        node.checkVisibility({ visibilityProperty: true }) && !node.disabled && !node.closest("[inert]")
        && !String(node.getAttribute("tabindex")).startsWith("-")
        && !(node.type === "radio" && (!node.checked && document.querySelector(`[name="${node.name}"]:checked`))));
    window.waiting = new Set(focusable);
    window.unmarked = [];
    document.activeElement?.blur();
    return focusable.length;
}"""
FOCUSED = """() => {
    const node = document.activeElement;
    if (!window.waiting.delete(node)) return window.waiting.size;
    const style = getComputedStyle(node);
    const marked = style.outlineStyle !== "none" || style.boxShadow !== "none" || style.stroke !== "none";
    if (!marked) window.unmarked.push(node.outerHTML.slice(0, 150));
    return window.waiting.size;
}"""


def settled(page: Page) -> None:
    """Wait until a page has loaded what it loads at first."""
    page.wait_for_load_state("networkidle")
    if urlsplit(page.url).path in WITH_A_BOARD:
        page.locator("#board svg").first.wait_for()


@pytest.mark.parametrize("path", PATHS)
def test_page(windows: Windows, path: str) -> None:
    """Light and wide, then dark and narrow."""
    page = windows.open(path, size=WIDE)
    settled(page)
    assert axe_faults(page) == []
    assert too_wide(page) == []
    assert page.locator("h1").count() == 1
    size = sum(windows.bytes_loaded.values())
    assert 0 < size <= MOST_BYTES, windows.bytes_loaded
    all_by_keyboard(page)
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": NARROW[0], "height": NARROW[1]})
    assert axe_faults(page) == []
    assert too_wide(page) == []


@pytest.mark.parametrize("path", PATHS)
def test_every_control_fits_a_finger(windows: Windows, path: str) -> None:
    page = windows.open(path, **PHONE)
    settled(page)
    for fold in page.locator("main details:not([open]) > summary").all():
        if fold.is_visible():
            fold.tap()
    assert too_small(page) == []
    assert too_wide(page) == []


def all_by_keyboard(page: Page) -> None:
    """Every control is reached by Tab, and shows that it is."""
    waiting = page.evaluate(REACHABLE)
    assert waiting > 0
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        if page.evaluate(FOCUSED) == 0:
            break
    assert page.evaluate("() => [...window.waiting].map((node) => node.outerHTML.slice(0, 150))") == []
    assert page.evaluate("() => window.unmarked") == []


def test_an_address_that_there_is_not_is_a_page_in_words(windows: Windows) -> None:
    page = windows.open("/nothing")
    assert "There is no page /nothing." in page.inner_text("main")
    assert axe_faults(page) == []
    windows.expected = "404 (Not Found)"
