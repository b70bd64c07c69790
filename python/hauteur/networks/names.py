"""Names of nets: one resolver from what a user writes to the file that is meant, and the net of a game.

A net is named by a file, by an evaluator that needs none (`uniform`, `rollout`), by a net that ships (`connect4`), or
by one that `hauteur net get` has downloaded (`maia-1900`); in this order. Public nets are the entries of
`data/public_nets.toml`.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Literal

from hauteur.system.files import sha256_of
from hauteur.system.formatting import did_you_mean
from hauteur.system.hardware import data_directory

if TYPE_CHECKING:
    from hauteur import _core

WITHOUT_FILE = ("uniform", "rollout")
"""Evaluators that need no net."""

NETS_VARIABLE = "HAUTEUR_NETS"
"""Environment variable that names the folder of the downloaded nets."""

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,79}")

KINDS = (".pb.gz", ".safetensors")
"""Files that are downloaded, by the ends of their names."""


def data_path(name: str) -> Path:
    """Path of a file of the package's data folder, there or not."""
    return Path(__file__).parent / "data" / name


def shipped_names() -> list[str]:
    """Return the names of the nets that ship, e.g. `connect4`."""
    return sorted(path.name.removesuffix(".safetensors") for path in data_path("").glob("*.safetensors"))


@dataclass(frozen=True)
class KnownNet:
    """A public net that can be downloaded."""

    name: str
    """Name of the net in commands."""
    address: str
    """Address at its publisher's."""
    megabytes: float
    """Approximate size of the download."""
    licence: str
    """Licence of the net."""
    about: str
    """One line about the net."""
    sha256: str | None = None
    """SHA-256 of the file, hexadecimal; None where it is not known."""
    trained_for: Literal["white", "black"] | None = None
    """The only colour that it was trained to play, in games at odds; None: both."""

    @property
    def file_name(self) -> str:
        """Name of the file that it is kept in; the same on a mirror."""
        return f"{self.name}.pb.gz"


@cache
def known_nets() -> tuple[KnownNet, ...]:
    """Return the public nets that `hauteur net get` knows."""
    # Here: an engine whose net is a file starts without it.
    import tomllib

    table = Path(__file__).parent / "data" / "public_nets.toml"
    rows = tomllib.loads(table.read_text(encoding="utf-8"))["net"]
    return tuple(KnownNet(**row) for row in rows)


def known_net(name: str) -> KnownNet | None:
    """Return the public net of this name, None where there is none."""
    return next((net for net in known_nets() if net.name == name), None)


def colour_of(net: str) -> int | None:
    """Return the only colour that a net, by its name or file, was trained to play: 0 White, 1 Black; None for both."""
    known = known_net(PurePath(net).name.removesuffix(".pb.gz"))
    if known is None or known.trained_for is None:
        return None
    return ("white", "black").index(known.trained_for)


def nets_folder() -> Path:
    """Folder of the downloaded nets: HAUTEUR_NETS, or `nets` in the user's data folder; there or not."""
    chosen = os.environ.get(NETS_VARIABLE)
    return Path(chosen) if chosen else data_directory() / "nets"


def downloaded_nets() -> dict[str, Path]:
    """Return the nets in the folder of downloads, by name; none where there is no such folder."""
    try:
        files = sorted(nets_folder().iterdir())
    except OSError:
        return {}
    found: dict[str, Path] = {}
    for path in files:
        kind = next((kind for kind in KINDS if path.name.endswith(kind)), None)
        # Names with a dot in front are downloads that are not finished or not checked.
        if kind is not None and not path.name.startswith(".") and path.is_file():
            found.setdefault(path.name.removesuffix(kind), path)
    return found


NAMED = "named"
"""Why a net is used that a user has named."""


