"""Re-use of evaluations by position (`cache_key` position): which nodes of a tree have the same position."""

from collections.abc import Sequence

from reference.tree import Leaf, Node, reachable


def index_positions(root: Node) -> dict[int, Node]:
    """Return the first node with an answer for each position, by `State.position_key`, nearest to the root first."""
    found: dict[int, Node] = {}
    for node in reachable(root):
        if node.answer:
            found.setdefault(node.state.position_key, node)
    return found


def with_position_of(leaf: Leaf, others: Sequence[Leaf]) -> list[Leaf]:
    """Return those of the other leaves that have the position of a leaf."""
    return [other for other in others if other.node.state.position_key == leaf.node.state.position_key]
