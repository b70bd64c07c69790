"""The Go Text Protocol, version 2: lines into requests, results into answers, arguments into values; what a command is.

Source: G. Farnebäck, *Specification of the Go Text Protocol, version 2, draft 2* (2002). The messages that it fixes
stand at the beginning of ours; what follows the colon says what was given and what is allowed.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

VERSION = 2
COLOURS = ("black", "white")
"""Names of the players, the first one first."""
LARGEST_INTEGER = 2**31 - 1
LONGEST_QUOTE = 40
CONTROL = bytes(set(range(32)) - {9}) + b"\x7f"
"""Characters that are not read: all control characters but the tab, which is a space."""


Arguments = tuple[str, ...]
Result = str | Iterator[str]
"""The answer of a command: text, or lines that come one after another until the next command."""


@dataclass(frozen=True)
class Request:
    """One command: its id as it was written (empty without one), its name and its arguments."""

    id: str
    name: str
    arguments: Arguments


@dataclass(frozen=True)
class GtpCommand:
    """One command. usage: its arguments by name, [OPTIONAL] ones in brackets, `...` at the end for any number more."""

    usage: str
    help: str
    run: Callable[[Arguments], Result]

    def check(self, name: str, arguments: Arguments) -> None:
        """Raise ValueError unless this number of arguments is allowed."""
        words = self.usage.split()
        least = sum(not word.startswith("[") for word in words)
        most = len(arguments) if self.usage.endswith("...]") else len(words)
        if not least <= len(arguments) <= most:
            form = f"{name} {self.usage}".strip()
            raise ValueError(f"syntax error: expected {form}, got {len(arguments)} arguments")


Commands = dict[str, GtpCommand]
"""Commands by their names."""


def read_request(raw: bytes) -> Request | None:
    """Return the request of a line; None for a line that holds none (empty, or a comment)."""
    text = raw.translate(None, CONTROL).partition(b"#")[0].replace(b"\t", b" ").decode("utf-8", errors="replace")
    words = text.split(" ")
    words = [word for word in words if word]
    if not words:
        return None
    number = words.pop(0) if re.fullmatch(r"[0-9]+", words[0]) else ""
    return Request(number, words[0] if words else "", tuple(words[1:]))


def success(request: Request, result: str = "") -> tuple[str, ...]:
    """Return the lines that answer a request with its result."""
    return _answer(f"={request.id}", result)


def failure(request: Request, message: str) -> tuple[str, ...]:
    """Return the lines that report why a request failed."""
    return _answer(f"?{request.id}", " ".join(message.split()))


def quoted(text: str) -> str:
    """Return what was given, as messages show it."""
    return repr(text[:LONGEST_QUOTE])


def read_colour(text: str) -> int:
    """The player of a colour: 0 for b or black, 1 for w or white, in any case."""
    word = text.lower()
    for player, name in enumerate(COLOURS):
        if word in (name, name[0]):
            return player
    raise ValueError(f"syntax error: expected a colour (b, black, w, white), got {quoted(text)}")


def read_integer(text: str, *, least: int = 0, most: int = LARGEST_INTEGER) -> int:
    """A whole number of the protocol."""
    if not re.fullmatch(r"[+-]?[0-9]{1,12}", text) or not least <= int(text) <= most:
        raise ValueError(f"syntax error: expected a whole number from {least} to {most}, got {quoted(text)}")
    return int(text)


def read_number(text: str, *, least: float = -math.inf) -> float:
    """A finite number."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or number < least:
        atleast = "" if least == -math.inf else f" >= {least:g}"
        raise ValueError(f"syntax error: expected a number{atleast}, got {quoted(text)}")
    return number


def text_lines(lines: Iterable[str]) -> str:
    """A result of several lines, without the empty ones, which would end the answer."""
    return "\n".join(line.rstrip() for line in lines if line.strip())


def _answer(head: str, text: str) -> tuple[str, ...]:
    """The lines of an answer; an empty one ends it."""
    first, *rest = text.split("\n")
    return (f"{head} {first}".rstrip(), *(line for line in rest if line), "")
