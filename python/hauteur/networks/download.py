"""Downloads over HTTP: a part of a file is kept and continued, what is not the expected file is not kept.

Only http and https are spoken, redirects included, and never https turned into http. The standard variables
(`https_proxy`, `no_proxy` ...) name a proxy.
"""

from __future__ import annotations

import hashlib
import http.client
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from urllib.parse import urljoin, urlsplit

from hauteur.system.files import read_json, write_json

MOST_BYTES = 2**30
"""Largest file that is downloaded."""
TIMEOUT = 30.0
"""Seconds without a byte after which a connection counts as cut."""
ATTEMPTS = 5
"""Connections in a row that may bring nothing."""
BLOCK = 1 << 16
PROXY = "the variable https_proxy names a proxy, HAUTEUR_MIRROR a mirror"
"""Advice where there is no connection at all."""

OnProgress = Callable[[int, int | None], None]
"""Called with the bytes that are there and the size of the file, None where the server does not say."""


@dataclass(frozen=True)
class DownloadTask:
    """One file to get. part: where it grows; sha256: what it must have; most_bytes: what it may have.

    attempts, pause: connections in a row that may fail, and seconds between them; timeout: seconds without a byte.
    """

    address: str
    part: Path
    sha256: str | None = None
    most_bytes: int = MOST_BYTES
    attempts: int = ATTEMPTS
    pause: float = 1.0
    timeout: float = TIMEOUT


def unobserved(done: int, size: int | None) -> None:
    """Show nothing: nobody watches this download."""
    del done, size


def fetch(task: DownloadTask, on_progress: OnProgress = unobserved) -> str:
    """Bring the whole file to `task.part`, going on where an earlier call was cut; return its sha256.

    Raises ValueError, in one line, for an address that is no web address, a server that cannot be reached or refuses, a
    file that is too large, or one with another hash; the part is kept where it can be continued, else removed.
    """
    check_address(task.address)
    failures, first = 0, True
    while True:
        before = _size(task.part)
        try:
            if _transfer(task, on_progress):
                return _checked(task)
            error = "the connection was cut"
        except urllib.error.HTTPError as refusal:
            refusal.close()
            raise ValueError(f"{task.address}: the server answers {refusal.code} {refusal.reason}") from None
        except (OSError, http.client.HTTPException) as problem:
            if getattr(problem, "filename", None) is not None:  # of the disk, not of the connection
                raise
            error = _reason(problem)
            failures += task.attempts if first and isinstance(problem, urllib.error.URLError) else 0
        failures, first = 0 if _size(task.part) > before else failures + 1, False
        if failures >= task.attempts:
            raise ValueError(_gave_up(task, error))
        time.sleep(task.pause)


def _gave_up(task: DownloadTask, error: str) -> str:
    """Return the error line for a connection that does not come about, or ends again and again."""
    kept = _size(task.part)
    rest = f"{kept:,} bytes are kept, the same command goes on from there" if kept else PROXY
    return f"{task.address}: no connection to {urlsplit(task.address).hostname}: {error}; {rest}"


def check_address(address: str) -> None:
    """Raise ValueError for an address that is not of the web."""
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{address}: only addresses with http:// or https:// are downloaded from")


def discard(part: Path) -> None:
    """Remove a part and what is known of it."""
    for path in (part, _state_file(part)):
        path.unlink(missing_ok=True)


def _state_file(part: Path) -> Path:
    """File beside a part: address and version (ETag or date) of what it is a part of."""
    return part.with_name(f"{part.name}.json")


def _size(part: Path) -> int:
    return part.stat().st_size if part.is_file() else 0


def _transfer(task: DownloadTask, on_progress: OnProgress) -> bool:
    """Read from one connection until its end; return whether the file is whole then."""
    version = _version(task)
    if version is None:
        discard(task.part)
    start = _size(task.part)
    answer = _open(task, start, version or "")
    if answer is None:
        return True
    with closing(answer):
        begin, size = _range_of(answer, start)
        if size is not None and size > task.most_bytes:
            discard(task.part)
            raise ValueError(f"{task.address}: has {size:,} bytes, allowed are at most {task.most_bytes:,}")
        _remember(task, answer)
        with task.part.open("r+b" if begin else "wb") as file:
            file.truncate(begin)
            file.seek(begin)
            done = _copy(task, answer, file, begin, size, on_progress)
    return done == size if size is not None else True


