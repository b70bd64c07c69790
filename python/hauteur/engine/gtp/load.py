"""`loadsgf`: the game of an SGF file, up to a move of it."""

from collections.abc import Sequence
from pathlib import Path

from hauteur import _core
from hauteur.engine.gtp.session import read_integer
from hauteur.engine.gtp.specs import with_parameters
from hauteur.games.game_texts import MOST_PLIES, sgf_text_of
from hauteur.games.registry import load_game, parse_spec
from hauteur.system.errors import explain


def read_file(words: Sequence[str], game: _core.Game) -> tuple[_core.Game, tuple[int, ...]]:
    """Return the game of a file, which has its size, komi and first position, and its moves.

    words: of the name of the file, which may have spaces, and perhaps the number of a move, before which the game ends.
    game: that is played; its komi stays where the file has none. ValueError, `cannot load file` and why, for a file
    that cannot be read, another game, and a number that the game has not.
    """
    path, number = _file_and_number(words)
    try:
        loaded, actions = _first_game(path, game)
        if number is not None and not 1 <= number <= len(actions) + 1:
            raise ValueError(f"{path}: has {len(actions)} moves, got move number {number}")
    except (ValueError, OSError) as error:
        raise ValueError(f"cannot load file: {explain(error)}") from None
    return loaded, actions if number is None else actions[: number - 1]


def _file_and_number(words: Sequence[str]) -> tuple[Path, int | None]:
    """Return the file and the number of the move that follows its name; ValueError for what is no number."""
    whole = Path(" ".join(words))
    if len(words) == 1 or whole.is_file():
        return whole, None
    *name, last = words
    shorter = Path(" ".join(name))
    if last.isdecimal() or shorter.is_file():
        return shorter, read_integer(last, least=1)
    return whole, None


def _first_game(path: Path, game: _core.Game) -> tuple[_core.Game, tuple[int, ...]]:
    if path.exists() and not path.is_file():
        # A device or a pipe might never end.
        raise ValueError(f"{path}: is no file")
    text = sgf_text_of(path)
    try:
        own = load_game(_core.sgf_spec(text, game.name))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    if own.name != game.name:
        raise ValueError(f"{path}: is a game of {own.spec}, the engine plays {game.name}")
    read = _core.read_sgf(text, own)[0]
    if read.wrong is not None:
        raise ValueError(f"{path}, game 1: {read.wrong}")
    if len(read.actions) > MOST_PLIES:
        raise ValueError(f"{path}: has {len(read.actions):,} moves, allowed are {MOST_PLIES:,}")
    komi = parse_spec(game.spec)[1].get("komi")
    if komi is not None and not read.tags.get("KM", "").strip():
        own = load_game(with_parameters(own, komi=f"{komi:g}"))
    return own, read.actions
