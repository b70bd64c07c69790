"""Programs as users of python-chess write them; mypy checks this file strictly, so it also holds the types."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import chess
import chess.engine
import chess.variant
import numpy as np
import pytest

import hauteur as ht

pytestmark = pytest.mark.quick

if TYPE_CHECKING:
    from collections.abc import Callable

MATE = "6k1/5ppp/8/8/8/8/8/R6K w - - 0 1"


@pytest.mark.parametrize(
    "position", [MATE, chess.Board(MATE), ht.position("chess", MATE)], ids=["fen", "board", "state"]
)
def test_a_search_takes_what_chess_users_have(position: ht.State | chess.Board | str) -> None:
    result = ht.search(position, "uniform", visits=300)
    assert (result.best_move, result.best_move.san, result.best_move.chess) == ("a1a8", "Ra8#", chess.Move(0, 56))
    assert result.pv[0].action == result.best_action
    assert result.score == chess.engine.PovScore(chess.engine.Mate(1), chess.WHITE)
    with ht.Analysis("uniform") as analysis:
        assert analysis.go(position, visits=300).best_move == result.best_move
    assert ht.search_batch([position, chess.Board()], "uniform", visits=300).best_actions[0] == result.best_action


def test_results_as_plain_data() -> None:
    result = ht.search(ht.position("connect4", "4 4"), "uniform", visits=50)
    read = json.loads(result.to_json())
    assert read == result.to_dict()
    assert read["played"] == [3, 3]
    assert sum(row["visits"] for row in read["moves"]) == result.table["visits"].sum() == 49
    assert {"move", "visits", "q", "prior", "policy", "line"} <= set(result.table) & set(read["moves"][0])
    assert all(
        value is None or not isinstance(value, float) or math.isfinite(value) for value in read["moves"][-1].values()
    )
    assert len(result.tree.to_pandas()) == len(result.tree.most_visited(500))


def test_evaluators_answer_positions() -> None:
    board = chess.Board()
    board.push_san("e4")
    with ht.evaluator("chess") as net:
        logits, wdl = net(board)
        assert (logits.shape, wdl.shape) == ((1, net.num_actions), (1, 3))
        alone = net(ht.position("chess", board).features()[None])
        np.testing.assert_array_equal(alone[0], logits)
        np.testing.assert_array_equal(net([board, MATE])[1].shape, (2, 3))
        with pytest.raises(ValueError, match="got a position of connect4"):
            net(ht.position("connect4"))
    with ht.evaluator("connect4", "rollout") as rollouts:
        assert rollouts(ht.position("connect4", "4 4"))[1].shape == (1, 3)


def test_a_player_as_an_engine() -> None:
    board = chess.Board(MATE)
    with ht.Player("uniform", visits=300).as_engine() as engine:
        played = engine.play(board, chess.engine.Limit(nodes=200))
        assert played.move == chess.Move.from_uci("a1a8")
        assert played.info["nodes"] == 200
        first, second = engine.analyse(board, chess.engine.Limit(nodes=250), multipv=2)
        assert first["score"].white() == chess.engine.Mate(1)
        assert first["pv"][0] == played.move != second["pv"][0]
        assert engine.analyse(MATE)["nodes"] == 300
        for limit in (chess.engine.Limit(), chess.engine.Limit(depth=3)):
            with pytest.raises(ValueError, match="a limit has nodes"):
                engine.play(board, limit)
        with pytest.raises(ValueError, match="this engine plays chess"):
            engine.choose(ht.position("connect4"))
    with ht.Player.from_text("mcts:50").as_engine("connect4") as baseline:
        assert baseline.choose(ht.position("connect4", "4 1 4 1 4 1")) == "4"
        with pytest.raises(ValueError, match="no search"):
            baseline.analyse(ht.position("connect4"))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ht.SearchParams(cpuct=200), "^cpuct.init must be a number from 0 to 100, got 200"),
        (lambda: ht.SearchParams(cpct=2), "cpct is not a setting .did you mean cpuct"),
        (lambda: ht.SearchParams(solver=3), "^solver"),
        (lambda: ht.SearchParams(search_contempt=0), "n_scl must not be 0"),
        (
            lambda: ht.Recipe(game="tictactoe", self_play={}),
            "^self_play is not a setting .did you mean selfplay",
        ),
        (lambda: ht.search(4), "expected a position: .*; got int"),  # type: ignore[arg-type]
        (lambda: ht.search("e2e5", "uniform"), "ply 1: .*e2e5"),
        (lambda: ht.search("go(size=9)"), r"'go\(size=9\)' is no position: the start of the game is ht.position"),
        (lambda: ht.search(chess.variant.AtomicBoard(), "uniform"), "standard chess is needed, got one of atomic"),
    ],
)
def test_wrong_calls_are_one_line(call: Callable[[], object], words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=words) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_progress_is_shown_where_it_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    ht.play_match("random", "random", "tictactoe", games=4)
    assert capsys.readouterr().err == ""
    ht.play_match("random", "random", "tictactoe", games=4, progress=True)
    assert "4/4 games" in capsys.readouterr().err
    list(ht.self_play("tictactoe", "net=uniform visits=4", games=3, progress=True))
    assert "3/3 games" in capsys.readouterr().err
    ht.sprt("net=uniform visits=40", "random", "tictactoe", elo1=100, parallel=16, progress=True)
    assert "games  +" in capsys.readouterr().err
