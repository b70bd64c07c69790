"""Repetition scoring with two nets: the large net's visits of repeats that count no longer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hauteur.search.reference.repetition import Lost, counts, mean_without
from hauteur.search.reference.tree import NO_VALUE
from hauteur.search.rules import Repetition

if TYPE_CHECKING:
    from hauteur.search.reference.second_net import LargeTally, TwoNode


def reopen_large(root: TwoNode, rule: Repetition | None) -> None:
    """In the tree of a new root, takes the large net's visits of such repeats back, before `repetition.reopen`."""
    if rule and rule.mode == "inline_value":
        take_large_back(root.large, large_lost(root, 0, rule))


def large_lost(node: TwoNode, depth: int, rule: Repetition) -> Lost:
    """Takes the large net's visits of repeats that count no longer from all that lies behind a node; returns them."""
    lost = Lost()
    for child in node.children:
        if child.repeated_after and counts(rule, depth + 1, child.repeated_after):
            continue
        if child.repeated_after:
            gone = Lost(child.large.visits, child.large.value.wl, 0.0, child.large.value.d)
        else:
            gone = large_lost(child, depth + 1, rule)
            take_large_back(child.large, gone)
        lost = lost.and_also(gone.seen_by(node.mover, child.mover))
    return lost


def take_large_back(large: LargeTally, lost: Lost) -> None:
    """The large net's visits and mean of a node without some visits."""
    if lost.visits == large.visits:
        large.visits, large.value = 0, NO_VALUE
    elif lost.visits:
        large.value = mean_without(large.visits, large.value, lost)
        large.visits -= lost.visits
