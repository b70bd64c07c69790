"""The page Methods: methods with a form to try them, and experiments."""

import re
from pathlib import Path

from lab_browser import NARROW, Windows, axe_faults, too_wide
from playwright.sync_api import expect
from starlette.testclient import TestClient

import hauteur as ht
from hauteur.mcts.methods import methods
from hauteur.web.pages.matches import address as match_address


def test_methods_and_experiments_are_listed(client: TestClient, tmp_path: Path) -> None:
    """Matches of an experiment are on the page Matches."""
    with ht.ExperimentFolder(tmp_path / "sun").open({"experiment": "sun"}):
        ht.play_match("random", "random", "tictactoe", games=2, out=tmp_path / "sun" / "m")
    page = client.get("/methods").text
    assert all(f'href="/methods/{method.name}"' in page for method in methods())
    assert "contempt-wdl" in page
    assert f'href="{match_address(f"{tmp_path.name}/sun/m")}"' in client.get("/matches").text
    assert client.get("/methods" + "/nonsense").status_code == 404


def test_links_of_a_page_lead_to_pages_of_methods(client: TestClient) -> None:
    for method in methods():
        page = client.get(f"/methods/{method.name}").text
        links = re.findall(r"<article.*?</article>", page, flags=re.DOTALL)
        found = re.findall(r'href="([^"#]+)', links[0])
        assert all(link.startswith("https://") or client.get(link).status_code == 200 for link in found)


def test_a_method_is_tried_from_its_page(windows: Windows) -> None:
    page = windows.open("/methods", size=NARROW)
    assert axe_faults(page) == []
    assert too_wide(page) == []
    page.get_by_role("link", name="Search-contempt", exact=True).click()
    expect(page.locator("h1")).to_have_text("Search-contempt")
    page.wait_for_load_state()
    assert too_wide(page) == []
    assert axe_faults(page) == []
    page.locator("[name='game']").select_option("connect4")
    expect(page.get_by_label("FEN")).to_have_value("")
    page.locator("[name='game']").select_option("chess")
    expect(page.get_by_label("FEN")).not_to_have_value("")
    page.get_by_label("Visits").fill("40")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator("#command")).to_contain_text("search_contempt.n_scl=5")
    expect(page.get_by_label("Visits")).to_have_value("40")
    expect(page.locator("#board svg").first).to_be_visible()
