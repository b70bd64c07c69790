"""A request to end in order, as job schedulers send it before they kill: what is in work is finished, nothing is begun.

Ctrl-C is none: whoever sits at the terminal wants the end now. Work of the main thread that ends at a unit of its own
puts the request off (`put_off`) and looks at `requested`; elsewhere it is a KeyboardInterrupt at once, and what winds
up after it looks at `requested` to wait for others.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


class Stopped(KeyboardInterrupt):
    """The work was asked to end; what was in work is done."""


@dataclass
class StopRequest:
    """Whether this process was asked to end."""

    requested: bool = False
    """It was; nothing new is begun."""
    _sections: int = 0
    """Parts of the main thread's work that end at a unit of their own, one within the other."""

    def arrive(self) -> None:
        """Take the request, in the main thread. Raise Stopped, unless the work puts it off."""
        self.requested = True
        if not self._sections:
            raise Stopped

    @contextmanager
    def put_off(self) -> Iterator[None]:
        """Let the body end by itself after a request, then raise Stopped."""
        counts = threading.current_thread() is threading.main_thread()  # which alone takes requests
        self._sections += counts
        try:
            yield
        finally:
            self._sections -= counts
        if self.requested:
            raise Stopped

    def forget(self) -> None:
        """Go on as if no request had come: the work that it was for has ended."""
        self.requested = False


stop = StopRequest()
"""That of this process."""
