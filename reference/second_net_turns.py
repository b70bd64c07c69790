"""Two nets: whose turn it is. All is a function of the root's counts, of the limit and of one random number a turn."""

from __future__ import annotations

from typing import Literal

from hauteur.mcts.params import SecondNet

Net = Literal[0, 1]
SMALL: Net = 0
LARGE: Net = 1

TURN_STREAM = 2**64 - 2
"""Stream of the random numbers that order the turns; other rules draw from another one."""


def goal(rule: SecondNet, small: int, large: int, limit: int) -> tuple[int, int]:
    """Return the goal of the root's N_S and N_L: `limit` small visits and large ones in proportion b_L : b_S.

    Without a limit (0): the least number of whole moves, b_S and b_L turns each, that is not completed.
    """
    if limit:
        return limit, (limit * rule.large_visits + rule.small_visits // 2) // rule.small_visits
    moves = min(small // rule.small_visits, large // rule.large_visits) + 1
    return moves * rule.small_visits, moves * rule.large_visits


def next_net(rule: SecondNet, small: int, large: int, limit: int, uniform: float) -> Net | None:
    """Return the net of the next turn, given the turns begun by each; None when the goal is reached.

    random: turns are drawn without replacement. A large turn, once begun, extends to a whole batch.
    """
    small_goal, large_goal = goal(rule, small, large, limit)
    small_left, large_left = max(small_goal - small, 0), max(large_goal - large, 0)
    if not small_left and not large_left:
        return None
    if not small_left or not large_left:
        return SMALL if small_left else LARGE
    if large % rule.large_batch:
        return LARGE
    if rule.order == "round_robin":
        return LARGE if large_left * small_goal > small_left * large_goal else SMALL
    if rule.order == "large_first" and large < rule.large_first:
        return LARGE
    batches = -(-large_left // rule.large_batch)
    return LARGE if uniform * (small_left + batches) >= small_left else SMALL
