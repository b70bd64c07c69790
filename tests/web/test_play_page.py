"""The pages Play and Odds in a browser: games by clicks, drags and keys; what survives a reload; handicaps."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from lab_browser import NARROW, Windows, axe_faults, start_lab, stop_lab, too_wide
from playwright.sync_api import Browser, Locator, Page, WebSocketRoute, expect

import hauteur as ht

PIECES = ("queen", "rook", "bishop", "knight")
PROMOTES = "8/P5k1/8/8/8/8/8/4K2R w K - 0 1"


FROM_BELOW = """
import hauteur as ht
from hauteur.games.tutorial import MisereTicTacToe

class Below(MisereTicTacToe):
    def action_to_text(self, action):
        return "abc"[action % 3] + "123"[action // 3]

    def text(self):
        return "\\n".join(super().text().splitlines()[::-1])

    def squares(self, action):
        return [(2 - action // 3, action % 3)]

    def copy(self):
        twin = Below()
        twin.stones, twin.to_move = self.stones.copy(), self.to_move
        return twin

ht.register_game("below", Below)
"""


def square(page: Page, name: str) -> Locator:
    """A square of the board."""
    return page.locator(f'.square[aria-label^="{name},"]')


def begin(page: Page, game: str, second: str, fen: str = "") -> None:
    """Begin a game as a person does, against another player of the list."""
    expect(page.locator("#new[data-game]")).to_be_attached()
    if not page.locator("#setup[open]").count():
        page.locator("#setup summary").click()
    page.locator("[name=game]").select_option(game)
    expect(page.locator(f'#new[data-game="{game}"]')).to_be_attached()
    if fen:
        page.locator("[name=start]").select_option("other")
        page.locator("[name=fen]").fill(fen)
    page.locator("[name=who]").nth(1).select_option(second)
    page.locator("#board").evaluate("board => delete board.dataset.game")  # which the new game brings
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.locator("#board")).to_have_attribute("data-game", re.compile(f"^{game}.*{re.escape(fen)}"))
    expect(page.locator("#moves li")).to_have_count(0)


def test_games_by_clicks_and_drags(page: Page) -> None:
    page.goto("/play")
    expect(page.locator("#status")).to_have_text(re.compile("Your turn"))
    square(page, "e2").click()
    square(page, "e4").click()
    expect(page.locator("#moves li")).to_have_count(2)  # the net that ships has answered
    expect(page.locator("#wdl")).to_have_attribute("aria-label", re.compile("White wins [0-9]+ %"))
    page.get_by_role("button", name="Hint").click()
    expect(page.locator(".board-marks .mark")).to_have_count(3)
    page.get_by_role("button", name="Take back").click()
    expect(page.locator("#moves li")).to_have_count(0)
    begin(page, "chess", "person", PROMOTES)
    square(page, "e1").click()
    square(page, "g1").click()
    expect(page.locator("#moves li")).to_have_count(1)
    square(page, "g7").drag_to(square(page, "h7"))
    expect(page.locator("#moves li")).to_have_count(2)
    square(page, "a7").drag_to(square(page, "a8"))
    offered = page.get_by_role("group", name="what it becomes").get_by_role("button")
    words = [f"white {piece}, a8={sign}" for piece, sign in zip(PIECES, "QRBN", strict=True)]
    assert [button.get_attribute("aria-label") for button in offered.all()] == words
    expect(offered.first).to_be_focused()
    page.keyboard.press("Escape")
    expect(offered).to_have_count(0)
    square(page, "a7").click()
    square(page, "a8").click()
    offered.first.click()
    expect(page.locator("#moves li")).to_have_text(["1. O-O", "Kh7", "2. a8=Q"])
    page.locator("#files summary").click()
    page.get_by_role("button", name="PGN").click()
    expect(page.locator("#text")).to_have_value(re.compile(r"1\. O-O Kh7 2\. a8=Q"))
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    assert "a8=Q" in Path(download.value.path()).read_text()
    page.locator("#text").fill("1. e4 e5 2. Nf3 *")
    page.get_by_role("button", name="Play on from this").click()
    expect(page.locator("#moves li")).to_have_text(["1. e4", "e5", "2. Nf3"])
    page.locator("#text").fill("1. e5 *")
    page.get_by_role("button", name="Play on from this").click()
    expect(page.locator("#notice-page")).to_contain_text('ply 1: "e5" is not a legal move')


def test_going_through_the_moves_during_and_after_a_game(page: Page) -> None:
    """By buttons, clicks and arrow keys; a move is made at the newest position alone."""
    page.goto("/play")
    begin(page, "chess", "person")
    for plies, (start, end) in enumerate((("f2", "f3"), ("e7", "e5"), ("g2", "g4")), 1):
        square(page, start).click()
        square(page, end).click()
        expect(page.locator("#moves li")).to_have_count(plies)
    expect(page.locator("#moves li")).to_have_text(["1. f3", "e5", "2. g4"])
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#status")).to_have_text("1 ply back, after 1… e5")
    page.keyboard.press("ArrowLeft")
    expect(square(page, "e7")).to_have_attribute("aria-label", "e7, black pawn")
    expect(page.locator("#status")).to_have_text("2 plies back, after 1. f3")
    expect(page.locator("#board.off .square.source")).not_to_have_count(0)
    square(page, "e7").click()
    square(page, "e6").click()
    expect(page.locator("#moves li")).to_have_count(3)
    page.get_by_role("button", name="the newest position").click()
    square(page, "d8").click()
    square(page, "h4").click()
    expect(page.locator("#status")).to_contain_text("0-1 (checkmate)")
    page.locator("#moves button").nth(1).click()
    expect(square(page, "g2")).to_have_attribute("aria-label", "g2, white pawn")
    expect(page.locator("#moves [aria-current]")).to_have_text("e5")
    page.get_by_role("button", name="Flip").click()
    expect(square(page, "g2")).to_have_attribute("aria-label", "g2, white pawn")
    page.keyboard.press("Home")
    expect(page.locator("#status")).to_have_text("4 plies back, at the start")
    page.keyboard.press("End")
    expect(square(page, "h4")).to_have_attribute("aria-label", "h4, black queen")


@pytest.mark.parametrize(("size", "least"), [((1280, 800), 680), ((1920, 1080), 950), (NARROW, 365)])
def test_the_board_is_as_large_as_the_window_allows(windows: Windows, size: tuple[int, int], least: int) -> None:
    page = windows.open("/play", size=size)
    expect(page.locator("#status")).to_have_text(re.compile("Your turn"))
    box = page.locator("#board .board-ground").bounding_box()
    assert box is not None
    assert box["width"] >= least
    assert box["y"] + box["height"] <= size[1]
    assert too_wide(page) == []


def test_a_marked_square_is_no_ring_and_every_arrow_has_its_label(page: Page) -> None:
    page.goto("/analyse?game=tictactoe&visits=50")
    page.get_by_role("button", name="Search").click()
    expect(page.locator(".board-marks rect").first).to_be_attached()
    assert page.locator(".board-marks circle").count() == 0
    page.goto("/analyse?game=chess&fen=7k/8/8/8/4Q3/8/PP1N4/K1r5 w - - 0 1&visits=50")  # Nb1 and Qb1 are all
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_role("button", name="Go on")).to_be_visible()
    expect(page.locator(".mark-text")).to_have_count(2)
    one, other = (label.bounding_box() for label in page.locator(".mark-text").all())
    assert one is not None
    assert other is not None
    apart = abs(one["x"] - other["x"]) >= one["width"] or abs(one["y"] - other["y"]) >= one["height"]
    assert apart, "one label covers the other"


def test_a_game_of_ones_own_is_clicked_where_its_stone_appears(browser: Browser, tmp_path: Path) -> None:
    """Its actions are counted from below, its text begins at the top; only the game knows that."""
    (tmp_path / "mine.py").write_text(FROM_BELOW)
    own = start_lab(tmp_path, "--import", str(tmp_path / "mine.py"))
    windows = Windows(browser, own.url)
    page = windows.open("/play")
    begin(page, "below", "person")
    square(page, "row 3 column 1").click()
    stone = page.locator(".square[aria-label='row 3 column 1, X']")
    expect(stone).to_be_attached()
    places = [box["y"] for name in ("row 3 column 1", "row 1 column 1") if (box := square(page, name).bounding_box())]
    assert places[0] > places[1]
    square(page, "row 1 column 3").click()
    expect(page.locator("#moves li")).to_have_text(["1. a1", "2. c3"])
    page.goto("/play?game=tutorial")  # it is not offered, and is there by its name
    expect(page.locator("#board")).to_have_attribute("data-game", "tutorial")
    assert "tutorial" not in page.locator("[name=game] option").all_text_contents()
    windows.close()
    stop_lab(own)


def test_a_whole_game_by_keyboard_alone_on_a_phone(windows: Windows) -> None:
    page = windows.open("/play", size=NARROW)
    expect(page.locator("#status")).to_have_text(re.compile("Your turn"))
    keys = page.keyboard
    keys.press("n")
    expect(page.locator("[name=game]")).to_be_focused()
    keys.type("tic")
    expect(page.locator("[name=start]")).to_be_hidden()
    for _ in range(3):  # who plays first, its limit, who plays second
        keys.press("Tab")
    keys.type("random")
    while not page.locator("#new button.main:focus").count():
        keys.press("Tab")
    keys.press("Enter")
    expect(page.locator("#player-top .name")).to_have_text("random · O")
    expect(page.locator(".square:focus")).to_have_count(1)
    places = iter(["Down", "Right", "Up", "Right", "Down", "Down", "Left", "Left"])
    while not page.locator("#after").is_visible():
        plies = page.locator("#moves li").count()
        if page.locator(".square:focus.target").count():
            keys.press("Enter")
            expect(page.locator("#moves li")).not_to_have_count(plies)
            expect(page.locator("#player-bottom.turn").or_(page.locator("#after")).first).to_be_visible()
        else:
            keys.press(f"Arrow{next(places)}")
    expect(page.locator("#status")).to_contain_text(re.compile("(1-0|0-1|1/2-1/2)"))
    assert axe_faults(page) == []
    assert too_wide(page) == []


def test_a_game_survives_a_reload_and_a_lost_connection(page: Page) -> None:
    sockets: list[WebSocketRoute] = []

    def route(socket: WebSocketRoute) -> None:
        socket.connect_to_server()
        sockets.append(socket)

    page.route_web_socket(re.compile("/live/play$"), route)
    page.goto("/play?game=connect4")
    begin(page, "connect4", "person")
    for ply, column in enumerate("443"):
        square(page, f"{column}6").click()
        expect(page.locator("#moves li")).to_have_count(ply + 1)
    page.reload()
    expect(page.locator("#moves li")).to_have_text(["1. 4", "2. 4", "3. 3"])
    sockets[-1].close()
    expect(page.locator("#notice-live")).to_contain_text("The connection to the server was lost; trying again.")
    expect(page.locator("#notice-live")).to_have_count(0)
    expect(page.locator("#board:not(.off)")).to_be_visible()
    square(page, "36").click()
    expect(page.locator("#moves li")).to_have_text(["1. 4", "2. 4", "3. 3", "4. 3"])
    begin(page, "nogo", "engine:random")
    square(page, "E5").click()
    expect(page.locator("#moves li")).to_have_count(2)
    page.get_by_role("button", name="Resign").click()
    page.get_by_role("button", name="Really resign").click()
    page.get_by_role("button", name="Review this game").click()
    expect(page.locator("h1")).to_have_text("Review a game")
    expect(page.locator("#title")).to_contain_text("random")
    page.go_back()
    expect(page.locator("#status")).to_contain_text("0-1 (resignation)")
    page.get_by_role("button", name="Analyse").click()
    expect(page.locator("h1")).to_have_text("Analyse")
    expect(page.locator("#board .square[aria-label^='E5, black']")).to_be_attached()
    page.goto("/play?game=nosuchgame")
    expect(page.locator("#notice-page")).to_contain_text("no game 'nosuchgame'")
    expect(page.locator("#board")).to_have_attribute("data-game", "chess")


# -- odds --------------------------------------------------------------------------------------------------------------


GIVEN = {"White": ("d1", "a1", "h1"), "Black": ("d8", "a8", "h8")}
MOST_PLIES = 300


def choose_handicap(page: Page, giver: str) -> None:
    """Give the pieces by clicks on the board, and the other side to the person."""
    page.goto("/odds")
    expect(page.locator("[name=odds]")).to_have_value("queen d1")
    expect(square(page, "d1")).to_have_attribute("aria-label", re.compile("empty"))
    page.locator("[name=gives]").select_option(label=giver)
    expect(page.locator("[name=odds]")).to_have_value(f"queen {GIVEN[giver][0]}")
    for rook in GIVEN[giver][1:]:
        square(page, rook).click()
        expect(page.locator("[name=odds]")).to_have_value(re.compile(rook))
    whos = page.locator("[name=who]")
    expect(whos.nth(0 if giver == "White" else 1)).to_have_value("engine:")  # the engine gives
    expect(whos.nth(1 if giver == "White" else 0)).to_have_value("person")
    amount = page.locator("[name=amount]").nth(0 if giver == "White" else 1)
    amount.fill("20")
    page.get_by_role("button", name="Start", exact=True).click()


@pytest.mark.parametrize("giver", ["White", "Black"])
def test_a_whole_game_at_odds(windows: Windows, giver: str) -> None:
    """The person's moves are a search's; the game ends on the board, and the page tells where it was lost."""
    page = windows.open()
    choose_handicap(page, giver)
    expect(page.locator("#odds")).to_contain_text(f"{giver} plays without queen {GIVEN[giver][0]} + rook")
    spec = page.locator("#board").get_attribute("data-game") or ""
    state = ht.position("chess", spec.split("fen=")[1].rstrip(")"))
    person = 1 if giver == "White" else 0
    with ht.evaluator("chess") as net:
        while state.outcome() is None and state.ply < MOST_PLIES:
            if state.to_move == person:
                move = ht.search(state, net, visits=60).best_move
                square(page, move.uci[:2]).click()
                square(page, move.uci[2:4]).click()
                if len(move.uci) > 4:
                    page.locator(".picker button").first.click()
            expect(page.locator("#moves li")).not_to_have_count(state.ply)
            texts = page.locator("#moves li").all_inner_texts()
            for text in texts[state.ply :]:
                state.apply_text(text.split()[-1])
    expect(page.locator("#after")).to_be_visible()
    assert page.locator("#player-top .taken").inner_text() + page.locator("#player-bottom .taken").inner_text()
    page.get_by_role("button", name="Where was it won back?").click()
    expect(page.locator("#course")).to_contain_text(re.compile("The handicap was not won back|won the handicap back"))


# -- links -------------------------------------------------------------------------------------------------------------


def test_a_link_opens_a_game_and_is_made_again(windows: Windows) -> None:
    page = windows.open("/odds?odds=queen&gives=white&visits=30")
    expect(page.locator("#odds")).to_contain_text("White plays without queen d1")
    expect(page.locator("#moves li")).to_have_count(1)
    expect(page.locator("#status")).to_contain_text("Your turn")
    expect(page).to_have_title("Beat the engine that gave you its queen")
    asked = "Beat the engine that gave you its queen. White plays without queen d1."
    expect(page.locator("#odds")).to_contain_text(asked)
    assert "?" not in page.url
    page.locator("#setup summary").click()
    page.get_by_role("button", name="Link to this game").click()
    text = page.locator("#link").input_value()
    words, _, link = text.partition(": ")
    assert words == "Beat the engine that gave you its queen"
    assert link.endswith("/odds?game=chess&you=second&odds=queen+d1&gives=white&start=518&visits=30")
    page.reload()  # goes on with the game
    expect(page.locator("#moves li")).to_have_count(1)
    other = windows.open(link)
    expect(other.locator("#odds")).to_contain_text("White plays without queen d1")


@pytest.mark.parametrize(
    ("link", "line"),
    [
        ("odds?odds=crown", "crown"),
        ("odds?odds=queen&gives=red", "gives=red, allowed are white and black"),
        ("odds?odds=queen&start=960", "start=960, allowed are 0 to 959"),
        ("odds?odds=queen&visits=-5", "visits=-5, allowed are numbers above 0"),
        ("odds?odds=queen&visits=5&seconds=1", "visits= and seconds=; a link has one limit"),
        ("odds?odds=queen&odds=rook", "odds= twice"),
        ("odds?odds=queen&you=third", "you=third, allowed are first and second"),
        ("odds?odds=queen&clock=soon", "SECONDS+INCREMENT"),
        ("odds?odds=queen&player=nobody", "nobody"),
        ("odds?odds=queen&stake=10", "stake=; a link has game, fen"),
        ("play?game=connect4&odds=queen", "chess alone, and game=connect4"),
    ],
)
def test_a_bad_link_is_refused_in_one_line(windows: Windows, link: str, line: str) -> None:
    page = windows.open(f"/{link}")
    expect(page.locator("#notice-page")).to_contain_text(line)
    assert "\n" not in page.locator("#notice-page").inner_text()
    expect(page.locator("#board")).to_have_attribute("data-game", "chess")


def test_no_link_to_a_game_of_two_persons(windows: Windows) -> None:
    page = windows.open("/play?game=tictactoe")
    page.locator("[name=who]").nth(1).select_option("person")
    page.get_by_role("button", name="Link to this game").click()
    expect(page.locator("#notice-page")).to_contain_text("one person against an engine")


def test_a_move_is_planned_while_the_engine_thinks(windows: Windows) -> None:
    page = windows.open()
    choose_handicap(page, "White")
    expect(page.locator("#moves li")).to_have_count(1)
    page.locator("#setup summary").click()
    page.locator("[name=amount]").first.fill("1000000")
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.locator("#status")).to_contain_text("thinks")
    square(page, "e7").click()
    square(page, "e5").click()
    expect(page.locator(".square.planned")).to_have_count(2)
    page.get_by_role("button", name="Move now").click()
    expect(page.locator("#moves li")).to_have_count(2)
    expect(page.locator("#moves li").nth(1)).to_have_text("e5")


def test_the_look_is_kept(windows: Windows) -> None:
    page = windows.open("/odds")
    page.locator("#look summary").click()
    page.locator("[data-look=squares]").select_option("green")
    page.locator("[data-look=pieces]").select_option("letters")
    expect(page.locator(".sign.letters.white").first).to_be_visible()
    page.goto("/analyse")
    expect(page.locator(".sign.letters.white").first).to_be_visible()
