"""What plays for the settings of a player: nets that are to be opened, or a function."""

from __future__ import annotations

from pathlib import Path

from hauteur import _core
from hauteur.engine.nets import NetChoice
from hauteur.networks.bundled import ADVICE, net_or_shipped
from hauteur.networks.names import WITHOUT_FILE, resolve_net
from hauteur.players.baselines import MOVE_FUNCTIONS, parse_baseline
from hauteur.players.move_player import MoveFunction
from hauteur.players.settings import PlayerSettings


def player_of(
    game: _core.Game, settings: PlayerSettings, *, threads: int, advice: str = ADVICE
) -> NetChoice | MoveFunction:
    """Return what plays: nets that are to be opened, or a function. ValueError or OSError for what cannot play.

    advice: how a net is named here. A program is no function; see EngineSeat.
    """
    if settings.engine is not None:
        raise ValueError(f"the player is a net or one of hauteur's own, got the program {settings.engine.command!r}")
    if settings.baseline is not None:
        baseline = parse_baseline(settings.baseline)
        return MOVE_FUNCTIONS[baseline.kind](game, baseline.number)
    net = net_or_shipped(settings.net, game, advice=advice)
    large = resolve_net(settings.large_net) if settings.large_net else ""
    for file in filter(None, (net, large)):
        if file not in WITHOUT_FILE:
            with Path(file).open("rb"):
                pass
    return NetChoice(net, large, precision=settings.precision, threads=threads)
