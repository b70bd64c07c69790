"""Boards under the hand: drags, slides, arrows, moves that are shown at once or ahead of one's turn, keys that step."""

import json
import re
from typing import Any

import pytest
from lab_browser import NARROW, Windows
from playwright.sync_api import Locator, Page, WebSocketRoute, expect

COUNT_SLIDES = """
window.slides = 0;
const animate = Element.prototype.animate;
Element.prototype.animate = function (...given) { window.slides += 1; return animate.apply(this, given); };
"""
TWO_PERSONS = {
    "game": "chess",
    "fen": "",
    "sides": [{"player": None}, {"player": None}],
    "actions": [],
    "left": [None, None],
}


class Line:
    """The way between a page and its session, which can be held: what the server says then waits."""

    def __init__(self, page: Page, session: str) -> None:
        self.held = False
        self._waiting: list[str | bytes] = []
        self._asked = 0
        self._page_side: WebSocketRoute | None = None
        page.route_web_socket(f"**/live/{session}", self._route)

    def _route(self, to_page: WebSocketRoute) -> None:
        self._page_side = to_page

        server = to_page.connect_to_server()

        def pass_on(message: str | bytes) -> None:
            if self.held:
                self._waiting.append(message)
            else:
                to_page.send(message)

        def ask(message: str | bytes) -> None:
            self._asked = json.loads(message)["id"]
            server.send(message)

        server.on_message(pass_on)
        to_page.on_message(ask)

    def refuse(self) -> None:
        """Answer the newest request with an error; what the server says to it is dropped."""
        assert self._page_side is not None
        self._page_side.send(json.dumps({"id": self._asked, "error": "no"}))
        self._waiting.clear()

    def let_go(self) -> None:
        """Pass on what waits, and all that comes."""
        assert self._page_side is not None
        self.held = False
        for message in self._waiting:
            self._page_side.send(message)
        self._waiting.clear()


def square(page: Page, name: str) -> Locator:
    """A square of the board."""
    return page.locator(f'#board .square[aria-label^="{name},"]')


def middle(box: Any) -> tuple[float, float]:
    """The middle of a box."""
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def at(page: Page, name: str) -> tuple[float, float]:
    """The middle of a square in the window."""
    return middle(square(page, name).bounding_box())


def stands(page: Page, name: str) -> bool:
    """Whether a piece is drawn on a square."""
    x, y = at(page, name)
    places = [middle(piece.bounding_box()) for piece in page.locator(".pieces .piece").all()]
    return any(abs(place[0] - x) < 8 and abs(place[1] - y) < 12 for place in places)


def two_persons(page: Page, **change: Any) -> None:
    """Open the page Play with a game between two persons."""
    kept = json.dumps(TWO_PERSONS | change)
    page.add_init_script(
        f"if (!sessionStorage.getItem('hauteur-play')) sessionStorage.setItem('hauteur-play', '{kept}')"
    )
    page.goto("/play")
    expect(page.locator("#board .square.source, #board .square.target").first).to_be_attached()


def test_a_dragged_piece_follows_the_pointer_and_stays_where_it_is_dropped(windows: Windows) -> None:
    page = windows.open()
    line = Line(page, "play")
    two_persons(page)
    page.mouse.move(*at(page, "e2"))
    page.mouse.down()
    expect(square(page, "e4")).to_have_class(re.compile("target"))
    x, y = at(page, "f5")
    page.mouse.move(x + 7, y - 5, steps=4)
    assert middle(page.locator(".piece.held").bounding_box()) == pytest.approx((x + 7, y - 5), abs=8)
    expect(page.locator(".piece.away")).to_have_count(1)
    page.mouse.move(*at(page, "e4"))
    line.held = True
    page.mouse.up()
    expect(page.locator(".piece.held")).to_have_count(0)
    assert stands(page, "e4")
    assert not stands(page, "e2")
    expect(page.locator("#moves li")).to_have_count(0)  # the server has said nothing
    line.let_go()
    expect(page.locator("#moves li")).to_have_text(["1. e4"])
    assert stands(page, "e4")


def test_a_refused_move_goes_back(windows: Windows) -> None:
    page = windows.open()
    line = Line(page, "play")
    two_persons(page)
    square(page, "g1").click()
    line.held = True
    square(page, "f3").click()
    page.wait_for_function("() => !document.querySelector('.board-ground.moving .piece')?.getAnimations().length")
    assert stands(page, "f3")
    line.refuse()
    expect(page.locator("#notice-page")).to_have_text("no")
    page.wait_for_function("() => ![...document.querySelectorAll('.piece')].some((one) => one.getAnimations().length)")
    assert stands(page, "g1")
    assert not stands(page, "f3")
    line.held = False
    square(page, "b1").click()
    expect(square(page, "c3")).to_have_class(re.compile("target"))


def test_a_stone_is_there_at_once(windows: Windows) -> None:
    page = windows.open()
    line = Line(page, "play")
    two_persons(page, game="go(size=5)")
    line.held = True
    square(page, "C3").click()
    assert stands(page, "C3")
    line.let_go()
    expect(square(page, "C3")).to_have_accessible_name("C3, black stone")
    expect(page.get_by_role("button", name="pass")).to_be_in_viewport()


def test_a_piece_that_is_dropped_nowhere_is_back_and_chosen(windows: Windows) -> None:
    page = windows.open()
    two_persons(page)
    square(page, "e2").drag_to(square(page, "e6"))
    expect(square(page, "e2")).to_have_class(re.compile("chosen"))
    assert stands(page, "e2")
    square(page, "e3").click()
    expect(page.locator("#moves li")).to_have_text(["1. e3"])


