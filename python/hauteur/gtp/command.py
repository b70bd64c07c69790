"""What a command of the engine is: the arguments it takes, what it does, and a line about it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

Result = str | Iterator[str]
"""What a command answers: text, or lines that come one after another until the next command."""


@dataclass(frozen=True)
class Command:
    """One command. usage: its arguments by name, [OPTIONAL] ones in brackets, `...` at the end for any number more."""

    usage: str
    help: str
    run: Callable[[tuple[str, ...]], Result]

    def check(self, name: str, arguments: tuple[str, ...]) -> None:
        """ValueError unless so many arguments are allowed."""
        words = self.usage.split()
        least = sum(not word.startswith("[") for word in words)
        most = len(arguments) if self.usage.endswith("...]") else len(words)
        if not least <= len(arguments) <= most:
            wanted = f"{name} {self.usage}".strip()
            raise ValueError(f"syntax error: expected {wanted}, got {len(arguments)} arguments")


Commands = dict[str, Command]
"""Commands by their names."""
