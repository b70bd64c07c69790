"""A search rule of one's own: optimism where results differ. It plays a match against the built-in search.

The rule keeps Welford's sum of squared deviations of each position's results (place 5, after a backup) and adds the
deviation of the mean to the value of the edge that leads there (place 1), as UCB-V does (Audibert et al. 2009). The
core calls it with arrays of all games that are played side by side.
"""

import numpy as np

import hauteur as ht


class UcbV(ht.Rule):
    """Q + scale * deviation / sqrt(visits)."""

    columns = ("m",)

    def __init__(self, scale):
        self.scale = scale

    def after_backup(self, way):
        gap = way.value - way.mean
        way["m"] += gap * (gap - way.step * gap)

    def edge_value(self, nodes, edges, q):
        # one visit shows no variance: such a position takes that of the one above it
        above = nodes.handed("variance", 0.0)
        own = np.where(nodes.visits > 1, nodes["m"] / np.maximum(nodes.visits - 1, 1), above)
        variance = np.where(edges.visits > 1, edges["m"] / np.maximum(edges.visits - 1, 1), edges.of(own))
        variance[edges.ended] = 0.0
        edges.hand_down("variance", variance)
        return np.clip(q + self.scale * np.sqrt(variance / np.maximum(edges.visits, 1)), -1.0, 1.0)


def main():
    game = ht.load_game("connect4")
    # "rollout": priors are equal, values are results of random games, so there is much noise to be optimistic about
    plain = ht.Player("rollout", visits=40, name="plain")
    optimist = ht.Player("rollout", visits=40, rules=[UcbV(0.3)], name="optimist")
    match = ht.play_match(optimist, plain, game, games=100, seed=1)
    print(match)


if __name__ == "__main__":
    main()
