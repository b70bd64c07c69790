"""Watching folders: notices of changes, and when they come; without a listener nothing is looked at."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient, WebSocketTestSession

from hauteur.learning.recipe import Recipe
from hauteur.learning.run_folder import RunFolder
from hauteur.web import watch
from hauteur.web.app import create_app
from hauteur.web.settings import WebSettings


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TestClient:
    """A server without sessions, with one run."""
    monkeypatch.setattr(watch, "PERIOD", 0.01)
    monkeypatch.setattr(watch, "LIST_PERIOD", 0.01)
    RunFolder(tmp_path / "one").create(Recipe(game="tictactoe"))
    return TestClient(create_app(WebSettings(roots=(tmp_path,))))


@pytest.fixture
def socket(client: TestClient) -> Iterator[WebSocketTestSession]:
    with client.websocket_connect("/live/watch") as socket:
        assert socket.receive_json() == {"event": "ready", "fields": {}}
        yield socket


def asked(socket: WebSocketTestSession, **fields: Any) -> Any:
    socket.send_text(json.dumps({"id": 1, "do": "watch", "fields": fields}))
    return socket.receive_json()


def test_a_page_hears_of_what_it_watches(socket: WebSocketTestSession, tmp_path: Path) -> None:
    root = tmp_path.name
    assert asked(socket, names=[f"{root}/one"]) == {"id": 1, "reply": {}}
    first = socket.receive_json()
    assert (first["event"], first["fields"]["name"]) == ("changed", f"{root}/one")
    assert set(first["fields"]["version"]) == {"config.toml"}
    RunFolder(tmp_path / "one").write_metrics([{"generation": 1}])
    second = socket.receive_json()["fields"]["version"]
    assert set(second) == {"config.toml", "metrics.jsonl"}
    assert second["config.toml"] == first["fields"]["version"]["config.toml"]


def test_folders_that_are_new(socket: WebSocketTestSession, tmp_path: Path) -> None:
    root = tmp_path.name
    asked(socket, names=[f"{root}/two"])
    assert socket.receive_json()["fields"] == {"name": f"{root}/two", "version": {}}
    RunFolder(tmp_path / "two").create(Recipe(game="tictactoe"))
    assert "config.toml" in socket.receive_json()["fields"]["version"]
    asked(socket, names=[""])
    before = socket.receive_json()["fields"]
    assert (before["name"], set(before["version"])) == ("", {"list"})
    RunFolder(tmp_path / "three").create(Recipe(game="tictactoe"))
    assert socket.receive_json()["fields"]["version"] != before["version"]


@pytest.mark.parametrize(
    ("message", "error"),
    [
        ("no JSON", "not a message"),
        ('{"id": 1, "do": "watch", "fields": {"names": "x"}}', "watch: names"),
        ('{"id": 1, "do": "watch", "fields": {"names": [' + ",".join(['"x"'] * 65) + "]}}", "at most 64"),
        ('{"id": 1, "do": "delete", "fields": {}}', "there is no request 'delete'; there is watch"),
        ("[" * 5000, "not a message"),
    ],
)
def test_wrong_messages(socket: WebSocketTestSession, message: str, error: str) -> None:
    socket.send_text(message)
    assert error in socket.receive_json()["error"]
    assert asked(socket, names=[]) == {"id": 1, "reply": {}}


def test_without_a_listener_nothing_is_looked_at(client: TestClient) -> None:
    app: Any = client.app
    watcher = app.state.lab.watcher
    with client:
        with client.websocket_connect("/live/watch") as socket:
            socket.receive_json()
            task = watcher._task
            assert not task.done()
        for _ in range(100):
            client.get("/static/icon.svg")
            if task.done():
                break
        assert task.done()
