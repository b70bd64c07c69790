"""Ctrl-C, and a request to end, in long work: an answer at once, and a second one that waits for nothing."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from hauteur.system.stopping import stop

SIGNALS = (signal.SIGINT, signal.SIGTERM)
"""Ctrl-C, and what systems and job schedulers send before they kill."""
EXIT_INTERRUPTED = 130
"""Exit status of work that was asked to end."""
MOST_SECONDS = 90
"""Seconds that units in work have to end after SIGTERM; the job of SLURM in deploy/ has 120 until it is killed."""


@contextmanager
def answered_interrupts(resumes: str) -> Iterator[None]:
    """Answer the first Ctrl-C or SIGTERM with a line and a KeyboardInterrupt; the second ends the process at once.

    resumes: what continues the work later. Files are written whole, so that an end at once loses as little as a slow
    one. After SIGTERM units in work are finished, as far as that takes no more than `MOST_SECONDS`. A signal that is
    ignored stays so, and outside the main thread nothing is changed.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    seen = False

    def interrupted(number: int, _: object) -> None:
        nonlocal seen
        if seen:
            os._exit(EXIT_INTERRUPTED)
        seen = True
        print(f"\nstopping; {resumes} (Ctrl-C again: at once)", file=sys.stderr, flush=True)
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        end_in_order()

    before = {number: signal.getsignal(number) for number in SIGNALS}
    answered = [number for number in SIGNALS if before[number] is not signal.SIG_IGN]
    for number in answered:
        signal.signal(number, interrupted)
    try:
        yield
    finally:
        for number in answered:
            signal.signal(number, before[number])
        if stop.requested and sys.platform != "win32":
            signal.alarm(0)
        stop.forget()


def end_in_order(*_: object) -> None:
    """Take SIGTERM: no unit is begun any more, and those in work are finished. A second one ends the process at once.

    So does a wait of more than `MOST_SECONDS`. A handler of signals.
    """
    if stop.requested:
        os._exit(EXIT_INTERRUPTED)
    if sys.platform != "win32":
        signal.signal(signal.SIGALRM, lambda *_: os._exit(EXIT_INTERRUPTED))
        signal.alarm(MOST_SECONDS)
    stop.arrive()
