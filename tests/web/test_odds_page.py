"""The page Odds in a browser: a handicap by clicks, a whole game to mate, the story of it; screens of both sizes."""

from __future__ import annotations

import re

import pytest
from lab_browser import NARROW, Windows, axe_faults, too_wide
from playwright.sync_api import Locator, Page, expect

import hauteur as ht

GIVEN = {"White": ("d1", "a1", "h1"), "Black": ("d8", "a8", "h8")}
MOST_PLIES = 300


def square(page: Page, name: str) -> Locator:
    """A square of the board."""
    return page.locator(f'.square[aria-label^="{name},"]')


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
    whos.nth(0 if giver == "White" else 1).select_option("engine:")
    whos.nth(1 if giver == "White" else 0).select_option("person")
    amount = page.locator("[name=amount]").nth(0 if giver == "White" else 1)
    amount.fill("20")
    page.get_by_role("button", name="Start", exact=True).click()


@pytest.mark.parametrize("giver", ["White", "Black"])
def test_a_whole_game_at_odds(windows: Windows, giver: str) -> None:
    """The person's moves are a search's; the game ends on the board, and the page tells where it was lost."""
    page = windows.open()
    choose_handicap(page, giver)
    expect(page.locator("#odds")).to_contain_text(f"odds game, queen {GIVEN[giver][0]} + rook")
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
    course = page.locator("#course, #notice-page")
    expect(course.filter(has_text=re.compile("handicap|not downloaded|there is no net"))).to_be_visible(timeout=60_000)


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
    expect(page.locator(".mark.planned")).to_have_count(1)
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


def test_the_page_fits(windows: Windows) -> None:
    for size in ((1280, 800), NARROW):
        page = windows.open("/odds", size=size)
        expect(page.locator(".square").first).to_be_attached()
        assert too_wide(page) == []
        assert axe_faults(page) == []