def test_a_finger_drags_a_piece(windows: Windows) -> None:
    page = windows.open(size=NARROW, has_touch=True)
    two_persons(page)
    finger = page.context.new_cdp_session(page)

    def touch(kind: str, *names: str) -> None:
        points = [{"x": x, "y": y} for x, y in (at(page, name) for name in names)]
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", "d2")
    touch("touchMove", "d3")
    touch("touchMove", "d4")
    expect(page.locator(".piece.held")).to_have_count(1)
    touch("touchEnd")
    expect(page.locator("#moves li")).to_have_text(["1. d4"])
    assert page.evaluate("scrollY") == 0


@pytest.mark.parametrize(("motion", "slides"), [("no-preference", True), ("reduce", False)])
def test_a_move_slides_unless_the_reader_wants_none(windows: Windows, motion: Any, slides: bool) -> None:
    page = windows.open(reduced_motion=motion)
    page.add_init_script(COUNT_SLIDES)
    two_persons(page)
    square(page, "e2").click()
    square(page, "e4").click()
    expect(page.locator("#moves li")).to_have_count(1)
    page.keyboard.press("ArrowLeft")
    expect(square(page, "e2")).to_have_accessible_name("e2, white pawn")
    assert page.evaluate("window.slides > 0") is slides


def test_the_right_button_draws_arrows_and_circles(windows: Windows) -> None:
    page = windows.open()
    two_persons(page)
    shapes = page.locator(".board-shapes .shape")

    def draw(start: str, end: str) -> None:
        page.mouse.move(*at(page, start))
        page.mouse.down(button="right")
        page.mouse.move(*at(page, end), steps=3)
        page.mouse.up(button="right")

    draw("e2", "e4")
    draw("g1", "f3")
    draw("d5", "d5")
    expect(page.locator(".board-shapes path.green")).to_have_count(2)
    expect(page.locator(".board-shapes circle")).to_have_count(1)
    page.keyboard.down("Shift")
    draw("g1", "f3")  # another colour
    page.keyboard.up("Shift")
    expect(page.locator(".board-shapes path.red")).to_have_count(1)
    draw("d5", "d5")  # the same again takes it away
    expect(shapes).to_have_count(2)
    page.mouse.click(*at(page, "e5"))
    expect(shapes).to_have_count(0)
    draw("e2", "e4")
    square(page, "e2").drag_to(square(page, "e4"))
    expect(page.locator("#moves li")).to_have_count(1)
    expect(shapes).to_have_count(0)


def test_a_move_is_dragged_ahead_of_ones_turn_and_taken_back(windows: Windows) -> None:
    page = windows.open()
    sides = [{"player": "", "visits": 10_000_000}, {"player": None}]
    kept = json.dumps(TWO_PERSONS | {"sides": sides, "flip": True})
    page.add_init_script(
        f"if (!sessionStorage.getItem('hauteur-play')) sessionStorage.setItem('hauteur-play', '{kept}')"
    )
    page.goto("/play")
    expect(page.locator("#status")).to_contain_text("thinks")
    planned = page.locator(".square.planned")
    square(page, "e7").drag_to(square(page, "e5"))
    expect(planned).to_have_count(2)
    square(page, "a3").click(button="right")
    expect(planned).to_have_count(0)
    square(page, "d7").drag_to(square(page, "d5"))
    expect(planned).to_have_count(2)
    page.locator("#setup summary").click()
    page.get_by_role("button", name="Move now").click()
    expect(page.locator("#moves li").nth(1)).to_have_text("d5")


# -- keys that step ----------------------------------------------------------------------------------------------------


def test_arrow_keys_step_on_the_boards_of_explain_and_puzzles(windows: Windows) -> None:
    page = windows.open("/explain?game=chess&moves=e2e4+e7e5")
    expect(square(page, "e5")).to_have_accessible_name("e5, black pawn")
    page.keyboard.press("ArrowLeft")
    expect(square(page, "e5")).to_have_accessible_name("e5, empty")
    page.keyboard.press("ArrowRight")
    expect(square(page, "e5")).to_have_accessible_name("e5, black pawn")
    page.keyboard.press("Home")
    expect(square(page, "e4")).to_have_accessible_name("e4, empty")
    page.goto("/puzzles?set=connect4")
    expect(page.locator("#title")).to_contain_text("1 of")
    stones = page.locator("#board .square:not([aria-label$=', empty'])")
    before = stones.count()
    page.keyboard.press("s")
    expect(page.locator("#status")).to_contain_text("The solution")
    page.keyboard.press("End")
    expect(stones).not_to_have_count(before)
    page.keyboard.press("Home")
    expect(stones).to_have_count(before)


# -- opening -----------------------------------------------------------------------------------------------------------


def test_a_page_that_is_left_while_its_game_opens_knows_which_game_it_is(windows: Windows) -> None:
    page = windows.open()
    line = Line(page, "play")
    page.goto("/?game=tictactoe")
    expect(page.locator("#board")).to_have_attribute("data-game", "tictactoe")
    page.goto("/?game=connect4")
    line.held = True
    page.reload()
    line.held = False
    page.reload()
    expect(page.locator("#board")).to_have_attribute("data-game", "connect4")
    expect(page.locator("#notice-page")).to_have_count(0)
