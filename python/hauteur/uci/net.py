"""Which net the engine uses, and opening it in the background."""

import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hauteur.uci.options import AUTODISCOVER, Options

if TYPE_CHECKING:
    from hauteur.evaluate import Evaluator

NET_VARIABLE = "HAUTEUR_NET"
NET_PATTERN = "*.pb.gz"
NO_NET = (
    "no net: set the option WeightsFile (or --weights, or the variable HAUTEUR_NET) to a chess net of "
    "Leela Chess Zero, a .pb.gz file (for example a maia net), or put one into the working directory; "
    "the name `uniform` plays without a net"
)


@dataclass(frozen=True)
class NetChoice:
    """What is to be opened, and why it was chosen."""

    spec: str
    """A file, or the name of an evaluator without a net."""
    reason: str
    backend: str
    threads: int
    batch_size: int


def choose_net(options: Options) -> NetChoice:
    """The net of the option WeightsFile, else of the environment, else the newest in the working directory."""
    spec, reason = options.text("WeightsFile"), "option WeightsFile"
    if spec in ("", AUTODISCOVER):
        spec, reason = os.environ.get(NET_VARIABLE, ""), f"environment variable {NET_VARIABLE}"
    if not spec:
        spec, reason = str(newest_net(Path())), "newest in the working directory"
    return NetChoice(
        spec, reason, options.text("Backend"), options.whole("Threads"), batch_size=options.whole("MinibatchSize")
    )


def newest_net(folder: Path) -> Path:
    """The last written net of a folder; ValueError where there is none."""
    found = [path for path in folder.glob(NET_PATTERN) if path.is_file()]
    if not found:
        raise ValueError(NO_NET)
    return max(found, key=lambda path: (path.stat().st_mtime, path.name)).resolve()


def open_net(choice: NetChoice, opener: Callable[[NetChoice], "Evaluator"]) -> "Future[Evaluator]":
    """Opens the net in a thread of its own."""
    future: Future[Evaluator] = Future()

    def work() -> None:
        try:
            evaluator = opener(choice)
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(evaluator)

    threading.Thread(target=work, name="net", daemon=True).start()
    return future


def chess_evaluator(choice: NetChoice) -> "Evaluator":
    """The evaluator of a choice."""
    from hauteur._core import Game
    from hauteur.evaluate import make_evaluator

    return make_evaluator(Game("chess"), choice.spec)
