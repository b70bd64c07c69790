"""The net of a game for whoever names none: the one that ships in the package's `data` folder, or one that is found."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from hauteur.networks.names import data_path, resolve_net

if TYPE_CHECKING:
    from hauteur import _core


def shipped_net(game: _core.Game) -> Path | None:
    """Return the net that ships for a game, or for this size of its board; None where none does.

    Raises ValueError where the file that has the game's name is a net for another game.
    """
    sized = data_path(f"{game.name}{game.feature_shape[-1]}.safetensors")
    path = sized if sized.is_file() else data_path(f"{game.name}.safetensors")
    return path if path.is_file() and _is_for(path, game.name, game.feature_shape, game.num_actions) else None


@lru_cache(64)
def _is_for(path: Path, name: str, shape: tuple[int, ...], actions: int) -> bool:
    """Return whether a shipped net fits a game's planes and actions; ValueError where it was trained for another."""
    from hauteur.networks.registry import describe  # here: an engine that has been given a net starts without it

    net = describe(path)
    if net.game.partition("(")[0] != name:
        raise ValueError(f"{path}: is a net for {net.game}, not for {name}")
    return (net.feature_shape, net.num_actions) == (shape, actions)


ADVICE = "name one with --net, or with net= in the text of a player"
"""How a net is named where the commands of a game have the option --net."""

NET_VARIABLE = "HAUTEUR_NET"
"""Environment variable that names a chess net."""
CHESS_PATTERN = "*.pb.gz"


def newest_chess_net() -> tuple[str, str] | None:
    """Return the last written lc0 net of the working directory, and the reason; None without any."""
    nets = [path for path in Path().glob(CHESS_PATTERN) if path.is_file()]
    newest = max(nets, key=lambda path: (path.stat().st_mtime, path.name), default=None)
    return None if newest is None else (str(newest.resolve()), "newest in the working directory")


def default_net(game: _core.Game) -> tuple[str, str] | None:
    """Return the net for a player of this game who names none, and why it is that one; None where there is none.

    For chess the one that HAUTEUR_NET names goes first; where none ships, the last written one of the working directory
    is taken.
    """
    named = os.environ.get(NET_VARIABLE, "") if game.name == "chess" else ""
    if named:
        return named, f"environment variable {NET_VARIABLE}"
    shipped = shipped_net(game)
    if shipped is not None:
        return str(shipped), "shipped with hauteur"
    return newest_chess_net() if game.name == "chess" else None


def net_or_shipped(net: str | None, game: _core.Game, *, advice: str = ADVICE) -> str:
    """Return the file of the net that a user names, else of the game's own.

    advice: how a net is named here, for the ValueError where the game has none.
    """
    if net is not None:
        return resolve_net(net)
    found = default_net(game)
    if found is None:
        raise ValueError(no_net(game, advice))
    return resolve_net(found[0])


def no_net(game: _core.Game, advice: str) -> str:
    """Return the error line for a game without a net, with the ways to name one."""
    if game.name == "chess":
        return (
            f"no net ships for chess: {advice}: a public one (`hauteur net get` lists them and downloads, for example, "
            "maia-1900), a file of lc0 (.pb.gz), rollout or uniform; HAUTEUR_NET names one for all commands"
        )
    return (
        f"no net ships for {game.spec}: {advice}: a file that `hauteur train` wrote (.safetensors), rollout or uniform"
    )
