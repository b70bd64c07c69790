"""Workers on Ray: one actor each. Ray decides on which node each runs; one that ends is replaced, anywhere."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import platform
import queue
import signal
import socket
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hauteur.cluster.net_folder import NetFolder
from hauteur.cluster.unit import Event, Failed, Finished, Joined, Left, Sources, Unit, UnitResult, drained
from hauteur.cluster.worker import UnitWorker, described, trace_of
from hauteur.system.extras import require
from hauteur.system.hardware import processor_name
from hauteur.system.plugins import VARIABLE, named_for_processes

if TYPE_CHECKING:
    from hauteur.cluster.options import WorkerOptions

FACTS = "facts"
"""Call of a worker that asks what it is."""
LIVE = "live"
"""Call of a worker that ends with its process."""
CALLS = 8
"""Calls that a worker answers at a time: units, and the one that only ends with its process."""
MOST_NETS = 8
"""Nets that the object store holds for workers that join, and that a worker keeps."""
MOST_STARTS = 3
"""Workers in a row that could not be started, where none ever was; then the work stops."""
LOOK_SECONDS = 1.0
"""Seconds between two looks at the free places of the cluster."""
ANSWER_SECONDS = 10.0
"""Seconds that a head has to answer."""


@dataclass
class _Actor:
    """A worker. cause: why it is replaced."""

    handle: Any
    joined: bool = False
    cause: str = ""


class RayFleet:
    """Workers of a cluster: as many as asked for, else as many as fit; their number grows with the cluster.

    ValueError, in one line, where there is no such cluster.
    """

    def __init__(self, options: WorkerOptions) -> None:
        assert options.cluster is not None
        self._threads = options.threads or 1
        self._gpus = options.gpus
        self._most = options.workers
        self._ray = connect(options.cluster)
        self.name = f"the cluster at {self._ray.get_runtime_context().gcs_address}"
        remote = self._ray.remote(
            num_cpus=self._threads,
            num_gpus=self._gpus,
            max_restarts=0,
            max_task_retries=0,
            max_concurrency=CALLS,
        )
        self._start = partial(remote(RayWorker).remote, self._threads, named_for_processes())
        self._actors: dict[str, _Actor] = {}
        self._nets: OrderedDict[str, Any] = OrderedDict()
        self._ended: queue.Queue[tuple[str, str, Any]] = queue.Queue()
        self._count = self._failed_starts = 0
        self._have_joined = False
        self._next_look = 0.0
        self._last_cause = ""

    def submit(self, worker: str, unit: Unit, sources: Sources) -> None:
        """Call a worker with a unit, and with its nets, which Ray copies to each machine once."""
        try:
            nets = [(sha256, self._net(sha256, sources)) for sha256 in unit.files]
            handle = self._actors[worker].handle
            call = handle.play.remote(json.dumps(unit.to_json()), nets)
        except Exception as error:  # of the file, or of Ray's store
            self._ended.put((worker, unit.key, {"cause": f"could not be sent: {described(error)}"}))
        else:
            self._follow(worker, unit.key, call)

    def wait(self, seconds: float) -> list[Event]:
        """Return what has happened, after at most this time; ask for workers where there is room for more."""
        if time.monotonic() >= self._next_look:
            self._next_look = time.monotonic() + LOOK_SECONDS
            self._start_workers()
        found: list[Event] = []
        for ended in drained(self._ended, seconds):
            found += self._taken(*ended)
        return found

    def replace(self, worker: str, cause: str) -> None:
        """Kill a worker; `wait` asks for another."""
        if worker in self._actors:
            self._actors[worker].cause = cause
            self._ray.kill(self._actors[worker].handle)

    def shortage(self) -> str | None:
        """Return what workers wait for, in words; None where all that were asked for have joined."""
        actors = list(self._actors.values())
        missing = [actor for actor in actors if not actor.joined]
        if not actors:
            needs = f"{self._threads} CPUs"
            if self._gpus:
                needs += f" and {self._gpus:g} GPUs"
            return f"no node of the cluster has {needs}"
        if not missing:
            return None
        cause = f"; {self._last_cause}" if self._last_cause else ""
        return f"{len(missing)} of {len(actors)} workers wait for resources{cause}"

    def close(self) -> None:
        """Kill all workers and leave the cluster."""
        for actor in self._actors.values():
            with suppress(Exception):
                self._ray.kill(actor.handle)
        with suppress(Exception):
            self._ray.shutdown()

    def _start_workers(self) -> None:
        """Ask for the workers that are missing. ValueError where the cluster is gone."""
        try:
            has = self._ray.cluster_resources()
        except Exception as error:  # Ray raises all kinds of them
            raise ValueError(f"{self.name} is gone: {first_line(error)}") from None
        places = int(has.get("CPU", 0) // self._threads)
        if self._gpus:
            places = min(places, int(has.get("GPU", 0) / self._gpus))
        for _ in range((self._most or places) - len(self._actors)):
            self._count += 1
            name = f"ray-{self._count}"
            handle = self._start()
            self._actors[name] = _Actor(handle)
            self._follow(name, FACTS, handle.facts.remote())
            self._follow(name, LIVE, handle.live.remote())

    def _follow(self, worker: str, call: str, reference: Any) -> None:
        """Have the end of a call reported, from a thread of Ray's."""
        reference.future().add_done_callback(
            lambda done: self._ended.put((worker, call, done.exception() or done.result()))
        )

    def _net(self, sha256: str, sources: Sources) -> Any:
        """Return the handle of a net in the object store."""
        if sha256 not in self._nets:
            self._nets[sha256] = self._ray.put(sources[sha256].read_bytes())
            while len(self._nets) > MOST_NETS:
                self._nets.popitem(last=False)
        self._nets.move_to_end(sha256)
        return self._nets[sha256]

    def _taken(self, worker: str, call: str, found: Any) -> list[Event]:
        """Return the event that the end of a call is: one at most."""
        actor = self._actors.get(worker)
        if actor is None:
            return []
        if isinstance(found, BaseException):
            # All calls of a process that ends fail; `live`, which never ends by itself, speaks for them once.
            if call != LIVE:
                return []
            return self._left(worker, actor, found)
        if call == FACTS:
            actor.joined = self._have_joined = True
            return [Joined(worker, **found)]
        if "cause" in found:
            return [Failed(worker, call, found["cause"], found.get("trace", ""))]
        return [Finished(worker, UnitResult(**found))]

    def _left(self, worker: str, actor: _Actor, error: BaseException) -> list[Event]:
        """Note that the process of a worker has ended. ValueError where none ever comes."""
        del self._actors[worker]
        cause = actor.cause or first_line(error)
        if actor.joined:
            return [Left(worker, cause)]
        self._failed_starts += 1
        self._last_cause = cause
        if self._failed_starts >= MOST_STARTS and not self._have_joined:
            raise ValueError(f"{self.name} starts no worker: {cause}")
        return []


