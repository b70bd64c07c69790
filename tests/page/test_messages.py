"""The sessions of the page answer as those of `hauteur web` do, and its searches give the trees of the wheel."""

import itertools
import json
from collections.abc import Iterator
from typing import Any

import pytest
from lab_browser import Windows
from page_client import PageClient
from playwright.sync_api import Browser, Route
from tree_digests import BATCH, NETS, POSITIONS, SEED, VISITS, digest, evaluator, position

from hauteur.engine.nets import NetChoice
from hauteur.games.registry import load_game, names
from hauteur.mcts.params import SearchParams
from hauteur.networks.evaluators.base import UniformEvaluator
from hauteur.studies.explain.explain import children_json, explain
from hauteur.studies.explain.question import Question, Searches, Side
from hauteur.web.positions import position_view
from hauteur.web.sessions.analyse import AnalyseSession
from hauteur.web.sessions.play import PlaySession
from hauteur.web.sessions.session import PageSession, SessionSettings

GAMES = [*names(), "nogo(size=7)", "go(size=5)", "hex(size=4)", "chess(odds=queen)"]


def wheel(kind: type[PageSession], request: str, **fields: Any) -> dict[str, Any]:
    """The wheel's reply, as JSON has it."""
    session = kind(lambda *_, **__: None, SessionSettings())
    found: dict[str, Any] = json.loads(json.dumps(session.handle(request, fields)))
    session.close()
    return found


@pytest.mark.parametrize("game", GAMES)
def test_positions(client: PageClient, game: str) -> None:
    """Drawings, squares, legal moves and captions along a game, seen from both sides."""
    client.connect("analyse")
    state = load_game(game).new_initial_state()
    moves: list[str] = []
    for ply, flip in zip(range(24), itertools.cycle((False, False, True)), strict=False):
        expected = json.loads(json.dumps(position_view(state, flip=flip)))
        found = client.ask("open", game=game, moves=moves, flip=flip, net="uniform")
        assert found["position"] == expected, ply
        legal = state.legal_actions()
        if state.outcome() is not None or not len(legal):
            break
        action = int(legal[(3 * ply + 1) % len(legal)])
        moves.append(state.action_to_text(action))
        state.apply(action)


@pytest.mark.parametrize("game", GAMES)
def test_descriptions(client: PageClient, game: str) -> None:
    client.connect("play")
    ours = client.ask("describe", game=game)
    theirs = wheel(PlaySession, "describe", game=game)
    for found in (ours, theirs):  # opponents by rating depend on the nets that were downloaded, and built in
        found["players"] = [one for one in found["players"] if not one["text"].startswith("human-")]
    assert ours == theirs


@pytest.mark.parametrize(
    ("odds", "gives", "start", "toggle"),
    [
        ("queen", "white", 518, ""),
        ("queen + rook", "white", 518, "b1"),
        ("knight + pawn", "black", 518, ""),
        ("two rooks", "white", 356, ""),
        ("queen for knight", "black", 0, "a8"),
        ("", "white", 959, ""),
    ],
)
def test_handicaps(client: PageClient, odds: str, gives: str, start: int, toggle: str) -> None:
    client.connect("play")
    given = {"odds": odds, "gives": gives, "start": start, "toggle": toggle, "flip": gives == "white"}
    assert client.ask("odds", **given) == wheel(PlaySession, "odds", **given)


TEXTS = (
    '[White "A"]\n[Black "B"]\n[Result "0-1"]\n\n1. e4 {best} e5 (1... c5 2. Nf3) 2. Qh5?! Nc6 $1 0-1',
    "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1",
    "1. d4 d5 2. c4",
)


@pytest.mark.parametrize("text", TEXTS)
def test_texts(client: PageClient, text: str) -> None:
    client.connect("play")
    assert client.ask("read", text=text, game="chess") == wheel(PlaySession, "read", text=text, game="chess")
    client.connect("analyse")
    assert client.ask("read", text=text, game="chess") == wheel(AnalyseSession, "read", text=text, game="chess")


@pytest.mark.parametrize(
    "order",
    [
        {"game": "nothing"},
        {"game": "chess", "fen": "x"},
        {"game": "chess", "moves": ["e9"]},
        {"game": "chess", "net": "no-net"},
        {"game": "chess", "search": {"cpuct.init": "-1"}},
        {"game": "chess", "search": {"no_setting": "1"}},
    ],
)
def test_bad_input_is_one_line(client: PageClient, order: dict[str, Any]) -> None:
    client.connect("analyse")
    with pytest.raises(ValueError, match=r"^[^\n]{10,400}$"):
        client.ask("open", **order)


@pytest.mark.parametrize("game", ["tictactoe", "connect4", "chess"])
def test_explanations(client: PageClient, game: str) -> None:
    """Every figure of a comparison, but the name of the evaluator."""
    words = {"search_contempt.n_scl": "5"}
    start = load_game(game).new_initial_state()
    contempt = SearchParams.model_validate({"search_contempt": {"n_scl": 5}})
    sides = (
        Side("net=uniform search_contempt.n_scl=5", NetChoice("uniform"), contempt),
        Side("net=uniform", NetChoice("uniform"), SearchParams()),
    )
    client.connect("explain")
    client.ask("start", game=game, visits=300, a={"net": "uniform", "settings": words}, b={"net": "uniform"})
    found = client.event("done")
    with Searches(Question(start, (), *sides, visits=300)) as searches:
        expected = json.loads(json.dumps(explain(Question(start, (), *sides, visits=300), searches)))
        line = expected["tree"]["shifts"][0]["line"][:-1]
        both = searches.of(sides[0]), searches.of(sides[1])
        children = json.loads(json.dumps(children_json(*both, tuple(line))))
    for one in (found, expected):
        for side in one["sides"].values():
            del side["evaluator"]
    changes = [one["rules"][0]["ablation"].pop("mean_change") for one in (found, expected)]
    assert changes[0] == pytest.approx(changes[1], rel=1e-12)
    assert found == expected
    assert client.ask("children", line=line)["children"] == children


