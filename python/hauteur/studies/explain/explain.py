"""A comparison of two searches of one position: moves, trees, and the effect of every rule that is on.

The effect of a rule, and of every other setting of the search that is not at its default, is measured by one more
search with the same settings, seed and limit, in which it alone has its default (`ablation`); that of search-contempt
by the frozen nodes of the tree too (`facts`). Values of moves are for the player to move.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

from hauteur import _core
from hauteur.games.played_game import line_texts, move_text, position_after
from hauteur.mcts.methods import page_of
from hauteur.mcts.params import SearchParams
from hauteur.mcts.report import RootMove, RootReport
from hauteur.mcts.tree_source import Edge
from hauteur.studies.explain.question import (
    ExplainedSearch,
    Line,
    Question,
    Searches,
    Side,
    TreeNodes,
    TreePlace,
    net_name,
    proven_result,
    settings_text,
    side_json,
)
from hauteur.system.tables import text_table

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
        "rules": [_rule_json(*rule) for rule in rules],
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


def _rule_json(name: str, key: str, on: ExplainedSearch, ablation: dict[str, Any]) -> dict[str, Any]:
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
    before = position_after(state, place.line)
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


# Two searches, move by move and node by node.

SHOWN_NODES = 20
"""Nodes that a list of the difference of two trees names."""


def moves_json(a: ExplainedSearch, b: ExplainedSearch) -> list[dict[str, Any]]:
    """Return every move with the figures of both searches, the most visited by either first; `shift`: N of B less A."""
    state, sides = a.report.state, [{move.action: move for move in side.report.moves} for side in (a, b)]
    totals = [max(sum(move.visits for move in side.report.moves), 1) for side in (a, b)]
    rows: list[dict[str, Any]] = []
    for action in sides[0]:
        found = [moves[action] for moves in sides]
        rows.append(
            {
                "action": action,
                "move": move_text(state, action),
                "text": state.action_to_text(action),
                "a": _move_json(state, found[0], totals[0]),
                "b": _move_json(state, found[1], totals[1]),
                "shift": found[1].visits - found[0].visits,
            }
        )
    rows.sort(key=lambda row: -max(row["a"]["visits"], row["b"]["visits"]))
    return rows


def visits_moved(a: RootReport, b: RootReport) -> int:
    """Return the visits that one search gave to other moves of the root than the other search did."""
    others = {move.action: move.visits for move in b.moves}
    return sum(max(move.visits - others[move.action], 0) for move in a.moves)


def values_json(a: TreeNodes, b: TreeNodes) -> dict[str, Any]:
    """Return how many nodes two trees have in common, and at how many of them Q differs, and by how much."""
    pairs = [(place, b.nodes[line]) for line, place in a.nodes.items() if line in b.nodes]
    changes = [abs(one.q - other.q) for one, other in pairs if one.visits and other.visits and one.q != other.q]
    mean = math.fsum(changes) / len(changes) if changes else 0.0
    return {
        "nodes_in_both": len(pairs),
        "values_changed": len(changes),
        "mean_change": mean,
        "greatest_change": max(changes, default=0.0),
    }


def lines_json(a: ExplainedSearch, b: ExplainedSearch) -> dict[str, Any]:
    """Return the best lines of both, and the ply (from 0) at which they part, None where the shorter one never does."""
    state, lines = a.report.state, [side.report.moves[0].line for side in (a, b)]
    parts = next((ply for ply, (x, y) in enumerate(zip(*lines, strict=False)) if x != y), None)
    a_text, b_text = (line_texts(state, line) for line in lines)
    return {"a": a_text, "b": b_text, "parts_at": parts}


def trees_json(a: ExplainedSearch, b: ExplainedSearch) -> dict[str, Any]:
    """Return what two trees have in common and what not: counts, the largest shifts of visits, and
    the first line at which they differ: of all lines with other visits the shortest, of these the most visited.
    """
    state, mine, theirs = a.report.state, a.tree, b.tree
    both = [line for line in mine.nodes if line in theirs.nodes]
    changed = [line for line in both if mine.nodes[line].visits != theirs.nodes[line].visits]
    changed.sort(key=lambda line: -abs(mine.nodes[line].visits - theirs.nodes[line].visits))
    only_a, only_b = _only(mine, theirs), _only(theirs, mine)
    first = min(
        [*changed, *only_a, *only_b],
        key=lambda line: (len(line), -max(_visits(line, mine), _visits(line, theirs))),
        default=None,
    )
    return {
        "equal": a.digest == b.digest,
        "complete": mine.complete and theirs.complete,
        "nodes": {"a": len(mine.nodes), "b": len(theirs.nodes), "both": len(both)},
        "same_visits": len(both) - len(changed),
        "only": {"a": len(only_a), "b": len(only_b)},
        "shifts": [_place_json(state, line, mine, theirs) for line in changed[:SHOWN_NODES]],
        "first": None if first is None else _place_json(state, first, mine, theirs),
    }


def children_json(a: ExplainedSearch, b: ExplainedSearch, line: Line) -> list[dict[str, Any]]:
    """Return the moves behind a line of actions that either search visited, the most visited first.

    Each has its figures in both, None where a search did not visit it, and `more`: whether there are moves behind it.
    q is for the player who makes the move; weight: the share by which search-contempt draws it; frozen: whether the
    replies to it are drawn. Raise ValueError for a line that is in neither tree.
    """
    places = [side.tree.nodes.get(line) for side in (a, b)]
    if places == [None, None]:
        raise ValueError(f"neither tree has a node behind {list(line)[:40]}")
    state = position_after(a.report.state, line)
    edges = [{int(edge["action"]): edge for edge in place.children} if place else {} for place in places]
    rows = []
    for action in {**edges[0], **edges[1]}:
        behind = [side.tree.nodes.get((*line, action)) for side in (a, b)]
        rows.append(
            {
                "line": [*line, action],
                "move": move_text(state, action),
                "a": _edge_json(places[0], edges[0].get(action), behind[0]),
                "b": _edge_json(places[1], edges[1].get(action), behind[1]),
                "more": any(place is not None and place.children for place in behind),
            }
        )
    return sorted(rows, key=lambda row: -max(row[name]["visits"] for name in "ab" if row[name]))


def _edge_json(place: TreePlace | None, edge: Edge | None, behind: TreePlace | None) -> dict[str, Any] | None:
    if place is None or edge is None:
        return None
    weights = place.weights
    return {
        "visits": int(edge["visits"]),
        "q": float(edge["q"]) if edge["visits"] else None,
        "prior": float(edge["prior"]),
        "proven": proven_result(edge),
        "weight": None if weights is None else weights[int(edge["action"])] / sum(weights.values()),
        "frozen": behind is not None and behind.weights is not None,
    }


def _only(mine: TreeNodes, theirs: TreeNodes) -> list[Line]:
    """Lines of one tree alone, the most visited first; the top of each subtree stands for it in order of visits."""
    lines = [line for line in mine.nodes if line not in theirs.nodes]
    return sorted(lines, key=lambda line: (-mine.nodes[line].visits, len(line), line))


def _visits(line: Line, tree: TreeNodes) -> int:
    found = tree.nodes.get(line)
    return 0 if found is None else found.visits


def _place_json(state: _core.State, line: Line, a: TreeNodes, b: TreeNodes) -> dict[str, Any]:
    """A node with the figures that it has in both trees, None where it is not in one."""
    places = {"a": a.nodes.get(line), "b": b.nodes.get(line)}
    found = {name: one and {"visits": one.visits, "q": one.q if one.visits else None} for name, one in places.items()}
    return {"line": list(line), "moves": line_texts(state, line), **found}


def _move_json(state: _core.State, move: RootMove, total: int) -> dict[str, Any]:
    return {
        "visits": move.visits,
        "share": move.visits / total,
        "prior": move.prior,
        "q": move.q if move.visits else None,
        "wdl": list(move.wdl) if move.wdl else None,
        "value": move.value,
        "proven": move.proven,
        "line": line_texts(state, move.line),
    }


# The comparison as text for the terminal.

LINE_MOVES = 8
NODES_SHOWN = 8


def explain_text(found: dict[str, Any], *, rows: int) -> str:
    """Return the comparison: both sides, `rows` moves at most, the trees, the rules."""
    settings = f"{found['visits']:,} visits each, seed {found['seed']}, batches of {found['batch_size']}"
    same = "the same move" if found["same_best"] else "another move"
    lines, at = found["lines"], found["lines"]["parts_at"]
    parting = "the best lines are the same as far as both go" if at is None else f"the best lines part at ply {at + 1}"
    sides = [[label, *(_figure_text(found["sides"][name][key]) for name in "ab")] for label, key in SIDE_FACTS]
    parts = [
        f"{found['game']}, {settings}",
        f"{same}; {found['visits_moved']:,} visits went to other moves",
        text_table(("", "A", "B"), sides, shown=len(sides)),
        "",
        _moves_text(found["moves"][:rows]),
        parting,
        *(f"  {name.upper()}: {' '.join(lines[name][:LINE_MOVES])}" for name in "ab"),
        "",
        *_tree_lines(found["tree"]),
        *(line for rule in found["rules"] for line in _rule_lines(rule)),
    ]
    return "\n".join(parts)


SIDE_FACTS = (
    *(("settings", "settings"), ("net", "net"), ("large net", "large_net"), ("best move", "best"), ("Q", "q")),
    *(("W D L %", "wdl"), ("deepest", "seldepth"), ("evaluations", "evaluations"), ("tree digest", "digest")),
)
"""Facts of a side that are shown: the label and the key."""


def _moves_text(moves: list[dict[str, Any]]) -> str:
    rows = []
    for move in moves:
        both = [move[name] for name in "ab"]
        counts = [*(side["visits"] for side in both), move["shift"]]
        shares = [f"{100 * side[key]:.1f}" for key in ("share", "prior") for side in both]
        lines = (" ".join(side["line"][1:5]) for side in both)
        rows.append([move["move"], *counts, *shares, *(_figure_text(side["q"]) for side in both), *lines])
    heads = ("move", "N A", "N B", "B - A", "% A", "% B", "P % A", "P % B", "Q A", "Q B", "line A", "line B")
    return text_table(heads, rows, shown=len(rows))


def _tree_lines(tree: dict[str, Any]) -> Iterator[str]:
    nodes, only = tree["nodes"], tree["only"]
    if tree["equal"]:
        yield f"trees: equal, {nodes['a']:,} nodes"
        return
    read = "" if tree["complete"] else " read"
    yield (
        f"trees: {nodes['a']:,} and {nodes['b']:,} nodes{read}, {nodes['both']:,} in both, "
        f"{tree['same_visits']:,} of them with the same visits; {only['a']:,} in A alone, {only['b']:,} in B alone"
    )
    if tree["first"] is not None:
        yield f"first line that differs: {' '.join(tree['first']['moves']) or 'the root'}"
    rows = []
    for place in tree["shifts"][:NODES_SHOWN]:
        figures = [_figure_text(place[name][key]) for key in ("visits", "q") for name in "ab"]
        rows.append([" ".join(place["moves"]) or "the root", *figures])
    if rows:
        yield text_table(("largest shifts", "N A", "N B", "Q A", "Q B"), rows, shown=len(rows))


def _rule_lines(rule: dict[str, Any]) -> Iterator[str]:
    off = rule["ablation"]
    yield f"\n{rule['name']} in {rule['side'].upper()}: {rule['settings']}"
    for fact in rule["facts"]:
        yield f"  {fact['name']}: {_figure_text(fact['value'])} ({fact['how']})"
    for place in rule.get("frozen", ()):
        drawn = [reply for reply in place["replies"] if reply["weight"]]
        replies = (f"{reply['move']} {100 * reply['weight']:.0f} % N {reply['visits']:,}" for reply in drawn)
        yield f"  frozen after {' '.join(place['moves'])}: {', '.join(replies)}"
    best = f"best move {off['best_without']} without, {off['best']} with it"
    kept = f"best move {off['best']} with and without it"
    yield (
        f"  without it: {off['visits_moved']:,} of {off['visits']:,} visits at other moves, "
        f"{best if off['best_changed'] else kept}, Q {off['q_without']:+.3f} without, {off['q']:+.3f} with it"
        f"{'' if off['tree_changed'] else '; the tree is the same'}"
    )
    yield (
        f"  of {off['nodes_in_both']:,} nodes in both trees {off['values_changed']:,} have another Q, "
        f"by {off['mean_change']:.3f} on average, {off['greatest_change']:.3f} at most"
    )


def _figure_text(value: Any) -> str:
    """Return a figure as people read it: whole numbers in full, others with three digits, shares in per cent."""
    if isinstance(value, list):
        return " ".join(f"{100 * share:.0f}" for share in value)
    if isinstance(value, float):
        return f"{value:+.3f}"
    return "" if value is None else f"{value:,}" if isinstance(value, int) else str(value)
