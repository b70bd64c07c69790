"""Ctrl-C, and a request to end, in long work: an answer at once, and a second one that waits for nothing."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

SIGNALS = (signal.SIGINT, signal.SIGTERM)
"""Ctrl-C, and what systems and job schedulers send before they kill."""


@contextmanager
def answered_interrupts(resumes: str) -> Iterator[None]:
    """Answer the first Ctrl-C or SIGTERM with a line and a KeyboardInterrupt; the second ends the process at once.

    resumes: what continues the work later. Files are written whole, so that an end at once loses as little as a slow
    one. A signal that is ignored stays so, and outside the main thread nothing is changed.
    """
    if threading.current_thread() is not threading.main_thread():
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

    before = {number: signal.getsignal(number) for number in SIGNALS}
    answered = [number for number in SIGNALS if before[number] is not signal.SIG_IGN]
    for number in answered:
        signal.signal(number, interrupted)
    try:
        yield
    finally:
        for number in answered:
            signal.signal(number, before[number])
