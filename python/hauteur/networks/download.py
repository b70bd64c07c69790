"""Getting public nets over HTTP, from their publisher or elsewhere, into the folder of downloads; what came is checked.

Only http and https are spoken, redirects included, and never https turned into http. The standard variables
(`https_proxy`, `no_proxy` ...) name a proxy. What is not the whole expected file is not kept.
"""

from __future__ import annotations

import http.client
import os
import re
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from ssl import SSLError
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urljoin, urlsplit

from hauteur.networks.names import (
    KINDS,
    WITHOUT_FILE,
    KnownNet,
    downloaded_nets,
    first_hash,
    hash_file,
    is_name,
    known_net,
    nets_folder,
    shipped_names,
)
from hauteur.networks.registry import describe
from hauteur.system.errors import one_line
from hauteur.system.files import sha256_of, write_bytes
from hauteur.system.lock import locked

if TYPE_CHECKING:
    from hauteur.networks.description import NetDescription

MIRROR_VARIABLE = "HAUTEUR_MIRROR"
"""Environment variable: address of a folder that has the files of the catalogue under their own names."""
TIMEOUT = 30.0
"""Seconds without a byte after which a connection counts as cut."""
BLOCK = 1 << 16
GZIP = b"\x1f\x8b"
"""The first bytes of lc0's files."""
ADVICE = "the variable https_proxy names a proxy, HAUTEUR_MIRROR a mirror"

OnProgress = Callable[[int, int | None], None]
"""Called with the bytes that are there and the size of the file, None where the server does not say."""


@dataclass(frozen=True)
class NetRequest:
    """A net to get: its name here, where it is, its entry in the catalogue if it has one."""

    name: str
    address: str
    known: KnownNet | None

    @property
    def sha256(self) -> str | None:
        """Hash that the file must have, None where none is recorded."""
        return self.known.sha256 if self.known else None


@dataclass(frozen=True)
class DownloadedNet:
    """A net in the folder of downloads. is_new: it was downloaded now; is_verified: its hash is that of
    the catalogue, or of the first download.
    """

    path: Path
    description: NetDescription
    is_new: bool
    is_verified: bool


def net_request(name: str | None, address: str | None = None) -> NetRequest:
    """Return the net of a name, an address, or both; ValueError where that is no net that can be got.

    A name alone is one of the catalogue; its file comes from HAUTEUR_MIRROR, where that is set, else from its
    publisher. An address alone gives the net the name of its file.
    """
    if address is None:
        known = known_net(name or "")
        if known is None:
            raise ValueError(
                f"there is no net {name or ''!r} in the list of public nets; `hauteur net get` shows it, --from URL "
                "gets others"
            )
        mirror = os.environ.get(MIRROR_VARIABLE, "")
        source = f"{mirror.rstrip('/')}/{known.file_name}" if mirror else known.address
        return NetRequest(known.name, source, known)
    name = name or _file_stem(address)
    if not is_name(name):
        raise ValueError(f"{name!r} is no name for a net: letters, digits, - and _, at most 80; give one before --from")
    if name in (*WITHOUT_FILE, *shipped_names()):
        raise ValueError(f"{name} names something else already; give another name before --from")
    return NetRequest(name, address, known_net(name))


def _file_stem(address: str) -> str:
    """Return the name of the file at an address, without its suffix; its other dots become dashes."""
    file = unquote(urlsplit(address).path).rpartition("/")[2]
    return re.sub(r"(\.pb\.gz|\.safetensors)$", "", file).replace(".", "-")


def get_net(request: NetRequest, on_progress: OnProgress, *, force: bool = False) -> DownloadedNet:
    """Download a net unless it is here, check it, and put it in its place.

    force: also where it is here. Without a hash in the catalogue that of the first download is recorded beside the
    file, and later ones are compared with it. Raises ValueError and OSError as `fetch`, and ValueError for a file that
    is no network; nothing is left of one.
    """
    # Two commands that get the same net would write into the same unfinished file.
    with locked(nets_folder(), "downloading"):
        here = downloaded_nets().get(request.name)
        expected = request.sha256 or None
        if expected is None and here is not None:
            expected = first_hash(here)
        if here is not None and not force and expected in (None, sha256_of(here)):
            _record(request, here, expected)
            return DownloadedNet(here, describe(here), is_new=False, is_verified=expected is not None)
        part = nets_folder() / f".{request.name}.part"
        fetch(request.address, part, expected, on_progress)
        path = _put_in_place(request, part)
        _record(request, path, expected)
        return DownloadedNet(path, describe(path), is_new=True, is_verified=expected is not None)


