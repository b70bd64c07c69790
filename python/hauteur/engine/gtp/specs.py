"""Games by their specs with some parameters changed: another size or komi, without the stones that a file set up."""

from hauteur import _core
from hauteur.games.registry import load_game, parse_spec


def sized(game: _core.Game, size: int) -> _core.Game:
    """Return the same game on a square board of this size. Raise ValueError where it has none."""
    _, rows, columns = game.feature_shape
    if rows == columns == size:
        return game
    return load_game(with_parameters(game, size=str(size)))


def with_parameters(game: _core.Game, **parameters: str) -> str:
    """Return the spec of a game with some of its parameters changed."""
    name, own = parse_spec(game.spec)
    changed = own | parameters
    texts = [f"{key}={value}" for key, value in changed.items()]
    return f"{name}({', '.join(texts)})"


def without_position(game: _core.Game, own: object) -> _core.Game:
    """Return a game without the stones that a file set up. own: the position that the engine began with, or None."""
    name, parameters = parse_spec(game.spec)
    if parameters.get("position") == own:
        return game
    rest = ", ".join(f"{key}={value}" for key, value in parameters.items() if key != "position")
    return load_game(f"{name}({rest})")
