"""Sets of puzzles: those that ship are right, files are found by name, a person solves them."""

from __future__ import annotations

import io
from itertools import pairwise
from pathlib import Path

import pytest

from hauteur import _core
from hauteur.studies.puzzles.problems import Problem, PuzzleAttempt, PuzzleFiles, problems_in, problems_of, shipped_sets

LICHESS = (
    "PuzzleId,FEN,Moves,Rating,RatingDeviation,Popularity,NbPlays,Themes,GameUrl,OpeningTags\n"
    "00sHx,q3k1nr/1pp1nQpp/3p4/1P2p3/4P3/B1PP1b2/B5PP/5K2 b k - 0 17,e8d7 a2e6 d7d8 f7f8,1760,80,83,72,"
    "mate mateIn2 short,https://lichess.org/yyznGmXs/black#34,\n"
)


def problem_of(text: str, name: str) -> Problem:
    """The first problem of a text."""
    return next(problems_in(io.StringIO(text), name))


def test_the_puzzles_that_ship() -> None:
    """Small, of several games, each with one first move that is right."""
    sets = shipped_sets()
    assert sum(path.stat().st_size for path in sets.values()) <= 30_000
    games = {name: problems_of(path)[0].steps[0].state.game.name for name, path in sets.items()}
    assert games == {"chess": "chess", "connect4": "connect4", "minichess": "minichess", "nogo7": "nogo"}
    for path in sets.values():
        problems = problems_of(path)
        assert len({problem.name for problem in problems}) == len(problems) >= 6
        assert all(len(problem.steps[0].right) == 1 for problem in problems)
        ratings = [problem.rating for problem in problems if problem.rating is not None]
        assert all(a <= b for a, b in pairwise(ratings))


def test_the_solutions_of_connect_four_are_unique() -> None:
    """Exactly: every other move is worth less, except beside a win at once at the end of a line."""
    solver = _core.ExactSolver(_core.Game("connect4"), 20)
    checked = 0
    for problem in problems_of(shipped_sets()["connect4"]):
        for number, step in enumerate(problem.steps):
            if step.state.ply < 18:
                continue  # takes the solver longer than a test should
            values = solver.move_values(step.state, 2_000_000)
            assert values is not None
            (right,) = step.right
            mine = values[step.state.legal_actions().tolist().index(right)]
            assert mine == max(values)
            assert values.count(mine) == 1 or (number > 0 and step.wins)
            checked += 1
    assert checked > 10


def test_the_game_of_a_text_is_found_and_its_rating_read() -> None:
    puzzle = problem_of(LICHESS, "a.csv")
    assert puzzle.rating == 1760
    assert puzzle.themes == ("mate", "mateIn2", "short")
    assert len(puzzle.steps) == 2
    assert problem_of("8/7p/5k2/5p2/p1p2P2/Pr1pPK2/1P1R3P/8 b - - bm Rxb2;", "a.epd").rating is None
    with pytest.raises(ValueError, match=r"a\.csv, line 2: a rating must be a number"):
        problem_of(LICHESS.replace("1760", "strong"), "a.csv")
    with pytest.raises(ValueError, match=r"a\.json: not a JSON file"):
        problem_of("nonsense", "a.json")


def test_files_are_found_below_the_roots_by_name(tmp_path: Path) -> None:
    """Puzzle files alone, no links, nothing outside."""
    root = tmp_path / "root"
    (root / "deep").mkdir(parents=True)
    (root / "lichess.csv").write_text(LICHESS)
    (root / "answers.csv").write_text("a,b\n1,2\n")
    (tmp_path / "outside.epd").write_text("outside")
    (root / "link.epd").symlink_to(tmp_path / "outside.epd")
    (root / "deep" / "puzzles.json").write_bytes(shipped_sets()["connect4"].read_bytes())
    (root / "deep" / "puzzles.csv").write_text(LICHESS)
    files = PuzzleFiles([root])
    files.look()
    assert list(files.sets) == [*shipped_sets(), "root/lichess.csv", "root/deep/puzzles.json"]
    assert [problem.name for problem in problems_of(files.find("root/lichess.csv"))] == ["00sHx"]
    with pytest.raises(ValueError, match="there is no set of puzzles"):
        files.find("root/../outside.epd")


def test_a_person_solves() -> None:
    """The whole line must be found; a wrong move, or help, is a failed attempt."""
    problem = problem_of(LICHESS, "a.csv")
    attempt = PuzzleAttempt(problem)
    first, last = (step.right for step in problem.steps)
    assert attempt.answer(next(iter(first))) == "right"
    assert attempt.step.state.ply == 3
    assert attempt.answer(next(iter(last))) == "solved"
    assert attempt.solved
    assert attempt.clean
    failed = PuzzleAttempt(problem)
    wrong = next(action for action in problem.steps[0].state.legal_actions().tolist() if action not in first)
    assert failed.answer(wrong) == "wrong"
    assert failed.answer(next(iter(first))) == "right"
    assert not failed.clean
    helped = PuzzleAttempt(problem)
    assert helped.help() == tuple(first)
    assert not helped.clean
