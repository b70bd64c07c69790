"""`python -m hauteur.cli.attended WORDS` is `hauteur WORDS`, interrupted as by Ctrl-C when its standard input ends.

The browser lab runs its jobs so: it closes the pipe to stop one, and the system does where the server is gone.
"""

import _thread
import os
import signal
import sys
import threading


def interrupt_at_end_of_input() -> None:
    """Interrupt the main thread once standard input has ended, also where a shell has interrupts ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Thread(target=_watch, daemon=True).start()


def _watch() -> None:
    while os.read(0, 4096):  # not sys.stdin, whose lock would be in the way when Python ends
        pass
    main = threading.main_thread().ident
    if sys.platform == "win32" or main is None:
        _thread.interrupt_main()
    else:
        signal.pthread_kill(main, signal.SIGINT)  # which also ends a wait


if __name__ == "__main__":
    interrupt_at_end_of_input()
    from hauteur.cli.start import main  # takes a second

    sys.exit(main())
