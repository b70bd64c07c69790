"""Control of one search from other threads: its end, and the start of its clock."""

import atexit
import signal
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, InvalidStateError, wait
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

from hauteur import _core

Result = TypeVar("Result")


class SearchControl:
    """Ends a search, or starts its clock; any thread may call it, also before the search has begun.

    began: when the clock of the search started, in seconds of `time.monotonic`; default: now. ponder: no limit counts
    and no clock runs until `ponderhit`. flag: set with `stop`; the core looks at it while it computes.
    """

    def __init__(self, *, began: float | None = None, ponder: bool = False) -> None:
        self._began = began
        if ponder:
            self._began = None
        elif began is None:
            self._began = time.monotonic()
        # One stop in two forms: the core looks at the flag without the interpreter; a future can be waited for
        # together with that of a batch, without polling.
        self._stopped: Future[None] = Future()
        self.flag = _core.StopFlag()

    @property
    def began(self) -> float | None:
        """Start of the clock of the search; None while it ponders."""
        return self._began

    @property
    def stopped(self) -> bool:
        return self.flag.is_set

    def stop(self) -> None:
        """Ask the search to end. A batch that is being computed is given up, unless it is the first of the tree."""
        # The flag first: who is woken by the future looks at the flag.
        self.flag.set()
        try:
            self._stopped.set_result(None)
        except InvalidStateError:  # it was asked before
            return

    def ponderhit(self) -> None:
        """Start the clock of a search that ponders: its limits count from now on."""
        if self._began is None:
            self._began = time.monotonic()

    def restart_clock(self, began: float) -> None:
        """Let the clock of a search that does not ponder have started then, in seconds of `time.monotonic`."""
        if self._began is not None:
            self._began = began

    def wait(self, other: Future[Any] | None = None, *, seconds: float | None = None) -> bool:
        """Wait for `stop`, for the other future, or for this time; return whether the search was stopped."""
        if other is None or not other.done():
            awaited = [self._stopped] if other is None else [self._stopped, other]
            wait(awaited, seconds, FIRST_COMPLETED)
        return self.stopped


def in_background(work: Callable[[], Result], name: str) -> Future[Result]:
    """Run `work` in a thread of this name; the future gets its result or its exception."""
    future: Future[Result] = Future()
    # A daemon: other threads are joined without a limit when the process ends, and an infinite search never ends.
    thread = threading.Thread(target=_settle, args=(future, work), name=name, daemon=True)
    _running.add(thread)
    thread.start()
    return future


EXIT_SECONDS = 2.0
"""How long the end of the process waits for such threads: one that comes back from native code while the interpreter is
being taken down ends the process with an abort."""
_running: weakref.WeakSet[threading.Thread] = weakref.WeakSet()


@atexit.register
def _wait_for_threads() -> None:
    end = time.monotonic() + EXIT_SECONDS
    for thread in list(_running):
        if thread is not threading.current_thread() and thread.is_alive():
            thread.join(max(0.0, end - time.monotonic()))


def _settle(future: Future[Any], work: Callable[[], Any]) -> None:
    """Give the future the result of the work, or its exception."""
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = work()
    # Whatever it is: who waits for this future would otherwise wait for ever.
    except BaseException as error:
        future.set_exception(error)
    else:
        future.set_result(result)


@contextmanager
def stopped_by_interrupt(stop: Callable[[], None]) -> Iterator[None]:
    """Let Ctrl-C call `stop` in place of breaking off anywhere; KeyboardInterrupt is raised once the work has ended.

    A second Ctrl-C breaks off at once. Signals reach the main thread alone; in other threads, and where the program
    has a handler of its own, nothing changes.
    """
    usual = signal.default_int_handler
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not usual:
        yield
        return
    interrupted = False

    def on_interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal interrupted
        if interrupted:
            usual(number, frame)
        interrupted = True
        stop()

    signal.signal(signal.SIGINT, on_interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
    if interrupted:
        raise KeyboardInterrupt


class BetweenBatches:
    """Functions that touch a tree, one at a time: at once while there is no search, else in the thread that searches.

    A search is `busy` from before its thread starts until `end`, calls `here` in that thread and `answer` after every
    batch. While a function runs, and inside `alone`, no search begins.
    """

    def __init__(self) -> None:
        # The thread that has it may take it again: a function that is answered at once may call the analysis itself.
        self._lock = threading.RLock()
        self._thread: int | None = None
        self.waiting: deque[tuple[Future[Any], Callable[[], Any]]] = deque()
        """Questions that `answer` will run."""
        self.busy = False
        """True while a search has the tree."""

    def ask(self, function: Callable[[], Result]) -> Future[Result]:
        """Let the function run; the future gets its result or its exception."""
        future: Future[Result] = Future()
        # Asked from a report: the queue is only looked at when that has returned, which may wait for the answer.
        if self.busy and self._thread == threading.get_ident():
            _settle(future, function)
            return future
        # With the lock, so that no search begins or ends between the look at `busy` and the answer.
        with self._lock:
            self.waiting.append((future, function))
            if not self.busy:
                self.answer()
        return future

    def answer(self) -> None:
        """Run what waits, in this thread."""
        # The searching thread needs no lock for this: during a search it alone takes from the deque, others append.
        while self.waiting:
            _settle(*self.waiting.popleft())

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep the tree for this thread; raise RuntimeError while it is searched."""
        with self._lock:
            if self.busy:
                raise RuntimeError("a search is running: stop it and wait for its result first")
            yield

    def here(self) -> None:
        """The search runs in this thread."""
        self._thread = threading.get_ident()

    def end(self) -> None:
        """The search is over: answer what waits, and let the tree go."""
        # A question that came between the last answer and `busy = False` would never be answered.
        with self._lock:
            self.answer()
            self.busy = False
            self._thread = None
