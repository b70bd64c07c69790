"""A comparison of two searches of one position: moves, trees, and the effect of every rule that is on.

The effect of a rule, and of every other setting of the search that is not at its default, is measured by one more
search with the same settings, seed and limit, in which it alone has its default (`ablation`); that of search-contempt
by the frozen nodes of the tree too (`facts`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hauteur.games.played_game import line_texts, move_text
from hauteur.mcts.params import SearchParams
from hauteur.studies.explain.difference import lines_json, moves_json, trees_json, values_json, visits_moved
from hauteur.studies.explain.question import (
    ExplainedSearch,
    Question,
    Searches,
    Side,
    TreePlace,
    net_name,
    settings_text,
    side_json,
)
from hauteur.studies.methods import page_of

OnStep = Callable[[int, int, str], None]
"""Gets the number of searches that are done, of all, and what the next one is."""


def explain(question: Question, searches: Searches, on_step: OnStep | None = None) -> dict[str, Any]:
    """Return the comparison as JSON holds it: the same question gives the same figures, but for times, of which it has
    none. Raise ValueError where the nets do not fit the game or the settings, OSError for files, and ExplainStopped.
    """
    sides = list(zip("ab", question.sides, strict=True))
    ablations = [(name, side, key) for name, side in sides for key in changed(side)]
    steps = [f"side {name.upper()}" for name, _ in sides]
    steps += [*(f"side {name.upper()} without {key}" for name, _, key in ablations), "reading the trees"]

    def step(done: int) -> None:
        if on_step is not None:
            on_step(done, len(steps), steps[done])

    for done, (_, side) in enumerate(sides):
        step(done)
        searches.of(side)
    rules = []
    for done, (name, side, key) in enumerate(ablations, len(sides)):
        step(done)
        rules.append(
            (name, key, searches.of(side), _ablation(searches.of(side), searches.of(side.without(key), keep=False)))
        )
    step(len(steps) - 1)
    a, b = (searches.of(side) for side in question.sides)
    return {
        "game": question.start.game.spec,
        "position": a.report.state.notation(),
        "to_move": a.report.state.to_move,
        "visits": question.visits,
        "seed": question.seed,
        "batch_size": question.batch_size,
        "sides": {"a": _side(a), "b": _side(b)},
        "same_best": a.report.moves[0].action == b.report.moves[0].action,
        "visits_moved": visits_moved(a.report, b.report),
        "moves": moves_json(a, b),
        "lines": lines_json(a, b),
        "tree": trees_json(a, b),
        "rules": [_rule(*rule) for rule in rules],
    }


def changed(side: Side) -> list[str]:
    """Return the sections and settings of a side's search that are not as by default; neutral rules are."""
    ours, default = side.search.without_neutral_rules(), SearchParams()
    names = [name for name in SearchParams.model_fields if getattr(ours, name) != getattr(default, name)]
    has_role = not side.nets.large or "second_net" in names or "opponent_net" in names
    return names if has_role else [*names, "second_net"]


def _side(search: ExplainedSearch) -> dict[str, Any]:
    report = search.report
    best = report.moves[0]
    return {
        **side_json(search.side),
        "evaluator": search.evaluator,
        "digest": search.digest,
        "visits": report.visits,
        "ended_by": report.reason,
        "evaluations": report.pace.rows,
        "depth": report.pace.depth,
        "seldepth": report.seldepth,
        "best": move_text(report.state, best.action),
        "q": search.q,
        "wdl": list(report.wdl),
        "network_wdl": list(report.value),
    }


def _rule(name: str, key: str, on: ExplainedSearch, ablation: dict[str, Any]) -> dict[str, Any]:
    facts = facts_of(key, on)
    result = {
        "side": name,
        "name": key,
        "settings": settings_text(on.side.search, key) or f"large_net={net_name(on.side.nets.large)}",
        "page": page_of(key),
        "measured_by": ["facts", "ablation"] if facts else ["ablation"],
        "facts": facts,
        "ablation": ablation,
    }
    return result | ({"frozen": frozen_nodes(on)} if key == "search_contempt" else {})


def _ablation(on: ExplainedSearch, off: ExplainedSearch) -> dict[str, Any]:
    """Compare the search of a side with the one in which a rule is off."""
    first, second = (search.report for search in (on, off))
    names = [move_text(report.state, report.moves[0].action) for report in (first, second)]
    return {
        "visits_moved": visits_moved(first, second),
        "visits": sum(move.visits for move in first.moves),
        "best": names[0],
        "best_without": names[1],
        "best_changed": names[0] != names[1],
        "q": on.q,
        "q_without": off.q,
        "tree_changed": on.digest != off.digest,
        **values_json(on.tree, off.tree),
        "evaluations": first.pace.rows,
        "evaluations_without": second.pace.rows,
    }


Facts = list[dict[str, Any]]
"""name, value, and how it was measured: `counter` (counted by the search), `tree` (read from the tree)."""

SHOWN_FROZEN = 5
"""Frozen nodes that are listed with their replies."""


def facts_of(name: str, search: ExplainedSearch) -> Facts:
    """Return what was measured of a rule in its own terms: of search-contempt its frozen nodes; of others nothing."""
    rule = search.side.search.search_contempt
    if name != "search_contempt" or rule is None:
        return []
    frozen = _frozen(search)
    visits = sum(int(edge["visits"]) for place in frozen for edge in place.children)
    draws = int(search.counters["contempt_draws"])
    facts = [
        _fact("frozen nodes", len(frozen), "tree"),
        _fact("replies drawn from frozen weights", draws, "counter"),
        _fact("visits behind frozen nodes", visits, "tree"),
    ]
    if rule.temperature == 1.0:  # then the weights are the visits at which a node froze
        before = sum(sum((place.weights or {}).values()) for place in frozen)
        facts.append(_fact("of them after freezing", visits - round(before), "tree"))
    if not search.tree.complete:
        facts.append(_fact("nodes that these are of, the most visited", len(search.tree.nodes), "tree"))
    return facts


def frozen_nodes(search: ExplainedSearch) -> list[dict[str, Any]]:
    """Return the most visited frozen nodes of search-contempt: their line, and weight and visits of every reply."""
    places = sorted(_frozen(search), key=lambda place: -place.visits)[:SHOWN_FROZEN]
    return [_frozen_json(search, place) for place in places]


def _fact(name: str, value: int, how: str) -> dict[str, Any]:
    return {"name": name, "value": value, "how": how}


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
            "move": move_text(before, int(edge["action"])),
            "weight": float(edge["frozen"]) / total,
            "visits": int(edge["visits"]),
        }
        for edge in place.children
    ]
    line = line_texts(state, place.line)
    return {"line": list(place.line), "moves": line, "visits": place.visits, "replies": replies}
