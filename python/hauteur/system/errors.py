"""Errors as lines for the user: the input, its place, the allowed values."""

import os

from hauteur.system.extras import MissingLayerError, missing_line
from hauteur.system.formatting import in_a_line


def explain(error: Exception) -> str | None:
    """Return the error in one line for the user, or None if it is a fault of the program."""
    if isinstance(error, ImportError):
        missing = error.__cause__ if isinstance(error.__cause__, ImportError) else error
        if isinstance(missing, MissingLayerError):
            return one_line(missing)
        return missing_line("this", [(missing.name or "").partition(".")[0]])
    if isinstance(error, OSError) and error.strerror:
        # Without a file it is mostly what the command prints, into a file on a full disk.
        place = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
        return in_a_line(f"{place}{error.strerror}")
    return one_line(error)


def one_line(error: Exception) -> str:
    """Return the error's message in one printable line; of a pydantic error the keys, what is allowed and was given."""
    if is_of_pydantic(error):
        from pydantic import ValidationError  # here: most commands start without it

        from hauteur.system.settings import problems

        if isinstance(error, ValidationError):
            return in_a_line(problems(error))
    return in_a_line(str(error)) or type(error).__name__


def is_of_pydantic(error: Exception) -> bool:
    """Return whether settings did not fit their model, without importing pydantic."""
    return type(error).__module__.startswith("pydantic")
