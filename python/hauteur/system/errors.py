"""Errors as lines for the user: what was given, where, what is allowed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hauteur.system.extras import extra_of

if TYPE_CHECKING:
    pass


def explain(error: Exception) -> str | None:
    """The error in one line for the user, or None if it is a fault of the program."""
    if isinstance(error, ImportError):
        missing = error.__cause__ if isinstance(error.__cause__, ImportError) else error
        module = (missing.name or "").partition(".")[0]
        extra = extra_of(module)
        return extra and f"this needs the module {module}, which is missing: {extra.install}"
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{os.fsdecode(error.filename)}: {error.strerror}"
    return one_line(error)


def one_line(error: Exception) -> str:
    """The error's message without line breaks; of a pydantic error the fields, what is allowed and what was given."""
    if is_of_pydantic(error):
        return "; ".join(pydantic_lines(error))
    return " ".join(str(error).split()) or type(error).__name__


def is_of_pydantic(error: Exception) -> bool:
    """Whether settings did not fit their model; asked without importing pydantic."""
    return type(error).__module__.startswith("pydantic")


def pydantic_lines(error: Exception) -> list[str]:
    """One text per wrong field."""
    from pydantic import ValidationError

    if not isinstance(error, ValidationError):
        return [" ".join(str(error).split())]
    lines = []
    for detail in error.errors(include_url=False):
        field = ".".join([error.title, *map(str, detail["loc"])])
        given = f", got {str(detail['input'])[:80]!r}" if detail["loc"] else ""  # else it is all settings together
        lines.append(f"{field}: {detail['msg'].removeprefix('Value error, ')}{given}")
    return lines
