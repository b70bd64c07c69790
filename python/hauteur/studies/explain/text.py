"""A comparison of two searches as tables for the terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

LINE_MOVES = 8
NODES_SHOWN = 8


def explain_view(found: dict[str, Any], *, rows: int) -> RenderableType:
    """Return the comparison: both sides, the moves, the trees, the rules."""
    return Group(
        *_headline(found),
        _sides_table(found),
        Text(""),
        _moves_table(found, rows),
        *_lines(found),
        Text(""),
        *_tree(found),
        *(part for rule in found["rules"] for part in _rule(rule)),
    )


def number_text(value: float | str | None) -> str:
    """Return a figure as people read it: whole numbers in full, others with three digits."""
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) else value if isinstance(value, str) else f"{value:+.3f}"


def _headline(found: dict[str, Any]) -> list[Text]:
    settings = f"{found['visits']:,} visits each, seed {found['seed']}, batches of {found['batch_size']}"
    moved = f"{found['visits_moved']:,} visits went to other moves"
    same = "the same move" if found["same_best"] else "another move"
    return [Text(f"{found['game']}, {settings}", style="bold"), Text(f"{same}; {moved}")]


def _sides_table(found: dict[str, Any]) -> Table:
    table = _table("", "A", "B")
    sides = [found["sides"][name] for name in "ab"]
    for label, key in (("settings", "settings"), ("net", "net"), ("large net", "large_net"), ("best move", "best")):
        if any(side[key] for side in sides):
            table.add_row(label, *(str(side[key] or "-") for side in sides))
    table.add_row("Q", *(f"{side['q']:+.3f}" for side in sides))
    table.add_row("W D L %", *(_wdl(side["wdl"]) for side in sides))
    table.add_row("mean depth, deepest", *(f"{side['depth']:.1f} {side['seldepth']}" for side in sides))
    table.add_row("evaluations", *(f"{side['evaluations']:,}" for side in sides))
    table.add_row("tree digest", *(side["digest"] for side in sides))
    return table


def _moves_table(found: dict[str, Any], rows: int) -> Table:
    table = _table("move", "N A", "N B", "B - A", "% A", "% B", "P % A", "P % B", "Q A", "Q B", "line A", "line B")
    for row in found["moves"][:rows]:
        both = [row[name] for name in "ab"]
        table.add_row(
            row["move"],
            *(f"{side['visits']:,}" for side in both),
            f"{row['shift']:+,}" if row["shift"] else "",
            *(f"{100 * side['share']:.1f}" for side in both),
            *(f"{100 * side['prior']:.1f}" for side in both),
            *(number_text(side["q"]) for side in both),
            *(" ".join(side["line"][1:5]) for side in both),
        )
    return table


def _lines(found: dict[str, Any]) -> list[Text]:
    lines, at = found["lines"], found["lines"]["parts_at"]
    where = "the best lines are the same as far as both go" if at is None else f"the best lines part at ply {at + 1}"
    return [Text(where), *(Text(f"  {name.upper()}: {' '.join(lines[name][:LINE_MOVES])}") for name in "ab")]


def _tree(found: dict[str, Any]) -> list[RenderableType]:
    tree = found["tree"]
    nodes, only = tree["nodes"], tree["only"]
    if tree["equal"]:
        return [Text(f"trees: equal, {nodes['a']:,} nodes")]
    read = "" if tree["complete"] else " read"
    counts = (
        f"trees: {nodes['a']:,} and {nodes['b']:,} nodes{read}, {nodes['both']:,} in both, "
        f"{tree['same_visits']:,} of them with the same visits; {only['a']:,} in A alone, {only['b']:,} in B alone"
    )
    first = tree["first"]
    where = [] if first is None else [Text(f"first line that differs: {' '.join(first['moves']) or 'the root'}")]
    table = _table("largest shifts", "N A", "N B", "Q A", "Q B")
    for place in tree["shifts"][:NODES_SHOWN]:
        both = [place[name] for name in "ab"]
        figures = (*(number_text(side["visits"]) for side in both), *(number_text(side["q"]) for side in both))
        table.add_row(" ".join(place["moves"]) or "the root", *figures)
    return [Text(counts), *where, table]


def _rule(rule: dict[str, Any]) -> list[RenderableType]:
    off = rule["ablation"]
    best = f"best move {off['best_without']} without, {off['best']} with it"
    kept = f"best move {off['best']} with and without it"
    without = (
        f"  without it: {off['visits_moved']:,} of {off['visits']:,} visits at other moves, "
        f"{best if off['best_changed'] else kept}, Q {off['q_without']:+.3f} without, {off['q']:+.3f} with it"
        f"{'' if off['tree_changed'] else '; the tree is the same'}"
    )
    values = (
        f"  of {off['nodes_in_both']:,} nodes in both trees {off['values_changed']:,} have another Q, "
        f"by {off['mean_change']:.3f} on average, {off['greatest_change']:.3f} at most"
    )
    facts = [f"  {fact['name']}: {number_text(fact['value'])} ({fact['how']})" for fact in rule["facts"]]
    frozen = [f"  frozen after {' '.join(place['moves'])}: {_replies(place)}" for place in rule.get("frozen", ())]
    title = f"{rule['name']} in {rule['side'].upper()}: {rule['settings']}"
    return [Text(""), Text(title, style="bold"), *map(Text, [*facts, *frozen, without, values])]


def _replies(place: dict[str, Any]) -> str:
    drawn = [reply for reply in place["replies"] if reply["weight"]]
    return ", ".join(f"{reply['move']} {100 * reply['weight']:.0f} % N {reply['visits']:,}" for reply in drawn)


def _wdl(wdl: list[float]) -> str:
    return " ".join(f"{100 * share:.0f}" for share in wdl)


def _table(*names: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for number, name in enumerate(names):
        table.add_column(name, justify="left" if not number or name.startswith("line") else "right", no_wrap=True)
    return table
