"""Networks of the user's own: a name for the class or function that builds them. Importing it does not import torch.

The file of such a network holds the name, the settings and the weights, never code: whoever loads it imports the file
that registers the name first.
"""

from __future__ import annotations

import functools
import inspect
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from hauteur.networks.architecture import RegisteredArchitecture
from hauteur.system.plugins import load_variable

if TYPE_CHECKING:
    from torch import Tensor, nn

    from hauteur import _core

Targets = Callable[[Any], Mapping[str, Any]]
"""From a `GameRecord` of n moves to arrays [n, ...] by name."""

Losses = Mapping[str, "Callable[[Tensor, Tensor], Tensor]"]
"""From an output [B, ...] and its target [B, ...], both float32, to a number, the mean over the rows; by their name."""

BUILT_IN_OUTPUTS = (
    *("features", "policy", "wdl", "legal", "value"),
    *("reply", "soft_policy", "short_term", "value_error", "ownership", "score"),
)
"""Names that no further output of a registered network may have."""

Builder = TypeVar("Builder", bound=Callable[..., Any])

BUILT_IN = ("resnet", "lc0", "registered")
"""Names that no other network may have."""

_RECORD = "_hauteur_architecture"
"""Attribute of a module in which its architecture is kept."""

_registered: dict[str, Callable[..., Any]] = {}
_learned: dict[str, tuple[Targets | None, Losses]] = {}


@dataclass(frozen=True)
class NetworkGame:
    """The game that a builder receives from recipes and files."""

    feature_shape: tuple[int, int, int]
    num_actions: int


def register_network(
    name: str,
    *,
    replace: bool = False,
    targets: Targets | None = None,
    losses: Losses | None = None,
) -> Callable[[Builder], Builder]:
    """Return a decorator that makes a network of one's own known by a name, for recipes, trainers and files.

    What is decorated is a class of torch modules or a function that returns one; it is called as `builder(game,
    **settings)`, `game` having `feature_shape` (C, H, W) and `num_actions` A, and settings being numbers, texts, True,
    False or None. The module's forward takes features float32 [B, C, H, W] and returns policy logits [B, A] and a value
    [B, 3] (logits of win, draw, loss of the player to move) or [B, 1] (-1 to 1). It may return a dict of any further
    outputs as a third: each has a loss, a function `(output [B, ...], target [B, ...]) -> number` (the mean over the
    rows, times its weight), and a target of its name. `targets(record)` gives these for the n moves of a `GameRecord`
    as arrays [n, ...]; rows of A numbers are turned with the actions where training mirrors positions, planes [..., H,
    W] with the squares, others stay. Play and evaluators ignore further outputs; the file has their weights.

    name: small letters, digits, - and _, starting with a letter. Registering a definition again, as a notebook cell
    does that runs twice, replaces the first one; so does `replace=True` with any other. Raise ValueError for a name
    that is not allowed, or taken.

    Its files (`ht.save_network`, runs of `hauteur train`) hold name, settings and weights, no code: import the file
    that registers the name before one is loaded, on the command line with `hauteur --import FILE.py ...`.

    >>> import hauteur as ht
    >>> from torch import nn
    >>> @ht.register_network("linear")
    ... class Linear(nn.Module):
    ...     def __init__(self, game, bias=True):
    ...         super().__init__()
    ...         planes, rows, columns = game.feature_shape
    ...         self.policy = nn.Linear(planes * rows * columns, game.num_actions, bias)
    ...         self.value = nn.Linear(planes * rows * columns, 3, bias)
    ...     def forward(self, features):
    ...         flat = features.flatten(1)
    ...         return self.policy(flat), self.value(flat)
    >>> trainer = ht.Trainer(ht.load_game("tictactoe"), Linear)
    """
    if not re.fullmatch(r"[a-z][a-z0-9_-]{0,63}", name):
        raise ValueError(
            f"a network's name must be small letters, digits, - and _, starting with a letter; got {name!r}"
        )
    if name in BUILT_IN:
        raise ValueError(f"there is a built-in network {name!r}: choose another name")
    taken = next((output for output in losses or {} if output in BUILT_IN_OUTPUTS), None)
    if taken is not None:
        raise ValueError(f"network {name!r}: an output of one's own cannot be called {taken!r}: hauteur has one")

    def register(builder: Builder) -> Builder:
        """Register the builder; ValueError where the name is taken."""
        known = _registered.get(name)
        if known is not None and not replace and _place(known) != _place(builder):
            raise ValueError(f"there is a network {name!r} already: pass replace=True to replace it")
        recording: Builder = _recording(name, builder)
        _registered[name] = recording
        _learned[name] = targets, dict(losses or {})
        return recording

    return register


