"""The page Analyse in a browser: a search that is looked into, by pointer and by keys."""

import json
import re

from lab_browser import NARROW, Windows, axe_faults, too_wide
from playwright.sync_api import Locator, Page, WebSocketRoute, expect


def square(page: Page, name: str) -> Locator:
    """A square of the board."""
    return page.locator(f'#board .square[aria-label^="{name},"]')


def count(text: str | None) -> int:
    """The number of a cell."""
    return int((text or "0").replace(",", ""))


def test_a_search_is_looked_into(windows: Windows) -> None:
    rules = "search.solver=on&search.search_contempt.n_scl=8"
    page = windows.open(f"/analyse?game=tictactoe&net=uniform&visits=900&{rules}")
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_role("button", name="Go on")).to_be_visible()
    table = page.locator("#moves tbody tr:not(.line)")
    assert sum(count(row) for row in table.locator("td:nth-child(2)").all_text_contents()) == 899
    best = table.first.locator("th").text_content()
    page.keyboard.press("t")
    tree = page.get_by_role("tree")
    rows = tree.get_by_role("treeitem")
    expect(rows).to_have_count(10)
    expect(rows.first).to_be_focused()
    expect(rows.nth(1)).to_have_accessible_name(re.compile(r"\w\d, [\d,]+ visits, Q .*frozen"))

    for key in ("ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    expect(rows.nth(1)).to_have_attribute("aria-expanded", "true")
    expect(tree.get_by_text(re.compile("sampled")).first).to_be_visible()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.locator("#caption")).to_contain_text("after")
    page.keyboard.press("Escape")
    expect(page.locator("#caption")).not_to_contain_text("after")

    page.get_by_text("Over the time of the search").click()
    slider = page.get_by_role("slider", name="Moment")
    visits = table.locator("td:nth-child(2)")
    last = visits.all_text_contents()
    slider.press("Home")
    expect(page.locator("#moment-text")).not_to_contain_text("now")
    expect(visits).not_to_have_text(last)
    assert sum(map(count, visits.all_text_contents())) < 899
    slider.press("End")
    expect(page.locator("#moment-text")).to_have_text("now, 900 visits")

    page.get_by_role("button", name="Save").click()
    expect(page.locator("#notices")).to_contain_text("Saved")
    page.get_by_role("button", name="Go on").click()
    expect(page.locator("#pace")).to_contain_text(re.compile("^1,800 visits|result proven|nothing left"))
    page.get_by_role("button", name="Look into it").click()
    expect(page.locator("#tree-facts")).to_contain_text("900 visits, all nodes, seed 0, tree ")
    expect(table.first.locator("th")).to_contain_text((best or "").split()[0])
    assert axe_faults(page) == []


def test_a_key_pressed_while_a_position_is_on_its_way_is_not_lost(windows: Windows) -> None:
    page: Page = windows.open()
    held: list[str | bytes] = []
    hold = False

    def relay(to_page: WebSocketRoute) -> None:
        def pass_on(message: str | bytes) -> None:
            (held.append if hold else to_page.send)(message)

        to_page.connect_to_server().on_message(pass_on)
        sockets.append(to_page)

    sockets: list[WebSocketRoute] = []
    page.route_web_socket("**/live/analyse", relay)
    page.goto("/analyse?game=connect4&net=uniform&seconds=60")
    page.get_by_role("button", name="Search").click()
    expect(page.locator("#moves tbody tr:not(.line)")).to_have_count(7)
    hold = True
    page.locator('.square[aria-label^="41,"]').click()
    expect(page).to_have_url(re.compile("moves=4"))
    for key in "sur":  # stop, back, forward again, while the server is silent
        page.keyboard.press(key)
    page.keyboard.press("u")
    expect(page).not_to_have_url(re.compile("moves="))
    hold = False
    for message in held:
        sockets[0].send(message)
    expect(page.get_by_role("button", name="Search")).to_be_visible()
    expect(page.locator('.square[aria-label^="41,"]')).to_have_accessible_name("41, empty")


def test_a_chart_that_is_read_while_the_search_ends_is_read_again(windows: Windows) -> None:
    """The reply with the curves of the middle of the search comes after its end."""
    page = windows.open()
    late: list[str | bytes] = []
    asked: set[int] = set()

    def relay(to_page: WebSocketRoute) -> None:
        server = to_page.connect_to_server()

        def ask(message: str | bytes) -> None:
            request = json.loads(message)
            if request["do"] == "history" and not asked:
                asked.add(request["id"])
            server.send(message)

        def pass_on(message: str | bytes) -> None:
            is_late = json.loads(message).get("id") in asked and not late
            (late.append if is_late else to_page.send)(message)

        to_page.on_message(ask)
        server.on_message(pass_on)
        sockets.append(to_page)

    sockets: list[WebSocketRoute] = []
    page.route_web_socket("**/live/analyse", relay)
    page.goto("/analyse?game=connect4&net=uniform&seconds=3")
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_role("button", name="Go on")).to_be_visible()
    sockets[0].send(late[0])
    visits = (page.locator("#pace").text_content() or "").split()[0]
    expect(page.locator("#moment-text")).to_have_text(f"now, {visits} visits")


