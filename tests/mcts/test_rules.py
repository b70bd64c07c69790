"""The search rules at the worked example of four edges, and what all rules promise: neutral settings are plain PUCT.

The figures are recomputed by hand from the published formulas; `test_recorded_figures` holds the same functions to a
larger file of figures where it is present.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from forests import make_forest, search
from hypothesis import given
from hypothesis import strategies as st
from search_toys import hash_evaluator

import reference
from hauteur._core import Game
from hauteur.mcts.params import (
    Cpuct,
    EarlyVisits,
    Fpu,
    InitialTrust,
    PriorMixing,
    QAverage,
    SearchParams,
    TreeBalance,
    Variance,
)
from reference import initial_trust, q_average, variance
from reference.draws import Draws
from reference.scores import Scores
from reference.variance import Moments

EDGES = ((12, 0.2, 0.55, 0.04, 45), (6, 0.1, 0.25, 0.09, 20), (2, 0.02, 0.17, 0.25, 10), (0, 0.0, 0.03, 0.0, 25))
"""Visits, Q, prior, variance, replies of the edges A, B, C, D."""
DRAWS = (0.5, -1.0, 2.0, -0.3)
BASE = SearchParams(cpuct=Cpuct(init=1.2, factor=0), fpu=Fpu(value=0))
NEAR = 1e-6


def example() -> reference.Node:
    """A node of 21 visits with own value 0.08, three visited edges and one unvisited."""
    state = Game("tictactoe").new_initial_state()
    node = reference.Node(state, mover=0, exact=None, visits=21)
    for action, (visits, q, prior, spread, replies) in enumerate(EDGES):
        child = reference.Node(state, mover=1, exact=None, visits=visits, value=reference.Value(-q, 0.0))
        child.deviations = spread * max(visits - 1, 0)
        node.edges.append(reference.Edge(action, prior, child if visits else None, replies))
    node.num_chosen = 3
    node.value = reference.Value((0.08 + 2.4 + 0.6 + 0.04) / 21, 0.0)
    node.network = reference.Value(0.08, 0.0)
    return node


def scores(depth: int = 1, spread: float = 0.06, **rules: Any) -> list[float]:
    """Q + U of the four edges with these rules; the noise is DRAWS in turn."""
    draws = Draws(0)
    draws.normal = iter(DRAWS).__next__  # type: ignore[method-assign]
    params = BASE.model_copy(update=rules)
    return Scores(example(), params, depth=depth, spread=spread, draws=draws).all()


BY_HAND = {
    "plain": (scores(), (0.427047, 0.291663, 0.324105, 0.309568)),
    "half_normal 0.01": (scores(variance=Variance(scale=0.01)), (0.428047, 0.294663, 0.334105, 0.310303)),
    "half_normal 0.5": (scores(variance=Variance(scale=0.5)), (0.477047, 0.441663, 0.824105, 0.346311)),
    "std_bonus": (scores(variance=Variance(mode="std_bonus", scale=0.2)), (0.467047, 0.351663, 0.424105, 0.358558)),
    "node_scaled_cpuct": (
        scores(spread=0.26209855431480933**2, variance=Variance(mode="node_scaled_cpuct", scale=0.85)),
        (0.360513, 0.235498, 0.23499, 0.26239),
    ),
    "tree balance, legacy 1.5/1.5/.01": (
        scores(tree_balance=TreeBalance(mode="legacy", scale=1.5, left=1.5, right=0.01)),
        (0.251176, 0.245803, 0.325663, 0.236207),
    ),
    "tree balance, legacy 1.07/2/.2": (
        scores(tree_balance=TreeBalance(mode="legacy", scale=1.07, left=2.0, right=0.2)),
        (0.261207, 0.297717, 0.380359, 0.289192),
    ),
    "tree balance": (scores(tree_balance=TreeBalance(normalise=False)), (0.326137, 0.30041, 0.385268, 0.309568)),
    "mixing, legacy, root": (
        scores(prior_mixing=PriorMixing(mode="legacy")),
        (0.403077, 0.291663, 0.351804, 0.53808),
    ),
    "mixing, legacy, depth 2": (
        scores(depth=2, prior_mixing=PriorMixing(mode="legacy", compression_decay=0.5)),
        (0.420171, 0.291663, 0.332051, 0.375122),
    ),
    "mixing, legacy dynamic": (
        scores(prior_mixing=PriorMixing(mode="legacy_dynamic", compression=0.5)),
        (0.4191, 0.291663, 0.333289, 0.385332),
    ),
    "early visits": (scores(early_visits=EarlyVisits(ease=0.5)), (0.436129, 0.306406, 0.384926, 0.309568)),
    "early visits, legacy": (
        scores(early_visits=EarlyVisits(mode="legacy", ease=0.5)),
        (0.445967, 0.323607, 0.476158, 0.470565),
    ),
}


@pytest.mark.parametrize("case", BY_HAND)
def test_scores_by_hand(case: str) -> None:
    got, expected = BY_HAND[case]
    assert got == pytest.approx(expected, abs=NEAR)


@pytest.mark.parametrize(
    ("fpu", "score"),
    [
        (Fpu(kind="reduction", value=0), 0.309568),
        (Fpu(kind="absolute", value=0), 0.160997),
        (Fpu(kind="absolute", value=1.1), 1.260997),
        (Fpu(kind="parent_value", value=0), 0.240997),
        (Fpu(kind="reduction", value=0.33), -0.015444),
        (Fpu(kind="reduction", value=1.2), -0.872295),
    ],
)
def test_first_play_urgency_by_hand(fpu: Fpu, score: float) -> None:
    assert scores(fpu=fpu)[3] == pytest.approx(score, abs=NEAR)


def test_initial_trust_by_hand() -> None:
    """Two visited edges with 5 and 1 visits, Q 0.1 and -0.5; parent Q 0.007143."""
    trusted = [initial_trust.trusted(InitialTrust(until=2), q, n, 0.05 / 7) for n, q in ((5, 0.1), (1, -0.5))]
    assert trusted == pytest.approx([0.1, -0.246429], abs=NEAR)
    assert initial_trust.trusted(InitialTrust(), 0.1, 5, 0.05 / 7) == pytest.approx(0.084524, abs=NEAR)


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=40), st.integers(0, 39))
def test_deviations_are_those_of_numpy_and_can_be_taken_back(values: list[float], index: int) -> None:
    def samples(of: list[float]) -> Moments:
        return Moments(len(of), float(np.mean(of)), float(np.var(of) * len(of)))

    gone = values[index % len(values)]
    rest = [*values]
    rest.remove(gone)
    assert variance.without(samples(values), gone) == pytest.approx(samples(rest), abs=1e-9)
    assert variance.merged(samples(values), samples(rest)) == pytest.approx(samples(values + rest), abs=1e-9)


@pytest.mark.parametrize(
    ("rule", "mean"),
    [
        (QAverage(mode="mean"), 0.24),
        (QAverage(mode="power"), 0.255739),
        (QAverage(mode="linear"), 0.281171),
        (QAverage(mode="linear", beta=0.5), 0.28),
        (QAverage(mode="combined"), 0.288399),
        (QAverage(mode="floor", min_step=0.25), 0.24375),
    ],
)
def test_moving_averages_by_hand(rule: QAverage, mean: float) -> None:
    q = 0.0
    for n, value in enumerate((0.1, 0.4, -0.2, 0.6, 0.3), 1):
        q += q_average.step_size(rule, n) * (value - q)
    assert q == pytest.approx(mean, abs=NEAR)


NEUTRAL: dict[str, list[dict[str, Any]]] = {
    "search_contempt": [
        {},
        {"n_scl": -1_000_000_000},
        {"n_scl": 1_000_000_000, "temperature": 3, "ratio_schedule": "5:0.5"},
    ],
    "second_net": [{"large_visits": 0}],
    "variance": [{"scale": 0}, {"scale": 0, "mode": "ucb1_tuned"}, {"scale": 0, "mode": "node_scaled_cpuct"}],
    "tree_balance": [{"many": 0, "few": 0}, {"mode": "legacy", "left": 0, "right": 0}, {"mode": "additive", "left": 0}],
    "prior_mixing": [{"share": 0}, {"mode": "legacy", "compression": 0}, {"mode": "dynamic", "kappa": 0}],
    "early_visits": [{"ease": 0}, {"mode": "legacy", "ease": 0}],
    "q_average": [{"mode": "mean"}, {"mode": "power", "gamma": 1}, {"beta": 1}, {"mode": "floor", "min_step": 0}],
    "initial_trust": [{"weight": 0}, {"until": 1}],
    "wdl_contempt": [{}],
    "forced_playouts": [{"k": 0}],
}


def grown(spec: str, params: dict[str, Any]) -> tuple[int, float]:
    """Digest and bytes of a tree of the core of 150 visits in batches of 4."""
    game = Game(spec)
    forest = make_forest(game, SearchParams.model_validate(params))
    search(forest, hash_evaluator(game.num_actions), visits=150, rows=4)
    return forest.digest(0), forest.tree_stats(0)["bytes"]


@pytest.mark.parametrize("game", ["connect4", "chess", "nogo(size=4)"])
@pytest.mark.parametrize("rule", NEUTRAL)
def test_neutral_rules_are_plain_puct_bit_for_bit(game: str, rule: str) -> None:
    plain = grown(game, {})
    for settings_of_rule in NEUTRAL[rule]:
        assert grown(game, {rule: settings_of_rule}) == plain
