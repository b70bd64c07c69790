"""A comparison of two searches of one position: moves, trees, and what every rule that is on did.

What a rule did is measured in two ways: by what counters and the tree show of it (`facts`), and by one more search with
the same settings, seed and limit, in which this rule alone is as it is by default (`ablation`). Every rule, and every
other setting of the search that is not at its default, has the second.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hauteur.mcts.params import SearchParams
from hauteur.mcts.report_text import line_in_notation
from hauteur.studies.explain.difference import lines_json, moves_json, trees_json, values_json, visits_moved
from hauteur.studies.explain.facts import facts_of, frozen_nodes
from hauteur.studies.explain.question import Question, Side, net_name, settings_text, side_json
from hauteur.studies.explain.searched import ExplainedSearch, Searches
from hauteur.studies.methods import page_of

OnStep = Callable[[int, int, str], None]
"""Gets the number of searches that are done, of all, and what the next one is."""


def explain(question: Question, searches: Searches, on_step: OnStep | None = None) -> dict[str, Any]:
    """Return the comparison as JSON holds it: the same question gives the same figures, but for times, of which it has
    none. Raise ValueError where the nets do not fit the game or the settings, OSError for files, and ExplainStopped.
    """
    sides = list(zip("ab", question.sides, strict=True))
    wanted = [(name, side, key) for name, side in sides for key in changed(side)]
    steps = [f"side {name.upper()}" for name, _ in sides] + [f"side {n.upper()} without {key}" for n, _, key in wanted]
    steps.append("reading the trees")

    def step(done: int) -> None:
        if on_step is not None:
            on_step(done, len(steps), steps[done])

    for done, (_, side) in enumerate(sides):
        step(done)
        searches.of(side)
    rules = []
    for done, (name, side, key) in enumerate(wanted, len(sides)):
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
    return [*names, "second_net"] if side.nets.large and "second_net" not in names else names


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
        "best": line_in_notation(report.state, (best.action,))[0],
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
    names = [line_in_notation(report.state, (report.moves[0].action,))[0] for report in (first, second)]
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
