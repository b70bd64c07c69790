"""The game in the terminal: moves, commands, mistakes, the end."""

from __future__ import annotations

import numpy as np
from terminal_toys import played


def test_the_engine_answers() -> None:
    screen, state = played("connect4", ["4", "quit"])
    assert state.ply == 2
    assert state.notation()[0] == "4"
    assert "toy plays " in screen
    assert "first player, your move: " in screen


def test_the_engine_begins_when_the_human_is_second() -> None:
    screen, state = played("tictactoe", [], humans=(1,))
    assert state.ply == 1
    assert screen.index("toy plays") < screen.index("second player, your move")


def test_wrong_moves_say_what_is_allowed() -> None:
    screen, state = played("tictactoe", ["z9", "", "b2"], humans=(0, 1))
    assert '"z9" is no legal move of tictactoe here; legal moves: a3 b3 c3' in " ".join(screen.split())
    assert state.notation() == "b2"


def test_commands() -> None:
    screen, state = played("tictactoe", ["help", "moves", "hint", "undo", "b2", "undo"])
    assert "a3 b3 c3 a2 b2 c2 a1 b1 c1" in screen
    assert "visits" in screen
    assert "there is no move of yours to take back" in screen
    assert "take back your last move" in screen
    assert state.ply == 0


def test_undo_of_one_of_two_humans_takes_one_move() -> None:
    _, state = played("tictactoe", ["b2", "a1", "undo"], humans=(0, 1))
    assert state.notation() == "b2"


def test_flip_changes_seats() -> None:
    screen, state = played("connect4", ["flip", "quit"])
    assert "you are second player" in screen
    assert state.ply == 1


def test_a_game_to_its_end() -> None:
    screen, state = played("tictactoe", ["a3", "a2", "b3", "b2", "c3"], humans=(0, 1))
    assert state.outcome() == 1
    assert screen.strip().endswith("first player wins (three in a row)")


def test_the_engine_against_itself() -> None:
    screen, state = played("nogo(size=3)", [], humans=())
    assert state.outcome() is not None
    assert screen.strip().endswith("(no legal move)")
    assert np.count_nonzero([line.startswith("toy plays") for line in screen.splitlines()]) == state.ply


def test_chess_moves_are_shown_in_san() -> None:
    screen, state = played("chess", ["moves", "e2e4"])
    assert "Na3 Nc3 Nf3 Nh3" in screen
    assert state.ply == 2
