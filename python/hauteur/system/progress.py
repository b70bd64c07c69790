"""One line of progress that is renewed in place: on a terminal, and in a notebook."""

import sys
import time
from typing import Any, Self

from hauteur.system.formatting import duration

LEAST_SECONDS = 0.2
"""Between two renewals."""
BAR = 24
"""Signs of the bar."""


class ProgressLine:
    """A line of progress, a context manager. shown: None: on a terminal and in a notebook; True: always; False: never.

    begin: its first text; left: it ends with the time that is left at the pace until now. Where stderr is neither a
    terminal nor a notebook, a line is printed every ten seconds.
    """

    def __init__(self, shown: bool | None, begin: str, *, left: bool = False) -> None:
        self._notebook = _notebook() if shown is not False else None
        self._is_terminal = sys.stderr.isatty()
        self._on = shown is True or (shown is None and (self._is_terminal or self._notebook is not None))
        self._handle: Any = None
        self._last = -1e9
        self._width = 0
        self._begin = begin
        self._left = left
        self._began: tuple[float, float] | None = None

    def __enter__(self) -> Self:
        if self._is_terminal or self._notebook is not None:
            self.show(self._begin)
        else:
            self._last = time.monotonic()
        return self

    def __exit__(self, *_: object) -> None:
        if self._on and self._width:
            sys.stderr.write("\n")
            sys.stderr.flush()

    def show(self, text: str, share: float | None = None, *, last: bool = False) -> None:
        """Renew the line, unless that was just done. share: of the work that is over, 0 to 1; None: unknown."""
        if not (self._on if last else self.is_due):
            return
        self._last = time.monotonic()
        if self._left and share is not None:
            begun, before = self._began = self._began or (self._last, share)
            if share > before:
                left = (self._last - begun) / (share - before) * (1 - share)
                text += f", {duration(left)} left"
        bar = ""
        if share is not None:
            filled = "█" * round(BAR * share)
            bar = f"{filled:{BAR}}|{share:4.0%}  "
        self._write(f"{bar}{text}")

    def clear(self) -> None:
        """Take the line away, so that something else can be printed there."""
        if self._is_terminal and self._on:
            sys.stderr.write(f"\r{'':{self._width}}\r")
            sys.stderr.flush()
            self._last = -1e9
            self._width = 0

    @property
    def is_due(self) -> bool:
        """True where a line would be shown now: whoever pays for its text asks before."""
        pause = LEAST_SECONDS if self._is_terminal or self._notebook is not None else 50 * LEAST_SECONDS
        return self._on and time.monotonic() - self._last >= pause

    def _write(self, line: str) -> None:
        if self._notebook is not None:
            shown = self._notebook.Pretty(line)
            if self._handle is None:
                self._handle = self._notebook.display(shown, display_id=True)
            else:
                self._handle.update(shown)
        elif self._is_terminal:
            sys.stderr.write(f"\r{line:{self._width}}")
            self._width = len(line)
        else:
            sys.stderr.write(f"{line}\n")
        sys.stderr.flush()


def _notebook() -> Any:
    """Return IPython's module of displays within a notebook, else None; IPython is not imported for it."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if shell is None or not hasattr(shell, "kernel"):
        return None
    return sys.modules["IPython.display"]
