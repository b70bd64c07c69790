"""Numbers and foreign text as people and JSON read them, and the word that was probably meant."""

import math
import signal
from collections.abc import Iterable

MOST_LINE = 1_500
"""Characters of a message."""


def duration(seconds: float) -> str:
    """Return seconds as h:mm:ss or m:ss."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}:{minutes:02}:{rest:02}"
    return f"{minutes}:{rest:02}"


def setting_text(value: object, *, absent: str) -> str:
    """Return the value of a setting as commands take it, `true` and `false` in small letters; None as `absent`."""
    if value is None:
        return absent
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)


def finite(value: float) -> float | None:
    """Return the value as JSON can hold it: None where it is infinite or not a number."""
    return value if math.isfinite(value) else None


def printable(text: str, instead: str = " ") -> str:
    """Return a text as a terminal may show it: control characters and the like are replaced."""
    return "".join(one if one.isprintable() else instead for one in text)


def in_a_line(text: str) -> str:
    """Return a text in one printable line; of a long one its begin and its end."""
    line = " ".join(printable(text).split())
    if len(line) <= MOST_LINE:
        return line
    return f"{line[: MOST_LINE - 300]} ... {line[-300:]}"


def quoted(text: str) -> str:
    """Return what a program wrote in one short printable line, in quotes."""
    plain = " ".join(printable(text, "?").split())
    return repr(plain if len(plain) <= 80 else plain[:77] + "...")


def described(value: object) -> str:
    """Return what a value is, in a few words: `float64 [2, 9]` for arrays and tensors, `a tuple of 3`, `a dict`."""
    shape = getattr(value, "shape", None)
    dtype = getattr(value, "dtype", None)
    if shape is not None and dtype is not None:
        return f"{str(dtype).removeprefix('torch.')} {list(shape)}"
    if isinstance(value, tuple | list):
        return f"a {type(value).__name__} of {len(value)}"
    if value is None:
        return "nothing (None)"
    return f"a {type(value).__name__}"


def did_you_mean(given: str, allowed: Iterable[str], *, least: float = 0.6) -> str:
    """Return ` (did you mean X?)` for the word nearest to what was given, empty where none is near.

    least: how alike both must be, 0 to 1.
    """
    import difflib  # here: only messages about a wrong word need it

    words = {word.lower(): word for word in allowed}
    close = difflib.get_close_matches(given.lower(), list(words), 1, least)
    if not close:
        return ""
    return f" (did you mean {words[close[0]]}?)"


def ended_with(status: int) -> str:
    """Return in words how a process ended. status: as `subprocess.Popen.returncode` has it."""
    if status >= 0:
        return f"ended with exit status {status}"
    name = signal.Signals(-status).name if -status in set(signal.Signals) else f"signal {-status}"
    cause = ", as happens where memory is short" if name == "SIGKILL" else ""
    return f"was killed by {name}{cause}"
