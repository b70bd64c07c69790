"""Games as PGN that depends on nothing but the games: no times, no dates, so that equal games have equal bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from hauteur import _core
from hauteur.games.game_line import result_text
from hauteur.games.pgn import position_tags, tag_value, written_pgn
from hauteur.matches.game_files import by_side, outcome_of, played_line
from hauteur.matches.results import MatchGame


def plain_pgn(game: _core.Game, played: Iterable[tuple[MatchGame, tuple[str, str]]], event: str) -> str:
    """Return games as PGN. played: each game with the names of its players A and B. event: of the tag."""
    return "".join(_written(game, one, names, event) for one, names in played)


def sha256_of_text(text: str) -> str:
    """Return the SHA-256 of a text in UTF-8, hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def _written(game: _core.Game, played: MatchGame, names: tuple[str, str], event: str) -> str:
    """Return one game as PGN, with the reason of its end."""
    start, actions = played_line(game, played)
    first, second = by_side(played, names)
    result = result_text(outcome_of(played))
    tags = [
        ("Event", tag_value(event)),
        ("Site", "?"),
        ("Date", "????.??.??"),
        ("Round", str(played.index + 1)),
        ("White", tag_value(first)),
        ("Black", tag_value(second)),
        ("Result", result),
        *position_tags(game, start, is_start_of_game=played.fen is None),
    ]
    last = len(actions) - 1
    comments = {last: played.end} if played.end and last >= 0 else {}
    return written_pgn(tags, start, actions, result, comments)
