"""Calls of a forest that do not fit are refused in clear words, and change nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest
from forests import NOISY, gather, make_forest, search
from numpy.typing import NDArray
from search_toys import Floats, hash_evaluator

from hauteur._core import Batch, Forest, Game
from hauteur.mcts.params import SearchParams

pytestmark = pytest.mark.quick


def rows(count: int, dtype: Any = np.float32) -> NDArray[Any]:
    return np.zeros((count, 2, 3, 3), dtype)


LOGITS = np.zeros((1, 9), np.float32)
WDL = np.array([[1, 0, 0]], np.float32)
ONE = np.array([0])

BAD_CALLS: dict[str, tuple[Callable[[Forest, Batch], object], str]] = {
    "dtype of features": (lambda f, b: f.gather(rows(1, np.float64)), "features must be .*float32.*got float64"),
    "shape of features": (
        lambda f, b: f.gather(np.zeros((1, 2, 3, 4), np.float32)),
        r"\[2, 3, 3\], got \[1, 2, 3, 4\]",
    ),
    "strided features": (lambda f, b: f.gather(rows(4)[::2]), "not in C order"),
    "no array": (lambda f, b: f.gather([1]), "features must be .* got list"),  # type: ignore[arg-type]
    "another net": (lambda f, b: f.gather(rows(1), net=1), "net must be 0"),
    "dtype of logits": (lambda f, b: f.apply(b, LOGITS.astype(np.float64), WDL), "policy_logits must be"),
    "shape of logits": (lambda f, b: f.apply(b, LOGITS[:, :8].copy(), WDL), "9 logits"),
    "too few answers": (lambda f, b: f.apply(b, LOGITS[:0], WDL[:0]), "answers for 1 rows are needed, got 0"),
    "logit is no number": (lambda f, b: f.apply(b, LOGITS + np.float32(np.nan), WDL), "finite, got NaN for action 0"),
    "logit is infinite": (lambda f, b: f.apply(b, LOGITS + np.float32(np.inf), WDL), "finite, got inf for action 0"),
    "share is no number": (lambda f, b: f.apply(b, LOGITS, WDL * np.float32(np.nan)), "shares that sum to 1"),
    "shares sum to 2": (lambda f, b: f.apply(b, LOGITS, WDL * 2), "shares that sum to 1"),
    "no such tree": (lambda f, b: f.root_visits(np.array([7])), "no tree 7"),
    "negative tree": (lambda f, b: f.root_visits(np.array([-1])), "0 or more, got -1"),
    "dtype of ids": (lambda f, b: f.root_visits(ONE.astype(np.float32)), "ids must be .*int64.*got float32"),
    "advance in flight": (lambda f, b: f.advance(ONE, np.array([0], np.uint16)), "1 rows in flight"),
    "remove in flight": (lambda f, b: f.remove(ONE), "1 rows in flight"),
    "illegal restriction": (lambda f, b: f.restrict_root(0, [70_000]), "action 70000 is not legal"),
    "illegal line": (lambda f, b: f.principal_variation(0, 9), "action 9 is not legal"),
    "too few limits": (lambda f, b: f.set_visit_limits(ONE, np.zeros(0, np.uint32)), "1 ids but 0 limits"),
    "another game": (
        lambda f, b: f.add(Game("connect4").new_initial_state()),
        "searches tictactoe, got a state of connect4",
    ),
}


@pytest.mark.parametrize("name", BAD_CALLS)
def test_a_bad_call_is_refused_in_clear_words_and_changes_nothing(name: str) -> None:
    call, words = BAD_CALLS[name]
    forest = make_forest(Game("tictactoe"))
    search(forest, hash_evaluator(9), visits=10, rows=1)
    forest.set_visit_limits(ONE, np.array([20], np.uint32))
    batch, features = gather(forest, 1)
    before = forest.digest(0)
    with pytest.raises(ValueError, match=words):
        call(forest, batch)
    assert forest.digest(0) == before
    forest.apply(batch, *hash_evaluator(9)(features))
    forest.check_invariants(0)


def test_a_batch_is_answered_once_and_by_its_own_forest() -> None:
    forest = make_forest(Game("tictactoe"))
    other = make_forest(Game("tictactoe"))
    batch, _ = gather(forest, 1)
    with pytest.raises(ValueError, match="not waiting in this forest"):
        other.apply(batch, LOGITS, WDL)
    with pytest.raises(ValueError, match="not waiting in this forest"):
        other.cancel(batch)
    forest.apply(batch, LOGITS, WDL)
    with pytest.raises(ValueError, match="not waiting in this forest"):
        forest.apply(batch, LOGITS, WDL)
    with pytest.raises(ValueError, match="not waiting in this forest"):
        forest.cancel(batch)
    assert forest.root_node_visits(ONE)[0] == 1


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ("{", "EOF"),
        ('{"cput": 1}', "unknown field `cput`"),
        ('{"cpuct": {"init": -1}}', "^cpuct.init must be 0 to 100, got -1"),
        ('{"policy_temperature": 0}', "^policy_temperature must"),
        ('{"max_collisions": 0}', "^max_collisions must"),
    ],
)
def test_bad_parameters_are_named(params: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Forest(Game("tictactoe"), params)


def test_settings_are_an_object_or_its_json() -> None:
    game = Game("tictactoe")
    with pytest.raises(ValueError, match="params must be SearchParams or their JSON text, got <class 'int'>"):
        Forest(game, cast("SearchParams", 7))
    assert Forest(game, NOISY).nets == Forest(game, NOISY.model_dump_json()).nets


def test_an_evaluator_that_fails_midway_loses_nothing() -> None:
    """The batch that failed is cancelled; the search goes on as if nothing had happened.

    With one leaf a tree: visits that end without the network are kept, and beside a second leaf they may be others.
    """
    game = Game("connect4")
    evaluator = hash_evaluator(7)
    undisturbed = make_forest(game, trees=3)
    search(undisturbed, evaluator, visits=80, rows=3)

    calls = iter(range(10**6))

    def unreliable(features: Floats) -> tuple[Floats, Floats]:
        if next(calls) % 3 == 1:
            raise RuntimeError("the device is gone")
        return evaluator(features)

    forest = make_forest(game, trees=3)
    ids = forest.active()
    forest.set_visit_limits(ids, np.full(3, 80, np.uint32))
    failures = 0
    while len(forest.active()):
        batch, features = gather(forest, 3)
        try:
            forest.apply(batch, *unreliable(features))
        except RuntimeError:
            failures += 1
            forest.cancel(batch)
        for tree in range(3):
            forest.check_invariants(tree)
    assert failures > 5
    counters = ("visits", "rows", "cache_lookups", "cache_hits")
    assert [forest.stats()[name] for name in counters] == [undisturbed.stats()[name] for name in counters]
    np.testing.assert_array_equal(forest.root_visits(ids), undisturbed.root_visits(ids))
