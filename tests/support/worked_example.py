"""A node of four edges, small enough for scores by hand."""

import reference
from hauteur._core import Game
from hauteur.mcts.params import Cpuct, Fpu, SearchParams


def fixture_node() -> reference.Node:
    """The node of the worked example: own value 0.08, three visited edges, one unvisited."""
    state = Game("tictactoe").new_initial_state()
    node = reference.Node(state, mover=0, exact=None, visits=21)
    for action, (visits, q, prior) in enumerate([(12, 0.2, 0.55), (6, 0.1, 0.25), (2, 0.02, 0.17), (0, 0.0, 0.03)]):
        child = reference.Node(state, mover=1, exact=None, visits=visits, value=reference.Value(-q, 0.0))
        node.edges.append(reference.Edge(action, prior, child))
    node.value = reference.Value((0.08 + 2.4 + 0.6 + 0.04) / 21, 0.0)
    return node


EXAMPLE = SearchParams(cpuct=Cpuct(init=1.2, factor=0), fpu=Fpu(value=0))
