"""Games as the page Analyse takes them: a tree of moves with comments and glyphs."""

from typing import Any

from hauteur.games.game_texts import form_of, read_game
from hauteur.games.game_tree import GameTree, read_game_tree
from hauteur.games.played_game import PlayedGame
from hauteur.games.registry import load_game


def game_tree_view(text: str, spec: str) -> dict[str, Any]:
    """Return the game of a text for static/game_tree.js; spec: of the game that moves and FENs are of.

    game: its spec with the start. tree: headers as {name: text}; comment: what stands before the first move; nodes: of
    each its parent (a number before its own, -1 for the start), its move, before and comment: what stands before and
    after it, and glyphs, as numbers of PGN; the first node of a parent is its main line. notes: what a reader should
    know. Raise ValueError for what cannot be read.
    """
    if text.strip() and form_of(text) == "pgn":
        tree = read_game_tree(text)
        found = {"headers": tree.headers, "comment": tree.comment, "nodes": _nodes(tree)}
        return {"game": tree.game.spec, "tree": found, "notes": list(tree.notes)}
    read = read_game(text, spec)
    moves = PlayedGame(load_game(read.spec), read.actions).texts
    nodes = [_node(number - 1, move) for number, move in enumerate(moves)]
    return {"game": read.spec, "tree": {"headers": {}, "comment": "", "nodes": nodes}, "notes": list(read.notes)}


def _nodes(tree: GameTree) -> list[dict[str, Any]]:
    """Return the moves of a tree, each after the one that it follows."""
    nodes: list[dict[str, Any]] = []
    waiting = [(child, -1) for child in reversed(tree.children)]
    while waiting:
        node, parent = waiting.pop()
        waiting.extend((child, len(nodes)) for child in reversed(node.children))
        nodes.append(_node(parent, node.san, node.before, node.comment, node.nags))
    return nodes


def _node(parent: int, move: str, before: str = "", comment: str = "", glyphs: tuple[int, ...] = ()) -> dict[str, Any]:
    return {"parent": parent, "move": move, "before": before, "comment": comment, "glyphs": list(glyphs)}
