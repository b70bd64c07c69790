"""Players measured by exact play: games against every reply, solved positions, the solver."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest
from learning_toys import Answers, ToyEvaluator
from numpy.typing import NDArray
from search_toys import solved_tictactoe

from hauteur import _core
from hauteur.cli import main
from hauteur.cli.commands import games as commands
from hauteur.games.positions import position
from hauteur.mcts.params import SearchParams
from hauteur.players.search_player import SearchPlayer
from hauteur.studies import exact_play
from hauteur.studies.exact_play import (
    MoveChooser,
    Preserved,
    play_against_every_reply,
    solved_connect4_positions,
)

GAME = _core.Game("tictactoe")
CONNECT4 = _core.Game("connect4")


class FunctionEvaluator(ToyEvaluator):
    """Answers by a function of the features."""

    function: Callable[[NDArray[np.float32]], Answers]

    def __call__(self, features: NDArray[np.float32]) -> Answers:
        return self.function(features)


def player(game: _core.Game, function: Callable[[NDArray[np.float32]], Answers], visits: int) -> SearchPlayer:
    evaluator = FunctionEvaluator(game, batch_size=64)
    evaluator.function = function
    return SearchPlayer("toy", evaluator, SearchParams(), visits)


def rising(features: NDArray[np.float32]) -> Answers:
    """Knows nothing and prefers high actions."""
    logits = np.tile(np.arange(9, dtype=np.float32), (len(features), 1))
    return logits, np.full((len(features), 3), 1 / 3, np.float32)


def uniform7(features: NDArray[np.float32]) -> Answers:
    """All columns alike, all values 0."""
    return np.zeros((len(features), 7), np.float32), np.full((len(features), 3), 1 / 3, np.float32)


def test_a_player_that_knows_the_values_never_loses() -> None:
    results = play_against_every_reply(player(GAME, solved_tictactoe, 100), GAME)
    assert [result.side for result in results] == [0, 1]
    assert [result.losses for result in results] == [0, 0]
    assert all(result.wins > 0 and result.draws > 0 for result in results)
    assert all(result.searched < result.positions for result in results)


def reached_by_highest_square(side: int) -> tuple[set[tuple[str, ...]], set[tuple[str, ...]]]:
    """All and the lost boards that can come about when one side always takes the highest free square."""
    met, lost = set(), set()
    todo = [GAME.new_initial_state()]
    while todo:
        state = todo.pop()
        board = tuple(state.text().split())
        if board in met:
            continue
        met.add(board)
        legal = state.legal_actions().tolist()
        if state.outcome() == (-1 if side == 0 else 1):
            lost.add(board)
        for action in legal[-1:] if state.to_move == side else legal:
            child = state.copy()
            child.apply(action)
            todo.append(child)
    return met, lost


def test_every_reply_is_met_and_every_loss_found() -> None:
    results = play_against_every_reply(player(GAME, rising, 1), GAME)
    for result in results:
        met, lost = reached_by_highest_square(result.side)
        assert (result.positions, result.losses) == (len(met), len(lost))
        assert len(result.lost) == result.losses > 0


def test_the_solved_positions_are_what_they_say() -> None:
    positions = solved_connect4_positions()
    solver = _core.Connect4Solver(18)
    assert {position.state.ply for position in positions} == set(range(8, 31))
    assert len({position.state.key for position in positions}) == len(positions) == 23 * 20
    for solved in positions:
        assert solved.state.outcome() is None
        assert len(solved.values) == len(solved.state.legal_actions())
        if solved.state.ply >= 18:
            assert solver.move_values(solved.state).tolist() == list(solved.values)


def test_mirrored_positions_have_mirrored_values_in_tables_of_any_size() -> None:
    for solved in solved_connect4_positions():
        if solved.state.ply in (16, 22):
            twin = position("connect4", [str(8 - int(column)) for column in solved.state.notation()])
            assert _core.Connect4Solver(18).move_values(twin).tolist() == list(solved.values)[::-1]
        if solved.state.ply in (20, 23, 26):
            assert _core.Connect4Solver(10).move_values(solved.state).tolist() == list(solved.values)


def test_the_solver_takes_connect4_alone() -> None:
    with pytest.raises(ValueError, match="connect4 of 7 columns and 6 rows, got a state of tictactoe"):
        _core.Connect4Solver().move_values(GAME.new_initial_state())
    with pytest.raises(ValueError, match="table_bits must be 10 to 30, got 3"):
        _core.Connect4Solver(3)


def test_shares_of_preserved_values() -> None:
    late = [position for position in solved_connect4_positions() if position.state.ply >= 28]
    solver_player = player(CONNECT4, uniform7, 400)
    shares, in_all = exact_play.value_preserving_moves(solver_player, late)
    assert sorted(shares) == [28, 29, 30]
    assert in_all.positions == len(late) == sum(part.positions for part in shares.values())
    actions = MoveChooser(solver_player, CONNECT4).choose([position.state for position in late])
    kept = sum(position.preserved_by(int(action)) for position, action in zip(late, actions, strict=True))
    assert in_all.preserved == kept
    assert in_all.share > 0.8
    assert Preserved(10, 9, 4, 3).share == 0.9
    assert Preserved(10, 9, 4, 3).choices_share == 0.75


def use_toy(monkeypatch: pytest.MonkeyPatch, solver_player: SearchPlayer) -> None:
    """The commands find this player's evaluator instead of a net's."""
    monkeypatch.setattr(commands, "evaluator_of", lambda game, net: solver_player.evaluator)


def test_a_loss_gives_exit_status_1(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["prove", "tictactoe", "--net", "toy.safetensors", "--visits"]
    use_toy(monkeypatch, player(GAME, rising, 1))
    assert main.main([*words, "1"]) == 1
    assert "  lost: " in capsys.readouterr().out
    use_toy(monkeypatch, player(GAME, solved_tictactoe, 1))
    assert main.main([*words, "50"]) == 0
    assert "positions visited, 0 losses (50 visits a move" in capsys.readouterr().out


def test_prove_connect4(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    use_toy(monkeypatch, player(CONNECT4, uniform7, 1))
    arguments = ["prove", "connect4", "--net", "toy.safetensors", "--visits", "20"]
    assert main.main([*arguments, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["total"]["positions"] == 460
    assert 0 < document["total"]["choices_preserved"] < document["total"]["choices"] < 460
    assert main.main([*arguments, "--at-least", "1"]) == 1
    assert "value-preserving moves: " in capsys.readouterr().out
