"""Rules, positions and records of games. The package can be called: `hauteur.games()` lists the games."""

import sys
from importlib import import_module
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    def games() -> list[str]:
        """Return the names of all games for `load_game`."""


class GamesPackage(ModuleType):
    """This package, which is also the function of its name."""

    def __call__(self) -> list[str]:
        """Return the names of all games for `load_game`."""
        from hauteur.games.registry import names

        return names()

    def __reduce__(self) -> "tuple[Callable[[str], ModuleType], tuple[str]]":
        """Pickle by name, as functions are."""
        return import_module, (self.__name__,)


sys.modules[__name__].__class__ = GamesPackage
if not TYPE_CHECKING:
    games = sys.modules[__name__]
