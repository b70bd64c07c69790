"""Rules at an edge by functions of their own module `reference/NAME.py`: who adds a rule changes no other file.

A module may have `edge_value(rule, q, edge, scores)` (place 1), `edge_prior(rule, prior, edge, scores)` (place 2),
`edge_divisor(rule, divisor, begun)` and `edge_bonus(rule, u, edge, scores)` (place 3), each of which returns what
counts instead, and `after_backup(rule, kept, visits, value, mean)` (place 5), which returns what is kept of an edge
from then on: `edge.kept[NAME]`, 0 at first. They mirror the trait `Rule` of crates/core/src/rules/mod.rs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from hauteur.mcts.core_settings import RuleSection
from hauteur.mcts.params import SearchParams

PLACES = ("edge_value", "edge_prior", "edge_divisor", "edge_bonus", "after_backup")

Acts = dict[str, list[tuple[str, Callable[..., float], Any]]]
"""Name, function and settings of the rules that act at a place, by place, in the order of the settings."""


def acts_of(params: SearchParams) -> Acts:
    """Return what the rules that are on do by functions of their module."""
    rules = [(name, rule) for name, rule in params if isinstance(rule, RuleSection)]
    found = {place: [(name, _function(name, place), rule) for name, rule in rules] for place in PLACES}
    return {place: [(name, act, rule) for name, act, rule in acts if act] for place, acts in found.items()}


@cache
def _function(name: str, place: str) -> Callable[..., float] | None:
    module = import_module(f"reference.{name}") if find_spec(f"reference.{name}") else None
    found: Callable[..., float] | None = getattr(module, place, None)
    # A module may import a function of this name from another one.
    return found if found is not None and found.__module__ == f"reference.{name}" else None
