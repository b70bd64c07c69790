"""Getting public nets: from their publisher, a mirror or another address into the folder of downloads, checked."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from hauteur.networks.catalogue import KnownNet, known_net
from hauteur.networks.download import DownloadTask, OnProgress, discard, fetch
from hauteur.networks.names import KINDS, WITHOUT_FILE, downloaded_nets, is_name, nets_folder, shipped_names
from hauteur.networks.registry import describe
from hauteur.system.files import sha256_of
from hauteur.system.lock import locked

if TYPE_CHECKING:
    from hauteur.networks.architecture import NetDescription

MIRROR_VARIABLE = "HAUTEUR_MIRROR"
"""Environment variable: address of a folder that has the files of the catalogue under their own names."""


@dataclass(frozen=True)
class WantedNet:
    """A net to get: its name here, where it is, its entry in the catalogue if it has one."""

    name: str
    address: str
    known: KnownNet | None

    @property
    def sha256(self) -> str | None:
        """Hash that the file must have, None where nobody has recorded one."""
        return self.known.sha256 if self.known else None


@dataclass(frozen=True)
class DownloadedNet:
    """A net in the folder of downloads. is_new: it was downloaded now; is_verified: its hash is the recorded one."""

    path: Path
    description: NetDescription
    is_new: bool
    is_verified: bool


def wanted_net(name: str | None, address: str | None = None) -> WantedNet:
    """Return what is meant by a name, an address, or both; ValueError where that is no net that can be got.

    A name alone is one of the catalogue; its file comes from HAUTEUR_MIRROR, where that is set, else from its
    publisher. An address alone gives the net the name of its file.
    """
    if address is None:
        known = known_net(name or "")
        if known is None:
            raise ValueError(_unknown(name or ""))
        mirror = os.environ.get(MIRROR_VARIABLE, "")
        return WantedNet(known.name, f"{mirror.rstrip('/')}/{known.file_name}" if mirror else known.address, known)
    name = name or _file_stem(address)
    if not is_name(name):
        raise ValueError(f"{name!r} is no name for a net: letters, digits, - and _, at most 80; give one before --from")
    if name in (*WITHOUT_FILE, *shipped_names()):
        raise ValueError(f"{name} names something else already; give another name before --from")
    return WantedNet(name, address, known_net(name))


def get_net(wanted: WantedNet, on_progress: OnProgress, *, force: bool = False, pause: float = 1.0) -> DownloadedNet:
    """Download a net unless it is here, check it, and put it in its place.

    force: also where it is here. pause: seconds between attempts. Raises ValueError and OSError as
    `hauteur.networks.download.fetch`, and ValueError for a file that is no network; nothing is left of one.
    """
    with locked(nets_folder(), "downloading"):
        here = None if force else downloaded_nets().get(wanted.name)
        if here is not None and wanted.sha256 in (None, sha256_of(here)):
            return DownloadedNet(here, describe(here), is_new=False, is_verified=wanted.sha256 is not None)
        part = nets_folder() / f".{wanted.name}.part"
        fetch(DownloadTask(wanted.address, part, wanted.sha256, pause=pause), on_progress)
        path = _put_in_place(wanted, part)
        return DownloadedNet(path, describe(path), is_new=True, is_verified=wanted.sha256 is not None)


def _put_in_place(wanted: WantedNet, part: Path) -> Path:
    """Move a whole file to its name, once the parser of networks has accepted it; ValueError, and it is gone, else."""
    with part.open("rb") as file:
        kind = KINDS[0] if file.read(2) == GZIP else KINDS[1]
    whole = part.with_name(f"{part.name}{kind}")
    part.replace(whole)
    discard(part)
    try:
        describe(whole)
        for other in KINDS:
            if other != kind:
                (nets_folder() / f"{wanted.name}{other}").unlink(missing_ok=True)
        return whole.replace(nets_folder() / f"{wanted.name}{kind}")
    except ValueError as error:
        reason = str(error).removeprefix(f"{whole}: ")
        raise ValueError(f"{wanted.address}: the file that came is no network: {reason}; nothing is kept") from None
    finally:
        whole.unlink(missing_ok=True)


GZIP = b"\x1f\x8b"
"""The first bytes of lc0's files."""


def _file_stem(address: str) -> str:
    """Return the name of the file at an address, without what tells its kind."""
    name = unquote(urlsplit(address).path).rpartition("/")[2]
    for kind in KINDS:
        name = name.removesuffix(kind)
    return name.replace(".", "-")


def _unknown(name: str) -> str:
    return f"there is no net {name!r} in the list of public nets; `hauteur net get` shows it, --from URL gets others"
