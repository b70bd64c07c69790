"""The page as people use it: games to their end, searches and comparisons, without a request after it was loaded."""

import gzip
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from lab_browser import NARROW, PHONE, WIDE, Windows, axe_faults, too_small, too_wide
from playwright.sync_api import Locator, Page, Request, Route, expect

import hauteur as ht

NAMES = ("play", "odds", "analyse", "explain", "keys", "lab", "methods", "method-search-contempt")
WITH_A_BOARD = ("play", "odds", "analyse", "explain")
MOST_BYTES, MOST_WITH_ONE_NET = 9_000_000, 2_800_000
"""Of all files on the wire, with the nets that ship."""


def shown(page: Page) -> None:
    """Wait until the board is there."""
    page.locator("#board svg").first.wait_for()


@contextmanager
def no_requests(page: Page) -> Iterator[None]:
    """Nothing is asked of the host meanwhile."""
    asked: list[str] = []

    def note(request: Request) -> None:
        asked.append(request.url)

    page.context.on("request", note)
    yield
    page.context.remove_listener("request", note)
    assert asked == []


@pytest.mark.parametrize("name", NAMES)
def test_no_barriers(windows: Windows, name: str) -> None:
    page = windows.open(f"{name}.html", size=WIDE)
    if name in WITH_A_BOARD:
        shown(page)
    assert axe_faults(page) == []
    assert too_wide(page) == []
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size({"width": NARROW[0], "height": NARROW[1]})
    assert axe_faults(page) == []
    assert too_wide(page) == []


@pytest.mark.parametrize("name", NAMES)
def test_every_control_fits_a_finger(windows: Windows, name: str) -> None:
    page = windows.open(f"{name}.html", **PHONE)
    if name in WITH_A_BOARD:
        shown(page)
    assert too_small(page) == []
    assert too_wide(page) == []


def test_links_lead_to_pages_that_are_there(built_page: Path) -> None:
    """No page of the lab that needs a server is offered, but on the page that says what the lab has more."""
    names = {path.name for path in built_page.glob("*.html")}
    for name in names:
        links = re.findall(r'href="([^"#:]+\.html)', (built_page / name).read_text(encoding="utf-8"))
        assert set(links) <= names, name
    assert not names & {"review.html", "runs.html", "matches.html", "puzzles.html"}


def test_what_needs_a_server_is_on_a_page_of_its_own(windows: Windows) -> None:
    page = windows.open("play.html")
    expect(page.get_by_role("navigation", name="pages").get_by_role("link")).to_have_count(5)
    page.get_by_role("link", name="The lab on your machine").click()
    expect(page.locator("dt")).to_have_text(["Review", "Runs", "Matches", "Puzzles"])
    page.get_by_role("link", name="Analyse").click()
    shown(page)


def test_size(built_page: Path) -> None:
    """A browser loads one of the two cores."""
    files = [path for path in built_page.rglob("*") if path.is_file() and path.name != "core_bg.wasm"]
    sizes = {path: len(gzip.compress(path.read_bytes(), 6)) for path in files}
    nets = [size for path, size in sizes.items() if path.parent.name == "nets"]
    assert sum(sizes.values()) <= MOST_BYTES
    assert sum(sizes.values()) - sum(nets) + max(nets) <= MOST_WITH_ONE_NET
    assert all(path.stat().st_size <= 1_500_000 for path in files if path.suffix == ".gz")


def test_a_game_of_chess_at_odds(windows: Windows) -> None:
    """The giver plays to mate against random moves; then a person moves and resigns."""
    page = windows.open("odds.html")
    shown(page)
    setup = page.locator("#new")
    setup.locator("[name=odds]").fill("queen + rook")
    setup.locator("[name=odds]").blur()
    expect(setup.locator("[name=odds]")).to_have_value("queen d1 + rook a1")
    first, second = setup.locator("[data-side]").all()
    first.locator("[name=amount]").fill("30")
    second.locator("[name=who]").select_option(label="random moves")
    with no_requests(page):
        setup.get_by_role("button", name="Start").click()
        expect(page.locator("#odds")).to_contain_text("without queen d1 + rook a1. hauteur searches with settings made")
        expect(page.locator("#after")).to_be_visible()
        expect(page.locator("#status")).to_contain_text("1-0 (checkmate)")
    page.locator("#setup summary").click()
    second.locator("[name=who]").select_option(label="person")
    with no_requests(page):
        setup.get_by_role("button", name="Start").click()
        expect(page.locator("#status")).to_contain_text("Your turn")
        page.locator("#typed [name=text]").fill("e5")
        page.locator("#typed button").click()
        expect(page.locator("#moves li")).to_have_count(3)
        page.locator("#resign").click()
        page.locator("#resign").click()
        expect(page.locator("#status")).to_contain_text("1-0 (resignation)")


QUEEN_DOWN = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNB1KBNR w KQkq - 0 1"
MOST_PLIES = 300


