"""A comparison of two searches as text for the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hauteur.system.tables import text_table

LINE_MOVES = 8
NODES_SHOWN = 8


def explain_text(found: dict[str, Any], *, rows: int) -> str:
    """Return the comparison: both sides, `rows` moves at most, the trees, the rules."""
    settings = f"{found['visits']:,} visits each, seed {found['seed']}, batches of {found['batch_size']}"
    same = "the same move" if found["same_best"] else "another move"
    lines, at = found["lines"], found["lines"]["parts_at"]
    parting = "the best lines are the same as far as both go" if at is None else f"the best lines part at ply {at + 1}"
    parts = [
        f"{found['game']}, {settings}",
        f"{same}; {found['visits_moved']:,} visits went to other moves",
        _sides(found["sides"]),
        "",
        _moves(found["moves"][:rows]),
        parting,
        *(f"  {name.upper()}: {' '.join(lines[name][:LINE_MOVES])}" for name in "ab"),
        "",
        *_tree(found["tree"]),
        *(line for rule in found["rules"] for line in _rule(rule)),
    ]
    return "\n".join(parts)


SIDE_FACTS = (
    *(("settings", "settings"), ("net", "net"), ("large net", "large_net"), ("best move", "best"), ("Q", "q")),
    *(("W D L %", "wdl"), ("deepest", "seldepth"), ("evaluations", "evaluations"), ("tree digest", "digest")),
)
"""Facts of a side that are shown: the label and the key."""


def _sides(sides: dict[str, Any]) -> str:
    rows = [[label, *(_figure(sides[name][key]) for name in "ab")] for label, key in SIDE_FACTS]
    return text_table(("", "A", "B"), rows, shown=len(rows))


def _moves(moves: list[dict[str, Any]]) -> str:
    rows = []
    for move in moves:
        both = [move[name] for name in "ab"]
        counts = [*(side["visits"] for side in both), move["shift"]]
        shares = [f"{100 * side[key]:.1f}" for key in ("share", "prior") for side in both]
        lines = (" ".join(side["line"][1:5]) for side in both)
        rows.append([move["move"], *counts, *shares, *(_figure(side["q"]) for side in both), *lines])
    heads = ("move", "N A", "N B", "B - A", "% A", "% B", "P % A", "P % B", "Q A", "Q B", "line A", "line B")
    return text_table(heads, rows, shown=len(rows))


def _tree(tree: dict[str, Any]) -> Iterator[str]:
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
        figures = [_figure(place[name][key]) for key in ("visits", "q") for name in "ab"]
        rows.append([" ".join(place["moves"]) or "the root", *figures])
    if rows:
        yield text_table(("largest shifts", "N A", "N B", "Q A", "Q B"), rows, shown=len(rows))


def _rule(rule: dict[str, Any]) -> Iterator[str]:
    off = rule["ablation"]
    yield f"\n{rule['name']} in {rule['side'].upper()}: {rule['settings']}"
    for fact in rule["facts"]:
        yield f"  {fact['name']}: {_figure(fact['value'])} ({fact['how']})"
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


def _figure(value: Any) -> str:
    """Return a figure as people read it: whole numbers in full, others with three digits, shares in per cent."""
    if isinstance(value, list):
        return " ".join(f"{100 * share:.0f}" for share in value)
    if isinstance(value, float):
        return f"{value:+.3f}"
    return "" if value is None else f"{value:,}" if isinstance(value, int) else str(value)
