"""A game that was played in the terminal, as a file: PGN for chess, SGF for NoGo, else its moves on a line."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path

from hauteur import _core
from hauteur.games.pgn import position_tags, written_pgn
from hauteur.games.sgf import result_of, written_sgf
from hauteur.system.files import write_bytes

ENDS = {"chess": ".pgn", "nogo": ".sgf"}
"""How files of the games are called; others are text."""


def save_game(path: Path, game: _core.Game, actions: Sequence[int], names: tuple[str, str]) -> None:
    """Write a game from its start, finished or not. names: of the first and the second player.

    The text of other games is one line of moves, as `--openings` and `hauteur analyse --moves` read it. Raises
    ValueError where the file has another end than the game's, OSError where it cannot be written.
    """
    check_save(path, game)
    write_bytes(path, game_text(game, actions, names).encode())


def check_save(path: Path, game: _core.Game) -> None:
    """Raise ValueError unless a game is saved under such a name."""
    end = ENDS.get(game.name, ".txt")
    if path.suffix.lower() != end:
        raise ValueError(f"{path}: games of {game.name} are saved as {end} files")
    if not path.parent.is_dir():
        raise ValueError(f"{path}: the folder {path.parent} is not there")


def game_text(game: _core.Game, actions: Sequence[int], names: tuple[str, str]) -> str:
    """Return the content of the file."""
    state = game.initial_state()
    for action in actions:
        state.play(action)
    outcome, reason = state.outcome(), state.end_reason() or ""
    today, start = date.today().isoformat(), game.initial_state()
    if game.name == "chess":
        result = "*" if outcome is None else {1: "1-0", 0: "1/2-1/2", -1: "0-1"}[int(outcome)]
        tags = [("Event", "hauteur play"), ("Site", "?"), ("Date", today.replace("-", ".")), ("Round", "-")]
        tags += [("White", names[0]), ("Black", names[1]), ("Result", result)]
        tags += position_tags(game, start, is_start_of_game=True)
        return written_pgn(tags, start, actions, result)
    if game.name == "nogo":
        root = {"EV": "hauteur play", "DT": today, "PB": names[0], "PW": names[1]}
        if outcome is not None:
            root["RE"] = result_of(int(outcome), reason)
        return written_sgf(game, root, actions, {})
    words = []
    for action in actions:
        words.append(start.action_to_text(action))
        start.play(action)
    return " ".join(words) + "\n"