def architecture_in(module: object) -> RegisteredArchitecture | None:
    """The architecture of a module that a registered class or function built; None of any other object."""
    found = vars(module).get(_RECORD)
    return found if isinstance(found, RegisteredArchitecture) else None


def name_of(builder: object) -> str | None:
    """The name that a class or function is registered under, None where it is not."""
    return next((name for name, known in _registered.items() if known is builder), None)


def learned_by(name: str) -> tuple[Targets | None, Losses]:
    """The targets and losses that a name was registered with; none of any other name."""
    load_variable()
    return _learned.get(name, (None, {}))


def registered_architecture(
    name: str, game: _core.Game | NetworkGame, settings: Mapping[str, Any]
) -> RegisteredArchitecture:
    """The network of this name with these settings, defaults written out, for a game.

    Raise ValueError where the name is not registered, or has no such setting.
    """
    return _described(name, _builder(name), (game,), settings)


def build_registered(architecture: RegisteredArchitecture) -> nn.Module:
    """A new module of a registered network. ValueError for a name that is not registered, or settings not its."""
    game = NetworkGame(architecture.feature_shape, architecture.num_actions)
    builder = _builder(architecture.name, architecture.defined_in)
    # Checked first: what a file says is not handed to a user's code as long as it does not fit.
    _described(architecture.name, builder, (game,), architecture.settings)
    module: nn.Module = builder(game, **architecture.settings)
    return module


def _builder(name: str, defined_in: str = "") -> Callable[..., Any]:
    """Return the builder of the networks of this name; ValueError, with what to import, where nothing is registered."""
    load_variable()
    if name in _registered:
        return _registered[name]
    if defined_in:
        raise ValueError(
            f"network {name!r} is not known here: import {defined_in}, which registers it "
            f"(hauteur --import {defined_in})"
        )
    known = ", ".join(["resnet", *sorted(_registered)])
    raise ValueError(
        f"there is no network {name!r}; known: {known}. The file that registers it is named by hauteur --import FILE.py"
    )


def _place(builder: object) -> tuple[object, object]:
    """Module and qualified name: equal for a definition that runs again."""
    return getattr(builder, "__module__", None), getattr(builder, "__qualname__", id(builder))


def _recording(name: str, builder: Any) -> Any:
    """The class or function, whose modules know from now on what they were built with."""
    is_class = inspect.isclass(builder)
    original = builder.__init__ if is_class else builder

    @functools.wraps(original)
    def build(*given: Any, **settings: Any) -> Any:
        """Build the network, and note the settings that it was built with."""
        made = original(*given, **settings)
        module, arguments = (given[0], given[1:]) if is_class else (made, given)
        # The __init__ of a class derived from this one comes here too, and is called with arguments that are not its.
        if not is_class or type(module) is builder:
            object.__setattr__(module, _RECORD, _described(name, builder, arguments, settings))
        return made

    if not is_class:
        return build
    builder.__init__ = build
    return builder


def _described(
    name: str,
    builder: Callable[..., Any],
    given: tuple[Any, ...],
    settings: Mapping[str, Any],
) -> RegisteredArchitecture:
    """Return what `builder(*given, **settings)` builds; ValueError for arguments that do not fit builder or file."""
    signature = inspect.signature(builder)
    try:
        bound = signature.bind(*given, **settings)
    except TypeError as error:
        allowed = ", ".join(list(signature.parameters)[1:]) or "none"
        raise ValueError(f"network {name!r}: {error}; its settings: {allowed}") from None
    chosen = set(bound.arguments)
    bound.apply_defaults()
    (_, game), *rest = bound.arguments.items()
    values: dict[str, Any] = {}
    for key, value in rest:
        if signature.parameters[key].kind is inspect.Parameter.VAR_KEYWORD:
            values |= value
        else:
            values[key] = value
    kept = {}
    for key, value in values.items():
        if _fits(value):
            kept[key] = value
        elif key in chosen:
            raise ValueError(
                f"network {name!r}: setting {key} must be a number, a text, True, False or None, got {value!r}"
            )
    return RegisteredArchitecture(
        name=name,
        defined_in=_defined_in(builder),
        feature_shape=game.feature_shape,
        num_actions=game.num_actions,
        settings=kept,
    )


def _fits(value: object) -> bool:
    """Return whether a file can hold a value as a setting."""
    if isinstance(value, str):
        return len(value) <= 1000
    return value is None or isinstance(value, bool | int | float)


def _defined_in(builder: object) -> str:
    """The file or module that registers a builder; empty where it is a notebook or the interpreter."""
    module = str(getattr(builder, "__module__", ""))
    if "." in module:
        return module
    file = getattr(sys.modules.get(module), "__file__", None)
    return Path(file).name if file else ""
