"""A worker on Ray: the actor's class. Its methods take and return text, bytes and handles of bytes alone."""

from __future__ import annotations

import hashlib
import io
import json
import os
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from hauteur.cluster.facts import worker_facts
from hauteur.cluster.framing import message_bytes, read_message
from hauteur.cluster.unit import UnitResult
from hauteur.cluster.worker import UnitWorker, described
from hauteur.system.files import sha256_of, write_bytes
from hauteur.system.hardware import cache_directory, command_output, has_nvidia_driver
from hauteur.system.plugins import VARIABLES

MOST_NET = 2**31
"""Bytes of a net."""
MOST_NETS = 4 * 2**30
"""Bytes of all nets that a machine keeps; those that were not used for the longest time are deleted first."""
NET_AGE = 3600.0
"""Seconds for which a net is kept at least, since another worker may open it."""
FILE_SECONDS = 600.0
"""Seconds after which a net that was announced has to be there."""


class RayWorker:
    """Plays units in a process that Ray has started. settings: JSON with threads, plugins and gpus."""

    def __init__(self, settings: str) -> None:
        fields = json.loads(settings)
        self._threads, self._gpus = int(fields["threads"]), float(fields["gpus"])
        os.environ[VARIABLES[0]] = fields["plugins"]
        self._reports: dict[str, Future[bytes]] = {}
        self._nets: dict[str, Path] = {}
        self._changed = threading.Condition()
        self._worker = UnitWorker(self._net, self._deliver, self._fail, threads=self._threads)

    def facts(self) -> bytes:
        """Return what this process is, as a report."""
        facts = worker_facts(self._threads)
        if self._gpus and (name := gpu_name()):
            facts = replace(facts, device_class=f"{name}, {facts.device_class}")
        return message_bytes({"report": "joined", "facts": asdict(facts)})

    def live(self) -> None:
        """Never return: the call ends with the process, which its caller notices at once."""
        threading.Event().wait()

    def play(self, message: bytes, nets: Sequence[Any]) -> bytes:
        """Return what became of a unit, as a report. nets: handles of those that this worker has not had yet."""
        key = ""
        try:
            fields, _ = read_message(io.BytesIO(message)) or ({}, b"")
            key = fields["key"]
            done = self._reports[key] = Future()
            for sha256, handle in zip(fields["nets"], nets, strict=True):
                self._store(sha256, fields["unit"]["files"][sha256], handle)
            self._worker.receive(key, fields["unit"])
            return done.result()
        except Exception as error:  # reported as text: what Ray would report is a pickled object
            return message_bytes({"report": "failed", "key": key, "cause": described(error)})
        finally:
            self._reports.pop(key, None)

    def _deliver(self, result: UnitResult) -> None:
        self._report(result.key, {"report": "done", "key": result.key, "facts": dict(result.facts)}, result.content)

    def _fail(self, key: str, cause: str) -> None:
        self._report(key, {"report": "failed", "key": key, "cause": cause})

    def _report(self, key: str, fields: Mapping[str, Any], content: bytes = b"") -> None:
        if (waiting := self._reports.get(key)) is not None:
            waiting.set_result(message_bytes(fields, content))

    def _net(self, sha256: str, name: str) -> Path:
        """Return where a net is; it may be on its way."""
        with self._changed:
            if not self._changed.wait_for(lambda: sha256 in self._nets, FILE_SECONDS):
                raise ValueError(f"{name} did not arrive within {FILE_SECONDS:.0f} seconds")
            path = self._nets[sha256]
        if sha256_of(path) != sha256:
            path.unlink(missing_ok=True)
            raise ValueError(f"{path}: is not the file that was sent (its sha256 differs)")
        os.utime(path)
        return path

    def _store(self, sha256: str, name: str, handle: Any) -> None:
        """Put a net into the cache of this machine, unless it is there."""
        folder = cache_directory() / "cluster" / "nets"
        path = folder / f"{sha256}-{Path(name).name}"
        if not (path.is_file() and sha256_of(path) == sha256):
            import ray

            content = ray.get(handle)
            if not isinstance(content, bytes) or len(content) > MOST_NET:
                raise ValueError(f"{name}: what was sent is no file of at most {MOST_NET} bytes")
            if hashlib.sha256(content).hexdigest() != sha256:
                raise ValueError(f"{name}: is not the file that was named (its sha256 differs)")
            folder.mkdir(parents=True, exist_ok=True)
            tidy(folder, MOST_NETS - len(content))
            write_bytes(path, content, lasting=False)
        os.utime(path)
        with self._changed:
            self._nets[sha256] = path
            self._changed.notify_all()


def tidy(folder: Path, most: int) -> None:
    """Delete the files of a folder that were used longest ago until the rest has `most` bytes; none younger than an
    hour.
    """
    files = []
    for path in folder.iterdir():
        with suppress(FileNotFoundError):  # another worker tidies too
            found = path.stat()
            files.append((found.st_mtime, found.st_size, path))
    total = sum(size for _, size, _ in files)
    for used, size, path in sorted(files):
        if total <= most or time.time() - used < NET_AGE:
            return
        path.unlink(missing_ok=True)
        total -= size


def gpu_name() -> str:
    """Return the name of the GPU that Ray gave to this process, and of its driver; empty without one."""
    first = os.environ.get("CUDA_VISIBLE_DEVICES", "").partition(",")[0]
    query = ("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader")
    return command_output(*query, "-i", first or "0") if has_nvidia_driver() else ""
