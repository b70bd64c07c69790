"""Options that commands share: one list, and defaults that fit what else is given."""

from __future__ import annotations

from pathlib import Path

import pytest

from hauteur.cli.commands.game_options import GameOptions, NetOptions, PlayOptions
from hauteur.cli.commands.puzzles import screens_between
from hauteur.cli.main import main
from hauteur.studies.puzzles.mining import MineRule


def test_default_screens_lie_between_the_two_searches() -> None:
    assert screens_between(5, 200) == ((16, 0.05), (64, 0.1))
    assert screens_between(20, 800) == ((64, 0.1), (200, 0.2))
    assert screens_between(5, 800) == MineRule().screens
    assert MineRule(low=5, high=200, screens=screens_between(5, 200)).visits == (5, 16, 64, 200)


def test_random_plies_depend_on_the_command_and_on_openings() -> None:
    assert PlayOptions().plies() == 4
    assert PlayOptions(random_plies=7).plies() == 7
    assert PlayOptions(openings=Path("x")).plies() == 0
    with pytest.raises(ValueError, match="--openings and --random-plies exclude each other, got x and 2"):
        GameOptions(openings=Path("x"), random_plies=2).make_game()


def test_batches_are_half_of_the_games_or_a_third_of_the_positions() -> None:
    assert PlayOptions(parallel=10).resources.rows == 5
    assert (NetOptions().resources.parallel, NetOptions().resources.rows) == (192, 64)


def test_wrong_threads_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", "random", "random", "--game", "tictactoe", "--threads", "-1"]) == 2
    assert "--threads must be 0 to 1024, got -1" in capsys.readouterr().err
