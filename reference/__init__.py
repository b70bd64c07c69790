"""The search in plain Python, one tree and one evaluation at a time: the executable specification of the core.

Read `search.py` first: one visit from the root to a leaf and back. `scores.py` has selection and `backup.py` the
effects of a visit, with every rule at one of the six places where rules may act (`Place 1` to `Place 6`, see
mcts/methods); each rule has its own module of small pure functions with their equations.

Symbols of the papers -> names here: s -> node, a -> edge, N(s) -> `node.visits`, N(s, a) -> `edge.visits`, F(s, a) ->
`edge.in_flight`, P(s, a) -> `edge.prior`, Q(s, a) -> `edge_value`, V -> `node.network`; for the player to move at s.

The compiled core does the same arithmetic in the same order and precision, so both make exactly the same visits. Only
tests and documentation import this package, from the root of the checkout; no wheel contains it. Search rules written
in Python (mcts/own_rules.py) run here too, on one tree: `outside.py`.

AGZ = Silver et al., "Mastering the game of Go without human knowledge", Nature 550 (2017);
AZ = Silver et al., "A general reinforcement learning algorithm that masters chess, shogi and Go through self-play",
Science 362 (2018), whose supplement has the pseudocode.
"""

from reference.backup import final_choice, update_node
from reference.priors import round_prior
from reference.scores import Scores, c_puct, edge_scores, first_play_urgency, select_edge
from reference.search import Evaluator, Search
from reference.tree import Edge, Leaf, Node, Value

__all__ = [
    "Edge",
    "Evaluator",
    "Leaf",
    "Node",
    "Scores",
    "Search",
    "Value",
    "c_puct",
    "edge_scores",
    "final_choice",
    "first_play_urgency",
    "round_prior",
    "select_edge",
    "update_node",
]
