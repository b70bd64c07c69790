"""Several nets: whose turn it is.

All is a function of the root's counts, of the limit and of one random number a turn.
"""

from __future__ import annotations

from collections.abc import Sequence

from hauteur.mcts.params import SecondNet
from reference.second_net_weights import further_nets

Net = int
"""Number of a net, the smallest first."""
SMALL: Net = 0
LARGE: Net = 1

TURN_STREAM = 2**64 - 2
"""Stream of the random numbers that order the turns; other rules draw from another one."""


def budgets(rule: SecondNet) -> list[int]:
    """Return the turns of each net a move."""
    return [rule.small_visits, rule.large_visits, *(net.visits for net in further_nets(rule))]


def goal(rule: SecondNet, begun: Sequence[int], limit: int) -> list[int]:
    """Return the goal of the root's visits by each net: `limit` small ones and the others in proportion b_i : b_S.

    Without a limit (0): the least number of whole moves, b_i turns of each net, that is not completed.
    """
    turns = budgets(rule)
    small = turns[SMALL]
    if limit:
        return [limit, *((limit * budget + small // 2) // small for budget in turns[1:])]
    moves = min(count // budget for count, budget in zip(begun, turns, strict=True)) + 1
    return [moves * budget for budget in turns]


def next_net(rule: SecondNet, begun: Sequence[int], limit: int, uniform: float) -> Net | None:
    """Return the net of the next turn, given the turns begun by each; None when the goal is reached.

    random: turns are drawn without replacement. A larger net's turn, once begun, extends to a whole batch. Of nets with
    the same claim the smaller one goes first.
    """
    goals = goal(rule, begun, limit)
    left = [max(wanted - count, 0) for wanted, count in zip(goals, begun, strict=True)]
    open_nets = [net for net, turns in enumerate(left) if turns]
    if len(open_nets) <= 1:
        return open_nets[0] if open_nets else None
    larger = [net for net in open_nets if net != SMALL]
    for net in larger:
        if begun[net] % rule.large_batch:
            return net
    if rule.order == "round_robin":
        return most_behind(open_nets, left, goals)
    if rule.order == "large_first":
        for net in larger:
            if begun[net] < rule.large_first:
                return net
    return drawn_net(rule, left, uniform)


def most_behind(nets: Sequence[Net], left: Sequence[int], goals: Sequence[int]) -> Net:
    """Return the net with the greatest share of its turns left, the smallest among equals."""
    best = nets[0]
    for net in nets[1:]:
        if left[net] * goals[best] > left[best] * goals[net]:
            best = net
    return best


def drawn_net(rule: SecondNet, left: Sequence[int], uniform: float) -> Net:
    """Return a net drawn by what is left, where a batch of a larger net is one turn."""
    turns = [left[SMALL], *(-(-count // rule.large_batch) for count in left[1:])]
    drawn = uniform * sum(turns)
    passed = 0
    for net, count in enumerate(turns):
        passed += count
        if drawn < passed:
            return net
    return max(net for net, count in enumerate(left) if count)
