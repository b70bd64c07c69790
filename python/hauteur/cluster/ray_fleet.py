"""Workers on Ray: one actor each, as many as the cluster has room for."""

from __future__ import annotations

import io
import json
import math
import os
import queue
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from hauteur import __version__
from hauteur.cluster.fleet import Event, Failed, Finished, Joined, Left, Sources
from hauteur.cluster.framing import MOST_REPORT, DoneReport, JoinedReport, message_bytes, read_message, report_of
from hauteur.cluster.ray_nodes import ClusterView, WorkerNeed
from hauteur.cluster.ray_session import NODE_LEFT, cause_of, connect
from hauteur.cluster.ray_worker import MOST_NET, RayWorker
from hauteur.cluster.unit import MOST_CONTENT, Unit, UnitResult
from hauteur.system.plugins import VARIABLES, imported

if TYPE_CHECKING:
    from hauteur.cluster.options import WorkerOptions

FACTS, LIVE = "facts", "live"
"""Calls that are not units."""
NO_ROOM = "has no room any more"
CALLS = 8
"""Calls that an actor answers at a time: units, and the one that only ends with its process."""
MOST_NETS = 8
"""Nets that the object store holds for workers that join."""
MOST_STARTS = 3
"""Workers in a row that could not be started, where none ever was; then the work stops."""
CLOSE_SECONDS = 30.0
"""Seconds that the last calls may take."""
MOST_PAUSE = 30.0
"""Seconds until the next start after some that failed: doubled each time, until one joins."""


@dataclass
class _Actor:
    """A worker. shown: the nets that it has been given; cause: why it was removed."""

    handle: Any = None
    joined: bool = False
    shown: set[str] = field(default_factory=set)
    cause: str = ""


