"""Files of puzzles: what is written is read back, every format; bad files are one line and exit status 2."""

from __future__ import annotations

import csv
import io
from contextlib import suppress
from pathlib import Path

import chess
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hauteur.cli import main
from hauteur.games.registry import load_game
from hauteur.studies.puzzles.problems import Problem, epd_problem, read_problems
from hauteur.studies.puzzles.puzzle import (
    COLUMNS,
    Opinion,
    Puzzle,
    csv_text,
    epd_text,
    identity,
    json_text,
    rating,
    themes_of,
    write_puzzles,
)

pytestmark = pytest.mark.quick

CHESS = load_game("chess")
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0", exclude_categories=["Cs"]), max_size=20)


def puzzle_of(seed: int, *, game: str = "chess", solver_moves: int = 2, source: str = "") -> Puzzle:
    """A puzzle made of random moves."""
    random = np.random.default_rng(seed)
    rules = load_game(game)
    state = rules.new_initial_state()
    texts = list[str]()
    fens = [state.notation()]
    while len(texts) < 2 * solver_moves + 6 + seed % 2:
        action = int(random.choice(state.legal_actions()))
        texts.append(state.action_to_text(action))
        state.apply(action)
        fens.append(state.notation())
        if state.outcome() is not None:
            return puzzle_of(seed + 1000, game=game, solver_moves=solver_moves, source=source)
    before = len(texts) - 2 * solver_moves
    opinion = Opinion(visits=8, move=texts[before + 1], q=0.125)
    has_fen = game.startswith(("chess", "minichess"))
    puzzle = Puzzle(
        id="p",
        game=game,
        fen=fens[before] if has_fen else None,
        opening=(texts[before],) if has_fen else tuple(texts[: before + 1]),
        solution=tuple(texts[before + 1 :]),
        rating=1500 + seed,
        source=source,
        visits=50,
        gap=0.5,
        value=0.75,
        low=opinion,
        high=opinion,
    )
    return puzzle.model_copy(update={"id": identity(puzzle.position()), "themes": themes_of(puzzle)})


def solution_of(problem: Problem) -> list[str]:
    """The right moves of a problem's positions."""
    return [step.state.action_to_text(next(iter(step.right))) for step in problem.steps]


@given(st.integers(0, 10_000), st.integers(1, 4), TEXT)
def test_csv_round_trip(seed: int, solver_moves: int, source: str) -> None:
    puzzle = puzzle_of(seed, solver_moves=solver_moves, source=source)
    text = csv_text([puzzle])
    (row,) = csv.DictReader(io.StringIO(text, newline=""))
    assert tuple(row) == COLUMNS
    board = chess.Board(row["FEN"])
    moves = row["Moves"].split()
    for move in moves:
        board.push_uci(move)
    assert moves[1::2] == list(puzzle.solver_moves)
    assert (row["PuzzleId"], row["Rating"], row["GameUrl"]) == (puzzle.id, str(puzzle.rating), " ".join(source.split()))
    assert row["Themes"].split() == list(puzzle.themes)


@pytest.mark.parametrize("suffix", [".csv", ".json", ".epd"])
def test_written_puzzles_are_problems(tmp_path: Path, suffix: str) -> None:
    puzzles = [puzzle_of(seed, source=f'a "name", {seed}') for seed in range(8)]
    write_puzzles(puzzles, tmp_path)
    problems = list(read_problems(tmp_path / f"puzzles{suffix}", CHESS))
    assert [problem.name for problem in problems] == [puzzle.id for puzzle in puzzles]
    for puzzle, problem in zip(puzzles, problems, strict=True):
        whole = list(puzzle.solver_moves)
        assert solution_of(problem) == (whole[:1] if suffix == ".epd" else whole)
        assert identity(problem.steps[0].state) == puzzle.id


@pytest.mark.parametrize("game", ["connect4", "nogo(size=5)", "minichess"])
def test_other_games_have_json(tmp_path: Path, game: str) -> None:
    puzzles = [puzzle_of(seed, game=game) for seed in range(4)]
    assert [path.name for path in write_puzzles(puzzles, tmp_path)] == ["puzzles.json"]
    problems = list(read_problems(tmp_path / "puzzles.json", load_game(game)))
    assert [solution_of(problem) for problem in problems] == [list(puzzle.solver_moves) for puzzle in puzzles]


