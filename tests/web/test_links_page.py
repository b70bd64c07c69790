"""Links of the page Analyse: a copied link opened by another process gives the same tree, or names what differs."""

from __future__ import annotations

from typing import Any

import pytest
from desk_events import Events
from lab_browser import Windows
from playwright.sync_api import expect

from hauteur.cli import main
from hauteur.studies.links.link import read_link
from hauteur.web.desks.analyse import AnalyseDesk
from hauteur.web.desks.desk import DeskSettings

PLACE = {"game": "connect4", "moves": ["4", "4"], "search": {"search_contempt.n_scl": "4"}, "seed": 5}


def searched(visits: int, **more: Any) -> tuple[AnalyseDesk, Events]:
    """A desk that has searched the position."""
    events = Events()
    desk = AnalyseDesk(events, DeskSettings())
    desk.handle("open", PLACE | more)
    with pytest.raises(ValueError, match="search first"):
        desk.handle("link", {})
    desk.handle("start", {"visits": visits})
    events.wait("done")
    return desk, events


def test_a_link_of_one_desk_is_repeated_by_another() -> None:
    desk, events = searched(150)
    reply = desk.handle("link", {})
    assert reply["note"] == ""
    link = read_link(reply["link"])
    assert (link.visits, link.seed, link.moves, link.net) == (150, 5, ("4", "4"), "connect4.safetensors")
    assert link.search.max_tree_bytes == 0  # the desk's own limit of memory is no part of the search

    # Searched on, the tree comes from two searches, which no link repeats.
    events.all.clear()
    desk.handle("start", {"visits": 250})
    events.wait("done")
    later = desk.handle("link", {})
    assert "more than one search" in later["note"]
    assert (read_link(later["link"]).digest, read_link(later["link"]).visits) == ("", 250)
    desk.close()

    events = Events()
    other = AnalyseDesk(events, DeskSettings())
    opened = other.handle("repeat", {"link": reply["link"]})
    assert opened["fields"]["net"] == "connect4"
    assert {key: opened["fields"][key] for key in PLACE} == PLACE
    assert opened["position"]["ply"] == 2
    assert events.wait("repeated") == {"equal": True, "verdict": f"equal: tree {link.digest}", "differences": []}
    assert other.handle("link", {})["link"] == reply["link"]
    changed = link.model_copy(update={"sha256": "1" * 64, "digest": "2" * 16})
    events.all.clear()
    other.handle("repeat", {"link": changed.address})
    found = events.wait("repeated")
    assert found["equal"] is False
    assert found["differences"] == [
        f"the net connect4.safetensors differs: sha256 {link.sha256[:12]} instead of 111111111111"
    ]
    other.close()


def test_what_is_no_link_is_refused_in_one_line() -> None:
    desk = AnalyseDesk(Events(), DeskSettings())
    for link, text in (
        ("/analyse", "no link"),
        ("/analyse?digest=1", "digest"),
        ("/analyse?game=chess&net=/etc/passwd", "the net /etc/passwd is not here"),
    ):
        with pytest.raises(ValueError, match=text):
            desk.handle("repeat", {"link": link})
    with pytest.raises(ValueError, match="search first"):
        desk.handle("link", {})


def test_a_copied_link_gives_the_same_tree_elsewhere(windows: Windows, capsys: pytest.CaptureFixture[str]) -> None:
    page = windows.open("/analyse?game=connect4&visits=200&search.solver=on&moves=4+4")
    page.get_by_role("button", name="Search", exact=True).click()
    expect(page.get_by_role("button", name="Go on")).to_be_visible()
    page.get_by_role("button", name="Link", exact=True).click()
    field = page.get_by_label("Link that repeats this search")
    expect(field).not_to_have_value("")
    link = field.input_value()
    assert link.startswith(f"{windows.url}analyse?game=connect4&moves=4+4&net=connect4.safetensors&sha256=")

    assert main.main(["analyse", "--from-link", link]) == 0
    assert f"equal: tree {read_link(link).digest}" in capsys.readouterr().out
    other = windows.open(link)
    expect(other.locator("#notice-link")).to_contain_text(f"equal: tree {read_link(link).digest}")
    expect(other.locator("#moves tbody tr").first).to_contain_text(
        page.locator("#moves tbody tr").first.locator("td").first.inner_text()
    )
    changed = read_link(link).model_copy(update={"sha256": "3" * 64, "digest": "4" * 16})
    other.goto(changed.address)
    expect(other.locator("#notice-link")).to_contain_text("the net connect4.safetensors differs")

    # Another position is no link any more.
    other.locator("#board .target").first.click()
    expect(other.locator("#notice-link")).to_have_count(0)
    assert "digest" not in other.url
