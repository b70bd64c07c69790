"""Files as players have them are read as `expected.json` beside them says."""

import json
from pathlib import Path
from typing import Any

import pytest

import hauteur as ht
from hauteur.games.registry import load_game
from hauteur.studies.puzzles.problems import read_problems

FOLDER = Path(__file__).parents[1] / "support" / "field" / "players"
EXPECTED: dict[str, Any] = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
GAMES = [name for name, right in EXPECTED.items() if isinstance(right.get("games"), list)]


@pytest.mark.parametrize("name", GAMES)
def test_games_of_pgn_are_read_as_they_were_meant(name: str) -> None:
    games = list(ht.read_games(FOLDER / name))
    found = [
        {
            "start": game.start,
            "moves": " ".join(game.moves),
            "result": game.result,
            "white": game.headers["White"],
        }
        for game in games
    ]
    assert found == EXPECTED[name]["games"]
    assert [game.skipped for game in games] == [None] * len(games)


def test_every_file_has_an_expected_value() -> None:
    files = {str(path.relative_to(FOLDER)) for folder in ("pgn", "sgf", "epd") for path in (FOLDER / folder).iterdir()}
    assert files == set(EXPECTED)


def test_a_variation_that_is_never_closed_is_named_with_game_and_line() -> None:
    (game,) = ht.read_games(FOLDER / "pgn/variation_never_closed.pgn")
    assert game.moves == ()
    assert game.skipped is not None
    assert game.skipped.endswith("variation_never_closed.pgn, game 1 (line 1): line 6: a variation is not closed")


def test_sgf_is_decoded_by_the_encoding_that_it_names() -> None:
    (game,) = ht.read_games(FOLDER / "sgf/shift_jis_text_whose_second_byte_is_a_backslash.sgf")
    assert (game.moves, game.result) == (("E5", "C7", "D6"), "1-0")
    assert (game.headers["RE"], game.headers["PB"], game.headers["GN"]) == ("B+R", "first", "発表")
    assert game.game == load_game("go(size=9, komi=6.5)")


def test_draws_of_sgf_are_draws() -> None:
    (game,) = ht.read_games(FOLDER / "sgf/drawn_game.sgf")
    assert (len(game.moves), game.result) == (2, "1/2-1/2")
    text = (FOLDER / "sgf/drawn_game.sgf").read_text()
    for result in ("0", "draw", "D", "Jigo", "Tie", "1/2"):
        (again,) = ht.read_games(text.replace("RE[Draw]", f"RE[{result}]"))
        assert again.result == "1/2-1/2"


def test_castling_with_zeros_is_a_best_move() -> None:
    (problem,) = read_problems(FOLDER / "epd/best_move_castles_with_zeros.epd")
    (step,) = problem.steps
    assert [step.state.uci(action) for action in step.right] == ["e1g1"]
    assert problem.name == "zeros"


def test_one_wrong_best_move_leaves_the_other_lines() -> None:
    bad: list[str] = []
    problems = list(read_problems(FOLDER / "epd/one_illegal_best_move_among_four.epd", on_bad=bad.append))
    assert [problem.name for problem in problems] == ["1", "2", "4"]
    assert len(bad) == 1
    assert "one_illegal_best_move_among_four.epd, line 3: " in bad[0]
    assert "Nf3" in bad[0]
