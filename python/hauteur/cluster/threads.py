"""Work beside that of the present thread: threads of the system. A simulation takes turns in one thread instead."""

import queue
import threading
from collections.abc import Callable, Iterable
from typing import Any, Protocol, TypeVar

from hauteur.system.stopping import Stopped

T = TypeVar("T")


class ItemQueue(Protocol[T]):
    """What one thread puts in, another gets out, in that order."""

    def put(self, item: T) -> None:
        """Add an item."""

    def get(self) -> T:
        """Take the first item; wait for one where there is none."""

    def empty(self) -> bool:
        """Return whether there is no item now."""


class Task(Protocol):
    """Work that goes on beside the present thread's."""

    def join(self, timeout: float | None = None) -> None:
        """Wait for its end, at most so many seconds."""

    def is_alive(self) -> bool:
        """Return whether it goes on."""


class Consumer(Task, Protocol):
    """Calls a function with item after item."""

    error: BaseException | None
    """What has ended it before the last item."""


class Threads:
    """Begins work beside that of the present thread."""

    def queue(self) -> ItemQueue[Any]:
        """Return an empty queue between such work and the present thread."""
        return queue.SimpleQueue()

    def start(self, work: Callable[[], None], name: str) -> Task:
        """Do some work; it ends with the process."""
        thread = threading.Thread(target=work, name=name, daemon=True)
        thread.start()
        return thread

    def each(self, items: Iterable[T], take: Callable[[T], None], name: str) -> Consumer:
        """Call `take` with each item as it comes; an error of either ends it and is kept."""
        return _ConsumingThread(items, take, name)


class _ConsumingThread:
    """Calls a function with items, in a thread of its own.

    The end is an event: where a signal interrupts `Thread.join`, Python before 3.13 takes the thread for ended.
    """

    def __init__(self, items: Iterable[T], take: Callable[[T], None], name: str) -> None:
        self.error: BaseException | None = None
        self._items: Iterable[Any] = items
        self._take: Callable[[Any], None] = take
        self._ended = threading.Event()
        threading.Thread(target=self._run, name=name, daemon=True).start()

    def join(self, timeout: float | None = None) -> None:
        """Wait for the last item, at most so many seconds."""
        self._ended.wait(timeout)

    def is_alive(self) -> bool:
        """Return whether there may be further items."""
        return not self._ended.is_set()

    def _run(self) -> None:
        """Take the items until there are no more."""
        try:
            for item in self._items:
                self._take(item)
        except (Exception, Stopped) as error:
            self.error = error
        finally:
            self._ended.set()