def test_a_position_is_reached_by_clicks_keys_settings_and_text(windows: Windows) -> None:
    page: Page = windows.open("/analyse?game=connect4&net=uniform&seconds=60", size=NARROW, dark=True)
    page.get_by_role("button", name="Search").click()
    expect(page.locator("#moves tbody tr:not(.line)")).to_have_count(7)
    page.locator('.square[aria-label^="41,"]').click()
    expect(page).to_have_url(re.compile("moves=4"))
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    page.keyboard.press("s")
    expect(page.get_by_role("button", name="Go on")).to_be_visible()
    page.keyboard.press("u")
    expect(page).not_to_have_url(re.compile("moves="))
    page.get_by_text("Settings of the search").click()
    page.get_by_label("settings: change one").select_option("cpuct.init")
    expect(page).to_have_url(re.compile(r"search\.cpuct\.init=1\.745"))
    page.get_by_text("From a file or text").click()
    page.get_by_label("game as text").fill("1. e4 e5 2. Nf3")
    page.locator("#position select[name=game]").select_option("chess")
    page.get_by_role("button", name="Open this game").click()
    moves = page.get_by_label("moves of the game").get_by_role("button")
    expect(moves).to_have_text(["e4", "e5", "Nf3"])
    expect(moves.first).not_to_have_attribute("aria-current", "true")  # it opens at its start
    moves.first.click()
    expect(moves.first).to_have_attribute("aria-current", "true")
    page.keyboard.press("r")
    expect(page).to_have_url(re.compile(r"moves=e4\+e5(&|$)"))
    assert axe_faults(page) == []
    assert too_wide(page) == []


def test_lines_that_are_left_stay_as_variations(windows: Windows) -> None:
    page = windows.open("/analyse?game=chess&moves=e4+e5+Nf3+Nc6")
    moves = page.locator("#line > button")
    expect(moves).to_have_text(["e4", "e5", "Nf3", "Nc6"])
    for _ in range(2):
        page.get_by_role("button", name="back").click()
    expect(page.locator("#line [aria-current]")).to_have_text("e5")
    expect(square(page, "g1")).to_have_accessible_name("g1, white knight")  # the board is there
    square(page, "b1").click()
    square(page, "c3").click()
    expect(page.locator("#line .variation")).to_have_text("2.Nc3")
    expect(moves).to_have_text(["e4", "e5", "Nf3", "Nc6"])
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#line [aria-current]")).to_have_text("Nc3")  # where the reader came from
    moves.last.click()
    expect(square(page, "c6")).to_have_accessible_name("c6, black knight")
    page.keyboard.press("Home")
    expect(square(page, "e2")).to_have_accessible_name("e2, white pawn")
    page.keyboard.press("End")
    expect(square(page, "c6")).to_have_accessible_name("c6, black knight")
    page.reload()
    expect(page.locator("#line .variation")).to_have_text("2.Nc3")


STUDY = """[White "Morphy"]
[WhiteElo "2600"]
[Black "Duke"]
[Date "1858.??.??"]
[FEN "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2"]
[SetUp "1"]

{An opening} 2. Nf3! {natural} (2. f4 exf4 (2... d5!? {Falkbeer}) 3. Nf3)
2... d6 $6 {[%clk 0:03:00] [%eval 0.2]} 3. d4 {[%cal Gd4e5]} *
"""


def test_a_pasted_game_keeps_variations_comments_glyphs_and_numbers(windows: Windows) -> None:
    page = windows.open("/analyse?game=connect4")
    expect(page.locator("#board .square").first).to_be_attached()
    paste = """text => {
        const data = new DataTransfer();
        data.setData("text/plain", text);
        const how = { clipboardData: data, bubbles: true, cancelable: true };
        document.body.dispatchEvent(new ClipboardEvent("paste", how));
    }"""
    page.evaluate(paste, STUDY)
    moves = page.locator("#line")
    expect(moves.locator(".heading")).to_have_text("Morphy (2600) – Duke · 1858.??.??")
    expect(moves.locator("> button")).to_have_text(["Nf3!", "d6?!", "d4"])
    expect(moves.locator("> .number")).to_have_text(["2.", "2…", "3."])
    expect(moves.locator("> .comment")).to_have_text(["An opening", "natural"])
    expect(moves.locator("> .variation")).to_have_text("2.f4exf42…d5!?Falkbeer3.Nf3")
    expect(moves.locator("[aria-current]")).to_have_count(0)
    expect(square(page, "g1")).to_have_accessible_name("g1, white knight")
    moves.get_by_role("button", name="d5!?").click()
    expect(square(page, "d5")).to_have_accessible_name("d5, black pawn")
    expect(page).to_have_url(re.compile(r"moves=f4\+d5(&|$)"))
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(square(page, "f2")).to_have_accessible_name("f2, white pawn")
    assert axe_faults(page) == []
    page.evaluate(paste, "this is no game")
    expect(page.locator("#notice-page")).to_be_visible()
    expect(moves.locator("> button")).to_have_text(["Nf3!", "d6?!", "d4"])
