"""The page Puzzles: its session, and what a person does in the browser."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from lab_browser import NARROW, Windows, axe_faults, too_wide
from playwright.sync_api import expect
from session_events import Events

from hauteur.studies.puzzles.problems import Problem, problems_of, shipped_sets
from hauteur.web.sessions.puzzles import PuzzlesSession
from hauteur.web.sessions.session import SessionSettings

CSV = (
    "PuzzleId,FEN,Moves,Rating,RatingDeviation,Popularity,NbPlays,Themes,GameUrl,OpeningTags\n"
    "abc,6k1/5ppp/8/8/8/8/r4PPP/1R4K1 b - - 0 1,a2a7 b1b8,1200,80,0,0,mate mateIn1,,\n"
)
"""A puzzle of one move, made up here."""


@pytest.fixture
def session(events: Events) -> Any:
    """A session, closed at the end."""
    made = PuzzlesSession(events, SessionSettings())
    yield made
    made.close()


def longest(name: str) -> tuple[int, Problem]:
    """Number of the puzzle of a shipped set with the most moves, and the puzzle."""
    problems = problems_of(shipped_sets()[name])
    number = max(range(len(problems)), key=lambda one: len(problems[one].steps))
    return number, problems[number]


def test_a_line_is_solved_and_counted_once(session: PuzzlesSession) -> None:
    number, problem = longest("connect4")
    reply = session.handle("open", {"set": "connect4"})
    assert (reply["count"], reply["game"]) == (len(problems_of(shipped_sets()["connect4"])), "connect4")
    shown = session.handle("puzzle", {"number": number})
    assert "line" not in json.dumps({key: value for key, value in shown.items() if key != "position"})
    for place, step in enumerate(problem.steps):
        (right,) = step.right
        reply = session.handle("move", {"a": right})
        if place + 1 < len(problem.steps):
            assert reply["answer"] == "right"
            assert "clean" not in reply
            assert [view["ply"] for view in reply["positions"]] == [step.state.ply + 1, step.state.ply + 2]
    assert reply["answer"] == "solved"
    assert reply["clean"]
    assert reply["visits"] == problem.visits
    with pytest.raises(ValueError, match="that is no move here"):
        session.handle("move", {"a": 0})
    assert "clean" not in session.handle("solution", {})


def test_wrong_moves_and_help_fail_the_attempt(session: PuzzlesSession) -> None:
    _, problem = longest("connect4")
    session.handle("open", {"set": "connect4"})
    for request in ("wrong", "hint", "solution"):
        shown = session.handle("puzzle", {"number": 0})
        (right,) = problems_of(shipped_sets()["connect4"])[0].steps[0].right
        wrong = next(action["a"] for action in shown["position"]["actions"] if action["a"] != right)
        reply = session.handle("move", {"a": wrong}) if request == "wrong" else session.handle(request, {})
        assert not reply["clean"]
        assert "clean" not in session.handle("move", {"a": right})
    session.handle("puzzle", {"number": 0, "counted": False})
    assert "clean" not in session.handle("solution", {})
    assert len(problem.steps) > 1


def test_a_file_of_the_reader(session: PuzzlesSession) -> None:
    reply = session.handle("open", {"text": CSV, "suffix": ".csv"})
    assert (reply["count"], reply["game"]) == (1, "chess")
    shown = session.handle("puzzle", {"number": 0})
    assert shown["rating"] == 1200
    solved = session.handle("solution", {})
    assert solved["line"] == ["Rb8#"]
    assert solved["themes"] == ["mate", "mateIn1"]
    session.handle("open", {"text": "6k1/5ppp/8/8/8/8/r4PPP/1R4K1 w - - bm Rb8;", "suffix": ".epd"})
    assert session.handle("puzzle", {"number": 0})["rating"] is None


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"set": "../../etc/passwd"}, "there is no set of puzzles"),
        ({"set": "connect4.json"}, "there is no set of puzzles"),
        ({"text": "nonsense", "suffix": ".json"}, "the file.json: not a JSON file"),
        ({"text": "nonsense", "suffix": ".exe"}, "suffix"),
        ({"text": CSV.replace("b1b8", "b1b9"), "suffix": ".csv"}, "the file.csv, line 2"),
        ({"text": "x" * 900_001}, "text"),
    ],
)
def test_bad_sets_are_one_line(session: PuzzlesSession, fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        session.handle("open", fields)
    assert "\n" not in str(error.value)
    with pytest.raises(ValueError, match="there is no puzzle yet"):
        session.handle("move", {"a": 0})


def test_a_person_solves_puzzles(windows: Windows, lab_root: Path) -> None:
    """Moves on the board, a count that the browser keeps, hint, the page Analyse, files of the server."""
    (lab_root / "mate.csv").write_text(CSV)
    page = windows.open(f"/puzzles?set={lab_root.name}/mate.csv")
    expect(page.locator("#title")).to_have_text("1 of 1")
    page.get_by_role("button", name=re.compile("^b1,")).click()
    page.get_by_role("button", name=re.compile("^b7,")).click()
    expect(page.locator("#status")).to_have_text("Rb7 is not it: try again.")
    expect(page.locator("#score")).to_have_text("0 of 1")
    page.get_by_role("button", name=re.compile("^b1,")).click()
    page.get_by_role("button", name=re.compile("^b8,")).click()
    expect(page.locator("#status")).to_have_text("Rb8# is right: solved.")
    expect(page.locator("#facts")).to_contain_text("mateIn1")
    page.get_by_label("Set").select_option("connect4")
    expect(page.locator("#title")).to_have_text("1 of 12")
    page.keyboard.press("n")
    expect(page.locator("#title")).to_have_text("2 of 12")
    page.keyboard.press("h")
    expect(page.locator("#status")).to_have_text("It begins here.")
    page.get_by_role("button", name="Analyse").click()
    expect(page).to_have_url(re.compile(r"/analyse\?game=connect4&moves=[1-7]"))
    expect(page.locator("#board svg").first).to_be_visible()
    page.go_back()
    expect(page.locator("#title")).to_have_text("2 of 12")
    page.set_viewport_size({"width": NARROW[0], "height": NARROW[1]})
    assert not too_wide(page)
    assert not axe_faults(page)
    page.goto(f"/puzzles?set={lab_root.name}/mate.csv")
    expect(page.locator("#facts")).to_contain_text("tried this one before")
    expect(page.locator("#score")).to_have_text("0 of 2")