def _record(request: NetRequest, path: Path, expected: str | None) -> None:
    """Record the hash of a public net of which none was known; files of other addresses may change."""
    if expected is None and request.known is not None:
        write_bytes(hash_file(path), f"{sha256_of(path)}\n".encode())


def _put_in_place(request: NetRequest, part: Path) -> Path:
    """Move a whole file to its name, once the parser of networks has accepted it; ValueError, and it is gone, else."""
    with part.open("rb") as file:
        is_gzip = file.read(2) == GZIP
    kind, other = KINDS if is_gzip else KINDS[::-1]
    # Still hidden by its dot: no command may find the file by the net's name before it was parsed.
    whole = part.replace(part.with_name(f"{part.name}{kind}"))
    try:
        describe(whole)
        # A file of the other kind would stay in the folder under the same name, and might be the one that is found.
        (nets_folder() / f"{request.name}{other}").unlink(missing_ok=True)
        return whole.replace(nets_folder() / f"{request.name}{kind}")
    except ValueError as error:
        reason = str(error).removeprefix(f"{whole}: ")
        raise ValueError(f"{request.address}: the file that came is no network: {reason}; nothing is kept") from None
    finally:
        whole.unlink(missing_ok=True)


# The transfer.


def unobserved(done: int, size: int | None) -> None:
    """Show no progress."""
    del done, size


def fetch(
    address: str,
    part: Path,
    sha256: str | None = None,
    on_progress: OnProgress = unobserved,
    *,
    most_bytes: int = 2**30,
) -> str:
    """Bring the whole file of an address to `part`; return its sha256.

    Raises ValueError, in one line, for an address that is no web address, a server that cannot be reached or refuses, a
    transfer that is cut, a file that is too large, or one with another hash; nothing of it is kept.
    """
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{address}: only addresses with http:// or https:// are downloaded from")
    try:
        _transfer(address, part, most_bytes, on_progress)
        found = sha256_of(part)
        if sha256 not in (None, found):
            raise ValueError(
                f"{address}: is not the expected file: its sha256 is {found}, expected {sha256}; nothing is kept"
            )
    # Also after Ctrl-C: half a file must not be taken for a net.
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return found


def _transfer(address: str, part: Path, most_bytes: int, on_progress: OnProgress) -> None:
    """Write the file of an address; ValueError where it does not come, is cut, or is too large."""
    # identity: a server that packs the file on its way would send other bytes than those of size and hash.
    request = urllib.request.Request(address, headers={"User-Agent": "hauteur", "Accept-Encoding": "identity"})
    opener = urllib.request.build_opener(WebRedirects)
    try:
        with opener.open(request, timeout=TIMEOUT) as answer, part.open("wb") as file:
            length = answer.headers.get("Content-Length", "")
            size = int(length) if length.isdigit() else None
            done = 0
            on_progress(done, size)
            # By what the server says, so that nothing is downloaded in vain, and by what comes, as it may lie.
            while max(done, size or 0) <= most_bytes:
                block = answer.read(BLOCK)
                if not block:
                    break
                done += file.write(block)
                on_progress(done, size)
            if max(done, size or 0) > most_bytes:
                raise ValueError(f"{address}: has more than the {most_bytes:,} bytes that are allowed")
            # An early end of the connection is no error of http's reader: the file would only be short.
            if size is not None and done != size:
                raise ConnectionError(f"the connection was cut after {done:,} of {size:,} bytes")
    except urllib.error.HTTPError as refusal:
        refusal.close()
        raise ValueError(f"{address}: the server answers {refusal.code} {refusal.reason}") from None
    except (urllib.error.URLError, http.client.HTTPException, ConnectionError, TimeoutError, SSLError) as problem:
        host = urlsplit(address).hostname
        raise ValueError(f"{address}: no connection to {host}: {_reason_of(problem)}; {ADVICE}") from None


def _reason_of(problem: Exception) -> str:
    """Return in a line why there was no connection."""
    cause = getattr(problem, "reason", problem)
    text = getattr(cause, "strerror", None)
    if text:
        return str(text)
    if isinstance(cause, Exception):
        return one_line(cause)
    return str(cause)


class WebRedirects(urllib.request.HTTPRedirectHandler):
    """Redirects within the web alone, and never from https to http."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        """Return the request to the new address; ValueError for one that is not followed."""
        address = urljoin(req.full_url, newurl)
        allowed = ("https",) if req.type == "https" else ("http", "https")
        if urlsplit(address).scheme not in allowed:
            raise ValueError(f"{req.full_url}: redirects to {address}, which is not followed")
        return super().redirect_request(req, fp, code, msg, headers, address)
