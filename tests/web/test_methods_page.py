"""The page Methods: methods with a form to try them, results of experiments with their figures and matches."""

import json
import re
from pathlib import Path

import pytest
from lab_browser import NARROW, Windows, axe_faults, too_wide
from playwright.sync_api import expect
from starlette.testclient import TestClient

import hauteur as ht
from hauteur.plots import Figure, Series
from hauteur.studies.methods import methods
from hauteur.web.app import create_app
from hauteur.web.pages.matches import address as match_address
from hauteur.web.pages.methods import PAGE as METHODS
from hauteur.web.settings import WebSettings
from hauteur_experiments import Experiment, Finding, Result, Setting, make_experiment, stated

RESULTS = f"{METHODS.path}/results"


@pytest.fixture
def client(tmp_path: Path) -> TestClient:
    """A server without sessions."""
    return TestClient(create_app(WebSettings(roots=(tmp_path,))), raise_server_exceptions=False)


def made_experiment(folder: Path) -> None:
    """An experiment with a finding, a figure and a match."""
    figure = Figure("heat", "Heat", "Of the sun.", "K", lines=(Series("sun", [1.0, 2.0], [5.0, 6.0]),))
    findings = [Finding("hot", "6000 K", "holds")]

    def run(setting: Setting) -> Result:
        ht.play_match("random", "random", "tictactoe", games=2, out=setting.folder / "m")
        return Result([{"n": 1}], findings, [figure], ["as text"])

    make_experiment(
        Experiment("sun", "nobody, 2026", "How hot it is", run, stated("nobody", "hot | the sun is <hot> | 5772 K")),
        Setting(folder, show=lambda line: None),
    )


def test_methods_and_experiments_are_listed_with_results(client: TestClient, tmp_path: Path) -> None:
    made_experiment(tmp_path / "sun 1")
    page = client.get("/methods").text
    assert all(f'href="/methods/{method.name}"' in page for method in methods())
    assert "contempt-wdl" in page
    address = f"{RESULTS}/{tmp_path.name}/sun%201"
    assert f'href="{address}"' in page
    assert "How hot it is: 1 holds" in page
    result = client.get(address).text
    for part in ("the sun is &lt;hot&gt;", "6000 K", "<polyline", "as text", "2 games"):
        assert part in result
    assert f'href="{match_address(f"{tmp_path.name}/sun 1/m")}"' in result
    assert "style=" not in result


def test_an_experiment_without_a_result_or_with_a_damaged_one(client: TestClient, tmp_path: Path) -> None:
    made_experiment(tmp_path / "sun")
    address = f"{RESULTS}/{tmp_path.name}/sun"
    (tmp_path / "sun" / "result.json").write_text(json.dumps({"rows": []}))
    assert "not the result of an experiment" in client.get(address).text
    assert "result.json cannot be read" in client.get("/methods").text
    (tmp_path / "sun" / "result.json").unlink()
    assert "has no result yet" in client.get(address).text
    assert client.get(f"{RESULTS}/{tmp_path.name}/sun/m").status_code == 404
    assert client.get(f"{METHODS.path}/nonsense").status_code == 404


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
