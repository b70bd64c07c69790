"""What a rule did in one search, as figures that its counters and its tree show."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from hauteur.mcts.report_text import line_in_notation
from hauteur.studies.explain.searched import ExplainedSearch, TreePlace

Facts = list[dict[str, Any]]
"""name, value, and how it was measured: `counter` (counted by the search), `tree` (read from the tree), `root`."""

SHOWN_FROZEN = 5
"""Frozen nodes that are listed with their replies."""
CHANGED = 1e-6
"""Least difference of two values that counts as one."""


def facts_of(name: str, search: ExplainedSearch) -> Facts:
    """Return what was measured of a rule or setting of this name; nothing where it leaves no trace of its own."""
    measure = MEASURES.get(name)
    facts = [] if measure is None else measure(search)
    if any(fact["how"] == "tree" for fact in facts) and not search.tree.complete:
        facts.append(_fact("nodes that these are of, the most visited", len(search.tree.nodes), "tree"))
    return facts


def frozen_nodes(search: ExplainedSearch) -> list[dict[str, Any]]:
    """Return the most visited frozen nodes of search-contempt: their line, and weight and visits of every reply."""
    places = sorted(_frozen(search), key=lambda place: -place.visits)[:SHOWN_FROZEN]
    return [_frozen_json(search, place) for place in places]


def _fact(name: str, value: float | str, how: str) -> dict[str, Any]:
    return {"name": name, "value": value, "how": how}


def _counted(search: ExplainedSearch, key: str, name: str) -> dict[str, Any]:
    return _fact(name, int(search.counters[key]), "counter")


def _search_contempt(search: ExplainedSearch) -> Facts:
    frozen = _frozen(search)
    rule = search.side.search.search_contempt
    visits = sum(int(edge["visits"]) for place in frozen for edge in place.children)
    facts = [
        _fact("frozen nodes", len(frozen), "tree"),
        _counted(search, "contempt_draws", "replies drawn from frozen weights"),
        _fact("visits behind frozen nodes", visits, "tree"),
    ]
    if rule is not None and rule.temperature == 1.0:  # then the weights are the visits at which a node froze
        before = sum(sum((place.weights or {}).values()) for place in frozen)
        facts.append(_fact("of them after freezing", visits - round(before), "tree"))
    unweighted = [edge for place in frozen for edge in place.children if not edge["frozen"] and edge["visits"]]
    facts.append(_fact("replies visited there that are never drawn", len(unweighted), "tree"))
    return facts


def _frozen(search: ExplainedSearch) -> list[TreePlace]:
    return [place for place in search.tree.nodes.values() if place.weights is not None]


def _frozen_json(search: ExplainedSearch, place: TreePlace) -> dict[str, Any]:
    state = search.report.state
    before = state.copy()
    for action in place.line:
        before.apply(action)
    total = sum((place.weights or {}).values())
    replies = [
        {
            "move": line_in_notation(before, (int(edge["action"]),))[0],
            "weight": float(edge["frozen"]) / total,
            "visits": int(edge["visits"]),
        }
        for edge in place.children
    ]
    line = line_in_notation(state, place.line)
    return {"line": list(place.line), "moves": line, "visits": place.visits, "replies": replies}


def _solver(search: ExplainedSearch) -> Facts:
    inner = [place for place in search.tree.nodes.values() if place.line and not place.edge["terminal"]]
    proven = [place for place in inner if place.proven is not None]
    results = Counter(place.proven for place in proven)
    bounded = [
        place for place in inner if place.proven is None and (place.edge["lower"], place.edge["upper"]) != (-1, 1)
    ]
    valued = [
        abs(place.proven - place.edge["value"])
        for place in proven
        if place.proven is not None and place.edge["value"] is not None
    ]
    return [
        _fact("proven nodes", len(proven), "tree"),
        _fact("won, drawn, lost for who moves there", "{} {} {}".format(*(results[r] for r in (1, 0, -1))), "tree"),
        _fact("nodes with one bound", len(bounded), "tree"),
        _counted(search, "terminal_visits", "visits that ended at a known result"),
        *_changes("values replaced by proofs", valued),
        _fact("result of the root", _result(search.result.tree.root.proven), "root"),
    ]


def _result(proven: int | None) -> str:
    return "open" if proven is None else {1: "win", 0: "draw", -1: "loss"}[proven]


def _changes(name: str, differences: Iterable[float]) -> Facts:
    """How many values were changed, by how much on average, and at most."""
    changed = [difference for difference in differences if difference > CHANGED]
    facts = [_fact(name, len(changed), "tree")]
    if changed:
        facts.append(_fact("mean change", math.fsum(changed) / len(changed), "tree"))
        facts.append(_fact("greatest change", max(changed), "tree"))
    return facts


def _repetition(search: ExplainedSearch) -> Facts:
    repeats = [place for place in search.tree.nodes.values() if place.line and place.is_repeat]
    return [
        _fact("repeats scored without the network", len(repeats), "tree"),
        _fact("visits that ended there", sum(place.visits for place in repeats), "tree"),
    ]


def _wdl_contempt(search: ExplainedSearch) -> Facts:
    """A node with one visit has the shifted value of the network as its mean, and beside it the network's own."""
    single = [
        abs(place.edge["wdl"][0] - place.edge["wdl"][2] - place.edge["value"])
        for place in search.tree.nodes.values()
        if place.line and place.visits == 1 and place.edge["wdl"] is not None and place.edge["value"] is not None
    ]
    return [_fact("nodes with one visit", len(single), "tree"), *_changes("values shifted among them", single)]


def _second_net(search: ExplainedSearch) -> Facts:
    both = [place for place in search.tree.nodes.values() if place.line and place.edge["large_visits"]]
    return [
        _counted(search, "large_visits", "turns of the large net"),
        _counted(search, "large_rows", "positions that the large net evaluated"),
        _fact("nodes behind which the large net looked", len(both), "tree"),
    ]


def _graph(search: ExplainedSearch) -> Facts:
    return [
        _counted(search, "transpositions", "visits that took the value of a node reached by another order of moves")
    ]


def _cache_key(search: ExplainedSearch) -> Facts:
    return [_counted(search, "position_hits", "leaves evaluated elsewhere in the tree")]


def _most_visited(search: ExplainedSearch) -> Facts:
    """The move of a rule of choice beside the most visited one."""
    report = search.report
    most = max(report.moves, key=lambda move: move.visits)
    names = [line_in_notation(report.state, (move.action,))[0] for move in (report.moves[0], most)]
    return [_fact("move chosen", names[0], "root"), _fact("move with most visits", names[1], "root")]


def _forced_playouts(search: ExplainedSearch) -> Facts:
    visits, target = search.result.visits, search.result.policy_target
    shares = visits / max(int(visits.sum()), 1)
    moved = float(abs(shares - target).sum() / 2)
    return [_fact("share of the policy target that differs from the visits", moved, "root"), *_most_visited(search)]


MEASURES: dict[str, Callable[[ExplainedSearch], Facts]] = {
    "search_contempt": _search_contempt,
    "second_net": _second_net,
    "solver": _solver,
    "repetition": _repetition,
    "wdl_contempt": _wdl_contempt,
    "gumbel": _most_visited,
    "lower_bound": _most_visited,
    "forced_playouts": _forced_playouts,
    "graph": _graph,
    "cache_key": _cache_key,
}
"""Rules and settings that leave traces of their own; every other one is measured by the search without it."""
