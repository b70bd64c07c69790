"""The public searches: `hauteur.search`, `search_batch` and `Analysis.go`, their results, limits and errors."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import hauteur as ht
from hauteur.networks.evaluators.base import GameEvaluator, UniformEvaluator

SPECS = ["minichess", "connect4", "nogo(size=5)", "tutorial"]


WRONG: list[Any] = [2.5, "9", "chess", 3]
"""Values that are neither a count nor a position."""


def start(spec: str, *moves: str) -> ht.State:
    """A position after these moves."""
    state = ht.load_game(spec).new_initial_state()
    for move in moves:
        state.apply_text(move)
    return state


def won() -> ht.State:
    """A finished game."""
    return start("tictactoe", "a1", "b1", "a2", "b2", "a3")


class Hashing(GameEvaluator):
    """Values and priors that are a function of the features, so that trees are uneven. seconds: of every batch."""

    def __init__(self, game: ht.Game, seconds: float = 0.0, rows: int = 16) -> None:
        super().__init__(game, "hashing", rows)
        self.seconds = seconds
        weights = np.random.default_rng(0).normal(size=(int(np.prod(game.feature_shape)), game.num_actions + 3))
        self._weights = weights.astype(np.float32)

    def compute(self, features: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        time.sleep(self.seconds)
        both = np.tanh(features.reshape(len(features), -1) @ self._weights)
        chances = np.exp(both[:, -3:])
        return np.ascontiguousarray(both[:, :-3]), (chances / chances.sum(axis=1, keepdims=True)).astype(np.float32)


@pytest.mark.parametrize("spec", SPECS)
def test_arrays_of_a_result(spec: str) -> None:
    state = start(spec)
    result = ht.search(state, Hashing(state.game), visits=150)
    actions = state.game.num_actions
    legal = state.legal_actions().astype(int)
    shapes = {array.shape for array in (result.visits, result.q, result.prior, result.policy_target)}
    assert shapes == {(actions,)}
    assert result.visits.sum() == 149
    assert set(np.flatnonzero(result.visits)) <= set(legal.tolist())
    assert np.isnan(result.q[result.visits == 0]).all()
    assert (np.abs(result.q[result.visits > 0]) <= 1).all()
    np.testing.assert_allclose([result.policy_target.sum(), result.prior.sum(), result.wdl.sum()], 1, rtol=1e-3)
    assert result.best_action == result.visits.argmax() == result.pv[0].action == result.moves[0].action
    assert len(result.moves) == len(legal)
    assert sorted((row.visits for row in result.moves), reverse=True) == [row.visits for row in result.moves]
    assert -1 <= result.value <= 1
    assert state.moves == [], "the position given is not changed"


def test_a_search_by_visits_is_repeatable_whatever_the_pace() -> None:
    state = start("connect4", "4", "4")
    paces = (0.0, 0.03, 0.0)
    results = [ht.search(state, Hashing(state.game, seconds), visits=400) for seconds in paces]
    for other in results[1:]:
        np.testing.assert_array_equal(results[0].visits, other.visits)
        np.testing.assert_array_equal(results[0].q, other.q)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda s: ht.search(s, "uniform", visits=0), "visits must be a whole number from 1 to 1,000,000,000, got 0"),
        (lambda s: ht.search(s, "uniform", visits=10**30), "from 1 to 1,000,000,000, got 1000000000"),
        (lambda s: ht.search(s, "uniform", visits=WRONG[0]), "from 1 to 1,000,000,000, got 2.5"),
        (lambda s: ht.search(s, "uniform", visits=WRONG[1]), "from 1 to 1,000,000,000, got '9'"),
        (lambda s: ht.search(s, "uniform", seconds=0.0), "seconds must be a number above 0, got 0.0"),
        (lambda s: ht.search(s, "uniform", seconds=float("nan")), "seconds must be a number above 0"),
        (lambda s: ht.search(s, UniformEvaluator(ht.load_game("chess")), visits=9), "is for chess"),
        (lambda s: ht.search(s, 3.5, visits=9), "an evaluator is made of"),
        (lambda s: ht.search(won(), "uniform"), "the game is over, 1-0"),
        (lambda s: ht.search_batch([], "uniform"), "at least one position"),
        (lambda s: ht.search_batch([s, start("connect4")], "uniform"), r"positions\[1\] is of connect4, not tictactoe"),
        (lambda s: ht.search_batch([s, won()], "uniform"), r"positions\[1\]: the game is over"),
        (lambda s: ht.search(s, "uniform", visits=9).tree.node(["a1", "a1"]), "not a legal move|no legal move"),
        (lambda s: ht.search(s, "uniform", visits=9).tree.node([77]), "the tree has no move 77"),
        (lambda s: ht.search(s, "uniform", visits=9).tree.plot(0), "max_nodes must be >= 1"),
        (lambda s: ht.Analysis("uniform").result(), "no position yet"),
    ],
)
def test_errors_are_one_line(call: Callable[[ht.State], object], words: str) -> None:
    with pytest.raises(ValueError, match=words) as caught:
        call(start("tictactoe"))
    assert "\n" not in str(caught.value)


def test_what_is_no_position_is_refused() -> None:
    for call in (lambda: ht.search(WRONG[3], "uniform"), lambda: ht.search_batch([start("connect4"), WRONG[3]])):
        with pytest.raises(TypeError, match="expected a position"):
            call()


def test_displays() -> None:
    result = ht.search(start("connect4"), "uniform", visits=80)
    first, names, *rows = repr(result).splitlines()
    assert first.startswith("connect4: ")
    assert names.split() == ["move", "visits", "q", "prior", "line"]
    assert len(rows) == 7
    assert "<svg" in result._repr_html_()
    assert result._repr_html_().count("<tr>") == 8
    table = result.moves.to_pandas()
    assert list(table.columns) == list(result.moves[0]._fields)
    assert table.visits.sum() == 79


# Many positions.


def test_a_batch_is_its_positions_one_by_one() -> None:
    states = [start("connect4", *moves) for moves in ("", "4", "44", "4435", "1")]
    evaluator = Hashing(states[0].game)
    batch = ht.search_batch(states, evaluator, visits=60)
    alone = [ht.search_batch([state], evaluator, visits=60) for state in states]
    assert (batch.visits.shape, batch.q.shape, batch.wdl.shape) == ((5, 7), (5, 7), (5, 3))
    np.testing.assert_array_equal(batch.visits, np.concatenate([one.visits for one in alone]))
    np.testing.assert_array_equal(batch.best_actions, batch.visits.argmax(axis=1))
    np.testing.assert_allclose(batch.policy_targets.sum(axis=1), 1, rtol=1e-5)
    assert batch.trees[2].root.visits == 60
    assert batch.trees[2].state.notation() == "44"
    assert repr(batch) == "5 searches of connect4"


# An analysis follows a game.


def test_an_analysis_keeps_the_tree_of_a_game() -> None:
    state = start("connect4")
    with ht.Analysis(Hashing(state.game)) as analysis:
        first = analysis.go(state, visits=300)
        before = first.tree.root.children[0]
        visits = before.visits
        q = before.q
        state.apply(first.best_action)
        again = analysis.go(state, visits=1)
        assert again.tree.root.visits == visits
        assert again.tree.root.q == pytest.approx(-q)
        with pytest.raises(ValueError, match="gone on to another position"):
            _ = first.tree.root
        state.apply(4)
        state.apply(4)
        assert analysis.go(state, visits=50).tree.root.visits >= 50
        other = start("connect4", "1")
        assert analysis.go(other, visits=2).tree.root.visits == 2


INTERRUPTED = """
import os, signal
import numpy as np
import hauteur as ht

