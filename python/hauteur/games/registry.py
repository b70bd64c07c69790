"""Games by their spec: those of the core and games written in Python; and the laws that every game obeys.

A spec is `name` or `name(key=value, ...)`: `connect4`, `connect4(columns=6,rows=5)`, `nogo(size=7)`, `tutorial`.
"""

import importlib
import inspect
import re
import shlex
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from numpy.typing import ArrayLike

from hauteur import _core
from hauteur.system.formatting import did_you_mean
from hauteur.system.hints import with_hints
from hauteur.system.plugins import load_variable, offered

if TYPE_CHECKING:
    from hauteur.games.laws import LawResults

ENTRY_POINTS = "hauteur.games"
"""Entry-point group in which an installed package names its games: name = "module:factory"."""


class Position(Protocol):
    """One position of a game written in Python: the interface that the core uses.

    The first six members, with `to_move`, are all that a game needs. It may also have: `max_plies` (int, no game is
    longer; default 1000), `symmetries()` (two integer arrays [S, rows*columns] and [S, num_actions], identity first, as
    `_core.Game.symmetries`), `action_to_text(action)` (default: the number), `squares(action)` (pairs (row, column),
    counted from the top left as in features and text: from and to, or where the stone comes to lie; default: the square
    of the action's number where there are as many actions as squares, or one more to pass), `text()`, `svg()`,
    `look` (how the signs of its text are drawn: "stones" of X and O on lines, "reversi" on squares, "hexagons", "discs"
    of R and Y that fall, "crosses" of X and O, "pieces" of chess; default: "letters"), `has_draws` (default: True),
    `notation()`, `repetition()` (None where the position is new, else its earlier occurrences, the plies since the
    latest and, unless it is a draw, the result of a repeat; default: None), and `key()` (anything whose repr
    distinguishes positions for the network; default: features, legal actions and mover).
    """

    num_actions: int
    """Actions are 0 to num_actions - 1; this is the length of the policy."""
    feature_shape: tuple[int, int, int]
    """Planes, rows, columns of the features."""
    to_move: int
    """The player to move: 0 first, 1 second. Players need not alternate."""

    def legal_actions(self) -> Sequence[int]:
        """Ascending, without repeats; empty when the game is over."""

    def apply(self, action: int) -> None:
        """Play a legal action, in place."""

    def outcome(self) -> int | None:
        """Outcome: +1 the first player won, 0 draw, -1 the second player won, None while the game continues."""

    def features(self) -> ArrayLike:
        """Features from the mover's view: numbers of shape `feature_shape`."""

    def copy(self) -> "Position":
        """A copy that later moves do not change."""


Factory = Callable[..., Position]
"""Makes the initial position; its keyword parameters are the parameters of the spec."""

EXAMPLES = {"tutorial": "hauteur.games.tutorial:MisereTicTacToe"}
"""Games that the documents are written around: loaded by their names, and not offered."""
_registered: dict[str, Factory] = {}


def register_game(name: str, factory: Factory, *, replace: bool = False) -> None:
    """Make a game that is written in Python known by a name, for `load_game`, recipes, players and records.

    name: small letters, digits, - and _, starting with a letter. factory: the class of its positions, or any function;
    `factory(**parameters)` gives the initial position (see `hauteur.games.registry.Position`), its keyword parameters
    are those of the spec. Defining and registering a class again, as a notebook cell does that runs twice, replaces the
    first one; so does `replace=True` with any other factory. Games that were loaded before stay as they are. Raise
    ValueError for a name that is not allowed, or that a built-in or another registered game has.

    >>> import hauteur as ht
    >>> from hauteur.games.tutorial import MisereTicTacToe
    >>> ht.register_game("misere", MisereTicTacToe)
    >>> ht.load_game("misere")
    ht.load_game("misere")
    """
    if not re.fullmatch(r"[a-z][a-z0-9_-]*", name):
        raise ValueError(f"a game's name must be small letters, digits, - and _, starting with a letter; got {name!r}")
    if name in _core.game_names() or name in EXAMPLES:
        raise ValueError(f"there is a built-in game {name!r} already: choose another name")
    if not _is_callable(factory):
        kind = type(factory).__name__
        raise ValueError(f"game {name!r}: expected the class of its positions, or a function making one; got {kind}")
    known = _registered.get(name)
    if known is not None and not replace and _defined_at(known) != _defined_at(factory):
        raise ValueError(f"there is a game {name!r} already: pass replace=True to replace it")
    _registered[name] = factory


def _is_callable(factory: object) -> bool:
    """Return whether this can be called, whatever its declared type says."""
    return callable(factory)


def _defined_at(factory: Factory) -> tuple[object, object]:
    """Module and qualified name: equal for a definition that runs again."""
    named = (getattr(factory, "__module__", None), getattr(factory, "__qualname__", None))
    return named if None not in named else (id(factory), None)


@with_hints
def load_game(spec: str | _core.Game) -> _core.Game:
    """Return the game of a spec.

    spec: `name` or `name(key=value, ...)`, such as `chess`, `chess(fen=...)`, `chess(odds=queen d1)`, `nogo(size=7)`,
    or a registered game; or a game, which is returned unchanged. Raise ValueError naming the problem and what is
    allowed.

    >>> import hauteur as ht
    >>> game = ht.load_game("connect4")
    >>> game.feature_shape, game.num_actions
    ((3, 6, 7), 7)
    """
    if isinstance(spec, _core.Game):
        return spec
    name, parameters = parse_spec(spec)
    if name in _core.game_names():
        return _core.Game(spec)
    factory = _factory(name)
    _check_parameters(name, factory, parameters)
    if parameters:
        listed = ", ".join(f"{key}={value}" for key, value in parameters.items())
        name = f"{name}({listed})"
    return _core.Game.from_python(factory(**parameters), name)


