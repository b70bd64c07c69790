"""The search of the core beside the reference, on random trees with random rules, visit by visit.

    python checks/fuzz_search.py --trees 1000
    python checks/fuzz_search.py --trees 100000 --pairs --seed 7        every pair of rules in turn

A tree is a random position of a random game with random settings and a random evaluator; random calls (gather,
apply, cancel, advance, restrict, run) are made to both, and after each one rows, visits, values, proofs and the move
that would be played are compared (tests/support/search_pairs.py). With --pairs two rules are on in every tree, each
pair of them in turn; settings that exclude each other are counted as refused. Prints sums and the first difference,
with which status 1 comes. Needs hypothesis.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]

import search_pairs as sp  # noqa: E402
from hypothesis import HealthCheck, Phase, given, seed, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from hauteur.mcts.params import ForcedPlayouts, LowerBound, SearchParams  # noqa: E402
from hauteur.system.settings import section_of  # noqa: E402

RULES: dict[str, st.SearchStrategy[Any]] = {
    "search_contempt": sp.search_contempts,
    "wdl_contempt": sp.contempts,
    "solver": sp.solvers,
    "repetition": sp.repetitions,
    "tree_balance": sp.balances,
    "forced_playouts": sp.drawn(ForcedPlayouts),
    "lower_bound": sp.drawn(LowerBound),
    **{name: sp.drawn(kind) for name in sp.WITHOUT_STRATEGY if (kind := section_of(SearchParams.model_fields[name]))},
}
"""Rules that are compared in pairs, with their settings; nets and roots of other kinds have tests of their own."""

A_RUN = 200
"""Trees of one seed of hypothesis."""


def compare(count: int, number: int, names: tuple[str, ...], counts: Counter[str]) -> None:
    """Compare `count` trees in which these rules are on. AssertionError where they differ."""

    @seed(number)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data(), sp.pairs(), sp.calls)
    def agree(data: st.DataObject, pair: sp.Pair, calls: list[tuple[str, int]]) -> None:
        given_rules = {name: data.draw(RULES[name]) for name in names}
        try:
            params = SearchParams.model_validate({**dict(pair.params), **given_rules})
            pair = replace(pair, params=params)
        except ValueError:
            counts["refused"] += 1
            return
        sp.agree_after_each(pair, calls)
        counts["trees"] += 1
        counts["calls"] += len(calls)

    agree()


def main(words: Sequence[str] | None = None) -> int:
    """Compare; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--trees", type=int, default=1_000)
    parser.add_argument("--pairs", action="store_true", help="two rules on in every tree")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=1e9, help="at most")
    asked = parser.parse_args(words)
    combinations = list(itertools.combinations(RULES, 2)) if asked.pairs else [()]
    each = max(5, min(A_RUN, asked.trees // len(combinations)))
    counts = Counter[str]()
    began = time.monotonic()
    cpu = time.process_time()
    for number, names in enumerate(itertools.cycle(combinations)):
        if counts["trees"] >= asked.trees or time.monotonic() - began > asked.seconds:
            break
        try:
            compare(each, asked.seed + number, names, counts)
        except AssertionError as error:
            print(f"DIFFERS: seed {asked.seed + number}, rules {', '.join(names) or 'any'}: {str(error)[:1500]}")
            counts["differ"] += 1
            break
        counts["combinations"] += 1
    shown = ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items()))
    print(f"{len(combinations)} combinations there are; {shown}; {time.process_time() - cpu:.0f} CPU s")
    return int(counts["differ"] > 0)


if __name__ == "__main__":
    sys.exit(main())
