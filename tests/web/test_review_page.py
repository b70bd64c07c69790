"""The page Review: its session, and what a person does in the browser."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import chess.pgn
import numpy as np
import pytest
from lab_browser import NARROW, PHONE, Windows, axe_faults, too_small, too_wide
from playwright.sync_api import expect
from session_events import Events

from hauteur.cli import main
from hauteur.games.game_texts import written_game
from hauteur.games.played_game import PlayedGame
from hauteur.games.registry import load_game
from hauteur.web.sessions.review import ReviewSession
from hauteur.web.sessions.session import SessionSettings

MATE = '[White "A"]\n[Black "B"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n'
ORDER = {"net": "uniform", "visits": 20}


def random_pgn(plies: int) -> str:
    """A game of chess of `plies` random moves."""
    random = np.random.default_rng(1)
    while True:
        game = PlayedGame(load_game("chess"))
        while game.ending is None and len(game.actions) < plies:
            game.play(int(random.choice(game.state.legal_actions())))
        if len(game.actions) == plies:
            return written_game(game, "pgn", ("A", "B"))


@pytest.fixture
def session(events: Events) -> Any:
    """A session, closed at the end."""
    made = ReviewSession(events, SessionSettings())
    yield made
    made.close()


def test_a_review_comes_move_by_move_and_can_be_saved(session: ReviewSession, events: Events) -> None:
    reply = session.handle("open", {"text": MATE})
    assert (reply["title"], reply["plies"], reply["form"]) == ("1. A - B, 4 plies", 4, "pgn")
    with pytest.raises(ValueError, match="no move is reviewed yet"):
        session.handle("save", {})
    reply = session.handle("start", ORDER)
    assert reply["settings"]["visits"] == 20
    events.wait("done")
    last = events.named("review")[-1]
    assert [move["move"] for move in last["moves"]] == ["f3", "e5", "g4", "Qh4#"]
    assert last["moves"][2]["mark"] == "blunder"
    assert last["moves"][2]["punished"] == 1.0
    assert last["chances"][4] == (0.0, 0.0, 1.0)
    # The first player's, whoever moved: what a move leaves is what the next one finds.
    mate = last["moves"][3]
    assert mate["chances"][1] == (0.0, 0.0, 1.0)
    assert mate["after"] == [1.0, 0.0, 0.0]
    assert last["progress"]["done"] == last["progress"]["positions"] == 4
    assert [side["blunder"] for side in last["sides"]] == [1, 0]
    saved = session.handle("save", {})
    game = chess.pgn.read_game(io.StringIO(saved["text"]))
    assert game is not None
    assert [node.eval() is not None for node in game.mainline()] == [True] * 4
    assert "Review of game" in session.handle("save", {"form": "page"})["text"]
    assert session.handle("position", {"ply": 4})["position"]["outcome"] == -1
    json.dumps(events.all)


@pytest.mark.parametrize(
    ("text", "game", "form"),
    [("(;GM[1]FF[4]SZ[4]PB[A]RE[B+R];B[aa];W[dd];B[bc])", "nogo", "sgf"), ("4 4 3 5", "connect4", None)],
)
def test_games_of_other_kinds(session: ReviewSession, events: Events, text: str, game: str, form: str | None) -> None:
    reply = session.handle("open", {"text": text, "game": game})
    assert reply["form"] == form
    session.handle("start", ORDER)
    events.wait("done")
    assert len(events.named("review")[-1]["moves"]) == reply["plies"]
    if form is not None:
        saved = session.handle("save", {})
        assert saved["name"] == "review.sgf"
        assert saved["text"].count("SBKV[") == reply["plies"] + 1
        return
    with pytest.raises(ValueError, match=f"games of {game} have no annotated form; save the page"):
        session.handle("save", {})


def test_the_review_is_that_of_the_command(
    session: ReviewSession, events: Events, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "game.pgn").write_text(random_pgn(12))
    assert main.main(["review", str(tmp_path / "game.pgn"), "--visits", "30", "--seed", "5", "--json"]) == 0
    (expected,) = json.loads(capsys.readouterr().out)["games"]
    session.handle("open", {"text": random_pgn(12)})
    session.handle("start", {"visits": 30, "seed": 5})
    events.wait("done")
    moves = events.named("review")[-1]["moves"]
    assert [{key: move[key] for key in expected["moves"][0]} for move in json.loads(json.dumps(moves))] == expected[
        "moves"
    ]


def test_a_review_stops_and_goes_on(session: ReviewSession, events: Events) -> None:
    session.handle("open", {"text": random_pgn(40)})
    session.handle("start", {"net": "rollout", "visits": 200})
    events.wait("review")
    session.handle("stop", {})
    events.wait("stopped")
    found = events.named("review")[-1]["moves"]
    assert len(found) < 40
    session.handle("start", {"net": "rollout", "visits": 200})
    session.handle("stop", {})
    again = events.named("review")[-1]
    assert again["moves"][: len(found)] == found[: len(again["moves"])]
    assert again["progress"]["done"] >= len(found)


def test_traps_set_and_missed(session: ReviewSession, events: Events) -> None:
    """X misses the threat a2 with c1, and sets it one move later; O does not answer."""
    session.handle("open", {"text": "a1 b2 c1 b1 b3 a2 a3", "game": "tictactoe"})
    session.handle("start", {"net": "rollout", "visits": 200})
    events.wait("done")
    session.handle("traps", {"against": "net=uniform visits=1 temperature=1"})
    events.wait("stopped")
    traps = events.named("trap")
    assert [trap["ply"] for trap in traps] == list(range(7))
    kinds = {trap["ply"]: trap.get("kind") for trap in traps}
    assert kinds[2] in ("set", "missed")  # against guesses a threat is worth much
    assert all(trap["gain"] >= 0.05 for trap in traps if trap.get("kind"))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"text": ""}, "has no game to review"),
        ({"text": "1. e4 e5 2. Ke3"}, "ply 3"),
        ({"text": "4 4 9", "game": "connect4"}, "ply 3"),
        ({"text": "4 4", "game": "sudoku"}, "sudoku"),
        ({"text": MATE, "number": 2}, "there is no game 2"),
        ({"text": "x" * 900_001}, "text"),
        ({}, "text"),
    ],
)
def test_bad_texts_are_one_line(session: ReviewSession, fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        session.handle("open", fields)
    assert "\n" not in str(error.value)
    with pytest.raises(ValueError, match="there is no game yet"):
        session.handle("start", ORDER)


def test_a_person_reviews_a_game(windows: Windows) -> None:
    """Thirty moves by the net that ships: chart, marks, steps by keys, another game, the saved file."""
    page = windows.open("/review")
    page.get_by_label("PGN, SGF").fill(random_pgn(60) + "\n" + MATE)
    page.get_by_label("Visits").fill("2")
    page.get_by_role("button", name="Review", exact=True).click()
    expect(page.locator("#pace")).to_contain_text("61 of 61 positions")
    expect(page.locator("#stop")).to_be_hidden()
    expect(page.locator("#moves tr")).to_have_count(60)
    expect(page.locator("#figure svg polygon")).to_have_count(3)
    page.locator("#moves tr.blunder button").first.click()
    expect(page.locator("#note")).to_contain_text("Blunder: the mover's expected score fell from")
    before = page.locator("#caption").text_content()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#caption")).not_to_have_text(before or "")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save the game").click()
    assert download.value.suggested_filename == "review.pgn"
    game = chess.pgn.read_game(io.StringIO(download.value.path().read_text()))
    assert game is not None
    assert not game.errors
    nodes = list(game.mainline())
    assert len(nodes) == 60
    assert all(node.eval() is not None for node in nodes)
    assert any(node.nags for node in nodes)
    page.set_viewport_size({"width": NARROW[0], "height": NARROW[1]})
    assert not too_wide(page)
    assert not axe_faults(page)
    expect(page.get_by_role("columnheader", name="White W / D / L before")).to_be_attached()
    page.get_by_label("Game of the text").select_option("2")
    expect(page.locator("#title")).to_have_text("2. A - B, 4 plies")
    expect(page.locator("#pace")).to_contain_text("4 of 4 positions")
    page.keyboard.press("End")
    expect(page.locator("#analyse")).to_have_attribute("href", "/analyse?game=chess&moves=f3+e5+g4+Qh4%23")
    expect(page.locator("#wdl")).to_have_attribute("aria-label", re.compile("Black wins 100 %"))


ANNOTATED = """[White "anna"]
[Black "bob"]
[Result "0-1"]
[TimeControl "180+2"]

1. f3 { [%eval -0.6] [%clk 0:03:00] A bad start. } 1... e5 { [%clk 0:03:00] } 2. g4?? { [%clk 0:02:58] Now it is over. }
(2. e4 Nc6 { better }) 2... Qh4# { [%clk 0:02:49] } 0-1
"""


def test_a_game_with_comments_and_clocks_on_a_phone(windows: Windows) -> None:
    page = windows.open("/review", **PHONE)
    page.get_by_label("PGN, SGF").fill(ANNOTATED)
    page.get_by_label("Visits").fill("2")
    page.get_by_role("button", name="Review", exact=True).tap()
    expect(page.locator("#title")).to_have_text("1. anna - bob, 4 plies")
    expect(page.locator("#pace")).to_contain_text("4 of 4 positions")
    expect(page.locator("#notices")).to_have_text("")
    page.get_by_role("button", name="Next mark").tap()
    expect(page.locator("#note")).to_contain_text("Blunder")
    assert too_small(page) + too_wide(page) == []