def _meant(name: str) -> str:
    """Return the game that was meant, in brackets; `go9` is one with a size."""
    sized = re.fullmatch(r"([a-z]+)(\d{1,2})(?:x\2)?", name.lower())
    if sized is not None and sized[1] in names():
        return f" (did you mean {sized[1]}(size={sized[2]})?)"
    return did_you_mean(name, names())


def names() -> list[str]:
    """Names of the games to choose from: the core's and registered ones. EXAMPLES can be loaded too."""
    load_variable()
    installed = [point.name for point in offered(ENTRY_POINTS)]
    return sorted({*_core.game_names(), *_registered, *installed})


def has_points(game: _core.Game) -> bool:
    """Return whether a game is one of points, whose positions have a score and owners of squares: Go, Othello."""
    start = game.new_initial_state()
    return start.score() is not None and start.ownership() is not None


def check_game(game: str | _core.Game | Factory, *, games: int = 20, seed: int = 0) -> "LawResults":
    """Check the laws that every game obeys, at every position of random games.

    game: a spec, a game, or the class of a Python game's positions, registered or not. games: how many, at least 1.
    Return one result a law, with `.ok`, True where no law is broken. Raise ValueError for an unknown game.

    >>> import hauteur as ht
    >>> from hauteur.games.tutorial import MisereTicTacToe
    >>> ht.check_game(MisereTicTacToe, games=2).ok
    True
    """
    from hauteur.games.laws import check_laws  # here: an engine starts without it

    if isinstance(game, str | _core.Game):
        loaded = load_game(game)
    elif _is_callable(game):
        loaded = _core.Game.from_python(game())
    else:
        raise ValueError(f"expected a spec, a game or the class of its positions, got {type(game).__name__}")
    return check_laws(loaded, games=games, seed=seed)


def with_fen(spec: str, fen: str | None) -> str:
    """The spec of a game with FENs that begins at a FEN, whatever it began at before; `spec` itself for None."""
    if fen is None:
        return spec
    if any(sign in fen for sign in ",()="):
        raise ValueError(f"no FEN has commas, brackets or equals signs: {fen!r}")
    name, _, rest = spec.partition("(")
    given = [part.strip() for part in rest.removesuffix(")").split(",")]
    parts = [part for part in given if part and not part.startswith("fen=")]
    parts.append(f"fen={fen}")
    return f"{name}({', '.join(parts)})"


def fen_notes(spec: str, fen: str | None) -> list[str]:
    """Return what the reader of FENs changes in a position of chess, a line each; nothing for other games."""
    game = load_game(spec)
    if fen is None or game.name != "chess":
        return []
    _, _, notes = _core.clean_fen(fen, "chess960=true" in game.spec)
    return notes


def parse_spec(spec: str) -> tuple[str, dict[str, Any]]:
    """Name and parameters of a spec; numbers and True/False are read as such, everything else as text."""
    match = re.fullmatch(r"\s*([^()\s]+)\s*(?:\((.*)\))?\s*", str(spec), re.DOTALL)
    if match is None:
        if str(spec).count("/") >= 5:
            raise ValueError(f"{spec!r} is a position: give it as --fen, in Python hauteur.position({spec!r})")
        if str(spec).endswith((".pgn", ".sgf")):
            raise ValueError(_file_of_games(str(spec)))
        near = did_you_mean("".join(str(spec).lower().split()), names())
        raise ValueError(f"{spec!r} is no game{near}; expected name or name(key=value, ...)")
    name, inner = match.groups()
    parameters: dict[str, Any] = {}
    for text in (inner or "").split(","):
        part = text.strip()
        if not part:
            continue
        key, equals, value = part.partition("=")
        key = key.strip()
        if not equals or not key or key in parameters:
            raise ValueError(f"{spec!r}: expected each key=value once, got {part!r}")
        parameters[key] = _read_value(value.strip())
    return name, parameters


def _read_value(text: str) -> int | float | bool | str:
    if text in ("True", "False"):
        return text == "True"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _file_of_games(name: str) -> str:
    return f"{name!r} is a file of games: hauteur review {shlex.quote(name)}, in Python hauteur.review({name!r})"


def _factory(name: str) -> Factory:
    load_variable()
    if name in _registered:
        return _registered[name]
    if name in EXAMPLES:
        module, _, attribute = EXAMPLES[name].partition(":")
        factory: Factory = getattr(importlib.import_module(module), attribute)
        return factory
    for point in offered(ENTRY_POINTS):
        if point.name == name:
            loaded: Factory = point.load()
            return loaded
    if name.endswith(".py"):
        raise ValueError(f"{name!r} is a file of Python: hauteur --import {shlex.quote(name)}, then its game by name")
    if name.endswith((".pgn", ".sgf")):
        raise ValueError(_file_of_games(name))
    raise ValueError(
        f"no game {name!r}{_meant(name)}; known games: {', '.join(names())}; a game "
        "of your own is added by ht.register_game, or by hauteur --import FILE.py (docs/how-to/add-a-game.md); workers "
        "import what --import or HAUTEUR_IMPORT names"
    )


def _check_parameters(name: str, factory: Factory, parameters: dict[str, Any]) -> None:
    signature = inspect.signature(factory)
    try:
        signature.bind(**parameters)
    except TypeError as error:
        allowed = ", ".join(signature.parameters) or "none"
        raise ValueError(f"{name}: {error}; parameters: {allowed}") from error
