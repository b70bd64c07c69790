"""Workers on Ray: one actor each, as many as the cluster has room for."""

from __future__ import annotations

import io
import json
import math
import os
import queue
import time
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hauteur import __version__
from hauteur.cluster.fleet import Event, Failed, Finished, Joined, Left, Sources, WorkerFacts
from hauteur.cluster.framing import read_message, write_message
from hauteur.cluster.ray_nodes import ClusterView, Need
from hauteur.cluster.ray_session import NODE_LEFT, cause_of, connect
from hauteur.cluster.ray_worker import MOST_NET, RayWorker
from hauteur.cluster.unit import MOST_CONTENT, Unit, UnitResult
from hauteur.system.plugins import VARIABLES, imported

if TYPE_CHECKING:
    from hauteur.cluster.open import WorkerOptions

NO_ROOM = "there is no room for it any more"
CALLS = 8
"""Calls that an actor answers at a time: units, and the one that only ends with its process."""
MOST_NETS = 8
"""Nets that the object store holds for workers that join."""
MOST_STARTS = 3
"""Workers in a row that could not be started, where none ever was; then the work stops."""
MOST_PAUSE = 30.0
"""Seconds until the next start after some that failed: doubled each time, until one joins."""


@dataclass
class _Actor:
    """A worker. shown: the nets that it has been given; units: keys of those in flight."""

    handle: Any
    asked: float
    joined: bool = False
    shown: set[str] = field(default_factory=set)
    units: set[str] = field(default_factory=set)
    cause: str = ""


