"""Errors about a call: what names that others have for something are called here, and values of a wrong kind."""

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral, Real
from typing import ParamSpec, TypeVar

from hauteur.system.formatting import did_you_mean

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

MOST_SEED = 2**63 - 1
"""Greatest seed of random draws."""

MOST_THREADS = 1024
"""Most threads of a net on the processor."""

LONGEST = 80
"""Characters of a wrong value that a message quotes."""

CALLED_HERE: Mapping[str, tuple[str, ...]] = {
    "nodes": ("visits",),
    "simulations": ("visits",),
    "num_simulations": ("visits",),
    "playouts": ("visits",),
    "rollouts": ("visits",),
    "iterations": ("visits",),
    "time": ("seconds",),
    "movetime": ("seconds",),
    "timeout": ("seconds",),
    "net": ("evaluator", "player", "source"),
    "network": ("evaluator", "player", "source"),
    "model": ("evaluator", "player", "source"),
    "weights": ("evaluator", "source"),
    "settings": ("params",),
    "config": ("params", "recipe"),
    "fen": ("given", "position"),
    "moves": ("given", "games"),
    "board": ("given", "position"),
    "state": ("position",),
    "pgn": ("games", "sources"),
    "file": ("games", "sources"),
    "num_games": ("games",),
    "rounds": ("games",),
    "n_games": ("games",),
    "folder": ("out",),
    "output": ("out",),
    "run": ("out",),
    "path": ("out",),
    "verbose": ("progress",),
    "random_state": ("seed",),
    "large_net": ("large",),
}
"""Names of parameters in other programs, each with those here, of which a function has one."""

ADVICE: Mapping[str, str] = {
    "depth": "a search is limited by visits= or seconds=, not by depth",
    "movetime": "seconds= is in seconds",
    "size": "parameters of a game are in its spec, as in 'go(size=9)'",
    "columns": "parameters of a game are in its spec, as in 'connect4(columns=6, rows=5)'",
    "odds": "parameters of a game are in its spec, as in 'chess(odds=queen d1)'",
}
"""What else is said of such a name."""


SETTINGS_HERE: Mapping[str, tuple[str, str]] = {
    "visits": ("cpuct", "visits are given to the call, as in ht.search(position, visits=100), or to the player"),
    "nodes": ("cpuct", "nodes are called visits and given to the call, as in ht.search(position, visits=100)"),
    "simulations": ("cpuct", "simulations are called visits and given to the call"),
    "temperature": ("cpuct", "temperature is of the choice of a move: ht.Player(temperature=1.0)"),
    "c_puct": ("cpuct", "it is called cpuct here"),
    "noise": ("dirichlet", "noise at the root is dirichlet"),
    "dirichlet_alpha": ("dirichlet", "write dirichlet.alpha, in Python dirichlet={'alpha': 0.3}"),
    "lr": ("learning_rate", "it is called learning_rate here"),
}
"""Names of settings in other programs: a setting of the section that is meant, and what to say."""


def setting_hint(name: str, allowed: Sequence[str]) -> str:
    """Return what a setting of this name is here, in brackets; empty where that is not known of this section."""
    beside, advice = SETTINGS_HERE.get(name, ("", ""))
    if beside and beside in allowed:
        return f" ({advice})"
    return ""


def with_hints(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Return a function whose TypeError for an unknown keyword names the parameter that is meant.

    >>> @with_hints
    ... def search(position, *, visits=800):
    ...     return visits
    >>> search("e4", nodes=10)
    Traceback (most recent call last):
    TypeError: search() has no parameter 'nodes': it is called visits here
    """
    known = inspect.signature(function).parameters
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values())

    @functools.wraps(function)
    def called(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        for name in kwargs:
            is_meant = any(other in known for other in CALLED_HERE.get(name, ()))
            if name not in known and (is_meant or not takes_any):
                called_by = function.__qualname__.removesuffix(".__init__")
                raise TypeError(unknown_parameter(called_by, name, [*known]))
        return function(*args, **kwargs)

    return called


def unknown_parameter(function: str, name: str, known: list[str]) -> str:
    """Return the message for a parameter that a function has not, with what it is called here."""
    here = next((other for other in CALLED_HERE.get(name, ()) if other in known), None)
    parts = [] if here is None else [f"it is called {here} here"]
    parts += [ADVICE[name]] if name in ADVICE else []
    head = f"{function}() has no parameter {name!r}"
    if parts:
        return f"{head}: {'; '.join(parts)}"
    return f"{head}{did_you_mean(name, known)}; there are {', '.join(known)}"


def unknown_attribute(owner: str, name: str, meant: Mapping[str, str]) -> AttributeError:
    """Return the error for an attribute that is not there; meant: what to write for names that others have."""
    hint = f": write {meant[name]}" if name in meant else ""
    return AttributeError(f"{owner} has no attribute {name!r}{hint}")


def whole_number(name: str, value: object, least: int, most: int) -> int:
    """Return a whole number of Python or numpy; raise ValueError where it is none, or out of range."""
    # True is a whole number to Python, and never what was meant.
    if isinstance(value, bool) or not isinstance(value, Integral) or not least <= int(value) <= most:
        raise ValueError(f"{name} must be a whole number from {least:,} to {most:,}, got {_shown(value)}")
    return int(value)


def number(name: str, value: object) -> float:
    """Return a number of Python or numpy, infinite ones and NaN too; raise ValueError where it is none."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ValueError(f"{name} must be a number, got {_shown(value)}")
    return float(value)


def checked_seed(seed: object) -> int:
    """Return a seed of random draws, 0 to 2**63 - 1; raise ValueError for anything else."""
    return whole_number("seed", seed, 0, MOST_SEED)


def _shown(value: object) -> str:
    return " ".join(repr(value).split())[:LONGEST]
