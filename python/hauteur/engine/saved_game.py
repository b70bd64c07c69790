"""A game that was played in the terminal, as a file: PGN for chess, SGF for NoGo, else its moves on a line."""

from __future__ import annotations

from pathlib import Path

from hauteur import _core
from hauteur.games.game_texts import forms_of, written_game
from hauteur.games.played_game import PlayedGame
from hauteur.system.files import write_bytes

ENDS = {"pgn": ".pgn", "sgf": ".sgf"}
"""How files of a form are called; others are text."""


def save_game(path: Path, game: PlayedGame, names: tuple[str, str]) -> None:
    """Write a game, finished or not. names: of the first and the second player.

    The text of other games than chess and NoGo is one line of moves, as `--openings` and `hauteur analyse --moves` read
    it. Raises ValueError where the file has another end than the game's, OSError where it cannot be written.
    """
    check_save(path, game.game)
    form = forms_of(game.game)[0]
    write_bytes(path, written_game(game, form if form in ENDS else "moves", names).encode())


def check_save(path: Path, game: _core.Game) -> None:
    """Raise ValueError unless a game is saved under such a name."""
    end = ENDS.get(forms_of(game)[0], ".txt")
    if path.suffix.lower() != end:
        raise ValueError(f"{path}: games of {game.name} are saved as {end} files")
    if not path.parent.is_dir():
        raise ValueError(f"{path}: the folder {path.parent} is not there")
