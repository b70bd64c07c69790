"""Games as people outside write them: sound ones pass, and what others leave out or mix up is found and named."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from outside_games import Chase, HiddenCounter, HiddenRight, Isolation, Nim, Occupied, Outside

from hauteur import _core
from hauteur.cli import main
from hauteur.games import registry
from hauteur.games.laws import LawResults, check_laws
from hauteur.games.pictures import board_of, why_no_board
from hauteur.games.random_play import RandomPlay

FIELD = Path(__file__).parents[1] / "support/field/trainers"
CORE_GAMES = (
    "chess",
    "connect4",
    "go",
    "gomoku(size=7)",
    "hex(size=5)",
    "minichess",
    "nogo(size=5)",
    "go(size=5,position=5/1X1O1/5/1X3/5 w)",
    "othello(size=6)",
)


@pytest.fixture
def field(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The games of tests/support/field/trainers can be imported, and are registered anew."""
    monkeypatch.setattr(registry, "_registered", {})
    monkeypatch.syspath_prepend(str(FIELD))
    names = ("dots", "dots_edges", "breakthrough", "to_and_fro", "zero_while_on")
    before = {name: sys.modules.pop(name) for name in names if name in sys.modules}
    yield
    for name in names:
        sys.modules.pop(name, None)
    sys.modules.update(before)


def imported(name: str) -> ModuleType:
    return importlib.import_module(name)


def results_of(kind: type[Outside], seed: int = 0) -> LawResults:
    return check_laws(_core.Game.from_python(kind()), games=20, seed=seed)


def broken_laws(results: LawResults) -> dict[str, str]:
    return {result.name: result.broken for result in results if result.broken is not None}


# -- keys that leave something out -------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("kind", [Occupied, HiddenCounter, HiddenRight])
def test_features_that_leave_something_out_break_a_law(kind: type[Outside], seed: int) -> None:
    found = broken_laws(results_of(kind, seed))
    assert list(found) == ["transpositions"]
    assert "the keys are equal, but" in found["transpositions"]
    assert "features() or key()" in found["transpositions"]


@pytest.mark.parametrize("kind", [Nim, Isolation, Chase])
def test_sound_games_break_no_law(kind: type[Outside]) -> None:
    assert broken_laws(results_of(kind)) == {}


def test_boxes_whose_owners_are_forgotten(field: None, capsys: pytest.CaptureFixture[str]) -> None:
    imported("dots_edges")
    assert main.main(["check-game", "dots-edges"]) == 1
    assert "BROKEN transpositions" in capsys.readouterr().out
    assert main.main(["check-game", "dots", "--games", "8"]) == 0


@pytest.mark.parametrize("spec", [*CORE_GAMES, "tictactoe", "tutorial"])
def test_no_game_of_the_core_breaks_a_law(spec: str) -> None:
    assert broken_laws(check_laws(registry.load_game(spec), games=3, seed=1)) == {}


def test_games_whose_past_matters_are_left_out() -> None:
    kind = type("Recalls", (HiddenCounter,), {"past_matters": True})
    assert _core.Game.from_python(kind()).past_matters == "the moves before"
    assert broken_laws(results_of(kind)) == {}
    assert _core.Game.from_python(HiddenCounter()).past_matters is None


def test_a_law_that_is_broken_shows_the_last_moves() -> None:
    for message in broken_laws(results_of(Occupied)).values():
        assert len(message) < 1500
        assert message.count("[") <= 4


# -- a game that is over at its start ----------------------------------------------------------------------------------


def test_zero_does_not_mean_that_the_game_goes_on(field: None, capsys: pytest.CaptureFixture[str]) -> None:
    imported("zero_while_on")
    assert main.main(["check-game", "zero-while-on"]) == 1
    assert "the start is over: outcome() is 0; None means that the game goes on" in capsys.readouterr().out
    assert main.main(["match", "random", "mcts:5", "--game", "zero-while-on", "--games", "2"]) == 2
    assert "None means that the game goes on" in capsys.readouterr().err


# -- what was played ---------------------------------------------------------------------------------------------------


def test_check_game_says_what_was_played(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["check-game", "tictactoe", "--games", "30"]) == 0
    output = capsys.readouterr().out
    for part in (
        "played: 30 games: first player won ",
        ", drawn ",
        "plies: ",
        "median ",
        "legal actions: 1 to 9",
        "board: 3 rows",
    ):
        assert part in output
    assert "remark" not in output


