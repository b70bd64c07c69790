"""The page Runs without a browser: what it shows of runs, what it refuses."""

import json
import re
import shutil
from html import unescape
from pathlib import Path

import pytest
from report_toys import folder_with, line
from starlette.testclient import TestClient

from hauteur.system import extras
from hauteur.system.files import write_json
from hauteur.system.lock import locked
from hauteur.web.app import create_app
from hauteur.web.settings import WebSettings


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A root with two runs of tic-tac-toe and one of Connect Four."""
    place = tmp_path / "lab"
    folder_with(place / "ttt" / "one", [line(1), line(2)], run={"generations": 5, "tag": "one"})
    folder_with(place / "ttt" / "two", [line(1)], run={"generations": 1, "tag": "two"}, selfplay={"visits": 7})
    folder_with(place / "four", [], game="connect4")
    return place


@pytest.fixture
def client(place: Path) -> TestClient:
    return TestClient(create_app(WebSettings(roots=(place,), threads=1)))


def test_the_list_has_every_run(client: TestClient, place: Path) -> None:
    with locked(place / "four", "learning"):
        text = client.get("/runs").text
    rows = text.split("<tr>")[2:]
    assert rows[0].split("</a>")[0].endswith(">connect4: four")
    assert 'class="state running">running' in rows[0]
    (one,) = (row for row in rows if "tictactoe: one" in row)
    assert "2 of 5" in one
    assert "+140" in one
    assert 'href="/runs/run/lab/ttt/one"' in one
    (place / "ttt" / "one" / "metrics.jsonl").write_text("nonsense")
    assert "not JSON" in client.get("/runs/list").text


def test_a_run_and_its_figures_by_an_axis(client: TestClient, place: Path) -> None:
    text = client.get("/runs/run/lab/ttt/one?by=budget").text
    assert "2 of 5 generations, stopped" in text
    assert 'href="?by=budget" aria-current="true"' in text
    assert f"hauteur train {place}/ttt/one/config.toml --run {place}/ttt/one" in text
    part = client.get("/runs/figures/lab/ttt/one?by=games").text
    assert 'href="?by=games" aria-current="true"' in part
    assert 'href="?by=time"' in part
    assert "there is no axis" in client.get("/runs/figures/lab/ttt/one?by=%3Cb%3E").text
    assert "no axis" in client.get("/runs/run/lab/ttt/one?by=evaluations").text
    write_json(place / "ttt" / "one" / "progress.json", {"generation": 3})
    assert "progress.json: generations is missing" in client.get("/runs/progress/lab/ttt/one").text
    assert "No generation is finished yet" in client.get("/runs/run/lab/four").text


def test_figures_are_drawn_again_after_a_generation(client: TestClient, place: Path) -> None:
    assert "<b>100</b><span>games</span>" in client.get("/runs/figures/lab/ttt/one").text
    (place / "ttt" / "one" / "metrics.jsonl").write_text("".join(json.dumps(line(i)) + "\n" for i in (1, 2, 3)))
    assert "<b>150</b><span>games</span>" in client.get("/runs/figures/lab/ttt/one").text


@pytest.mark.parametrize(
    "name", ["lab", "lab/ttt", "lab/ttt/three", "%2e%2e", "lab/%2e%2e/lab/four", "lab//four", "x%00y"]
)
def test_runs_that_there_are_not(client: TestClient, name: str) -> None:
    answer = client.get(f"/runs/run/{name}")
    assert answer.status_code in (400, 404)
    assert "there is no run" in answer.text or "There is no page" in answer.text


def test_games_that_cannot_be_shown(client: TestClient, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "No games yet" in client.get("/runs/games/lab/ttt/one").text
    (place / "ttt" / "one" / "games" / "gen-00001-0000.parquet").write_bytes(b"PAR1")
    assert "not a whole Parquet file" in client.get("/runs/games/lab/ttt/one").text
    assert "there are no games of generation 9" in client.get("/runs/games/lab/ttt/one?generation=9").text
    assert client.get("/runs/games/lab/ttt/one?game=-1").status_code == 400
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    text = client.get("/runs/games/lab/ttt/one").text
    assert "replaying games of a run needs pyarrow, not installed here" in text


def test_folders_of_any_name(client: TestClient, place: Path) -> None:
    name = """a <b> & "c" #?%'""" + "\u00e9"
    folder_with(place / name, [line(1)], run={"generations": 5})
    text = client.get("/runs").text
    (address,) = re.findall(r'href="(/runs/run/lab/a[^"]*)"', text)
    page = client.get(unescape(address)).text
    assert "1 of 5 generations, stopped" in page
    (follows,) = re.findall(r'data-part="(/runs/progress/[^"]*)"', page)
    assert "1 of 5 generations, stopped" in client.get(unescape(follows)).text
    assert "<b>" not in unescape(address)


def test_a_run_that_has_gone(client: TestClient, place: Path) -> None:
    assert client.get("/runs/run/lab/ttt/one").status_code == 200
    shutil.rmtree(place / "ttt" / "one")
    assert "config.toml" in client.get("/runs/figures/lab/ttt/one").text
    assert "tictactoe: one" not in client.get("/runs").text
    assert client.get("/runs/run/lab/ttt/one").status_code == 400
