"""A comparison of two searches of one position: moves, trees, and the effect of every rule that is on.

The effect of a rule, and of every other setting of the search that is not at its default, is measured by one more
search with the same settings, seed and limit, in which it alone has its default (`ablation`); that of search-contempt
by the frozen nodes of the tree too (`facts`). Values of moves are for the player to move.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from hauteur.mcts.methods import page_of
from hauteur.mcts.params import SearchParams
from hauteur.studies.explain.question import ExplainedSearch, Question, Searches, Side
from hauteur.system.tables import text_table

OnStep = Callable[[int, int, str], None]
"""Gets the number of searches that are done, of all, and what the next one is."""


def explain(question: Question, searches: Searches, on_step: OnStep | None = None) -> dict[str, Any]:
    """Return the comparison as JSON holds it: the same question gives the same figures, but for times, of which it has
    none. Raise ValueError where the nets do not fit the game or the settings, OSError for files, and ExplainStopped.
    """
    sides = list(zip("ab", question.sides, strict=True))
    ablations = []
    for name, side in sides:
        ablations += [(name, side, key) for key in changed(side)]
    steps = [f"side {name.upper()}" for name, _ in sides]
    steps += [f"side {name.upper()} without {key}" for name, _, key in ablations]
    steps.append("reading the trees")

    def step(done: int) -> None:
        if on_step is not None:
            on_step(done, len(steps), steps[done])

    for done, (_, side) in enumerate(sides):
        step(done)
        searches.of(side)
    rules = []
    for done, (name, side, key) in enumerate(ablations, len(sides)):
        step(done)
        off = searches.of(side.without(key), keep=False)
        tree = searches.of(side).tree
        rules.append(tree.effect_of_rule(name, key, off.tree, page_of(key)))
    step(len(steps) - 1)
    a, b = (searches.of(side).tree for side in question.sides)
    text = a.explanation(b, rules, question.visits, question.seed, question.batch_size)
    found: dict[str, Any] = json.loads(text)
    return found


def changed(side: Side) -> list[str]:
    """Return the sections and settings of a side's search that are not as by default; neutral rules are."""
    ours = side.search.without_neutral_rules()
    default = SearchParams()
    names = [name for name in SearchParams.model_fields if getattr(ours, name) != getattr(default, name)]
    has_role = not side.nets.large or "second_net" in names or "opponent_net" in names
    return names if has_role else [*names, "second_net"]


def children_json(a: ExplainedSearch, b: ExplainedSearch, line: Sequence[int]) -> list[dict[str, Any]]:
    """Return the moves after a line of actions that either search visited, the most visited first.

    Each has its figures in both, None where a search did not visit it, and `more`: whether there are moves after it.
    q is for the player who makes the move; weight: the share by which search-contempt draws it; frozen: whether the
    replies to it are drawn. Raise ValueError for a line that is in neither tree.
    """
    text = a.tree.children(b.tree, list(line))
    found: list[dict[str, Any]] = json.loads(text)
    return found


# The comparison as text for the terminal.

LINE_MOVES = 8
NODES_SHOWN = 8


def explain_text(found: dict[str, Any], *, rows: int) -> str:
    """Return the comparison: both sides, `rows` moves at most, the trees, the rules."""
    settings = f"{found['visits']:,} visits each, seed {found['seed']}, batches of {found['batch_size']}"
    same = "the same move" if found["same_best"] else "another move"
    lines = found["lines"]
    at = found["lines"]["parts_at"]
    parting = "the best lines are the same as far as both go" if at is None else f"the best lines part at ply {at + 1}"
    sides = []
    for label, key in SIDE_FACTS:
        values = [found["sides"][name][key] for name in "ab"]
        sides.append([label, *map(_figure_text, values)])
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
    heads = ("move", "N A", "N B", "B - A", "% A", "% B", "P % A", "P % B", "Q A", "Q B", "line A", "line B")
    rows = []
    for move in moves:
        a = move["a"]
        b = move["b"]
        row = [move["move"], a["visits"], b["visits"], move["shift"]]
        for name in ("share", "prior"):
            row += [f"{100 * a[name]:.1f}", f"{100 * b[name]:.1f}"]
        row += [_figure_text(a["q"]), _figure_text(b["q"])]
        row += [" ".join(a["line"][1:5]), " ".join(b["line"][1:5])]
        rows.append(row)
    return text_table(heads, rows, shown=len(rows))


def _tree_lines(tree: dict[str, Any]) -> Iterator[str]:
    nodes = tree["nodes"]
    only = tree["only"]
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
        both = [place[name] for name in "ab"]
        visits = [_figure_text(side["visits"]) for side in both]
        values = [_figure_text(side["q"]) for side in both]
        moves = " ".join(place["moves"]) or "the root"
        rows.append([moves, *visits, *values])
    if rows:
        yield text_table(("largest shifts", "N A", "N B", "Q A", "Q B"), rows, shown=len(rows))


def _rule_lines(rule: dict[str, Any]) -> Iterator[str]:
    off = rule["ablation"]
    yield f"\n{rule['name']} in {rule['side'].upper()}: {rule['settings']}"
    for fact in rule["facts"]:
        yield f"  {fact['name']}: {_figure_text(fact['value'])} ({fact['how']})"
    for place in rule.get("frozen", ()):
        replies = []
        for reply in place["replies"]:
            if reply["weight"]:
                replies.append(f"{reply['move']} {100 * reply['weight']:.0f} % N {reply['visits']:,}")
        yield f"  frozen after {' '.join(place['moves'])}: {', '.join(replies)}"
    if off["best_changed"]:
        best = f"best move {off['best_without']} without, {off['best']} with it"
    else:
        best = f"best move {off['best']} with and without it"
    same_tree = "" if off["tree_changed"] else "; the tree is the same"
    yield (
        f"  without it: {off['visits_moved']:,} of {off['visits']:,} visits at other moves, "
        f"{best}, Q {off['q_without']:+.3f} without, {off['q']:+.3f} with it{same_tree}"
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
    if isinstance(value, int):
        return f"{value:,}"
    return "" if value is None else str(value)
