"""The core and the reference make the same visits, to the last one."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search_pairs import Pair, calls, do_call, pairs


@given(pairs(), st.integers(2, 120))
@settings(max_examples=100)
def test_sequential_searches_agree(pair: Pair, visits: int) -> None:
    pair.run(visits)
    pair.check()


@given(pairs(), st.integers(2, 150), st.integers(2, 20))
@settings(max_examples=60)
def test_searches_with_many_leaves_a_batch_agree(pair: Pair, visits: int, rows: int) -> None:
    pair.run(visits, rows)
    pair.check()


@given(pairs(), calls)
@settings(max_examples=150)
def test_any_sequence_of_calls_agrees(pair: Pair, calls: list[tuple[str, int]]) -> None:
    for what, number in calls:
        do_call(pair, what, number)
        pair.check()


@pytest.mark.slow
@given(pairs(), calls)
@settings(max_examples=5000)
def test_thousands_of_sequences_of_calls_agree(pair: Pair, calls: list[tuple[str, int]]) -> None:
    for what, number in calls:
        do_call(pair, what, number)
        pair.check()
