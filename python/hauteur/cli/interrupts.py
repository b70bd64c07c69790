"""Ctrl-C in long work: an answer at once, and a second one that waits for nothing."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def answered_interrupts(resumes: str) -> Iterator[None]:
    """Answer the first Ctrl-C with a line and a KeyboardInterrupt; the second ends the process at once.

    resumes: what continues the work later. Files are written whole, so that an end at once loses as little as a slow
    one. Where interrupts are ignored, and outside the main thread, nothing is changed.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN or threading.current_thread() is not threading.main_thread():
        yield
        return
    seen = False

    def interrupted(*_: object) -> None:
        nonlocal seen
        if seen:
            os._exit(130)
        seen = True
        print(f"\nstopping; {resumes} (Ctrl-C again: at once)", file=sys.stderr, flush=True)
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
