"""Solving of puzzles: by visits, with resume, whole lines, comparison of players."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hauteur.games.registry import load_game
from hauteur.players.build import Resources
from hauteur.players.settings import parse_player
from hauteur.studies.puzzles.problems import read_problems
from hauteur.studies.puzzles.solve import Solve, solve_result

TICTACTOE, CONNECT4, CHESS = load_game("tictactoe"), load_game("connect4"), load_game("chess")
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
    problems, players = list(read_problems(suite(tmp_path), CHESS)), [parse_player("net=uniform")]

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
