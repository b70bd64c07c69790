"""The page Explain: its figures are those of `hauteur explain --json` at the same seed, session and browser."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

import pytest
from lab_browser import NARROW, Windows, axe_faults, too_wide
from playwright.sync_api import Page, expect
from session_events import Events

from hauteur.cli import main
from hauteur.web.sessions.explain import ExplainSession
from hauteur.web.sessions.session import SessionSettings

PLACE: dict[str, Any] = {"game": "connect4", "moves": ["4", "4"]}
FIRST = {"moves": "d4 Nf6 c4 e6 Nc3 Bb4"}
"""Where the page opens: search-contempt plays another move there."""
CONTEMPT = {"net": "rollout", "settings": {"search_contempt.n_scl": "5"}}


@pytest.fixture
def explained(capsys: pytest.CaptureFixture[str]) -> Any:
    """Return what the command prints for these words."""

    def run(*words: str) -> dict[str, Any]:
        assert main.main(["explain", *words, "--json"]) == 0
        return dict(json.loads(capsys.readouterr().out))

    return run


def test_the_session_compares_and_walks_through_both_trees(explained: Any) -> None:
    events = Events()
    session = ExplainSession(events, SessionSettings())
    try:
        assert session.handle("open", PLACE)["position"]["ply"] == 2
        with pytest.raises(ValueError, match="no comparison yet"):
            session.handle("children", {})
        session.handle("start", {**PLACE, "a": CONTEMPT, "b": {"net": "rollout"}, "visits": 200, "seed": 3})
        found = events.wait("done")
        children = session.handle("children", {})["children"]
        behind = session.handle("children", {"line": children[0]["line"]})["children"]
        with pytest.raises(ValueError, match="neither tree has a node after"):
            session.handle("children", {"line": [6, 6, 6, 6, 6, 6, 6]})
    finally:
        session.close()
    words = ("connect4", "--net", "rollout", "--moves", "4 4", "--visits", "200", "--seed", "3", "--threads", "1")
    printed = explained(*words)
    for side in "ab":
        assert found["sides"][side].pop("settings") == f"net=rollout {printed['sides'][side].pop('settings')}".strip()
    assert found == printed
    moves = {row["action"]: row for row in found["moves"]}
    for row in children:
        for side in "ab":
            visits = row[side]["visits"] if row[side] else 0
            assert visits == moves[row["line"][0]][side]["visits"]
    assert sum(row["a"]["visits"] for row in behind if row["a"]) + 1 == children[0]["a"]["visits"]
    assert behind[0]["a"]["weight"] is not None
    assert behind[0]["b"]["weight"] is None
    assert events.named("progress")[-1]["of"] == 4


def test_a_comparison_is_stopped() -> None:
    events = Events()
    session = ExplainSession(events, SessionSettings())
    session.handle("start", {**PLACE, "a": CONTEMPT, "visits": 1_000_000})
    session.handle("stop", {})
    events.wait("stopped")
    session.handle("start", {**PLACE, "a": CONTEMPT, "visits": 1_000_000})
    session.close()
    assert events.named("done") == []


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"a": {"net": "/etc/passwd"}}, "side A: there is no net '/etc/passwd'"),
        ({"a": {"settings": {"magic": "1"}}}, "side A: magic is not a setting"),
        ({"b": {"settings": {"second_net": "on"}}}, "side B: second_net needs a large net"),
        ({"a": {"settings": {"cpuct.init": "x" * 600}}}, "at most 500 characters"),
        ({"visits": 10**9}, "visits must be a whole number from 2 to 1,000,000, got 1000000000"),
        ({"moves": ["1", "2", "1", "2", "1", "2", "1"]}, "the game is over"),
    ],
)
def test_a_wrong_question_is_refused_in_one_line(fields: dict[str, Any], text: str) -> None:
    session = ExplainSession(Events(), SessionSettings())
    with pytest.raises(ValueError, match=text):
        session.handle("start", PLACE | fields)


POSITIONS: tuple[dict[str, str], ...] = (
    {},
    {"fen": "r1bqkb1r/pppp1ppp/2n2n2/4p3/2B1P3/5Q2/PPPP1PPP/RNB1K1NR w KQkq - 4 4"},
)


def cells(page: Page, table: str) -> list[list[str]]:
    """The texts of a table's rows."""
    rows = page.locator(f"#{table} tbody tr").evaluate_all(
        "rows => rows.map(r => [...r.cells].map(c => c.textContent))"
    )
    return [list(row) for row in rows]


def number(value: float | None) -> str:
    """A value as the page writes it."""
    return "–" if value is None else f"{value:+.3f}".replace("-", "−")


def test_the_page_shows_the_figures_of_the_command(windows: Windows, explained: Any) -> None:
    """Search-contempt with N_scl 5 against off, which the page has by default, in two positions of chess."""
    page = windows.open("/explain")
    page.get_by_label("Visits").fill("100")
    page.get_by_label("Seed").fill("1")
    page.get_by_role("button", name="Explain", exact=True).click()
    for place in POSITIONS:
        if place:  # an address that says what to compare is compared at once
            query = {"game": "chess", **place, "a.search_contempt.n_scl": "5", "visits": "100", "seed": "1"}
            page.goto(f"/explain?{urlencode(query)}")
        expect(page.locator("#headline")).to_be_visible()
        words = [word for key, value in (place or FIRST).items() for word in (f"--{key}", value)]
        found = explained("chess", *words, "--visits", "100", "--seed", "1")
        shown = [[row[0], row[1], row[2], row[8], row[9]] for row in cells(page, "moves")]
        assert shown == [
            [row["move"], *(str(row[side]["visits"]) for side in "ab"), *(number(row[side]["q"]) for side in "ab")]
            for row in found["moves"]
        ]
        sides = {row[0]: row[1:] for row in cells(page, "sides")}
        assert sides["tree digest"] == [found["sides"][side]["digest"] for side in "ab"]
        values = page.locator("#rules dl").first.locator("dd").all_inner_texts()
        assert values == [str(fact["value"]) for fact in found["rules"][0]["facts"]]
    expect(page.locator("#tree tbody tr").first).to_be_visible()
    before = page.locator("#tree tbody tr").count()
    page.locator("#tree button").first.press("Enter")
    expect(page.locator("#tree tbody tr").nth(before)).to_be_visible()
    assert axe_faults(page) == []
    page.set_viewport_size({"width": NARROW[0], "height": NARROW[1]})
    assert too_wide(page) == []

    # Settings are changed by a form; what was found is marked as of other settings, and the address keeps them.
    side = page.get_by_role("group", name="B", exact=True)
    side.get_by_label("change one").select_option("solver")
    expect(page.get_by_text("These figures are of what was asked before")).to_be_visible()
    assert "b.solver=on" in page.url
    page.reload()
    expect(side.locator(".settings-row")).to_have_text("solver: on×")
    expect(page.locator("#command")).to_contain_text('--b "solver=on"')
