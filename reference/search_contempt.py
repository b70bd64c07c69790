"""Search-contempt (A. Joshi, "Search-contempt: a hybrid MCTS algorithm ...", 2025, equations 4 to 6).

Opponent nodes are those whose mover is not the root's mover (odd depth where players take turns). The root and all
nodes of its player select by PUCT; an opponent node does so until it freezes.
"""

from __future__ import annotations

from itertools import accumulate, pairwise

from hauteur.mcts.params import SearchContempt
from reference.draws import Draws
from reference.tree import Edge, Node


def draw_edge(rule: SearchContempt, node: Node, root_mover: int, draws: Draws) -> Edge | None:
    """The edge that this visit takes at a node below the root; None where PUCT decides.

    The visit that finds sum_b N(s, b) >= N_scl for the first time freezes the weights, and is drawn from them already.
    (The paper has "<= N_scl: PUCT", one more visit by PUCT, with the weights of N_scl visits; only that visit differs.)
    """
    if not acts_at(rule, node, root_mover):
        return None
    if not node.frozen:
        node.frozen = freeze(rule, node)
    ratio = ratio_at(rule, node.visits)
    if ratio < 1.0 and draws.uniform() >= ratio:
        return None
    return draw(node.frozen, draws.uniform())


def acts_at(rule: SearchContempt, node: Node, root_mover: int) -> bool:
    """Return whether a node below the root is sampled: it is the opponent's, sum_b N(s, b) = N(s) - 1 >= |N_scl|.

    Completed visits only. A negative N_scl selects the nodes of the root's own player.
    """
    is_own = node.mover == root_mover
    return is_own == (rule.n_scl < 0) and node.visits - 1 >= abs(rule.n_scl)


def freeze(rule: SearchContempt, node: Node) -> list[tuple[Edge, float]]:
    """N_scl(s, a)^(1/T) of every edge, with N_scl(s, a) := N(s, a).

    With a temperature T other than 1 visits are taken relative to the greatest, so that no power overflows; only the
    proportions of the weights count.
    """
    chosen = node.edges[: node.num_chosen]
    if rule.temperature == 1.0:
        return [(edge, float(edge.visits)) for edge in chosen]
    greatest = max(edge.visits for edge in chosen)
    return [(edge, (edge.visits / greatest) ** (1.0 / rule.temperature)) for edge in chosen]


def draw(frozen: list[tuple[Edge, float]], uniform: float) -> Edge:
    """Pr(a) = N_scl(s, a) / sum_b N_scl(s, b): the first edge whose running sum exceeds u times the whole."""
    edges = [edge for edge, _ in frozen]
    sums = list(accumulate(weight for _, weight in frozen))
    return next(edge for edge, above in zip(edges, sums, strict=True) if above > uniform * sums[-1])


def ratio_at(rule: SearchContempt, visits: int) -> float:
    """Share of the visits to a frozen node with N(s) = `visits` that are drawn; the others select by PUCT."""
    steps = (step.split(":") for step in rule.ratio_schedule.split())
    passed = [float(ratio) for start, ratio in steps if int(start) <= visits]
    return passed[-1] if passed else rule.sampling_ratio


def support(node: Node) -> list[Edge]:
    """Return the edges of a frozen node that may be drawn, i.e. that increase the running sum of the weights."""
    sums = [0.0, *accumulate(weight for _, weight in node.frozen)]
    return [edge for (edge, _), (before, after) in zip(node.frozen, pairwise(sums), strict=True) if after > before]
