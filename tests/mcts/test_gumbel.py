"""Gumbel root: the schedule of visits, the equations by hand, core against reference, and what is refused."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from search_pairs import Pair, agree_after_each, calls, pairs
from search_toys import hash_evaluator

from hauteur._core import Game
from hauteur.mcts.params import (
    EarlyVisits,
    Gumbel,
    InitialTrust,
    PriorMixing,
    QAverage,
    SearchParams,
    TreeBalance,
    Variance,
)
from reference.gumbel import Knowledge, improved_policy, sigma

rules = st.builds(
    Gumbel,
    considered=st.sampled_from([1, 2, 3, 5, 16, 1000]),
    c_visit=st.sampled_from([0.0, 1.0, 50.0]),
    c_scale=st.sampled_from([0.0, 0.1, 1.0]),
    noise=st.sampled_from([0.0, 1.0, 3.0]),
    below_root=st.sampled_from(["puct", "improved_policy"]),
)


def with_rule(pair: Pair, rule: Gumbel) -> Pair:
    """The same search with this rule, and without those that it excludes."""
    off: dict[str, Any] = dict.fromkeys(("dirichlet", "second_net", "lower_bound", "forced_playouts", "posterior"))
    if rule.below_root == "improved_policy":
        kept = {"search_contempt", "wdl_contempt", "repetition"}
        off |= {name: None for name, value in pair.params if value is not None and name in RULES - kept}
    params = pair.params.model_copy(update=off | {"gumbel": rule})
    return Pair(pair.state, params, pair.evaluator, seed=pair.seed)


RULES = {
    *("variance", "tree_balance", "prior_mixing", "early_visits", "q_average", "initial_trust", "solver"),
    *("search_contempt", "wdl_contempt", "repetition"),
}


def written_down_schedule(visits: int, considered: int, actions: int) -> list[int]:
    """Visits of every action, most first: one visit after another, by the words of the paper."""
    alive = min(considered, actions, visits)
    phases = next(p for p in range(1, 20) if 2**p >= alive)
    counts = [0] * actions
    each = 0
    given = 0
    while given < visits:
        each += max(1, visits // (phases * alive))
        while given < visits and min(counts[:alive]) < each:
            counts[counts[:alive].index(min(counts[:alive]))] += 1
            given += 1
        alive = alive if alive <= 2 else max(2, alive // 2)
    return sorted(counts, reverse=True)


specs = st.sampled_from(["chess", "connect4", "nogo(size=3)"])


def sorted_visits(spec: str, considered: int, visits: int, rows: int) -> list[int]:
    """Visits of the root's edges after a search from the start, most first."""
    game = Game(spec)
    params = SearchParams(gumbel=Gumbel(considered=considered))
    pair = Pair(game.new_initial_state(), params, hash_evaluator(game.num_actions, salt=visits), seed=considered)
    pair.run(visits + 1, rows)
    pair.check()
    pair.check_choice()
    return sorted(pair.search.root_visits().values(), reverse=True)


@given(st.integers(1, 200), st.integers(1, 40), specs)
def test_root_visits_follow_the_schedule(visits: int, considered: int, spec: str) -> None:
    found = sorted_visits(spec, considered, visits, 1)
    assert found == written_down_schedule(visits, considered, len(found))


others = st.fixed_dictionaries(
    {},
    optional={
        "q_average": st.builds(QAverage, mode=st.sampled_from(["power", "linear", "combined"])),
        "variance": st.builds(Variance, mode=st.sampled_from(["std_bonus", "half_normal"]), scale=st.just(0.3)),
        "prior_mixing": st.builds(PriorMixing, share=st.just(0.3)),
        "initial_trust": st.builds(InitialTrust),
        "early_visits": st.builds(EarlyVisits),
        "tree_balance": st.builds(TreeBalance),
    },
)


@given(pairs(), rules, others, calls)
def test_with_other_rules_any_sequence_of_calls_agrees(
    pair: Pair, rule: Gumbel, other: dict[str, Any], calls: list[tuple[str, int]]
) -> None:
    pair = with_rule(replace(pair, params=pair.params.model_copy(update=other)), rule)
    agree_after_each(pair, calls)


def test_completed_q_policy_and_target_by_hand() -> None:
    # pi = 1/2, 1/4, 1/4; visits 3 and 1; v_mix = (0.2 + 4 / 0.75 (0.5 * 0.4 - 0.25 * 0.2)) / 5 = 0.2
    node = Knowledge([math.log(2.0), 0.0, 0.0], [3, 1, 0], [0.4, -0.2, None], 0.2)
    assert node.completed_q() == pytest.approx([0.4, -0.2, 0.2])
    rule = Gumbel(c_visit=1.0, c_scale=0.5)
    assert sigma(rule, node) == pytest.approx([4 * 0.5 * 0.7, 4 * 0.5 * 0.4, 4 * 0.5 * 0.6])
    weights = np.array([2 * math.exp(1.4), math.exp(0.8), math.exp(1.2)])
    assert improved_policy(rule, node) == pytest.approx((weights / weights.sum()).tolist())
