"""Forced playouts: visits that the root's moves get at least, pruned policy targets, core against reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from search_pairs import Pair
from search_toys import hash_evaluator

from hauteur._core import Game
from hauteur.mcts.params import Cpuct, Dirichlet, ForcedPlayouts, Fpu, SearchParams
from reference.forced_playouts import forced, pruned_visits
from reference.scores import Scores
from reference.tree import Edge, Node, Value, make_node

CONNECT4 = Game("connect4")
PLAIN = SearchParams(cpuct=Cpuct(init=1.0, factor=0), fpu=Fpu(value=0), policy_temperature=1.0)


def searched(k: float, visits: int, *, salt: int = 3, **settings: Any) -> Pair:
    """A search of Connect Four, sequential."""
    params = PLAIN.model_copy(update={"forced_playouts": ForcedPlayouts(k=k)} | settings)
    pair = Pair(CONNECT4.new_initial_state(), params, hash_evaluator(7, salt=salt, sharpness=6.0), seed=salt)
    pair.run(visits)
    return pair


@pytest.mark.parametrize("salt", range(6))
def test_visited_moves_have_the_visits_that_are_forced(salt: int) -> None:
    pair = searched(2.0, 401, salt=salt, dirichlet=Dirichlet())
    root = pair.search.root
    assert int(pair.forest.root_visits(pair.ids)[0].sum()) == 400
    used = pair.search._used_priors
    lacking = [forced(ForcedPlayouts(), used[e.action], 400) - e.visits for e in root.edges if e.visits]
    assert max(lacking) <= 1.0  # the sum grew by one since the last was served
    assert len(lacking) > 2


def example(q: list[float], visits: list[int], priors: list[float], c: float = 1.0) -> Scores:
    """A root whose edges have these statistics."""
    state = CONNECT4.new_initial_state()
    root = make_node(state)
    for action, (value, n, prior) in enumerate(zip(q, visits, priors, strict=True)):
        child = Node(state, 1, None, visits=n, value=Value(-value, 0.0))
        root.edges.append(Edge(action, prior, child if n else None))
    root.num_chosen = sum(n > 0 for n in visits)
    root.visits = sum(visits) + 1
    params = PLAIN.model_copy(update={"cpuct": Cpuct(init=c, factor=0), "forced_playouts": ForcedPlayouts()})
    return Scores(root, params, at_root=True)


def pruned(scores: Scores) -> list[int]:
    used = {edge.action: edge.prior for edge in scores.node.edges}
    return list(pruned_visits(ForcedPlayouts(), scores, used).values())


def test_pruning_by_hand() -> None:
    # 100 visits, sqrt(100) = 10, k = 2. c* = 0: PUCT = 0.5 + 10 * 0.5 / 71 = 0.5704.
    # 1: n_forced = sqrt(200 * 0.32) = 8, PUCT(20 - 8) = 0.2 + 3.2 / 13 = 0.446: loses all 8.
    # 2: n_forced = sqrt(200 * 0.125) = 5, PUCT(4) = 0.35 + 1.25 / 5 = 0.6, PUCT(5) = 0.558: loses 1 of 6.
    # 3: n_forced = sqrt(200 * 0.08) = 4: nothing is left. 4 has no visits.
    scores = example([0.5, 0.2, 0.35, -0.9, 0.0], [70, 20, 6, 4, 0], [0.5, 0.32, 0.125, 0.08, 0.02])
    assert pruned(scores) == [70, 12, 5, 0, 0]


def test_the_target_is_of_pruned_visits_and_the_move_of_all() -> None:
    pair = searched(2.0, 200, dirichlet=Dirichlet())
    visits = pair.forest.root_visits(pair.ids)[0]
    target = pair.forest.policy_targets(pair.ids)[0]
    kept = pair.search._pruned_visits(ForcedPlayouts())
    expected = np.array([kept[action] for action in range(7)])
    assert (expected <= visits).all()
    assert expected.sum() < visits.sum()
    np.testing.assert_allclose(target, expected / expected.sum(), rtol=1e-6)
    assert int(pair.forest.best_actions(pair.ids)[0]) == int(visits.argmax())


def test_quiet_trees_are_searched_and_taught_without_the_rule() -> None:
    def found(k: float) -> tuple[list[int], list[float]]:
        params = PLAIN.model_copy(update={"forced_playouts": ForcedPlayouts(k=k)})
        pair = Pair(CONNECT4.new_initial_state(), params, hash_evaluator(7, salt=3, sharpness=6.0))
        pair.set_quiet(k > 0)
        pair.run(200)
        pair.check()
        return pair.forest.root_visits(pair.ids)[0].tolist(), pair.forest.policy_targets(pair.ids)[0].tolist()

    assert found(2.0) == found(0.0)
