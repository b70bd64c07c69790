"""Arguments of a type that a call does not take: an error in one line that names the argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import hauteur as ht

API: Any = ht
"""As somebody without a type checker sees it."""

TICTACTOE = "tictactoe"


def start() -> Any:
    return ht.position(TICTACTOE)


REFUSED: list[tuple[Callable[[], object], str]] = [
    (lambda: API.load_game({"a": 1}), "{'a': 1} is no game; expected name or name"),
    (lambda: API.check_game(TICTACTOE, games=None), "games must be a whole number from 1 "),
    (lambda: API.check_game(TICTACTOE, games=1.5), "games must be a whole number from 1 .*got 1.5"),
    (lambda: API.check_game(TICTACTOE, seed=float("nan")), "seed must be a whole number"),
    (lambda: API.evaluator(TICTACTOE, "uniform", batch_size=1.5), "batch_size must be a whole number"),
    (lambda: API.evaluator(TICTACTOE, "uniform", threads=""), "threads must be a whole number from 1 to 1,024"),
    (lambda: API.search(start(), "uniform", visits=True), "visits must be a whole number"),
    (lambda: API.search(start(), "uniform", visits=5, seed=-1), "seed must be a whole number from 0 .*got -1"),
    (lambda: API.search(start(), "uniform", visits=5, seed=None), "seed must be a whole number"),
    (lambda: API.search(start(), "uniform", {}, visits=5), "params must be hauteur.SearchParams, got a dict"),
    (lambda: API.search_batch(None, visits=5), r"positions must be a list of positions, got nothing \(None\)"),
    (lambda: API.search_batch([start()], "uniform", True, visits=5), "params must be hauteur.SearchParams"),
    (lambda: API.search_batch([start()], "uniform", visits=None), "visits must be a whole number"),
    (lambda: API.search_batch([start()], "uniform", visits=5, seed=2**70), "seed must be a whole number"),
    (lambda: API.search_batch([start()], "uniform", visits=5, threads="x"), "threads must be a whole number"),
    (lambda: API.play_match("random", "random", None), "no game 'None'"),
    (lambda: API.exact_play(None, TICTACTOE), "players must be a list of players"),
    (lambda: API.exact_play([], TICTACTOE), "exact_play needs at least one player"),
    (lambda: API.exact_play([3], TICTACTOE), "player 1 must be a text or a hauteur.Player, got 3"),
    (lambda: API.exact_play(["random"], TICTACTOE, positions=1.5), "positions must be a whole number"),
    (lambda: API.tournament(["random", "mcts:10"], None), "no game 'None'"),
    (lambda: API.sprt("random", "mcts:10", TICTACTOE, elo0=None), "elo0 must be a number, got None"),
    (lambda: API.sprt("random", "mcts:10", TICTACTOE, alpha="x"), "alpha must be a number, got 'x'"),
    (lambda: API.review("1. e4", "uniform", True, visits=2), "params must be hauteur.SearchParams"),
    (lambda: API.review("1. e4", "uniform", visits=2, seed=1.5), "seed must be a whole number"),
    (lambda: API.review("1. e4", "uniform", visits=2, threads="abc"), "threads must be a whole number from 0 to 1,024"),
    (lambda: API.puzzles(None), "sources must be a file, a folder or a list of them"),
    (lambda: API.puzzles("x.pgn", None), "player must be a text or a hauteur.Player"),
    (lambda: API.settings(None), "matching must be a text"),
    (lambda: API.rating_list(None), "matches must be a list"),
    (lambda: API.rating_list([], anchors=True), "anchors must be a dict"),
    (lambda: API.stream(None, "x"), "seed must be a whole number from 0 to 18,446,744,073,709,551,615, got None"),
    (lambda: API.Player.from_text([]), "described by a text"),
    (lambda: API.LearningRun(None), "given by its path"),
    (lambda: API.ReplayBuffer(TICTACTOE), "a buffer is of a game"),
    (lambda: API.learn(None), "a recipe is a hauteur.Recipe"),
]
"""Calls that fail, and what the error says."""


@pytest.mark.parametrize(("call", "said"), REFUSED, ids=[said for _, said in REFUSED])
def test_a_wrong_type_is_named_in_a_line(call: Callable[[], object], said: str) -> None:
    with pytest.raises((TypeError, ValueError), match=said) as raised:
        call()
    assert "\n" not in str(raised.value)
