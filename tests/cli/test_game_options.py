"""Options that commands share: one list, and defaults that fit what else is given."""

from __future__ import annotations

from pathlib import Path

import pytest

from hauteur.cli.commands.game_options import GameOptions, NetOptions, PlayOptions


def test_random_plies_depend_on_the_command_and_on_openings() -> None:
    assert PlayOptions().plies() == 4
    assert PlayOptions(random_plies=7).plies() == 7
    assert PlayOptions(openings=Path("x")).plies() == 0
    with pytest.raises(ValueError, match="--openings and --random-plies exclude each other, got x and 2"):
        GameOptions(openings=Path("x"), random_plies=2).make_game()


def test_batches_are_half_of_the_games_or_a_third_of_the_positions() -> None:
    assert PlayOptions(parallel=10).resources.rows == 5
    assert (NetOptions().resources.parallel, NetOptions().resources.rows) == (192, 64)
