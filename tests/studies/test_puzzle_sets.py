"""Sets of puzzles that ship or are found by name, solved by a person, and by players at growing visits."""

from __future__ import annotations

import io
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from hauteur import _core
from hauteur.games.registry import load_game
from hauteur.players.build import Resources
from hauteur.players.settings import parse_player
from hauteur.studies.puzzles.problems import (
    Problem,
    PuzzleAttempt,
    PuzzleFiles,
    problems_in,
    problems_of,
    read_problems,
    shipped_sets,
)
from hauteur.studies.puzzles.solve import Solve, solve_result

pytestmark = pytest.mark.quick

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


# -- players -----------------------------------------------------------------------------------------------------------


TICTACTOE = load_game("tictactoe")
CONNECT4 = load_game("connect4")
CHESS = load_game("chess")
FAST = Resources(24, 8, 1)
SCHOLAR = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5Q2/PPPP1PPP/RNB1K1NR w KQkq - 4 4"
TWO_ROOKS = "6k1/5ppp/8/8/8/8/5PPP/3RR1K1 w - - 0 1"


class Stopped(Exception):  # noqa: N818
    """Ctrl-C, more or less."""


def suite(folder: Path) -> Path:
    """Two mates in one, one of them by either of two moves, and a position in which one move alone is wrong."""
    path = folder / "suite.epd"
    avoid = 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - am a4; id "avoid";'
    path.write_text(f'{SCHOLAR[:-4]} bm Qxf7#; id "scholar";\n{TWO_ROOKS[:-4]} bm Re8 Rd8; id "rank";\n{avoid}\n')
    return path


def test_solved_by_visits(tmp_path: Path) -> None:
    problems = list(read_problems(suite(tmp_path), CHESS))
    players = [parse_player("net=uniform"), parse_player("net=uniform search_contempt.n_scl=3 name=contempt")]
    counts = (1, 20, 400)
    result = Solve(CHESS, problems, players, counts, FAST, tmp_path / "out", show=lambda _: None).run()
    assert list(result["players"]) == ["uniform", "contempt"]
    for one in result["players"].values():
        assert one["solved"]["400"]["count"] == 3
        assert one["solved"]["1"]["count"] <= one["solved"]["400"]["count"]
        assert one["visits_to_solution"]["solved"] == 3
    assert len((tmp_path / "out" / "answers.jsonl").read_text().splitlines()) == 2 * 3


def test_solving_goes_on(tmp_path: Path) -> None:
    problems = list(read_problems(suite(tmp_path), CHESS))
    players = [parse_player("net=uniform")]

    def stop(done: int, *_: int) -> None:
        raise Stopped

    def solve(folder: Path, **more: Any) -> dict[str, Any]:
        return Solve(CHESS, problems, players, (10, 200), FAST, folder, show=lambda _: None, **more).run()

    whole = solve(tmp_path / "whole")
    with pytest.raises(Stopped):
        solve(tmp_path / "parts", tick=stop)
    first = (tmp_path / "parts" / "answers.jsonl").read_text()
    assert first.count("\n") == 1
    assert solve(tmp_path / "parts") == whole
    assert (tmp_path / "parts" / "answers.jsonl").read_text().startswith(first)


def test_the_whole_line_must_be_found_and_any_mate_ends_it(tmp_path: Path) -> None:
    file = tmp_path / "p.csv"
    two_mates = "k7/8/1K6/8/8/8/8/5Q1R b - - 0 1"
    file.write_text(f"PuzzleId,FEN,Moves\nany,{two_mates},a8b8 f1f8\n")
    (problem,) = read_problems(file, CHESS)
    (step,) = problem.steps
    assert step.is_right(step.state.parse("h1h8"))
    assert not step.is_right(step.state.parse("h1h2"))
    result = Solve(CHESS, [problem], [parse_player("net=uniform")], (300,), FAST, show=lambda _: None).run()
    assert result["players"]["uniform"]["solved"]["300"]["count"] == 1


def test_pairs_of_players_are_compared() -> None:
    from hauteur.studies.puzzles.solve import PuzzleAnswer

    def answers(player: str, rights: list[bool]) -> list[PuzzleAnswer]:
        return [
            PuzzleAnswer(
                number=n,
                name=str(n),
                problem="",
                player=player,
                counts=(10,),
                right=(right,),
                visits=5 if right else None,
            )
            for n, right in enumerate(rights)
        ]

    result = solve_result({"a": answers("a", [True, True, False]), "b": answers("b", [False, True, False])}, (10,))
    assert result["pairs"] == [{"a": "a", "b": "b", "visits": 10, "a_alone": 1, "b_alone": 0}]
    assert result["players"]["a"]["visits_to_solution"]["median"] == 5
    assert result["players"]["b"]["visits_to_solution"]["median"] is None
