"""The desk of the page Analyse: the tree while it is searched, moments of the search, saved trees, games as text."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from hauteur.games.registry import EXAMPLES, names
from hauteur.web.desks.analyse import AnalyseDesk
from hauteur.web.desks.desk import DeskSettings
from hauteur.web.saved_trees import saved_trees

Shown = Mapping[str, Any]


class Analysed:
    """A desk in a folder of its own, and its events."""

    def __init__(self, root: Path) -> None:
        self.events: list[tuple[str, Shown]] = []
        self._changed = threading.Condition()
        self.desk = AnalyseDesk(self._emit, DeskSettings(roots=(str(root),)))

    def _emit(self, event: str, fields: Shown, *, latest: bool = True) -> None:
        json.dumps(fields, allow_nan=False)
        with self._changed:
            self.events.append((event, fields))
            self._changed.notify_all()

    def ask(self, request: str, **fields: Any) -> Any:
        """Ask the desk; whatever it replies is JSON."""
        return json.loads(json.dumps(self.desk.handle(request, fields), allow_nan=False))

    def wait(self, name: str, condition: Callable[[Shown], bool] = bool) -> Shown:
        """Wait for an event."""

        def found() -> Shown | None:
            return next((fields for event, fields in self.events if event == name and condition(fields)), None)

        with self._changed:
            assert self._changed.wait_for(lambda: found() is not None, 30), [event for event, _ in self.events]
            return found() or {}

    def searched(self, visits: int = 400, **position: Any) -> Shown:
        """Search a position to its end."""
        self.events.clear()
        self.ask("open", **{"net": "uniform", **position})
        self.ask("start", visits=visits)
        return self.wait("done")


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Analysed]:
    made = Analysed(tmp_path / "lab")
    yield made
    made.desk.close()


@pytest.mark.parametrize("game", [*names(), *EXAMPLES])
def test_every_game_shows_its_tree(desk: Analysed, game: str) -> None:
    done = desk.searched(game=game)
    root = desk.ask("tree")["root"]
    assert root["visits"] == done["visits"] == 400
    texts = {move["text"]: move["visits"] for move in done["moves"]}
    assert all(texts[child["move"]] == child["visits"] for child in root["children"])
    line = root["children"][0]["line"]
    look = desk.ask("look", line=line)
    assert (look["moves"], look["position"]["ply"]) == ([root["children"][0]["move"]], 1)
    replies = desk.ask("nodes", lines=[line, [], [60_000]])["nodes"]
    assert [node["line"] for node in replies] == [line, []]
    assert len(replies[1]["children"]) == len(done["moves"])


def test_a_tree_is_read_while_it_is_searched(desk: Analysed) -> None:
    desk.ask("open", game="connect4", net="uniform")
    desk.ask("start")
    desk.wait("report")
    visits = [desk.ask("nodes", lines=[[]])["nodes"][0]["visits"] for _ in range(5)]
    desk.ask("save", form="json", nodes=500)
    saved = desk.wait("saved")
    desk.ask("stop")
    done = desk.wait("done")
    assert visits == sorted(visits)
    assert 0 < visits[0] < done["visits"]
    assert visits[-1] <= saved["visits"] <= done["visits"]
    assert done["reason"] == "stopped"


def test_a_search_goes_on_and_its_moments_can_be_shown(desk: Analysed) -> None:
    first = desk.searched(300, game="connect4")
    desk.events.clear()
    desk.ask("start", visits=900)
    last = desk.wait("done")
    history = desk.ask("history")
    assert history["visits"][-1] == last["visits"] == 900
    assert 300 in history["visits"]
    assert history["seconds"] == sorted(history["seconds"])
    assert last["seconds"] > first["seconds"]
    moment = desk.ask("moment", visits=310)
    assert [move["visits"] for move in moment["moves"]] == [move["visits"] for move in first["moves"]]
    for curve in history["moves"]:
        assert len(curve["visits"]) == len(curve["q"]) == len(history["visits"])


def test_settings_of_the_form_reach_the_search(desk: Analysed) -> None:
    desk.searched(800, game="connect4", search={"search_contempt.n_scl": "6", "solver": "on"}, seed=4)
    nodes = desk.ask("nodes", lines=[child["line"] for child in desk.ask("tree")["root"]["children"]])["nodes"]
    assert any(node["frozen"] and any(child["drawn"] for child in node["children"]) for node in nodes)
    desk.searched(60, game="tictactoe", large_net="rollout", search={"second_net.large_visits": "100"})
    assert any(child["large_visits"] for child in desk.ask("tree")["root"]["children"])


def test_a_tree_is_saved_found_again_and_looked_into(desk: Analysed, tmp_path: Path) -> None:
    desk.searched(game="connect4", moves=["4", "3"], search={"solver": "on"}, seed=7)
    before = desk.ask("nodes", lines=[[]])["nodes"][0]
    for form in ("json", "parquet"):
        desk.events.clear()
        desk.ask("save", form=form)
        name = desk.wait("saved")["name"]
        assert desk.ask("saved")["trees"][0] == name
        assert name.endswith(form)
        desk.searched(50, game="chess")
        loaded = desk.ask("load", name=name)
        assert (loaded["game"], loaded["moves"]) == ("connect4", ["4", "3"])
        assert loaded["facts"]["seed"] == 7
        assert loaded["facts"]["settings"]["solver"] is not None
        assert [child["visits"] for child in loaded["top"]["children"]] == [
            child["visits"] for child in before["children"] if child["visits"]
        ]
        assert desk.ask("look", line=before["children"][0]["line"])["position"]["ply"] == 3
        desk.searched(game="connect4", moves=["4", "3"], search={"solver": "on"}, seed=7)
        assert desk.ask("nodes", lines=[[]])["nodes"][0] == before, "the search is looked into again"
    assert sorted(path.parent.name for path in saved_trees([str(tmp_path / "lab")]).values()) == ["trees"] * 2
    for name in ("../secret.json", "lab/trees/none.json", "/etc/passwd"):
        with pytest.raises(ValueError, match="there is no saved tree"):
            desk.ask("load", name=name)


def test_the_board_is_turned_round_at_every_node(desk: Analysed) -> None:
    with pytest.raises(ValueError, match="there is no position yet"):
        desk.ask("view", line=[], flip=True)
    desk.searched(50, game="chess")
    here, turned = desk.ask("view", line=[])["position"], desk.ask("view", line=[], flip=True)["position"]
    assert (here["notation"], here["svg"] != turned["svg"]) == (turned["notation"], True)
    line = desk.ask("tree")["root"]["children"][0]["line"]
    assert desk.ask("view", line=line, flip=True)["position"] == desk.ask("look", line=line, flip=True)["position"]


def test_games_are_read_from_text(desk: Analysed) -> None:
    read = desk.ask("read", text='[Event "x"]\n\n1. e4 e5 2. Nf3 *', game="connect4")
    opened = desk.ask("open", game=read["game"], moves=read["moves"], net="uniform")
    assert opened["position"]["ply"] == 3
    assert desk.ask("read", text="(;GM[1]FF[4]SZ[7];B[aa];W[bb])")["game"].startswith("nogo")
    with pytest.raises(ValueError, match="the text is empty"):
        desk.ask("read", text=" ")


def test_requests_that_make_no_sense_are_refused_in_one_line(desk: Analysed) -> None:
    wrong: list[tuple[str, dict[str, Any], str]] = [
        ("start", {}, "there is no position yet"),
        ("tree", {}, "nothing was searched here yet"),
        ("moment", {"visits": 5}, "nothing was searched here yet"),
        ("save", {"nodes": 10**9}, "nodes"),
        ("nodes", {"lines": [[1]] * 101}, "at most 100"),
        ("nodes", {"lines": [[-1]]}, "lines"),
        ("open", {"net": "/etc/passwd"}, "there is no net"),
        ("open", {"game": "connect4", "search": {"n_scl": "5"}}, "n_scl is not a setting"),
    ]
    for request, fields, words in wrong:
        with pytest.raises(ValueError, match=words):
            desk.ask(request, **fields)
    desk.ask("open", game="tictactoe", moves=["a1", "b1", "a2", "b2", "a3"], net="uniform")
    with pytest.raises(ValueError, match="the game is over here"):
        desk.ask("start")
    assert desk.ask("nets")["nets"][-2:] == ["uniform", "rollout"]


def test_a_game_without_a_net_is_searched_with_random_games(desk: Analysed) -> None:
    opened = desk.ask("open", game="nogo(size=4)")
    assert opened["net"] == "rollout"
    desk.ask("start", visits=50)
    assert desk.wait("done")["visits"] == 50