# -- trees -------------------------------------------------------------------------------------------------------------


SETTINGS: tuple[dict[str, str], ...] = ({}, {"search_contempt.n_scl": "5"}, {"solver": "on", "cpuct.init": "2.5"})


PLAIN = 'export const coreFile = () => "static/core_bg.wasm";'
"""The choice of a build as a browser without relaxed SIMD makes it."""


@pytest.fixture(scope="module")
def plain_windows(browser: Browser, host: str) -> Iterator[Windows]:
    """Holds a window of a browser without relaxed SIMD."""
    opened = Windows(browser, host)
    page = opened.open("keys.html")
    # Before a worker has begun: while one ends, Chromium may never answer that it looks at requests.
    page.context.route("**/builds.js", lambda route: route.fulfill(body=PLAIN, content_type="text/javascript"))
    yield opened
    opened.close()


@pytest.fixture(params=["relaxed", "plain"])
def built(request: pytest.FixtureRequest) -> Iterator[tuple[PageClient, str]]:
    """A client of each build of the core that a page may take: this browser's, that of one without relaxed SIMD."""
    windows = request.getfixturevalue("shared_windows" if request.param == "relaxed" else "plain_windows")
    client = PageClient(windows.contexts[0].pages[0])
    yield client, request.param
    client.leave()
    windows.check()


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda settings: "-".join(settings) or "plain")
@pytest.mark.parametrize(("game", "fen", "plies"), POSITIONS)
def test_same_trees(built: tuple[PageClient, str], game: str, fen: str, plies: int, settings: dict[str, str]) -> None:
    """The plain build has the bits of `unfused`, the other those of every processor with a fused multiply-add."""
    client, build = built
    state, moves = position(game, fen, plies)
    client.connect("explain")
    sides = {"a": {"net": "uniform", "settings": settings}, "b": {"net": NETS[game], "settings": settings}}
    question = {"visits": VISITS, "seed": SEED, "batch_size": BATCH, **sides}
    client.ask("start", game=game, fen=fen, moves=moves, **question)
    found = client.event("done")["sides"]
    used = found["b"]["evaluator"].split()[-1]
    assert used in (
        ("simd128",) if build == "plain" else ("relaxed-simd", "simd128")
    )  # the second where nothing is fused
    wheel_form = "unfused" if used == "simd128" else None
    assert found["a"]["digest"] == digest(state, UniformEvaluator(state.game), settings)
    assert found["b"]["digest"] == digest(state, evaluator(state, game, wheel_form), settings)


def test_a_net_has_the_search_that_it_carries(client: PageClient) -> None:
    """Under what the page gives, as in the wheel."""
    moves = ["H8", "A1", "J8", "C1", "K8", "E1"]
    state = load_game("gomoku").new_initial_state()
    for move in moves:
        state.apply(state.parse(move))
    client.connect("explain")
    given: dict[str, dict[str, str]] = {"a": {}, "b": {"solver.threats": "0"}}
    sides = {name: {"net": "gomoku15", "settings": settings} for name, settings in given.items()}
    client.ask("start", game="gomoku", moves=moves, visits=60, seed=SEED, batch_size=BATCH, **sides)
    found = client.event("done")["sides"]
    for name, settings in given.items():
        form = "unfused" if found[name]["evaluator"].endswith("simd128") else None
        played = {"solver.threats": "1000", "solver.lost_child_mode": "zero_prior", **settings}
        assert found[name]["digest"] == digest(state, evaluator(state, "gomoku", form), played, 60)
    assert found["a"]["digest"] != found["b"]["digest"]


@pytest.mark.parametrize("cores", [1, 2, 4])
def test_the_same_tree_with_any_number_of_workers(windows: Windows, cores: int) -> None:
    """More workers than cores answer as well; what they share are messages."""
    client = PageClient(windows.open("keys.html"))
    client.page.context.route("**/shares.js", lambda route: _with_cores(route, cores))
    client.connect("explain")
    settings = {"search_contempt.n_scl": "20"}
    side = {"net": "connect4", "settings": settings}
    client.ask("start", game="connect4", visits=3000, seed=SEED, batch_size=64, a=side, b=side)
    state, _ = position("connect4", "", 0)
    found = client.event("done")["sides"]["a"]
    form = "unfused" if found["evaluator"].endswith("simd128") else None
    assert found["digest"] == digest(state, evaluator(state, "connect4", form), settings, 3000, 64)
    client.leave()
    windows.check()


def _with_cores(route: Route, cores: int) -> None:
    """Let the script believe that there are so many cores."""
    text = route.fetch().text()
    assert "navigator.hardwareConcurrency ?? 1" in text
    route.fulfill(body=text.replace("navigator.hardwareConcurrency ?? 1", str(cores)), content_type="text/javascript")