def square(page: Page, name: str) -> Locator:
    """A square of the board."""
    return page.locator(f'.square[aria-label^="{name},"]')


@pytest.mark.parametrize("hand", ["mouse", "touch"])
def test_a_whole_game_at_odds_from_a_link(windows: Windows, hand: str) -> None:
    """The person, by mouse or by finger on a phone, makes the moves of a search; the game ends on the board."""
    phone: dict[str, Any] = PHONE if hand == "touch" else {}
    page = windows.open("odds.html?odds=queen&gives=white&visits=30", **phone)
    asked = "Beat the engine that gave you its queen. White plays without queen d1."
    expect(page.locator("#odds")).to_contain_text(asked)
    expect(page).to_have_title("Beat the engine that gave you its queen")
    take = "tap" if hand == "touch" else "click"
    state = ht.position("chess", QUEEN_DOWN)
    with ht.evaluator("chess") as net, no_requests(page):
        while state.outcome() is None and state.ply < MOST_PLIES:
            if state.to_move == 1:
                move = ht.search(state, net, visits=60).best_move
                expect(page.locator("#status")).to_contain_text("Your turn")
                getattr(square(page, move.uci[:2]), take)()
                getattr(square(page, move.uci[2:4]), take)()
                if len(move.uci) > 4:
                    getattr(page.locator(".picker button").first, take)()
            expect(page.locator("#moves li")).not_to_have_count(state.ply)
            for text in page.locator("#moves li").all_inner_texts()[state.ply :]:
                state.apply_text(text.split()[-1])
    expect(page.locator("#after")).to_be_visible()
    expect(page.get_by_role("button", name="Review this game")).to_be_hidden()
    assert too_wide(page) == []


def test_a_game_that_is_begun_while_files_come_waits_for_them(windows: Windows) -> None:
    """However slow the line is; what is asked meanwhile is answered in words."""
    page = windows.open()
    page.clock.install()
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.context.route("**/nets/chess.net.gz", hold)
    page.goto("play.html")
    page.get_by_role("button", name="Start", exact=True).click()
    loading = re.compile(r"Loading the engine and its nets: \d+ of \d+ files")
    expect(page.locator("#notice-loading")).to_contain_text(loading)
    page.clock.run_for(120_000)
    assert page.locator("#notices .error").count() == 0
    page.locator("#files summary").click()
    page.locator("#load").click()
    expect(page.locator("#notice-page")).to_have_text("the engine is still being loaded")
    held.pop().continue_()
    expect(page.locator("#status")).to_have_text("Your turn")
    expect(page.locator("#setup")).not_to_have_attribute("open")
    expect(page.locator("#notices")).to_have_text("")


def test_a_bad_link_is_refused_in_one_line(windows: Windows) -> None:
    page = windows.open("odds.html?odds=crown")
    expect(page.locator("#notice-page")).to_contain_text("crown")
    shown(page)


@pytest.mark.parametrize("game", ["tictactoe", "connect4", "gomoku", "hex", "othello", "go", "minichess", "nogo"])
def test_every_game_is_played(windows: Windows, game: str) -> None:
    page = windows.open(f"play.html?game={game}")
    shown(page)
    with no_requests(page):
        page.locator("#new [data-side='1'] [name=amount]").fill("20")
        page.locator("#new").get_by_role("button", name="Start").click()
        expect(page.locator("#status")).to_contain_text("Your turn")
        page.locator("#board .target, #board .source").first.wait_for()
        page.locator("#hint").click()
        expect(page.locator("#hints li").first).to_contain_text("of the visits")


def test_a_search_runs_stops_and_shows_its_tree(windows: Windows) -> None:
    page = windows.open("analyse.html?game=chess&moves=e4+e5")
    shown(page)
    page.locator("[name=limit]").select_option("")
    with no_requests(page):
        page.locator("#start").click()
        expect(page.locator("#moves tbody tr").first).to_be_visible()
        expect(page.locator("#pace")).to_contain_text(re.compile(r"\d,\d{3} visits"))
        page.locator("#start").click()
        expect(page.locator("#start")).to_have_text("Go on")
        page.locator("#in-tree summary").click()
        expect(page.locator("#tree [role=treeitem]").first).to_be_visible()
    assert page.locator("#notices .error").count() == 0


def test_two_settings_are_explained(windows: Windows) -> None:
    page = windows.open("explain.html?game=connect4")
    shown(page)
    page.locator("#preset").click()
    with no_requests(page):
        page.locator("#start").click()
        expect(page.locator("#headline")).to_be_visible()
        expect(page.locator("#rules")).to_contain_text("search contempt")


def test_a_method_is_tried(windows: Windows) -> None:
    page = windows.open("methods.html")
    page.get_by_role("link", name="Search-contempt").first.click()
    page.locator("#trial [name=visits]").fill("100")
    page.locator("#trial button").click()
    expect(page.locator("#headline")).to_be_visible()
    page.locator("#rules a").first.click()
    expect(page.locator("h1")).to_have_text("Search-contempt")
