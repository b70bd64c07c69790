"""Sessions as the server sees them: requests, replies, events; and positions as the board takes them."""

import threading
import time
from typing import Any

import pytest
from session_events import Events

from hauteur.games.registry import EXAMPLES, load_game, names
from hauteur.web.positions import position_view
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


def test_a_search_reports_and_ends_with_the_visits_that_were_asked_for() -> None:
    events = Events()
    session = AnalyseSession(events, SessionSettings())
    try:
        reply = session.handle("open", {"game": "connect4", "moves": ["4", "4"], "net": "uniform"})
        assert reply["position"]["ply"] == 2
        session.handle("start", {"visits": 500})
        done = events.wait("done")
    finally:
        session.close()
    assert done["visits"] == 500
    assert sum(move["visits"] for move in done["moves"]) == 499
    assert done["moves"][0]["line"][0] == done["moves"][0]["text"]


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"game": "shogi"}, "no game 'shogi'"),
        ({"fen": "nothing"}, "nothing"),
        ({"moves": ["e2e5"]}, "e2e5"),
        ({"depth": 3}, "depth is not a setting"),
        ({"moves": ["a"] * 6000}, "at most 5000"),
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
