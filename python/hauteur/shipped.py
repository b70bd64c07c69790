"""What ships with the package in its `data` folder: trained nets, reference values."""

from importlib.resources import files
from pathlib import Path


def data_path(name: str) -> Path:
    """Path of a file of the package's data folder, there or not."""
    return Path(str(files("hauteur") / "data" / name))


def shipped_net(game_name: str) -> Path | None:
    """The net that ships for a game, e.g. `connect4`; None where none does."""
    path = data_path(f"{game_name}.safetensors")
    return path if path.is_file() else None


def net_or_shipped(net: str | None, *, spec: str, game_name: str) -> str:
    """The net a user named, else the shipped one; ValueError says what fits where there is neither."""
    if net is not None:
        return net
    path = shipped_net(game_name) if spec == game_name else None
    if path is not None:
        return str(path)
    if game_name == "chess":
        raise ValueError(CHESS_NETS)
    raise ValueError(
        f"no net ships for {spec}: give --net FILE (a .safetensors file that `hauteur train` wrote), --net rollout or"
        " --net uniform"
    )


CHESS_NETS = (
    "no net ships for chess: give --net FILE. Fitting are lc0's networks (.pb.gz) with a classical, a squeeze-excitation"
    " or an attention body: those of https://lczero.org/play/networks/bestnets/, and the ones that play like humans of"
    " the Maia project, https://github.com/CSSLab/maia-chess. --net rollout and --net uniform need no file"
)