left = 0

def counting(features):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGINT)
    return np.zeros((len(features), 7), np.float32), np.tile(np.float32([1 / 3] * 3), (len(features), 1))

state = ht.load_game("connect4").new_initial_state()
analysis = ht.Analysis(counting)
for call in (lambda: analysis.go(state), lambda: ht.search_batch([state], counting, visits=10**6)):
    left = 4  # making an evaluator of it is one call: the third one of the search is interrupted
    try:
        call()
        print("went on")
    except KeyboardInterrupt:
        print("interrupted")
found = analysis.result().tree.root.visits
assert found >= 1
print(analysis.go(state, visits=found + 50).tree.root.visits - found)
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
"""


def test_an_interrupt_ends_a_search_and_the_analysis_goes_on_working() -> None:
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.split() == ["interrupted", "interrupted", "50"], done.stderr


def test_an_error_of_the_evaluator_comes_out_and_the_analysis_goes_on_working() -> None:
    state = start("connect4")

    class Failing(Hashing):
        fail = False

        def compute(self, features: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
            if self.fail:
                raise ZeroDivisionError("of the net")
            return super().compute(features)

    evaluator = Failing(state.game)
    with ht.Analysis(evaluator) as analysis:
        analysis.go(state, visits=40)
        evaluator.fail = True
        with pytest.raises(ZeroDivisionError, match="of the net"):
            analysis.go(state, visits=400)
        evaluator.fail = False
        assert analysis.go(state, visits=60).tree.root.visits == 60


def test_searches_of_two_threads_are_in_flight_at_the_same_time() -> None:
    state = start("connect4")
    meeting = threading.Barrier(2, timeout=20)

    class Meeting(Hashing):
        met = False

        def compute(self, features: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
            if not self.met:
                meeting.wait()  # the other search evaluates now, too
                self.met = True
            return super().compute(features)

    alone = ht.search(state, Hashing(state.game), visits=300)
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda _: ht.search(state, Meeting(state.game), visits=300), range(2)))
    for result in found:
        np.testing.assert_array_equal(result.visits, alone.visits)


def test_stop_ends_a_search_from_another_thread() -> None:
    state = start("connect4")
    analysis = ht.Analysis(Hashing(state.game, 0.002))
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(analysis.go, state)
        while not analysis.searching and not running.done():
            time.sleep(0.01)
        time.sleep(0.1)
        analysis.stop()
        assert running.result(timeout=20).reason == "stopped"