def _version(task: DownloadTask) -> str | None:
    """Return the version of which a part is there, empty where only the hash will tell; None where it has no use."""
    state = _state_file(task.part)
    if not task.part.is_file() or not state.is_file():
        return None
    try:
        known = read_json(state)
    except ValueError:
        return None
    version = known.get("version")
    if known.get("address") != task.address or not isinstance(version, str):
        return None
    return version if version or task.sha256 else None


def _remember(task: DownloadTask, answer: Any) -> None:
    """Note of which version of the file this is a part: its strong ETag, else its date."""
    tag = answer.headers.get("ETag", "")
    version = tag if tag and not tag.startswith("W/") else answer.headers.get("Last-Modified", "")
    write_json(_state_file(task.part), {"address": task.address, "version": version})


def _open(task: DownloadTask, start: int, version: str) -> Any:
    """Request the file from byte `start` on, if it is still that version; None where nothing is behind `start`."""
    headers = {"User-Agent": "hauteur", "Accept-Encoding": "identity"}
    if start:
        headers["Range"] = f"bytes={start}-"
        if version:
            headers["If-Range"] = version
    request = urllib.request.Request(task.address, headers=headers)
    try:
        return web_opener().open(request, timeout=task.timeout)
    except urllib.error.HTTPError as error:
        if error.code != http.client.REQUESTED_RANGE_NOT_SATISFIABLE or not start:
            raise
        error.close()
        if error.headers.get("Content-Range", "").strip() == f"bytes */{start}":
            return None
        discard(task.part)  # it is no part of the file
        return web_opener().open(task.address, timeout=task.timeout)


def _range_of(answer: Any, start: int) -> tuple[int, int | None]:
    """Return where the bytes of an answer belong, and the size of the whole file; ValueError for a wrong range."""
    if answer.status != http.client.PARTIAL_CONTENT:
        length = answer.headers.get("Content-Length", "")
        return 0, int(length) if length.isdigit() else None
    found = re.fullmatch(r"bytes (\d+)-(\d+)/(\d+|\*)", answer.headers.get("Content-Range", "").strip())
    if found is None or int(found[1]) != start:
        raise http.client.HTTPException("the server sends another part than the one that was requested")
    return start, None if found[3] == "*" else int(found[3])


def _copy(
    task: DownloadTask, answer: Any, file: IO[bytes], done: int, size: int | None, on_progress: OnProgress
) -> int:
    """Append what comes; return the bytes that are there. What came before a cut is on disk."""
    on_progress(done, size)
    while block := answer.read(BLOCK):
        done += len(block)
        if done > task.most_bytes:
            file.close()
            discard(task.part)
            raise ValueError(f"{task.address}: has more than the {task.most_bytes:,} bytes that are allowed")
        try:
            file.write(block)
            file.flush()
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(task.part)) from None
        on_progress(done, size)
    return done


def _checked(task: DownloadTask) -> str:
    """Return the hash of the whole file; ValueError, and nothing is left, where it is not the expected one."""
    with task.part.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if task.sha256 is not None and found != task.sha256:
        discard(task.part)
        raise ValueError(
            f"{task.address}: is not the expected file: its sha256 is {found}, expected {task.sha256}; nothing is kept"
        )
    return found


def _reason(problem: OSError | http.client.HTTPException) -> str:
    """Return the reason of a failed connection in a few words."""
    cause = getattr(problem, "reason", problem)
    text = getattr(cause, "strerror", None) or str(cause) or type(cause).__name__
    return " ".join(str(text).split())


class WebRedirects(urllib.request.HTTPRedirectHandler):
    """Redirects within the web alone, and never from https to http."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        """Return the request to the new address; ValueError for one that is not followed."""
        address = urljoin(req.full_url, newurl)
        allowed = ("https",) if req.type == "https" else ("http", "https")
        if urlsplit(address).scheme not in allowed:
            raise ValueError(f"{req.full_url}: redirects to {address}, which is not followed")
        return super().redirect_request(req, fp, code, msg, headers, address)


def web_opener() -> urllib.request.OpenerDirector:
    """Return what opens addresses of the web and nothing else: no files, no ftp, no data in the address."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        WebRedirects(),
        urllib.request.HTTPErrorProcessor(),
        urllib.request.HTTPDefaultErrorHandler(),
    ):
        opener.add_handler(handler)
    return opener
