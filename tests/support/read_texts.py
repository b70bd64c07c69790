"""Texts of games that are read: the only game of one, or why it was left out."""

import hauteur as ht
from hauteur.games.recorded import RecordedGame


def one(text: str) -> RecordedGame:
    """Return the only game of a text, which was read."""
    (game,) = ht.read_games(text)
    assert game.skipped is None, game.skipped
    return game


def skipped_line(text: str) -> str:
    """Return why the only game of a text was left out."""
    (game,) = ht.read_games(text)
    assert game.skipped is not None
    assert "\n" not in game.skipped
    assert (game.moves, game.game) == ((), None)
    return game.skipped
