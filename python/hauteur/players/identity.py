"""Identity of Python objects that play, so that a folder of games is continued with the same ones alone."""

from __future__ import annotations

import hashlib
import inspect
from typing import Any

from hauteur.players.player import Player, object_name


def object_content(thing: Any) -> str:
    """Return the name of an evaluator object, with a hash of a module's weights or else of its Python source.

    What the source refers to is not part of it: a function that reads a file or a global is known by its own text.
    """
    state = getattr(thing, "state_dict", None)
    text = _weights(state()) if callable(state) else _source(thing)
    return f"object {object_name(thing)}{f' sha256 {text}' if text else ''}"


def rules_content(player: Player) -> str:
    """Return the rules of a player with their public values and a hash of the source of each, in their order."""
    return "; ".join(f"{rule!r} sha256 {_source(type(rule)) or 'unknown'}" for rule in player.rules)


def _source(thing: Any) -> str | None:
    """Return a hash of the source of a function, or of an object's class; None where there is no source."""
    named = thing if inspect.isclass(thing) or inspect.isroutine(thing) else type(thing)
    try:
        return hashlib.sha256(inspect.getsource(named).encode()).hexdigest()
    except (OSError, TypeError):
        return None


def _weights(state: dict[str, Any]) -> str:
    """Return a hash of the tensors of a torch module, by name."""
    digest = hashlib.sha256()
    for name, tensor in sorted(state.items()):
        values = tensor.detach().cpu()
        digest.update(f"{name} {values.dtype} {tuple(values.shape)} ".encode())
        digest.update(values.double().numpy().tobytes())
    return digest.hexdigest()
