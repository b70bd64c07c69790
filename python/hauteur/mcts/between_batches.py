"""Work on a tree that waits for the end of a batch: what other threads ask of a search while it runs."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, TypeVar

Found = TypeVar("Found")
Question = tuple[Callable[[], Any], "Future[Any]"]


class BetweenBatches:
    """Functions that touch a tree, one at a time: at once while nobody has the tree, else in the thread that searches.

    A search calls `begin` before it starts its thread, `here` in it, `answer` after every batch and `end` after the
    last one. While a function runs, and inside `alone`, no search begins.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._waiting: deque[Question] = deque()
        self._thread: int | None = None
        self.busy = False
        """Whether a search has the tree."""

    @property
    def any_waiting(self) -> bool:
        """Whether there is something to answer."""
        return bool(self._waiting)

    def ask(self, function: Callable[[], Found]) -> Future[Found]:
        """Let the function run; the future gets its result or its exception."""
        future: Future[Found] = Future()
        if self.busy and self._thread == threading.get_ident():
            _answer((function, future))
            return future
        with self._lock:
            self._waiting.append((function, future))
            if not self.busy:
                self.answer()
        return future

    def answer(self) -> None:
        """Run what waits, in this thread."""
        while self._waiting:
            _answer(self._waiting.popleft())

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep the tree for this thread; raise RuntimeError while it is searched."""
        with self._lock:
            if self.busy:
                raise RuntimeError("a search is running: stop it and wait for its result first")
            yield

    def begin(self) -> None:
        """A search has the tree from now on."""
        self.busy = True

    def here(self) -> None:
        """The search runs in this thread."""
        self._thread = threading.get_ident()

    def end(self) -> None:
        """The search is over: answer what waits, and let the tree go."""
        with self._lock:
            self.answer()
            self.busy, self._thread = False, None


def _answer(question: Question) -> None:
    function, future = question
    if not future.set_running_or_notify_cancel():
        return
    try:
        found = function()
    except Exception as error:
        future.set_exception(error)
    else:
        future.set_result(found)
