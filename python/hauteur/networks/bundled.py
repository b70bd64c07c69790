"""Choice of the default net: those shipped in the package's `data` folder, and those supplied by the user."""

import os
from importlib.resources import files
from pathlib import Path


def data_path(name: str) -> Path:
    """Path of a file of the package's data folder, there or not."""
    return Path(str(files("hauteur.networks") / "data" / name))


def shipped_net(game_name: str) -> Path | None:
    """The net that ships for a game, e.g. `connect4`; None where none does."""
    path = data_path(f"{game_name}.safetensors")
    return path if path.is_file() else None


NET_VARIABLE = "HAUTEUR_NET"
"""Environment variable that names a chess net."""
CHESS_PATTERN = "*.pb.gz"


def found_chess_net() -> tuple[str, str] | None:
    """The chess net that HAUTEUR_NET names, else the last written one of the working directory; and which it is."""
    named = os.environ.get(NET_VARIABLE, "")
    if named:
        return named, f"environment variable {NET_VARIABLE}"
    nets = [path for path in Path().glob(CHESS_PATTERN) if path.is_file()]
    newest = max(nets, key=lambda path: (path.stat().st_mtime, path.name), default=None)
    return None if newest is None else (str(newest.resolve()), "newest in the working directory")


def net_or_shipped(net: str | None, *, spec: str, game_name: str) -> str:
    """Return the user's net, else the shipped one, for chess the one found; raise ValueError with the options."""
    if net is not None:
        return net
    path = shipped_net(game_name) if spec == game_name else None
    if path is not None:
        return str(path)
    if game_name == "chess":
        found = found_chess_net()
        if found is None:
            raise ValueError(CHESS_NETS)
        return found[0]
    raise ValueError(
        f"no net ships for {spec}: give --net FILE (a .safetensors file that `hauteur train` wrote), --net rollout or"
        " --net uniform"
    )


CHESS_NETS = (
    "no net ships for chess: give --net FILE (or name it in HAUTEUR_NET). Fitting are lc0's networks (.pb.gz) with a"
    " classical, a squeeze-excitation or an attention body: those of https://lczero.org/play/networks/bestnets/, and"
    " the ones that play like humans of the Maia project, https://github.com/CSSLab/maia-chess. --net rollout and"
    " --net uniform need no file"
)
