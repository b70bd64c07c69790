"""Graph search: core and reference make the same visits, and the laws of a graph hold."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from search_pairs import Pair, agree_after_each, calls, games, pairs, random_state, wandering
from search_toys import hash_evaluator

from hauteur._core import Forest, Game
from hauteur.search.params import SearchParams
from hauteur.search.rules import Repetition, Solver

NOT_WITH_GRAPH = ("variance", "tree_balance", "q_average", "lower_bound", "second_net")


def as_graph(pair: Pair) -> Pair:
    """The same pair as a graph search, without the rules that do not go with it."""
    params = pair.params.model_copy(update=dict.fromkeys(NOT_WITH_GRAPH))
    solver, repetition = params.solver, params.repetition
    if solver:
        solver = solver.model_copy(update={"clamp_to_bounds": False, "auto_extend": False})
    rules = {"solver": solver, "repetition": repetition and Repetition()}
    params = SearchParams.model_validate({**dict(params), **rules, "graph": True})
    return Pair(pair.state, params, pair.evaluator, pair.seed)


graphs = pairs(wandering(st.just(False))).map(as_graph)
"""Moves that are legal in a position stay so by whatever way it is reached, so a third occurrence ends no game here."""


@given(graphs, st.integers(2, 150), st.integers(1, 20))
@settings(max_examples=100)
def test_core_and_reference_agree(pair: Pair, visits: int, rows: int) -> None:
    pair.run(visits, rows)
    pair.check()


@given(graphs, calls)
@settings(max_examples=100)
def test_any_sequence_of_calls_agrees(pair: Pair, calls: list[tuple[str, int]]) -> None:
    agree_after_each(pair, calls)


@pytest.mark.slow
@given(graphs, calls)
@settings(max_examples=4000)
def test_thousands_of_sequences_of_calls_agree(pair: Pair, calls: list[tuple[str, int]]) -> None:
    agree_after_each(pair, calls)
