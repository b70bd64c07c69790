"""Positions are values: equality, hashes, pickles, copies, reprs; in Rust games, Python games, chess with its past."""

from __future__ import annotations

import ast
import copy
from multiprocessing.reduction import ForkingPickler
from typing import Any

import chess
import numpy as np
import pytest

import hauteur as ht
from hauteur import _core
from hauteur.games.tutorial import MisereTicTacToe

pytestmark = pytest.mark.quick

GAMES = (
    *(
        "tictactoe",
        "connect4",
        "connect4(columns=5,rows=4)",
        "nogo(size=5)",
        "go(size=5,position=5/5/2O2/5/5 b)",
        "minichess",
        "chess",
        "tutorial",
    ),
    "chess(fen=8/5k2/8/8/8/2K5/3R4/8 w - - 30 60)",
)


def pickled(thing: Any) -> Any:
    """A thing that went through pickle, as multiprocessing does it."""
    return ForkingPickler.loads(ForkingPickler.dumps(thing))


def random_states(spec: str, games: int = 3, plies: int = 12) -> list[ht.State]:
    """Every position of some random games."""
    random = np.random.default_rng(1)
    found = []
    for _ in range(games):
        state = ht.load_game(spec).new_initial_state()
        for _ in range(plies):
            found.append(state.copy())
            if state.is_terminal:
                break
            state.apply(random.choice(state.legal_actions()))
    return found


@pytest.mark.parametrize("spec", GAMES)
def test_equal_after_a_round_trip(spec: str) -> None:
    for state in random_states(spec):
        twins = [state.copy(), copy.deepcopy(state), pickled(state), eval(repr(state), {"ht": ht})]
        for twin in twins:
            assert twin == state
            assert hash(twin) == hash(state)
            assert twin.game == state.game
            assert (twin.moves, twin.start, twin.ply) == (state.moves, state.start, state.ply)
            np.testing.assert_array_equal(twin.features(), state.features())


def test_chess_with_its_past() -> None:
    there_and_back = "g1f3 g8f6 f3g1 f6g8"
    start = ht.position("chess")
    again = ht.position("chess", there_and_back)
    assert start.fen.split()[0] == again.fen.split()[0]
    assert start != again
    assert again.repetition() == (1, 4, 0)
    twice = ht.position("chess", f"{there_and_back} {there_and_back}")
    assert pickled(twice).end_reason() == "threefold repetition"
    late = "chess(fen=8/5k2/8/8/8/2K5/3R4/8 w - - 0 1)"
    assert ht.position(late, "d2d3 f7e7 d3d2 e7f7") != ht.position(late, "d2d4 f7e7 d4d2 e7f7")


@pytest.mark.parametrize("spec", GAMES)
def test_child_and_undo(spec: str) -> None:
    for state in random_states(spec, games=1):
        before = state.copy()
        if state.is_terminal:
            continue
        action = int(state.legal_actions()[0])
        child = state.child(action)
        assert state == before
        assert child.moves == [*state.moves, action]
        assert child.undo() == action
        assert child == before
    with pytest.raises(ValueError, match="no move to take back"):
        ht.position(spec).undo()


def test_an_unregistered_game_in_python_is_pickled_by_its_class() -> None:
    game = _core.Game.from_python(MisereTicTacToe(), "mine")
    state = game.new_initial_state()
    state.apply(4)
    twin = pickled(state)
    assert (twin, twin.game, hash(twin)) == (state, game, hash(state))
    with pytest.raises(ValueError, match="is not legal"):
        _core.state_from(game, 0, [4, 4])


def test_boards_of_python_chess() -> None:
    board = chess.Board()
    for move in ("e4", "c5", "Nf3", "d6", "Bb5+"):
        board.push_san(move)
    state = ht.position("chess", board)
    assert (state.fen, state.ply, state.board()) == (board.fen(), 5, board)
    assert state.board().move_stack == board.move_stack
    assert ht.position("chess", board.fen()).fen == board.fen()
    assert [state.uci(action) for action in state.legal_actions()] == state.legal_moves
    assert sorted(map(state.san, state.legal_actions())) == sorted(map(board.san, board.legal_moves))
    shuffled = chess.Board.from_chess960_pos(0)
    assert ht.position("chess", shuffled).board() == shuffled
    odds = chess.Board("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNB1KBNR w KQkq - 0 1")
    odds.push_san("e4")
    assert ht.position("chess", odds).board().root() == odds.root()


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ("4 4 4 4 4 4 4", ValueError, "ply 7"),
        (["4", 99], ValueError, "ply 2"),
        (4, TypeError, "got int"),
        (chess.Board(), ValueError, "a position of connect4 is needed"),
        ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", ValueError, "has no FEN"),
    ],
)
def test_what_is_no_position_is_one_line(given: object, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words) as caught:
        ht.position("connect4", given)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


class OddNames(MisereTicTacToe):
    """A game whose moves have signs in their names that few texts have."""

    def action_to_text(self, action: int) -> str:
        return ("e\u0301", 'quo"te', "back\\slash", "bell\x07", "soft\xad")[action % 5] + str(action)


@pytest.mark.parametrize("action", range(5))
def test_a_repr_is_python_whatever_a_game_calls_its_moves(action: int) -> None:
    state = _core.Game.from_python(OddNames(), "odd").new_initial_state()
    text = state.action_to_text(action)
    state.apply(action)
    call = ast.parse(repr(state), mode="eval").body
    assert isinstance(call, ast.Call)
    assert [ast.literal_eval(argument) for argument in call.args] == ["odd", text]


def test_rows_of_games_are_of_one_game() -> None:
    states = [ht.load_game(spec).new_initial_state() for spec in ("connect4", "tictactoe")]
    out = np.zeros((2, *states[0].game.feature_shape), np.float32)
    none = [np.zeros(0, np.uint16)] * 2
    with pytest.raises(ValueError, match="all states must be of one game"):
        _core.encode_games(states, none, np.array([0, 1]), np.array([0, 0]), out)