class RayFleet:
    """Workers of a cluster; their number follows the nodes that are there.

    All calls of Ray are made in a thread of their own: where a node or head is frozen, they wait for it.
    """

    def __init__(self, options: WorkerOptions) -> None:
        assert options.cluster is not None
        self._threads, self._gpus = options.threads or 1, options.gpus
        self._labels = dict(label.split("=", 1) for label in options.labels)
        self._most = options.workers or math.inf
        self._session = connect(options.cluster, cpus=options.workers * self._threads)
        self._ray = self._session.ray
        self.name = f"the cluster at {self._session.address}"
        self._view = ClusterView(self._session, WorkerNeed(self._threads, self._gpus, self._labels))
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
        self._ask_for(options.workers)
        self._actors: dict[str, _Actor] = {}
        self._nets: OrderedDict[str, Any] = OrderedDict()
        self._events: list[Event] = []
        self._ended: queue.Queue[tuple[str, str, Any] | None] = queue.Queue()
        self._count = 0
        self._lost_places = 0
        self._have_joined = False
        self._failed_starts = 0
        self._next_start = 0.0
        self._last_cause = ""
        self._calls: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._caller = threading.Thread(target=self._make_calls, name="calls of Ray", daemon=True)
        self._caller.start()

    def submit(self, worker: str, unit: Unit, sources: Sources) -> None:
        """Give a worker a unit."""
        actor = self._actors.get(worker)
        if actor is None or not actor.joined:
            return  # its `Left` is on its way
        self._calls.put(lambda: self._send(worker, actor, unit, sources))

    def wait(self, seconds: float) -> list[Event]:
        """Return what has happened. ValueError where the cluster is gone, or can start no worker."""
        if (lost := self._view.lost()) is not None:
            raise ValueError(f"{self.name} is gone ({lost}); the same command goes on where it stopped")
        self._follow_nodes()
        events, self._events = self._events, []
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
            self._calls.put(lambda: self._kill(actor))

    def shortage(self) -> str | None:
        """Return why there are not more workers."""
        joined = sum(actor.joined for actor in self._actors.values())
        text = self._view.shortage(joined, self._wanted(), self._most)
        return f"{text}; the last one {self._last_cause}" if self._failed_starts else text

    def close(self) -> None:
        """End all workers."""
        lost = self._view.lost() is not None
        if not lost:
            self._calls.put(lambda: self._ask_for(0))
            for actor in self._actors.values():
                self._calls.put(partial(self._kill, actor))
        self._calls.put(None)
        self._caller.join(1.0 if lost else CLOSE_SECONDS)
        self._view.close()
        self._session.close(lost=lost or self._caller.is_alive())

    def _make_calls(self) -> None:
        while (call := self._calls.get()) is not None:
            call()

    def _ask_for(self, workers: int) -> None:
        """Have an autoscaler, where the cluster has one, start machines for so many workers; 0: for none."""
        from ray.autoscaler.sdk import request_resources

        with suppress(Exception):
            request_resources(bundles=[{"CPU": self._threads, **({"GPU": self._gpus} if self._gpus else {})}] * workers)

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
        actor = self._actors[name] = _Actor()
        self._calls.put(lambda: self._begin(name, actor))

    def _begin(self, name: str, actor: _Actor) -> None:
        try:
            actor.handle = self._class.remote(self._settings)
            self._follow(name, FACTS, actor.handle.facts.remote())
            self._follow(name, LIVE, actor.handle.live.remote())
        except Exception as error:  # Ray raises all kinds of them
            self._ended.put((name, LIVE, error))

    def _send(self, worker: str, actor: _Actor, unit: Unit, sources: Sources) -> None:
        """Call a worker with a unit, and with the nets that it has not had."""
        new = [sha256 for sha256 in unit.files if sha256 not in actor.shown]
        try:
            nets = [self._net(sha256, sources) for sha256 in new]
            message = message_bytes({"key": unit.key, "unit": unit.to_json(), "nets": new})
            actor.shown.update(new)
            self._follow(worker, unit.key, actor.handle.play.remote(message, nets))
        except Exception as error:  # of the file, or of Ray's store
            cause = f"could not be sent: {type(error).__name__}: {error}"
            self._ended.put((worker, unit.key, message_bytes({"report": "failed", "key": unit.key, "cause": cause})))

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
        if isinstance(found, BaseException):
            return self._left(worker, actor, found)
        try:
            event = _event_of(worker, call, found)
        except ValueError as error:
            self.remove(worker, str(error) if call == FACTS else f"sent what is no report: {error}")
            return []
        if isinstance(event, Failed):
            actor.shown.clear()  # perhaps a net did not arrive
        if isinstance(event, Joined):
            actor.joined = self._have_joined = True
            self._failed_starts = 0
        return [event]

    def _left(self, worker: str, actor: _Actor, error: BaseException) -> list[Event]:
        del self._actors[worker]
        cause = actor.cause or cause_of(error)
        self._calls.put(lambda: self._kill(actor))  # one that could not be reached may still be there
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


def _event_of(worker: str, call: str, message: Any) -> Event:
    """Return what a worker reports at the end of a call. ValueError for what it must not send."""
    if not isinstance(message, bytes) or len(message) > MOST_CONTENT + MOST_REPORT:
        raise ValueError(f"not bytes, or more than {MOST_CONTENT + MOST_REPORT}")
    fields, content = read_message(io.BytesIO(message)) or ({}, b"")
    report = report_of(fields)
    if isinstance(report, JoinedReport) and call == FACTS:
        if report.facts.version != __version__:
            versions = f"hauteur {report.facts.version[:100]}, the driver {__version__}"
            raise ValueError(f"host {report.facts.host[:100]} has {versions}: they must be the same")
        return Joined(worker, report.facts)
    if isinstance(report, JoinedReport) or report.key != call:
        raise ValueError("it is of another call")
    if isinstance(report, DoneReport):
        return Finished(worker, UnitResult(report.key, content, report.facts))
    return Failed(worker, report.key, report.cause)