def test_without_the_opponents_move_there_is_no_line_of_csv() -> None:
    puzzle = puzzle_of(3)
    bare = puzzle.model_copy(update={"fen": puzzle.position().notation(), "opening": ()})
    assert csv_text([bare]).splitlines() == [",".join(COLUMNS)]
    assert csv_text([bare, puzzle]).count("\n") == 2
    assert bare.id in json_text([bare])
    assert bare.id in epd_text([bare])


def test_ratings_grow_with_visits() -> None:
    ratings = [rating(visits, 1600) for visits in (1, 10, 100, 400, 1600)]
    assert ratings == sorted(set(ratings))
    assert ratings[-1] == 2600


@given(st.text(max_size=200))
def test_any_line_is_read_or_refused(line: str) -> None:
    for text in (line, f"8/7p/5k2/5p2/p1p2P2/Pr1pPK2/1P1R3P/8 b - - {line}"):
        with suppress(ValueError):
            assert epd_problem(text, CHESS, "line 1").steps


def test_epd_with_counters_several_moves_and_avoided_ones() -> None:
    line = 'r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5Q2/PPPP1PPP/RNB1K1NR w KQkq - 4 4 bm Qxf7+; id "a; b"; am Qh5'
    (step,) = epd_problem(line, CHESS, "line 1").steps
    solution, avoided = (step.state.parse(move) for move in ("f3f7", "f3h5"))
    assert step.is_right(solution)
    assert not step.is_right(avoided)
    assert epd_problem(line, CHESS, "line 1").name == "a; b"
    (step,) = epd_problem(line.replace("bm Qxf7+; ", ""), CHESS, "line 1").steps
    assert step.is_right(solution)
    assert not step.is_right(avoided)


def test_suites_of_the_field(shared_data: Path) -> None:
    counts = {
        path.stem: sum(1 for _ in read_problems(path, CHESS)) for path in sorted((shared_data / "epd").glob("*.epd"))
    }
    assert counts == {"bt2630": 30, "eet": 100, "lapuce2": 35, "wacnew": 300}


HOSTILE = {
    "nothing.epd": b"",
    "binary.epd": bytes(range(256)) * 20,
    "illegal.epd": b"8/7p/5k2/5p2/p1p2P2/Pr1pPK2/1P1R3P/8 b - - bm Qh8;\n",
    "no-move.epd": b'8/7p/5k2/5p2/p1p2P2/Pr1pPK2/1P1R3P/8 b - - id "x";\n',
    "no-kings.epd": b"8/8/8/8/8/8/8/8 w - - bm e4;\n",
    "long.epd": b'8/7p/5k2/5p2/p1p2P2/Pr1pPK2/1P1R3P/8 b - - bm Rxb2; c0 "' + b"x" * 20_000 + b'";\n',
    "over.epd": b"7k/5KQ1/8/8/8/8/8/8 b - - bm Kh7;\n",
    "nothing.csv": b"",
    "columns.csv": b"a,b,c\n1,2,3\n",
    "short.csv": b"PuzzleId,FEN,Moves\nx,8/7p/5k2/5p2/p1p2P2/Pr1pPK2/1P1R3P/8 b - - 0 1,b3b2\n",
    "fewer.csv": b"PuzzleId,FEN,Moves\nx\n",
    "illegal.csv": b"PuzzleId,FEN,Moves\nx,8/7p/5k2/5p2/p1p2P2/Pr1pPK2/1P1R3P/8 b - - 0 1,b3b2 a1a8\n",
    "fields.csv": b"PuzzleId,FEN,Moves\n" + b"x" * 200_000 + b",,\n",
    "nothing.json": b"",
    "object.json": b"{}",
    "empty.json": b"[]",
    "deep.json": b"[" * 100_000,
    "fields.json": b'[{"id": 1}]',
    "moves.json": json_text([puzzle_of(1).model_copy(update={"solution": ("a1a1",)})]).encode(),
    "game.json": json_text([puzzle_of(1, game="connect4")]).encode(),
    "fen.json": json_text([puzzle_of(1).model_copy(update={"fen": "x"})]).encode(),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_one_line(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / name
    path.write_bytes(HOSTILE[name])
    status = main.main(["puzzles", "solve", str(path), "--player", "net=uniform", "--visits", "2"])
    shown = capsys.readouterr()
    assert status == main.EXIT_BAD_INPUT
    assert shown.out == ""
    assert len(shown.err.splitlines()) == 1
    assert str(path) in shown.err
