"""The word that was probably meant, for messages."""

import difflib
from collections.abc import Iterable


def did_you_mean(given: str, allowed: Iterable[str]) -> str:
    """Return ` (did you mean X?)` for the word nearest to what was given, empty where none is near."""
    close = difflib.get_close_matches(given.lower(), list(allowed), 1)
    return f" (did you mean {close[0]}?)" if close else ""
