"""The player that the options of the UCI engine describe: its nets, its tablebases, its settings."""

from functools import lru_cache
from typing import TYPE_CHECKING, cast

from hauteur import _core
from hauteur.engine.nets import NetChoice
from hauteur.engine.playing import PlaySettings
from hauteur.engine.uci.options import AUTODISCOVER, SHIPPED, Options
from hauteur.mcts.lc0_options import without_contempt_of_play
from hauteur.networks.bundled import default_net, newest_chess_net

if TYPE_CHECKING:
    from hauteur.networks.evaluators.base import Backend, Precision

NO_NET = (
    "no net: set the option WeightsFile (or --weights, or the variable HAUTEUR_NET) to a .pb.gz file of Leela Chess "
    "Zero, or to the name of a net that `hauteur net get` has downloaded, such as maia-1900; `uniform` plays without"
)


def choose_net(options: Options) -> tuple[NetChoice, str]:
    """Return the nets of the options, and why the first was chosen; ValueError without any.

    That is the option WeightsFile, else the environment, else the net that ships.
    """
    net, reason = options.text("WeightsFile"), "option WeightsFile"
    if net in ("", SHIPPED, AUTODISCOVER):
        found = newest_chess_net() if net == AUTODISCOVER else default_net(_core.Game("chess"))
        if found is None:
            raise ValueError(NO_NET)
        net, reason = found
    backend = cast("Backend | None", None if options.text("Backend") == "auto" else options.text("Backend"))
    precision = cast("Precision", options.text("Precision"))
    choice = NetChoice(net, options.text("LargeWeightsFile"), backend, precision, threads=options.whole("Threads"))
    return choice, reason


@lru_cache(1)
def open_tablebase(path: str) -> _core.Tablebase | None:
    """Open the tablebases of the option SyzygyPath; None without any. ValueError where they cannot be read."""
    return _core.Tablebase(path) if path else None


def play_settings(options: Options, *, infinite: bool = False) -> PlaySettings:
    """Return how the player thinks. infinite: analysis without an end has no contempt of play."""
    params = options.search_params()
    return PlaySettings(
        search=without_contempt_of_play(params) if infinite else params,
        temperature=options.temperature(),
        batch_size=options.whole("MinibatchSize") or None,
        tablebase=open_tablebase(options.text("SyzygyPath")),
        fast_play=options.flag("SyzygyFastPlay"),
    )
