"""The core and the reference make the same visits, to the last one."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from search_pairs import Pair, agree_after_each, calls, contempts, drawn, pairs, random_state, search_contempts
from search_toys import hash_evaluator
from worked_example import EXAMPLE, fixture_node

import reference
from hauteur._core import Game
from hauteur.mcts.params import ForcedPlayouts, LowerBound, SearchParams


@given(pairs(), calls)
def test_any_sequence_of_calls_agrees(pair: Pair, calls: list[tuple[str, int]]) -> None:
    agree_after_each(pair, calls)


RULES: dict[str, st.SearchStrategy[Any]] = {
    "search_contempt": search_contempts,
    "wdl_contempt": contempts,
    "forced_playouts": drawn(ForcedPlayouts),
    "lower_bound": st.builds(
        LowerBound,
        confidence=st.sampled_from([0.5, 0.6, 0.95, 0.99999]),
        min_share=st.sampled_from([1e-6, 0.1, 0.5, 1.0]),
    ),
    "cache_key": st.just("position"),
}


@pytest.mark.parametrize("name", RULES)
@given(st.data(), pairs(), calls)
def test_with_a_rule_any_sequence_of_calls_agrees(
    name: str, data: st.DataObject, pair: Pair, calls: list[tuple[str, int]]
) -> None:
    params = pair.params.model_copy(update={name: data.draw(RULES[name])})
    agree_after_each(replace(pair, params=params), calls)


@pytest.mark.parametrize("temperature", [0.001, 0.01, 100.0])
def test_a_root_of_any_temperature_has_an_edge_to_take(temperature: float) -> None:
    """At 0.001 every prior to the power of its exponent is less than the least number."""
    game = Game("chess")
    params = SearchParams(root_policy_temperature=temperature)
    pair = Pair(game.new_initial_state(), params, hash_evaluator(game.num_actions), seed=1)
    pair.run(60, 4)
    pair.check()


GOLDEN = json.loads((Path(__file__).parent / "golden" / "puct.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda golden: f"{golden['game']}-{golden['moves']}")
def test_golden_trees(golden: dict[str, Any]) -> None:
    game = Game(golden["game"])
    params = SearchParams.model_validate(golden["params"])
    visits = golden["visits"]
    state = random_state(game, golden["moves"])
    pair = Pair(state, params, hash_evaluator(game.num_actions, salt=visits), seed=visits)
    pair.run(visits, golden["rows"])
    pair.check()
    assert {str(a): n for a, n in sorted(pair.search.root_visits().items()) if n} == golden["root_visits"]
    assert list(pair.search.root.value) == golden["root_value"]


def test_scores_of_the_worked_example() -> None:
    node = fixture_node()
    expected = [0.427047, 0.291663, 0.324105, 0.309568]
    assert reference.edge_scores(node, EXAMPLE) == pytest.approx(expected, abs=1e-6)
    for k, in_flight, score in [(0, 3, 0.384476), (3, 1, 0.229070)]:
        child = node.edges[k].child
        assert child is not None
        child.in_flight = in_flight
        assert reference.edge_scores(node, EXAMPLE)[k] == pytest.approx(score, abs=1e-6)


@given(st.floats(0, 1, width=32))
def test_stored_priors_are_right_to_eleven_bits(prior: float) -> None:
    stored = reference.round_prior(prior)
    assert abs(stored - prior) <= max(prior * 2**-12, 2**-31)
    assert reference.round_prior(stored) == stored


def test_the_first_of_equal_scores_wins_and_final_choice_prefers_q_then_prior() -> None:
    node = fixture_node()
    for edge in node.edges:
        assert edge.child is not None
        edge.child.visits = 5
        edge.child.value = reference.Value(0.0, 0.0)
        edge.prior = 0.25
    assert reference.select_edge(node, EXAMPLE).action == 0
    assert node.edges[2].child is not None
    node.edges[2].child.value = reference.Value(-0.5, 0.0)
    assert reference.final_choice(node, EXAMPLE).action == 2
