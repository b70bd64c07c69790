"""Sessions as the server sees them, positions as the board takes them, and the form of search settings."""

import threading
import time
from typing import Any

import pytest
from session_events import Events

from hauteur.games.registry import EXAMPLES, load_game, names
from hauteur.mcts.params import SearchParams
from hauteur.players.settings import parse_player
from hauteur.web.positions import position_view
from hauteur.web.search_form import chosen_search, search_form
from hauteur.web.sessions.analyse import AnalyseSession
from hauteur.web.sessions.pool import reply_of
from hauteur.web.sessions.session import Fields, PageSession, SessionSettings


@pytest.mark.parametrize("name", [*names(), *EXAMPLES])
def test_every_position_has_its_actions_on_squares_of_the_board(name: str) -> None:
    """Follow a game: each legal action is there once, its squares are on the board, the drawing is one document."""
    state = load_game(name).new_initial_state()
    for _ in range(6):
        view = position_view(state)
        assert [action["a"] for action in view["actions"]] == list(state.legal_actions())
        assert all(square < len(view["squares"]) for action in view["actions"] for square in action["squares"])
        assert view["svg"].startswith("<svg ")
        assert "style=" not in view["svg"]
        state.apply(int(state.legal_actions()[0]))


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"game": "shogi"}, "no game 'shogi'"),
        ({"fen": "nothing"}, "nothing"),
        ({"moves": ["e2e5"]}, "e2e5"),
        ({"depth": 3}, "depth is not a setting"),
        ({"moves": ["a"] * 6000}, "moves must be at most 5,000 values, got 6,000"),
    ],
)
def test_a_wrong_position_is_refused_in_one_line(fields: dict[str, Any], text: str) -> None:
    session = AnalyseSession(Events(), SessionSettings())
    with pytest.raises((ValueError, OSError), match=text):
        session.handle("open", fields)
    with pytest.raises(ValueError, match=r"there is no request 'dig'; there are .*open, .*start, stop"):
        session.handle("dig", {})


class QuickSession(PageSession):
    """Its work has ended before it can reply."""

    name = "quick"

    def do_start(self) -> Fields:
        """Work, and end."""
        self.emit("stopped", {"work": 1}, latest=False)
        self.hold()
        worker = threading.Thread(target=lambda: self.emit("done", {"work": 2}, latest=False))
        worker.start()
        worker.join()
        return {"work": 2}


def test_the_end_of_work_comes_after_the_reply_that_names_it() -> None:
    sent: list[str] = []
    session = QuickSession(lambda event, fields, *, latest=True: sent.append(event), SessionSettings())
    for _ in range(2):
        with session.replying():
            reply = reply_of(session, 1, "start", {})
            sent.append("reply")
        assert reply == {"id": 1, "reply": {"work": 2}}
    assert sent == ["stopped", "reply", "done"] * 2
    session.emit("later", {})
    assert sent[-1] == "later"


def test_a_search_that_ends_at_once_is_reported_after_its_number() -> None:
    events = Events()
    session = AnalyseSession(events, SessionSettings())
    try:
        session.handle("open", {"game": "tictactoe", "net": "uniform"})
        with session.replying():
            reply = session.handle("start", {"visits": 2})
            time.sleep(0.2)
            assert events.all == []
        assert events.wait("done")["number"] == reply["number"]
    finally:
        session.close()


# -- the form of settings ----------------------------------------------------------------------------------------------


def test_every_setting_is_in_the_form_with_its_default() -> None:
    keys = {setting["key"]: setting for group in search_form() for setting in group["settings"]}
    for key, setting in keys.items():
        assert chosen_search({key: setting["default"]}) is not None, key
        assert (setting["kind"] in ("choice", "switch")) == bool(setting["choices"])
        assert setting["kind"] not in ("whole", "number") or setting["least"] is not None
    assert {key.partition(".")[0] for key in keys} == set(SearchParams.model_fields)
    assert keys["search_contempt.n_scl"]["most"] == 10**9
    assert keys["search_contempt.n_scl"]["text"].startswith("Visits of its children at which an opponent node freezes")
    optional = [group["name"] for group in search_form() if group["optional"]]
    assert all(getattr(chosen_search({name: "on"}), name) is not None for name in optional if name != "second_net")


def test_groups_and_settings_have_names_for_people() -> None:
    labels = {group["name"]: group["label"] for group in search_form()}
    assert labels["search_contempt"] == "Search-contempt"
    assert labels["root_cpuct"] == "root cpuct: Exploration of PUCT"
    assert len(set(labels.values())) == len(labels)
    words = {setting["key"]: setting["words"] for group in search_form() for setting in group["settings"]}
    assert words["solver.draw_preference"] == "draw preference"
    assert not any("." in word or "_" in word for word in words.values())


def test_what_a_form_gives_is_read_as_words_are() -> None:
    given = {"search_contempt.n_scl": "5", "search_contempt.ratio_schedule": "9:0.5 20:1", "solver": "on"}
    words = " ".join(f"'{key}={value}'" for key, value in given.items())
    assert chosen_search(given) == parse_player(words).search
    with pytest.raises(ValueError, match=r"side A: cpuct\.init must be a number from 0 to 100, got '101'"):
        chosen_search({"cpuct.init": "101"}, "side A")
    with pytest.raises(ValueError, match="settings: magic is not a setting"):
        chosen_search({"magic": "1"})
