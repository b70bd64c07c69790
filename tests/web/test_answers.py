"""Answers of the whole application behind its policy: faults are pages in words, no name leads out of the roots."""

from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient

from hauteur.web.app import create_app
from hauteur.web.pages import all_pages
from hauteur.web.safety import HEADERS, AccessMiddleware, AccessPolicy
from hauteur.web.settings import WebSettings

OWN = "http://127.0.0.1:8000"


async def fault(request: Request) -> Response:
    raise KeyError("where")


@pytest.fixture
def client(tmp_path: Path) -> TestClient:
    app = create_app(WebSettings(roots=(tmp_path,)))
    app.router.routes.insert(0, Route("/fault", fault))
    return TestClient(AccessMiddleware(app, AccessPolicy()), base_url=OWN, raise_server_exceptions=False)


def test_a_fault_is_a_page_in_words(client: TestClient) -> None:
    answer = client.get("/fault")
    assert answer.status_code == 500
    assert "The program has a fault here (KeyError)" in answer.text
    assert "Traceback" not in answer.text
    assert HEADERS.items() <= dict(answer.headers).items()


def test_no_page_takes_more_than_questions() -> None:
    routes = [route for route in all_pages().routes if isinstance(route, Route)]
    assert routes
    assert all((route.methods or set()) <= {"GET", "HEAD"} for route in routes)


@pytest.mark.parametrize(
    "path", ["/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/static//etc/passwd", "/static/%00"]
)
def test_static_files_are_those_of_the_package_alone(client: TestClient, path: str) -> None:
    assert client.get(path).status_code in (400, 404)


@pytest.mark.parametrize("address", [*[f"/runs/{what}" for what in ("run", "games", "figures")], "/matches" + "/of"])
@pytest.mark.parametrize("name", ["../../etc", "%2e%2e/%2e%2e/etc", "/etc", "x%2f..%2f..%2f..", "%00", "C:%5CWindows"])
def test_names_from_outside_lead_nowhere(client: TestClient, address: str, name: str) -> None:
    answer = client.get(f"{address}/{name}")
    assert answer.status_code in (400, 404) or "there is no" in answer.text
    assert "root:x:" not in answer.text
