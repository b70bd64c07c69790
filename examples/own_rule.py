"""A search rule of one's own: optimism where results differ. It plays a match against the built-in search.

The rule keeps the sum of squares of the results of each node (place 5, after a backup) and adds their deviation, shrunk
with the number of visits, to the value of the edge that leads there (place 1), as UCB-V does (Audibert et al. 2009).
Rules in Python run on the reference search, which is slow, so the match is short: the interval is wide.
"""

import math

import hauteur as ht


class Optimism(ht.Rule):
    """Q + weight * deviation / sqrt(visits)."""

    def __init__(self, weight):
        self.weight = weight

    def after_backup(self, node, value):
        node.memory["squares"] = node.memory.get("squares", 0.0) + value.wl**2

    def edge_value(self, node, edge, q):
        if not edge.visits:
            return q  # first-play urgency
        variance = edge.child.memory["squares"] / edge.visits - edge.child.q**2
        return q + self.weight * math.sqrt(max(variance, 0.0) / edge.visits)


def main():
    game = ht.load_game("connect4")
    # "rollout": priors are equal, values are results of random games, so there is much noise to be optimistic about
    plain = ht.Player("rollout", visits=40, name="plain")
    optimist = ht.Player("rollout", visits=40, rules=[Optimism(0.3)], name="optimist")
    match = ht.play_match(optimist, plain, game, games=20, seed=1)
    print(match)


if __name__ == "__main__":
    main()
