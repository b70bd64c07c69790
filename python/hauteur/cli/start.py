"""Entry points of the commands: an interrupt while Python still imports ends the process without a traceback."""

import os
import signal

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not where a shell has set it to be ignored
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))

os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # else it reads what every installed package offers

from hauteur.cli.main import main, main_uci

__all__ = ["main", "main_uci"]