@dataclass(frozen=True)
class ResolvedNet:
    """A net as its name was resolved, once: passed on in the place of the name, which nobody looks up again."""

    path: str
    """Its file, or the name of an evaluator without a file."""
    why: str = NAMED
    """Why it is this one, in a few words."""

    def __str__(self) -> str:
        return self.path

    @property
    def has_file(self) -> bool:
        """Whether it is a file; False for `uniform` and `rollout`."""
        return self.path not in WITHOUT_FILE

    @property
    def short_name(self) -> str:
        """Name of the file up to its first dot, or of the evaluator."""
        return PurePath(self.path).name.split(".")[0]

    @cached_property
    def sha256(self) -> str:
        """Hash of the file, computed once, when it is first asked for. ValueError without a file, OSError for one that
        cannot be read.
        """
        if not self.has_file:
            raise ValueError(f"{self.path} is an evaluator without a file, which has no sha256")
        return sha256_of(Path(self.path))

    @property
    def content(self) -> str:
        """Identity of the net, whatever its file's location: the file's name and hash."""
        if self.has_file:
            return f"{PurePath(self.path).name} sha256 {self.sha256}"
        return self.path


ADVICE = "name one with --net, or with net= in the text of a player"
"""How a net is named where the commands of a game have the option --net."""


def resolve_net(
    name: str | Path | ResolvedNet | None, game: _core.Game | None = None, *, advice: str = ADVICE
) -> ResolvedNet:
    """Return the net that a name means; None: the game's own. A net that was resolved before is returned unchanged.

    A path is taken as it is, there or not: the reader reports that. Quotation marks around it are left out. Raises
    ValueError for a name that is none, or of a public net that is not downloaded yet, with the command that gets it;
    where a downloaded file is not what its catalogue entry says; and where a game has no net, with `advice`: how a net
    is named here.

    >>> resolve_net("uniform").path
    'uniform'
    """
    if isinstance(name, ResolvedNet):
        return name
    if name is not None:
        return ResolvedNet(_place_of(str(name)))
    if game is None:
        raise ValueError("a net without a name is that of a game, got no game")
    own = default_net(game)
    if own is None:
        others = "a file that `hauteur train` wrote (.safetensors), rollout or uniform"
        raise ValueError(f"no net ships for {game.spec}: {advice}: {others}")
    found, why = own
    return ResolvedNet(_place_of(found), why)


def _place_of(text: str) -> str:
    """Return the file that a name means, or the name of an evaluator without a file; errors as in `resolve_net`."""
    if text in WITHOUT_FILE or Path(text).is_file():
        return text
    # Only now, since a file may have quotation marks in its name.
    text = unquoted(text)
    if text in WITHOUT_FILE or Path(text).is_file():
        return text
    if not text.strip():
        raise ValueError("a net has no name: its text is empty")
    if Path(text).is_dir() and text not in shipped_names() and text not in downloaded_nets():
        raise ValueError(_of_folder(Path(text)))
    if not is_name(text):
        _advise(text)
        return text
    if text in shipped_names():
        return str(data_path(f"{text}.safetensors"))
    path = downloaded_nets().get(text)
    if path is None:
        raise ValueError(_missing(text))
    # By its time: hashing hundreds of megabytes once for each change of the file is enough.
    _check_download(text, path, path.stat().st_mtime_ns)
    return str(path)


def unquoted(text: str) -> str:
    """Return a text without the quotation marks around it, as some programs send names of files.

    >>> unquoted('"a net.pb.gz"')
    'a net.pb.gz'
    """
    is_quoted = len(text) > 2 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if is_quoted else text


def is_known_net(text: str) -> bool:
    """Return whether a text names a net that ships, was downloaded or is public, or the file of one."""
    is_file = text.endswith(KINDS) and Path(text).is_file()
    return is_file or text in shipped_names() or text in downloaded_nets() or known_net(text) is not None


def is_name(text: str) -> bool:
    """Return whether a text could be the name of a net: letters, digits, `-` and `_`; others are paths."""
    return NAME.fullmatch(text) is not None


