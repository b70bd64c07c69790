"""The session of the page Analyse: the tree while it is searched, moments of the search, saved trees, games as text."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from session_events import Events

from hauteur.games.registry import EXAMPLES, names
from hauteur.web.sessions.analyse import AnalyseSession, saved_trees
from hauteur.web.sessions.session import SessionSettings

Shown = Mapping[str, Any]


class Analysed:
    """A session in a folder of its own, and its events."""

    def __init__(self, root: Path) -> None:
        self.events = Events()
        self.session = AnalyseSession(self.events, SessionSettings(roots=(str(root),)))
        self.wait = self.events.wait

    def ask(self, request: str, **fields: Any) -> Any:
        """Ask the session; whatever it replies is JSON."""
        return json.loads(json.dumps(self.session.handle(request, fields), allow_nan=False))

    def searched(self, visits: int = 400, **position: Any) -> Shown:
        """Search a position to its end."""
        self.events.all.clear()
        self.ask("open", **{"net": "uniform", **position})
        self.ask("start", visits=visits)
        return self.wait("done")


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Analysed]:
    made = Analysed(tmp_path / "lab")
    yield made
    made.session.close()


@pytest.mark.parametrize("game", [*names(), *EXAMPLES])
def test_every_game_shows_its_tree(session: Analysed, game: str) -> None:
    done = session.searched(game=game)
    root = session.ask("tree")["root"]
    assert root["visits"] == done["visits"] == 400
    texts = {move["text"]: move["visits"] for move in done["moves"]}
    assert all(texts[child["move"]] == child["visits"] for child in root["children"])
    line = root["children"][0]["line"]
    look = session.ask("look", line=line)
    assert (look["moves"], look["position"]["ply"]) == ([root["children"][0]["move"]], 1)
    replies = session.ask("nodes", lines=[line, [], [60_000]])["nodes"]
    assert [node["line"] for node in replies] == [line, []]
    assert len(replies[1]["children"]) == len(done["moves"])


def test_a_tree_is_read_while_it_is_searched(session: Analysed) -> None:
    session.ask("open", game="connect4", net="uniform")
    session.ask("start")
    session.wait("report")
    visits = [session.ask("nodes", lines=[[]])["nodes"][0]["visits"] for _ in range(5)]
    session.ask("save", nodes=500)
    saved = session.wait("saved")
    session.ask("stop")
    done = session.wait("done")
    assert visits == sorted(visits)
    assert 0 < visits[0] < done["visits"]
    assert visits[-1] <= saved["visits"] <= done["visits"]
    assert done["reason"] == "stopped"


def test_a_search_goes_on_and_its_moments_can_be_shown(session: Analysed) -> None:
    first = session.searched(300, game="connect4")
    session.events.all.clear()
    session.ask("start", visits=900)
    last = session.wait("done")
    history = session.ask("history")
    assert history["visits"][-1] == last["visits"] == 900
    assert 300 in history["visits"]
    assert history["seconds"] == sorted(history["seconds"])
    assert last["seconds"] > first["seconds"]
    moment = session.ask("moment", visits=310)
    assert [move["visits"] for move in moment["moves"]] == [move["visits"] for move in first["moves"]]
    for curve in history["moves"]:
        assert len(curve["visits"]) == len(curve["q"]) == len(history["visits"])


def test_settings_of_the_form_reach_the_search(session: Analysed) -> None:
    session.searched(800, game="connect4", search={"search_contempt.n_scl": "6", "solver": "on"}, seed=4)
    nodes = session.ask("nodes", lines=[child["line"] for child in session.ask("tree")["root"]["children"]])["nodes"]
    assert any(node["frozen"] and any(child["drawn"] for child in node["children"]) for node in nodes)
    session.searched(60, game="tictactoe", large_net="rollout", search={"second_net.large_visits": "100"})
    assert any(child["large_visits"] for child in session.ask("tree")["root"]["children"])


def test_a_net_has_the_search_that_it_carries(session: Analysed) -> None:
    """A win by threats is proven at the first visit; settings of the form count before those of the net."""
    place = {"game": "gomoku(size=9)", "moves": ["E5", "A1", "F5", "C1", "G5", "E1"]}
    assert session.searched(2, net="", **place)["reason"] == "nothing left to search"
    assert session.searched(2, net="gomoku9", **place)["reason"] == "nothing left to search"
    assert session.searched(2, net="gomoku9", search={"solver.threats": "0"}, **place)["reason"] == "visits"
    assert session.searched(2, net="gomoku9", search={"solver": "off"}, **place)["reason"] == "visits"


def test_a_tree_is_saved_found_again_and_looked_into(session: Analysed, tmp_path: Path) -> None:
    session.searched(game="connect4", moves=["4", "3"], search={"solver": "on"}, seed=7)
    before = session.ask("nodes", lines=[[]])["nodes"][0]
    session.events.all.clear()
    session.ask("save")
    name = session.wait("saved")["name"]
    assert session.ask("saved")["trees"][0] == name
    assert name.endswith(".json")
    session.searched(50, game="chess")
    loaded = session.ask("load", name=name)
    assert (loaded["game"], loaded["moves"]) == ("connect4", ["4", "3"])
    assert loaded["facts"]["seed"] == 7
    assert loaded["facts"]["settings"]["solver"] is not None
    assert [child["visits"] for child in loaded["top"]["children"]] == [
        child["visits"] for child in before["children"] if child["visits"]
    ]
    assert session.ask("look", line=before["children"][0]["line"])["position"]["ply"] == 3
    session.searched(game="connect4", moves=["4", "3"], search={"solver": "on"}, seed=7)
    assert session.ask("nodes", lines=[[]])["nodes"][0] == before, "the search is looked into again"
    assert sorted(path.parent.name for path in saved_trees([str(tmp_path / "lab")]).values()) == ["trees"]
    for name in ("../secret.json", "lab/trees/none.json", "/etc/passwd"):
        with pytest.raises(ValueError, match="there is no saved tree"):
            session.ask("load", name=name)


def test_the_board_is_turned_round_at_every_node(session: Analysed) -> None:
    with pytest.raises(ValueError, match="there is no position yet"):
        session.ask("view", line=[], flip=True)
    session.searched(50, game="chess")
    here = session.ask("view", line=[])["position"]
    turned = session.ask("view", line=[], flip=True)["position"]
    assert (here["notation"], here["svg"] != turned["svg"]) == (turned["notation"], True)
    line = session.ask("tree")["root"]["children"][0]["line"]
    assert (
        session.ask("view", line=line, flip=True)["position"] == session.ask("look", line=line, flip=True)["position"]
    )


def test_games_are_read_from_text(session: Analysed) -> None:
    read = session.ask("read", text='[Event "x"]\n\n1. e4 e5 2. Nf3 *', game="connect4")
    moves = [node["move"] for node in read["tree"]["nodes"]]
    opened = session.ask("open", game=read["game"], moves=moves, net="uniform")
    assert opened["position"]["ply"] == 3
    assert session.ask("read", text="(;GM[1]FF[4]SZ[7];B[aa];W[bb])")["game"] == "go(size=7)"
    with pytest.raises(ValueError, match="the text is empty"):
        session.ask("read", text=" ")


def test_a_game_is_read_with_its_variations(session: Analysed) -> None:
    text = '[White "A"]\n\n{start} 1. e4! {best} e5 (1... c5 $13 2. Nf3) 2. Nf3 *'
    read = session.ask("read", text=text, game="connect4")
    tree = read["tree"]
    assert (read["game"], tree["headers"]["White"], tree["comment"]) == ("chess", "A", "start")
    rows = [(node["parent"], node["move"], node["before"], node["comment"], node["glyphs"]) for node in tree["nodes"]]
    assert rows == [
        (-1, "e4", "", "best", [1]),
        (0, "e5", "", "", []),
        (1, "Nf3", "", "", []),
        (0, "c5", "", "", [13]),
        (3, "Nf3", "", "", []),
    ]
    others = session.ask("read", text="4 4", game="connect4")["tree"]["nodes"]
    assert [(node["parent"], node["move"]) for node in others] == [(-1, "4"), (0, "4")]


def test_moves_are_numbered_from_where_the_game_begins(session: Analysed) -> None:
    assert session.ask("open", game="chess", net="uniform")["first_ply"] == 0
    late = session.ask("open", game="chess", fen="4k3/8/8/8/8/8/4P3/4K3 b - - 0 12", net="uniform")
    assert late["first_ply"] == 23
    assert session.ask("open", game="connect4", net="uniform")["first_ply"] is None


def test_requests_that_make_no_sense_are_refused_in_one_line(session: Analysed) -> None:
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
            session.ask(request, **fields)
    session.ask("open", game="tictactoe", moves=["a1", "b1", "a2", "b2", "a3"], net="uniform")
    with pytest.raises(ValueError, match="the game is over here"):
        session.ask("start")
    assert session.ask("nets")["nets"][-2:] == ["uniform", "rollout"]


def test_a_game_without_a_net_is_searched_with_random_games(session: Analysed) -> None:
    opened = session.ask("open", game="nogo(size=4)")
    assert opened["net"] == "rollout"
    session.ask("start", visits=50)
    assert session.wait("done")["visits"] == 50


def test_a_position_is_set_up(session: Analysed) -> None:
    session.ask("open", net="uniform")
    place = {"net": "uniform", "castling": "KQkq"}
    assert session.ask("edit", square="e2", piece="", **place)["fen"].split()[0].endswith("/PPPP1PPP/RNBQKBNR")
    fen = session.ask("edit", square="e4", piece="K", **place)["fen"]  # the king moves, and castles no more
    assert fen == "rnbqkbnr/pppppppp/8/8/4K3/8/PPPPPPPP/RNBQ1BNR w kq - 0 1"
    assert session.ask("edit", mover="b", **place)["fen"].split()[1] == "b"
    for fields, problem in (
        ({"square": "e9", "piece": "Q"}, "no square: 'e9'"),
        ({"square": "e4", "piece": "Q"}, "17 pieces"),
        ({"castling": "xy"}, "castling"),
        ({"square": "e4", "piece": "z"}, "piece"),
    ):
        with pytest.raises(ValueError, match=problem):
            session.ask("edit", **{**place, **fields})


def test_traps_of_a_position(session: Analysed) -> None:
    session.ask("open", game="tictactoe", moves=["a1", "b2"], net="rollout")
    session.ask("traps", against="net=uniform visits=1 temperature=1", visits=200)
    found = session.wait("traps")
    assert {"a2", "a3"} & {row["answer"] for row in found["rows"]}
    assert all(0 <= row["model"] <= 1 for row in found["rows"])
    with pytest.raises(ValueError, match="against: there is no net"):
        session.ask("traps", against="net=nosuch")
    session.ask("traps", against="random")
    assert "needs a net" in session.wait("failed")["text"]
