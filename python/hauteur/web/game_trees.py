"""Games as the page Analyse takes them: a tree of moves with comments and glyphs."""

import json
from typing import Any

from hauteur import _core
from hauteur.games.registry import load_game


def game_tree_view(text: str, spec: str) -> dict[str, Any]:
    """Return the game of a text for static/game_tree.js; spec: of the game that moves and FENs are of.

    game: its spec with the start. tree: headers as {name: text}; comment: what stands before the first move; nodes: of
    each its parent (a number before its own, -1 for the start), its move, before and comment: what stands before and
    after it, and glyphs, as numbers of PGN; the first node of a parent is its main line. notes: what a reader should
    know. Raise ValueError for what cannot be read.
    """
    view: dict[str, Any] = json.loads(_core.game_tree_view(text, load_game(spec)))
    return view