def _advise(path: str) -> None:
    """Raise ValueError for a file that is not there but has the name of a public net's."""
    known = known_net(path.removesuffix(".pb.gz"))
    if known is not None:
        raise ValueError(f"{path}: no such file here; `hauteur net get {known.name}` downloads the net {known.name}")


def _of_folder(path: Path) -> str:
    """Return the error line for a folder in the place of a net."""
    best = path / "best.safetensors"
    meant = f"; the net of this run is {best}" if best.is_file() else ""
    return f"{path} is a folder, a net is a file ({', '.join(KINDS)}){meant}"


def _missing(name: str) -> str:
    """Return the error line for a name that no net has here."""
    if known_net(name) is not None:
        return f"the net {name} is not downloaded yet: hauteur net get {name}"
    here = [*shipped_names(), *downloaded_nets()]
    public = [net.name for net in known_nets()]
    near = did_you_mean(name, [*here, *public])
    return (
        f"there is no net {name!r}{near}: give a file ({', '.join(KINDS)}), {', '.join(WITHOUT_FILE)} or one of "
        f"{', '.join(here)}; `hauteur net get` lists more"
    )


@lru_cache(64)
def _check_download(name: str, path: Path, _changed: int) -> None:
    """Check a downloaded file of a public net once: ValueError for another file, a line where no hash is recorded."""
    import logging

    known = known_net(name)
    expected = known.sha256 if known is not None and known.sha256 else first_hash(path)
    if expected is not None:
        if sha256_of(path) != expected:
            raise ValueError(f"{path}: is not the net {name} (its sha256 differs): hauteur net get {name} --force")
    elif known is not None:
        logging.getLogger(__name__).warning(
            "hauteur: %s: its sha256 is not on record, so that the file is not verified", path
        )


def hash_file(path: Path) -> Path:
    """Return the file next to a net in which the hash of its first download is recorded."""
    return path.with_name(f"{path.name}.sha256")


def first_hash(path: Path) -> str | None:
    """Return the sha256 of the first download of a net, None where none is recorded; ValueError for no hash."""
    try:
        text = hash_file(path).read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return None
    if not re.fullmatch("[0-9a-f]{64}", text):
        raise ValueError(f"{hash_file(path)}: holds no sha256")
    return text


# The net of a game.


def shipped_net(game: _core.Game) -> Path | None:
    """Return the net that ships for a game, or for this size of its board; None where none does."""
    from hauteur import _core

    _, rows, columns = game.feature_shape
    usual = game.name
    path = data_path(f"{game.name}.safetensors")
    sized = data_path(f"{game.name}{columns}.safetensors")
    if rows == columns and sized.is_file():
        usual = f"{game.name}(size={columns})"
        path = sized
    if not path.is_file():
        return None
    # The name alone does not say that the net fits: rules and boards of a game change its features and actions.
    played = _core.Game(usual)
    fits = (played.feature_shape, played.num_actions) == (game.feature_shape, game.num_actions)
    return path if fits else None


NET_VARIABLE = "HAUTEUR_NET"
"""Environment variable that names a chess net."""
CHESS_PATTERN = "*.pb.gz"


def newest_chess_net() -> tuple[str, str] | None:
    """Return the last written lc0 net of the working directory, and the reason; None without any."""
    nets = [path for path in Path().glob(CHESS_PATTERN) if path.is_file()]
    if not nets:
        return None
    newest = max(nets, key=lambda path: (path.stat().st_mtime, path.name))
    return str(newest.resolve()), "newest in the working directory"


def default_net(game: _core.Game) -> tuple[str, str] | None:
    """Return the net for a player of this game who names none, and why it is that one; None where there is none.

    For chess the one that HAUTEUR_NET names goes first.
    """
    named = os.environ.get(NET_VARIABLE, "") if game.name == "chess" else ""
    if named:
        return named, f"environment variable {NET_VARIABLE}"
    shipped = shipped_net(game)
    return None if shipped is None else (str(shipped), "shipped with hauteur")