class RayWorker:
    """Plays units in a process that Ray has started. plugins: what HAUTEUR_IMPORT names at the driver."""

    def __init__(self, threads: int, plugins: str) -> None:
        os.environ[VARIABLE] = plugins
        self._folder = NetFolder()
        self._nets: OrderedDict[str, Path] = OrderedDict()
        self._lock = threading.Lock()
        self._reports: dict[str, Future[dict[str, Any]]] = {}
        self._worker = UnitWorker(lambda sha256, _: self._nets[sha256], self._deliver, self._fail, threads=threads)

    def facts(self) -> dict[str, Any]:
        """Return where this worker runs."""
        return {"host": platform.node(), "process": os.getpid(), "processor": processor_name()}

    def live(self) -> None:
        """Never return: the call ends with the process, which its caller notices at once."""
        threading.Event().wait()

    def play(self, message: str, nets: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        """Return what became of a unit. nets: their sha256 and handles."""
        import ray

        unit = json.loads(message)
        done = self._reports[unit["key"]] = Future()
        try:
            with self._lock:
                for sha256, handle in nets:
                    if sha256 not in self._nets:
                        self._store(sha256, unit["files"][sha256], ray.get(handle))
            self._worker.receive(unit)
            return done.result()
        except Exception as error:  # reported as text: it may be of a type that the driver does not have
            return {"cause": described(error), "trace": trace_of(error)}
        finally:
            self._reports.pop(unit["key"], None)

    def _deliver(self, result: UnitResult) -> None:
        self._reports[result.key].set_result(asdict(result))

    def _fail(self, key: str, cause: str, trace: str) -> None:
        self._reports[key].set_result({"cause": cause, "trace": trace})

    def _store(self, sha256: str, name: str, content: bytes) -> None:
        """Keep a net. ValueError where it is not the one that is named."""
        if hashlib.sha256(content).hexdigest() != sha256:
            raise ValueError(f"{name}: is not the file that the unit names (its sha256 differs)")
        while len(self._nets) >= MOST_NETS:
            self._nets.popitem(last=False)[1].unlink()
        self._nets[sha256] = self._folder.path / f"{sha256}-{Path(name).name}"
        self._nets[sha256].write_bytes(content)


def connect(cluster: str) -> Any:
    """Return Ray, joined to a cluster: `auto` or HOST:PORT. ValueError, in one line, where that fails."""
    require("a cluster of workers", "ray")
    if cluster != "auto":
        host, _, port = cluster.rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), ANSWER_SECONDS).close()
        except OSError as error:
            cause = error.strerror or str(error)
            raise ValueError(
                f"no head of a cluster answers at {cluster} ({cause}): `ray start --head` is one"
            ) from None
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")  # its core prints about lost nodes; the fleet reports them
    import ray

    answer = signal.getsignal(signal.SIGTERM)
    try:
        ray.init(address=cluster, log_to_driver=False, logging_level=logging.CRITICAL, configure_logging=False)
    except Exception as error:  # Ray raises all kinds of them
        raise ValueError(f"the cluster {cluster}: {first_line(error)}") from error
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, answer)  # Ray has put one in its place that ends the process
    return ray


def first_line(error: BaseException) -> str:
    """Return what Ray reports in one line, without what it advises."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if lines:
        return " ".join(lines)[:300]
    return type(error).__name__
