"""Searching one position or many: settings and rules, the driver of a forest, limits, the choice of a move, reports.

The module can be called: `hauteur.search(state, evaluator)` is `hauteur.search.calls.search`.
"""

import sys
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from inspect import Signature
    from typing import Any


class CallableModule(ModuleType):
    """This module, which is also the function of its name: the room and the public function are called alike."""

    def __call__(self, *arguments: "Any", **keywords: "Any") -> "Any":
        """Search one position; see `hauteur.search.calls.search`."""
        from hauteur.search.calls import search

        return search(*arguments, **keywords)

    @property
    def __signature__(self) -> "Signature":
        """The signature of the function, for help and editors."""
        import inspect

        from hauteur.search.calls import search

        return inspect.signature(search)


sys.modules[__name__].__class__ = CallableModule
