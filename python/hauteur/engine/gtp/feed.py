"""The lines of the controller, read by a thread of their own, so that a command can see that the next one is there."""

import threading
from collections import deque
from collections.abc import Callable, Iterable

INTERRUPT = b"# interrupt"
"""A comment by which GoGui asks to end a command early."""


class LineReader:
    """Lines in their order; `on_interrupt` is called by the reading thread at once."""

    def __init__(self, source: Iterable[bytes], on_interrupt: Callable[[], None]) -> None:
        self._on_interrupt = on_interrupt
        self._waiting: deque[bytes] = deque()
        self._changed = threading.Condition()
        self._at_end = False
        threading.Thread(target=self._read, args=(source,), name="reader", daemon=True).start()

    def next(self) -> bytes | None:
        """The next line, as soon as there is one; None at the end."""
        self.wait(None)
        with self._changed:
            return self._waiting.popleft() if self._waiting else None

    def wait(self, seconds: float | None) -> bool:
        """Waits for a line or the end, at most so long; whether there is one."""
        with self._changed:
            return self._changed.wait_for(lambda: bool(self._waiting) or self._at_end, seconds)

    def _read(self, source: Iterable[bytes]) -> None:
        try:
            for line in source:
                self._hear(line)
        finally:
            with self._changed:
                self._at_end = True
                self._changed.notify_all()

    def _hear(self, line: bytes) -> None:
        if line.strip() == INTERRUPT:
            self._on_interrupt()
            return
        with self._changed:
            self._waiting.append(line)
            self._changed.notify_all()