def test_a_side_that_never_wins_or_never_moves_is_worth_a_remark(
    field: None, capsys: pytest.CaptureFixture[str]
) -> None:
    imported("to_and_fro")
    assert main.main(["check-game", "to-and-fro"]) == 0
    assert "remark: the second player won none of 20 games" in capsys.readouterr().out

    class Alone(Nim):
        def pass_on(self) -> None:
            self.plies += 1

    remarks = list(results_of(Alone).played.remarks())
    assert remarks[0] == "the second player never moves: to_move is always 0"


def test_few_games_and_games_of_both_sides_have_no_remark() -> None:
    assert list(RandomPlay(outcomes=[1] * 9, plies=[3] * 9, movers=[9, 9]).remarks()) == []
    assert list(RandomPlay(outcomes=[1, -1] * 9, plies=[3] * 18, movers=[9, 9]).remarks()) == []
    assert list(RandomPlay(outcomes=[0] * 18, plies=[3] * 18, movers=[9, 9]).remarks()) == [
        "nobody won any of 18 games"
    ]


# -- boards ------------------------------------------------------------------------------------------------------------


class Drawn(Nim):
    """Three rows of five signs, drawn as a test says."""

    drawing = ""

    def text(self) -> str:
        return self.drawing


ROWS = ("XO..X", ".....", "O...X")


@pytest.mark.parametrize(
    "drawing",
    [
        "\n".join(ROWS),
        "\n".join(" ".join(row) for row in ROWS),
        "\n".join(f"{3 - number} {row}" for number, row in enumerate(ROWS)) + "\n  abcde\nX to move",
        "\n".join(f"{3 - number} {' '.join(row)}" for number, row in enumerate(ROWS)) + "\n  a b c d e\nX to move",
        "\n".join(ROWS) + "\nX to move",
    ],
)
def test_boards_with_and_without_blanks(drawing: str) -> None:
    state = _core.Game.from_python(type("Drawn", (Drawn,), {"drawing": drawing})()).new_initial_state()
    board = board_of(state)
    assert board is not None
    assert board.cells == "".join(ROWS)
    assert why_no_board(state) == ""
    assert board.row_labels == (("3", "2", "1") if drawing.startswith("3") else ("", "", ""))


def test_a_game_may_give_its_cells() -> None:
    """Without a text of its own the position is written by them."""
    state = _core.Game.from_python(type("Given", (Nim,), {"cells": lambda _: list(ROWS)})()).new_initial_state()
    board = board_of(state)
    assert board is not None
    assert (board.cells, board.caption) == ("".join(ROWS), "first player to move")
    assert state.text().splitlines() == [*(" ".join(row) for row in ROWS), "first player to move"]
    assert state.svg().count("<use ") == sum(sign != "." for sign in board.cells)


@pytest.mark.parametrize(
    ("drawing", "reason"),
    [
        ("XO..X\n.....", "text() has 2 lines, and feature_shape 3 rows"),
        ("XO..X\n....\nO...X", "line 2 of text(), '....', is not 5 single signs"),
        ("heaps 4 3 4\n\n\n", "line 1 of text(), 'heaps 4 3 4', is not 5 single signs"),
        ("XO..X\n3 .....\nO...X", "line 2 of text()"),
    ],
)
def test_why_there_is_no_board(drawing: str, reason: str) -> None:
    game = _core.Game.from_python(type("Drawn", (Drawn,), {"drawing": drawing})())
    state = game.new_initial_state()
    assert board_of(state) is None
    assert reason in why_no_board(state)
    assert f"board: none, because {why_no_board(state)}" in str(check_laws(game, games=1, seed=0).played)


def test_boards_of_outside_games(field: None) -> None:
    imported("breakthrough")
    imported("dots")
    state = registry.load_game("breakthrough").new_initial_state()
    board = board_of(state)
    assert board is not None
    assert (board.rows, board.columns, board.cells[:5], board.cells[-5:]) == (8, 5, "OOOOO", "XXXXX")
    assert board_of(registry.load_game("dots").new_initial_state()) is not None
    assert why_no_board(_core.Game.from_python(Nim()).new_initial_state()).startswith("there is no text()")


def test_a_drawing_of_its_own_takes_the_place_of_a_board() -> None:
    kind = type("Svg", (Drawn,), {"drawing": "\n".join(ROWS), "svg": lambda self: "<svg/>"})
    state = _core.Game.from_python(kind()).new_initial_state()
    assert board_of(state) is None
    assert "svg()" in why_no_board(state)
