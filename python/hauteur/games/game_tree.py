"""A game of chess with its variations, comments and glyphs, from the text of a PGN.

`read_game_tree(text)` returns a `GameTree`: `headers`, `start`, `result`, `comment`, `children` (the first moves, the
main one first), `notes`. A `GameNode` has `move` (UCI), `san`, `nags`, `comment`, `before` (the comment before a
variation's first move) and its own `children`, the main continuation first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from hauteur import _core
from hauteur.games.game_line import result_text

START = "startpos"
"""Stands for the FEN of the usual start of chess."""

MAX_CHARACTERS = 2**20
"""Characters of a text that is read as a tree."""


@dataclass(eq=False)
class GameNode:
    """A move of a game and the moves after it."""

    move: str
    """The move as UCI, in Chess960 castling as the king taking his rook."""
    san: str
    """The move as SAN."""
    comment: str = ""
    """The comment after the move."""
    before: str = ""
    """The comment before the move, where it begins a variation."""
    nags: tuple[int, ...] = ()
    """Glyphs by number: 1 `!`, 2 `?`, 3 `!!`, 4 `??`, 5 `!?`, 6 `?!`, and those of evaluations."""
    children: list[GameNode] = field(default_factory=list, repr=False)
    """The moves after it, the main one first."""


@dataclass(eq=False)
class GameTree:
    """A game with its variations."""

    headers: dict[str, str]
    """The tags by name."""
    start: str
    """The FEN that it begins from, `startpos` for the usual start."""
    game: _core.Game
    """Chess or Chess960, with this start."""
    result: str
    """`1-0`, `1/2-1/2`, `0-1`, or `*` where nothing says how it ended."""
    comment: str = ""
    """The comment before the first move."""
    children: list[GameNode] = field(default_factory=list, repr=False)
    """The first moves, the main one first."""
    notes: tuple[str, ...] = ()
    """What a user should know: a FEN that was cleaned, a variation that ends at a word that is not a move; a line each.
    """

    def main_line(self) -> Iterator[GameNode]:
        """Yield the moves of the main line."""
        children = self.children
        while children:
            yield children[0]
            children = children[0].children


def read_game_tree(text: str) -> GameTree:
    """Return the game of a PGN text as a tree; of several games the first that has moves.

    Moves, tags and results are read as `ht.read_games` reads them. Raise ValueError, in one line, where the main line
    cannot be read, and for more than MAX_CHARACTERS. A variation that cannot be read ends there, with a note.

    >>> tree = read_game_tree("1. e4! {best} e5 (1... c5 2. Nf3) 2. Nf3 *")
    >>> first = tree.children[0]
    >>> first.move, first.san, first.nags, first.comment, [reply.san for reply in first.children]
    ('e2e4', 'e4', (1,), 'best', ['e5', 'c5'])
    """
    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"the text has {len(text):,} characters, allowed are {MAX_CHARACTERS:,}")
    tags, game, fen, outcome, notes, rows = _core.read_pgn_tree(text)
    result = "*" if outcome is None else result_text(outcome)
    tree = GameTree(tags, fen or START, game, result, notes=tuple(notes))
    children = [tree.children]
    for parent, move, san, before, comment, nags in rows:
        if parent < 0:
            tree.comment = comment
            continue
        node = GameNode(move, san, comment, before, tuple(nags))
        children[parent].append(node)
        children.append(node.children)
    return tree
