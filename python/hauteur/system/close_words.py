"""The word that was probably meant, for messages."""

from collections.abc import Iterable


def did_you_mean(given: str, allowed: Iterable[str]) -> str:
    """Return ` (did you mean X?)` for the word nearest to what was given, empty where none is near."""
    import difflib  # here: only messages about a wrong word need it

    words = {word.lower(): word for word in allowed}
    close = difflib.get_close_matches(given.lower(), list(words), 1)
    return f" (did you mean {words[close[0]]}?)" if close else ""
