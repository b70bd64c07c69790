"""The keys of all pages: one table each, which its script acts on and which `?` and the page Keys show."""

import re

from lab_browser import Windows, axe_faults, too_wide
from playwright.sync_api import expect

from hauteur.web.pages import all_pages


def test_keys_are_declared_once() -> None:
    for page in all_pages().navigation:
        acts = [name for key in page.keys if key.act for name in key.names.split()]
        assert len(set(acts)) == len(acts), page.path
        assert all(name == name.lower() for name in acts if len(name) == 1), "keys.js compares small letters"


def test_pages_are_found_by_their_addresses() -> None:
    pages = all_pages()
    assert getattr(pages.of("/runs/run/a"), "path", None) == "/runs"
    assert pages.of("/runsome") is None
    assert pages.of("/keys") is None


def test_every_key_presses_what_it_says(windows: Windows) -> None:
    """Each key that presses a button presses one that is there; what the script does itself is pressed below."""
    by_script = {"type", "choose", "board", "tree", "marks", "search"}
    for entry in all_pages().navigation:
        page = windows.open(entry.path)
        for key in entry.keys:
            if key.act and key.act not in by_script:
                pressed = "data-go" if page.locator(f"[data-go={key.act}]").count() else "id"
                control = page.locator(f"button[{pressed}={key.act}]")
                expect(control).to_have_attribute("aria-keyshortcuts", key.names)
                expect(control).to_have_attribute("title", re.compile(re.escape(key.text)))
        page.keyboard.press("?")
        listed = page.get_by_role("dialog")
        expect(listed.locator("dd")).to_have_text([key.text for key in entry.keys])
        page.keyboard.press("Escape")
        expect(listed).to_be_hidden()
        page.context.close()


def test_keys_of_pages_by_script(windows: Windows) -> None:
    page = windows.open("/play?game=tictactoe")
    expect(page.locator("#status")).to_contain_text("Your turn")
    page.keyboard.press("t")
    expect(page.locator("#typed input")).to_be_focused()
    page.keyboard.press("?")  # a sign of a text here
    expect(page.locator("#typed input")).to_have_value("?")
    page.keyboard.press("Tab")
    page.keyboard.press("N")
    expect(page.locator("#new select[name=game]")).to_be_focused()
    page.goto("/analyse?game=tictactoe&net=uniform&visits=100")
    expect(page.locator(".square").first).to_be_attached()
    page.keyboard.press("b")
    expect(page.locator(".square:focus")).to_have_count(1)
    page.keyboard.press("m")
    expect(page.locator("#marks")).to_have_value("prior")
    page.keyboard.press("s")
    expect(page.locator("#pace")).to_contain_text("100 visits")
    node = page.locator("[role=treeitem]").first
    expect(node).to_be_attached()
    page.keyboard.press("t")
    expect(node).to_be_focused()
    page.goto("/explain?game=tictactoe&visits=50&a.net=uniform&b.net=uniform")
    headline = page.locator("#headline")
    expect(headline).to_be_focused()  # an address with visits is compared at once; the key would stop that
    headline.evaluate("element => element.blur()")
    page.keyboard.press("s")
    expect(headline).to_be_focused()


def test_the_page_keys(windows: Windows) -> None:
    page = windows.open("/play", dark=True)
    page.get_by_role("contentinfo").get_by_role("link", name="Keys").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Keys")
    titles = [entry.title for entry in all_pages().navigation if entry.keys]
    expect(page.get_by_role("main").get_by_role("heading", level=2)).to_have_text(titles)
    assert axe_faults(page) == []
    assert too_wide(page) == []
