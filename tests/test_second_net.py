"""Two nets in one tree: the core and the reference agree, and the laws of the method hold."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search_pairs import calls, do_call
from second_net_pairs import TwoPair, two_net_pairs


@given(two_net_pairs(), st.integers(2, 80))
@settings(max_examples=80)
def test_sequential_searches_agree(pair: TwoPair, visits: int) -> None:
    pair.run(visits)
    pair.check()


@given(two_net_pairs(), st.integers(2, 100), st.integers(2, 20))
@settings(max_examples=60)
def test_searches_with_many_leaves_a_batch_agree(pair: TwoPair, visits: int, rows: int) -> None:
    pair.run(visits, rows)
    pair.check()


@given(two_net_pairs(), calls)
@settings(max_examples=150)
def test_any_sequence_of_calls_agrees(pair: TwoPair, calls: list[tuple[str, int]]) -> None:
    for what, number in calls:
        do_call(pair, what, number)
        pair.check()


@pytest.mark.slow
@given(two_net_pairs(), calls)
@settings(max_examples=3000)
def test_thousands_of_sequences_of_calls_agree(pair: TwoPair, calls: list[tuple[str, int]]) -> None:
    for what, number in calls:
        do_call(pair, what, number)
        pair.check()