class RayFleet:
    """Workers of a cluster; their number follows the nodes that are there."""

    def __init__(self, options: WorkerOptions) -> None:
        assert options.cluster is not None
        self._threads, self._gpus = options.threads or 1, options.gpus
        self._labels = dict(label.split("=", 1) for label in options.labels)
        self._most = options.workers or math.inf
        self._session = connect(options.cluster, cpus=options.workers * self._threads)
        self._ray = self._session.ray
        self.name = f"the cluster at {self._session.address}"
        self._view = ClusterView(self._session, Need(self._threads, self._gpus, self._labels))
        self._class = self._ray.remote(
            num_cpus=self._threads,
            num_gpus=self._gpus,
            max_restarts=0,  # a worker that ended is replaced by another one, under another name
            max_task_retries=0,  # lost units are the scheduler's
            max_concurrency=CALLS,
            **({"label_selector": self._labels} if self._labels else {}),
        )(RayWorker)
        self._settings = json.dumps(
            {
                "threads": self._threads,
                "gpus": self._gpus,
                "plugins": ",".join([*filter(None, [os.environ.get(VARIABLES[0])]), *imported()]),
            }
        )
        self._actors: dict[str, _Actor] = {}
        self._nets: OrderedDict[str, Any] = OrderedDict()
        self._ended: queue.Queue[tuple[str, str, Any] | None] = queue.Queue()
        self._count = 0
        self._lost_places = 0
        self._have_joined = False
        self._failed_starts = 0
        self._next_start = 0.0
        self._last_cause = ""

    def submit(self, worker: str, unit: Unit, sources: Sources) -> None:
        """Call a worker with a unit, and with the nets that it has not had."""
        actor = self._actors.get(worker)
        if actor is None or not actor.joined:
            return  # its `Left` is on its way
        new = [sha256 for sha256 in unit.files if sha256 not in actor.shown]
        try:
            nets = [self._net(sha256, sources) for sha256 in new]
        except (OSError, ValueError) as error:
            self._ended.put((worker, unit.key, error))
            return
        message = io.BytesIO()
        write_message(message, {"key": unit.key, "unit": unit.to_json(), "nets": new})
        actor.shown.update(new)
        actor.units.add(unit.key)
        self._follow(worker, unit.key, actor.handle.play.remote(message.getvalue(), nets))

    def wait(self, seconds: float) -> list[Event]:
        """Return what has happened. ValueError where the cluster is gone, or can start no worker."""
        if (lost := self._view.lost()) is not None:
            raise ValueError(f"{self.name} is gone ({lost}); the same command goes on where it stopped")
        self._follow_nodes()
        events: list[Event] = []
        end = time.monotonic() + seconds
        while not events and (left := end - time.monotonic()) > 0:
            try:
                found = self._ended.get(timeout=left)
            except queue.Empty:
                break
            if found is None:
                break
            events += self._take(*found)
        return events

    def wake(self) -> None:
        """End a `wait`."""
        self._ended.put(None)

    def remove(self, worker: str, cause: str, *, replace: bool = True) -> None:
        """Kill a worker."""
        actor = self._actors.get(worker)
        if actor is not None and not actor.cause:
            actor.cause = cause
            self._lost_places += not replace
            self._kill(actor)

    def shortage(self) -> str | None:
        """Return why there are not more workers."""
        joined = sum(actor.joined for actor in self._actors.values())
        text = self._view.shortage(joined, self._wanted(), self._most)
        return f"{text}; the last one that was started ended: {self._last_cause}" if self._failed_starts else text

    def close(self) -> None:
        """End all workers."""
        if self._view.lost() is None:
            for actor in self._actors.values():
                self._kill(actor)
        self._nets.clear()
        self._view.close()
        self._session.close()

    def _wanted(self) -> int:
        return int(min(self._most, self._view.room)) - self._lost_places

    def _follow_nodes(self) -> None:
        """Ask for workers that there is room for; take back requests that there is no room for any more."""
        wanted = self._wanted()
        for _ in range(wanted - len(self._actors) if time.monotonic() >= self._next_start else 0):
            self._start()
        waiting = [name for name, actor in self._actors.items() if not actor.joined and not actor.cause]
        for name in waiting[: max(0, len(self._actors) - max(0, wanted))]:
            self.remove(name, NO_ROOM)

    def _start(self) -> None:
        self._count += 1
        name = f"ray-{self._count}"
        actor = self._actors[name] = _Actor(self._class.remote(self._settings), time.monotonic())
        self._follow(name, "facts", actor.handle.facts.remote())
        self._follow(name, "live", actor.handle.live.remote())

    def _follow(self, worker: str, call: str, handle: Any) -> None:
        """Have the end of a call reported, from a thread of Ray's."""
        handle.future().add_done_callback(
            lambda done: self._ended.put((worker, call, done.exception() or done.result()))
        )

    def _net(self, sha256: str, sources: Sources) -> Any:
        """Return the handle of a net in the object store."""
        if sha256 not in self._nets:
            path = sources[sha256]
            if path.stat().st_size > MOST_NET:
                raise ValueError(f"{path}: has more than {MOST_NET} bytes")
            self._nets[sha256] = self._ray.put(path.read_bytes())
            while len(self._nets) > MOST_NETS:
                self._nets.popitem(last=False)
        self._nets.move_to_end(sha256)
        return self._nets[sha256]

    def _take(self, worker: str, call: str, found: Any) -> list[Event]:
        """Return what the end of a call means."""
        actor = self._actors.get(worker)
        if actor is None:
            return []
        if isinstance(found, (OSError, ValueError)) and not isinstance(found, self._ray.exceptions.RayError):
            return [Failed(worker, call, str(found))]
        if isinstance(found, BaseException):
            return self._left(worker, actor, found)
        if call == "facts":
            return self._joined(worker, actor, found)
        actor.units.discard(call)
        try:
            return [_outcome(worker, call, found)]
        except ValueError as error:
            return [Failed(worker, call, f"{worker}: {error}")]

    def _joined(self, worker: str, actor: _Actor, report: Any) -> list[Event]:
        facts = _facts_of(report)
        if facts.version != __version__:
            actor.cause = f"{facts.host} has hauteur {facts.version}, this process {__version__}"
            self._kill(actor)
            return []
        actor.joined = self._have_joined = True
        self._failed_starts = 0
        return [Joined(worker, facts)]

    def _left(self, worker: str, actor: _Actor, error: BaseException) -> list[Event]:
        del self._actors[worker]
        cause = actor.cause or cause_of(error)
        self._kill(actor)  # one that could not be reached may still be there
        if actor.joined:
            return [Left(worker, cause)]
        if cause not in (NODE_LEFT, NO_ROOM):
            self._failed_starts, self._last_cause = self._failed_starts + 1, cause
            self._next_start = time.monotonic() + min(MOST_PAUSE, 2.0**self._failed_starts)
        if self._failed_starts >= MOST_STARTS and not self._have_joined:
            raise ValueError(f"{self.name} starts no worker: {cause}")
        return []

    def _kill(self, actor: _Actor) -> None:
        with suppress(Exception):
            self._ray.kill(actor.handle)


def _facts_of(report: Any) -> WorkerFacts:
    if not isinstance(report, bytes) or len(report) > 10_000:
        raise ValueError("a worker reports no facts")
    return WorkerFacts(**json.loads(report))


def _outcome(worker: str, key: str, report: Any) -> Event:
    """Return what a worker has made of a unit. ValueError for what is no report."""
    if not isinstance(report, bytes) or len(report) > MOST_CONTENT + 2**16:
        raise ValueError("its report is no message of the right size")
    fields, content = read_message(io.BytesIO(report)) or ({}, b"")
    if fields.get("done", fields.get("failed")) != key:
        raise ValueError("its report is of another unit")
    if "failed" in fields:
        return Failed(worker, key, str(fields["cause"]))
    return Finished(worker, UnitResult(key, content, fields["facts"]))
