"""Parts of pages that follow files: sent again after a change, and only then."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from hauteur.learning.recipe import Recipe
from hauteur.learning.run_folder import RunFolder
from hauteur.system import folders
from hauteur.system.lock import locked
from hauteur.web import watch
from hauteur.web.app import create_app
from hauteur.web.settings import WebSettings


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TestClient:
    """A server with one run."""
    monkeypatch.setattr(watch, "LIST_PERIOD", 0.0)
    monkeypatch.setattr(folders, "REST", 0.0)  # a busy machine takes its time for a look
    RunFolder(tmp_path / "one").create(Recipe(game="tictactoe"))
    return TestClient(create_app(WebSettings(roots=(tmp_path,))))


def stamp(client: TestClient, address: str, known: str) -> str | None:
    """Return the new state of a part, None where the state that is known still holds."""
    answer = client.get(address, headers={"If-None-Match": known})
    assert answer.status_code in (200, 304)
    assert (answer.status_code == 304) == (answer.text == "")
    return None if answer.status_code == 304 else answer.headers["ETag"]


def test_a_part_is_sent_after_a_change_of_its_files_alone(client: TestClient, tmp_path: Path) -> None:
    client.get("/runs")
    address = f"/runs/figures/{tmp_path.name}/one"
    first = stamp(client, address, "")
    assert first is not None
    assert stamp(client, address, first) is None
    with locked(tmp_path / "one", "learning"):
        assert stamp(client, address, first) is None, "figures do not follow who works there"
        assert stamp(client, address.replace("figures", "progress"), first) is not None
    RunFolder(tmp_path / "one").write_metrics([{"generation": 1}])
    assert stamp(client, address, first) not in (None, first)


@pytest.mark.parametrize("page", ["runs", "matches"])
def test_the_list_is_sent_after_a_folder_is_new(client: TestClient, tmp_path: Path, page: str) -> None:
    first = stamp(client, f"/{page}/list", "")
    assert first is not None
    assert stamp(client, f"/{page}/list", first) is None
    RunFolder(tmp_path / "two").create(Recipe(game="tictactoe"))
    assert stamp(client, f"/{page}/list", first) not in (None, first)


def test_a_page_begins_with_the_state_that_it_shows(client: TestClient) -> None:
    known = stamp(client, "/runs/list", "")
    assert known is not None
    assert f'data-stamp="{known.replace(chr(34), "&#34;")}"' in client.get("/runs").text
