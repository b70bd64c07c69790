"""Which net the engine uses, and opening it in the background."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from hauteur._core import Game
from hauteur.engine.uci.options import AUTODISCOVER, Options
from hauteur.networks.bundled import found_chess_net
from hauteur.search.analysis import open_evaluator

if TYPE_CHECKING:
    from hauteur.networks.evaluators.base import Backend, Evaluator

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
    large: str = ""
    """The second net, in the same form; empty: none."""


@dataclass(frozen=True)
class OpenNets:
    """The evaluators that are open."""

    small: "Evaluator"
    large: "Evaluator | None" = None

    def close(self) -> None:
        """Ends both."""
        for evaluator in (self.small, self.large):
            if evaluator is not None:
                evaluator.close()


def choose_net(options: Options) -> NetChoice:
    """The net of the option WeightsFile, else of the environment, else the newest in the working directory."""
    spec, reason = options.text("WeightsFile"), "option WeightsFile"
    if spec in ("", AUTODISCOVER):
        found = found_chess_net()
        if found is None:
            raise ValueError(NO_NET)
        spec, reason = found
    return NetChoice(spec, reason, options.text("Backend"), options.whole("Threads"), options.text("LargeWeightsFile"))


def open_net(choice: NetChoice, opener: Callable[[NetChoice], "Evaluator"]) -> Future[OpenNets]:
    """Opens the net, or both, in a thread of its own."""
    future: Future[OpenNets] = Future()

    def work() -> None:
        try:
            nets = open_nets(choice, opener)
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(nets)

    threading.Thread(target=work, name="net", daemon=True).start()
    return future


def open_nets(choice: NetChoice, opener: Callable[[NetChoice], "Evaluator"]) -> OpenNets:
    """Opens the net, or both, here and now."""
    nets = OpenNets(opener(choice))
    return _with_large(nets, lambda: opener(replace(choice, spec=choice.large))) if choice.large else nets


def _with_large(nets: OpenNets, opener: Callable[[], "Evaluator"]) -> OpenNets:
    try:
        return replace(nets, large=opener())
    except BaseException:
        nets.close()
        raise


def chess_evaluator(choice: NetChoice) -> "Evaluator":
    """The evaluator of a choice."""
    backend = cast("Backend | None", None if choice.backend == "auto" else choice.backend)
    return open_evaluator(Game("chess"), choice.spec, backend=backend, threads=choice.threads)
