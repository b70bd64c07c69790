"""The text of recorded games: PGN and SGF with what the searches found."""

from __future__ import annotations

from hauteur import _core
from hauteur.games.game_line import result_text
from hauteur.games.pgn import (
    position_tags,
    written_pgn,
)
from hauteur.games.sgf import (
    result_of,
    written_sgf,
)
from hauteur.learning.game_files.stored_games import StoredGame, player_name


def pgn_text(stored: StoredGame, *, values: bool = False) -> str:
    """A game as PGN; values: with the searches' value and visits as a comment behind each move."""
    record = stored.record
    state, begins = stored.start(), len(record.plan.start)
    comments = {
        begins + move: f"{win - loss:+.3f}, {record.visits[move]} visits"
        for move, (win, _, loss) in enumerate(record.root_wdl.tolist())
        if values and record.visits[move]
    }
    actions = [*record.plan.start, *record.actions.tolist()]
    return written_pgn(_tags(stored, state), state, actions, result_text(record.outcome), comments)


def _tags(stored: StoredGame, start: _core.State) -> list[tuple[str, str]]:
    record = stored.record
    tags = [
        ("Event", f"generation {stored.generation}"),
        ("Site", "?"),
        ("Date", "????.??.??"),
        ("Round", str(record.plan.index)),
        ("White", player_name(stored.nets[0])),
        ("Black", player_name(stored.nets[1])),
        ("Result", result_text(record.outcome)),
        ("Termination", record.end_reason or "unknown"),
    ]
    return tags + position_tags(stored.game, start, is_start_of_game=record.plan.origin is None)


def sgf_text(stored: StoredGame, *, values: bool = False) -> str:
    """A game as SGF; values: with the searches' value and visits as a comment of each move."""
    record = stored.record
    root = {
        "EV": f"generation {stored.generation}",
        "RO": str(record.plan.index),
        "PB": player_name(stored.nets[0]),
        "PW": player_name(stored.nets[1]),
        "RE": result_of(record.outcome, record.end_reason),
    }
    begins = len(record.plan.start)
    comments = {begins + move: _comment(stored, move) for move in range(len(record.actions))} if values else {}
    return written_sgf(stored.game, root, [*record.plan.start, *record.actions.tolist()], comments)


def _comment(stored: StoredGame, move: int) -> str:
    """Return value and visits of the search of a move; empty without one."""
    record = stored.record
    if move < 0 or not record.visits[move]:
        return ""
    win, _, loss = record.root_wdl[move].tolist()
    return f"{win - loss:+.3f}, {record.visits[move]} visits"
