"""The page Matches: what is played now is shown now, after a reload and by another server."""

import json
import re
from pathlib import Path
from urllib.parse import quote

import pytest
from lab_browser import PHONE, Windows, axe_faults, too_small, too_wide
from playwright.sync_api import expect
from starlette.testclient import TestClient

import hauteur as ht
from hauteur.cli.main import main
from hauteur.matches.report.stored import StoredMatch
from hauteur.system.lock import locked
from hauteur.web.pages.matches import PAGE as MATCHES


@pytest.fixture
def played(lab_root: Path) -> tuple[Path, list[str]]:
    """A match of which ten games are finished, and the lines of further ones, as a process that plays writes them."""
    folder = lab_root / "cup" / "live"
    ht.sprt("random", "mcts:20", "tictactoe", max_games=30, elo0=-1, elo1=0, out=folder)
    lines = (folder / "games.jsonl").read_text().splitlines(keepends=True)
    (folder / "games.jsonl").write_text("".join(lines[:10]))
    result = json.loads((folder / "result.json").read_text())
    (folder / "result.json").write_text(json.dumps({**result, "complete": False}))
    return folder, lines[10:]


def test_a_running_match_is_seen_live_after_a_reload_and_by_another_server(
    windows: Windows, lab_root: Path, played: tuple[Path, list[str]], request: pytest.FixtureRequest
) -> None:
    folder, lines = played
    with locked(folder, "playing"):
        page = windows.open("/matches")
        page.get_by_role("row", name=f"{lab_root.name}/cup/live").get_by_role("link").click()
        state = page.locator("#state")
        llr = page.get_by_text("LLR", exact=False).first
        expect(state).to_contain_text("running")
        expect(state).to_contain_text("10 of 30 games")
        with (folder / "games.jsonl").open("a") as file:
            file.write("".join(lines[:10]))
        expect(state).to_contain_text("20 of 30 games")
        expect(llr).to_be_visible()

        page.locator("button[data-game]").last.click()
        title = page.locator("#title")
        expect(title).to_contain_text("mcts:20")
        opened = title.inner_text()
        page.reload()
        expect(title).to_have_text(opened)
        expect(page.locator(".walk-moves button").first).to_be_visible()
        page.keyboard.press("ArrowRight")  # wherever the focus is
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowLeft")
        expect(page.locator(".walk-moves button").first).to_have_attribute("aria-current", "")

        second = request.getfixturevalue("second_lab")
        there = windows.browser.new_context(base_url=second.url).new_page()
        windows.contexts.append(there.context)
        there.goto(page.url.replace(windows.url, second.url))
        expect(there.locator("#state")).to_contain_text("running")
        expect(there.locator("#title")).to_have_text(opened)
    expect(state).to_contain_text("not finished")
    match = StoredMatch(folder)
    assert match.tally.test is not None
    expect(llr).to_contain_text(f"LLR {match.tally.test.llr:+.2f}")
    assert axe_faults(page) == []
    assert too_wide(page) == []


def test_a_match_on_a_phone(windows: Windows, lab_root: Path) -> None:
    ht.play_match("random", "mcts:5", "tictactoe", games=30, out=lab_root / "phone")
    page = windows.open("/matches", **PHONE)
    row = page.get_by_role("row", name=f"{lab_root.name}/phone")
    expect(row).to_contain_text("30 games")
    assert axe_faults(page) == []
    assert too_small(page) + too_wide(page) == []
    with page.expect_navigation():  # to the end of loading: the script that answers the buttons comes with the page
        row.get_by_role("link").tap()
    page.locator("button[data-game]").last.tap()
    expect(page.locator(".walk-moves button").first).to_be_visible()
    assert too_small(page) + too_wide(page) == []


def test_a_tournament_has_a_list_and_a_page_for_each_pairing(client: TestClient, tmp_path: Path) -> None:
    ht.tournament(["random", "mcts:5", "mcts:50"], "tictactoe", games=4, out=tmp_path / "a cup")
    name = f"{quote(tmp_path.name)}/a%20cup"
    listed = client.get(f"{MATCHES.path}/list").text
    assert f'href="{MATCHES.path}/of/{name}"' in listed
    assert "12 games" in listed
    assert "/1-2" not in listed
    page = client.get(f"{MATCHES.path}/of/{name}").text
    assert f'href="{MATCHES.path}/of/{name}/1-2"' in page
    assert "finished, 12 games" in page
    pairing = client.get(f"{MATCHES.path}/of/{name}/2-3").text
    assert f'href="{MATCHES.path}/of/{name}"' in pairing
    assert "mcts:5 against mcts:50" in pairing
    walk = client.get(f"{MATCHES.path}/game/{name}/2-3?number=3").json()
    assert walk["title"].startswith("4. mcts:50 - mcts:5")
    assert len(walk["cells"]) == len(walk["moves"]) + 1
    assert client.get(f"{MATCHES.path}/game/{name}?number=0").status_code == 404


def test_tunings_have_pages(client: TestClient, tmp_path: Path) -> None:
    words = ["--parameter", "cpuct.init=0.5:3", "--iterations", "2", "--games", "4", "--verification", "0"]
    tuning = tmp_path / "tuned"
    assert main(["tune", "strength", "net=uniform visits=4", *words, "--game", "tictactoe", "--out", str(tuning)]) == 0
    listed = client.get(f"{MATCHES.path}/list").text
    assert "2 iterations" in listed
    page = client.get(f"{MATCHES.path}/of/{tmp_path.name}/tuned").text
    assert f'href="{MATCHES.path}/of/{tmp_path.name}/tuned/iteration-0002"' in page
    assert "Tuning for strength: tictactoe" in page


def test_games_come_a_page_at_a_time_the_newest_first(client: TestClient, tmp_path: Path) -> None:
    ht.play_match("random", "random", "tictactoe", games=40, out=tmp_path / "m")
    name = f"{tmp_path.name}/m"
    first, second = (client.get(f"{MATCHES.path}/games/{name}?first={number}").text for number in (0, 25))
    assert [re.findall(r'data-game="(\d+)"', part)[0] for part in (first, second)] == ["39", "14"]
    assert len(re.findall("data-game", second)) == 15
    assert "1 to 25 of 40" in first
    assert "style=" not in client.get(f"{MATCHES.path}/of/{name}").text


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("of/{}/x", 404),
        ("of/../{}/m", 404),
        ("of/{}/m/../m", 404),
        ("game/{}/m?number=-1", 400),
        ("game/{}/m?number=40", 400),
        ("games/{}/m?first=x", 400),
    ],
)
def test_what_is_not_there_is_said_in_words(client: TestClient, tmp_path: Path, path: str, status: int) -> None:
    ht.play_match("random", "random", "tictactoe", games=2, out=tmp_path / "m")
    answer = client.get(f"{MATCHES.path}/{path.format(tmp_path.name).replace('..', '%2e%2e')}")
    assert answer.status_code == status
    assert "<h1>Error" in answer.text


def test_a_damaged_match_is_named(client: TestClient, tmp_path: Path) -> None:
    ht.play_match("random", "random", "tictactoe", games=2, out=tmp_path / "m")
    with (tmp_path / "m" / "games.jsonl").open("a") as file:
        file.write("nonsense\n")
    assert "line 3: not a game" in client.get(f"{MATCHES.path}/standing/{tmp_path.name}/m").text
    assert client.get(f"{MATCHES.path}/of/{tmp_path.name}/m").status_code == 400
