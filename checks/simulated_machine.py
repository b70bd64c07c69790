"""A simulated machine: its time, its disk, and the faults of all that a run meets, drawn from one seed."""

from __future__ import annotations

import errno
import os
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import IO, Any, Literal, NoReturn

from hauteur.system.host import Disk, HostClock
from hauteur.system.stopping import stop

RATES = {
    "killed": 0.006,
    "power lost": 0.006,
    "disk full": 0.004,
    "disk slow": 0.01,
    "driver stopped": 0.005,
    "second driver": 0.01,
    "request lost": 0.03,
    "answer lost": 0.03,
    "answer twice": 0.08,
    "answer late": 0.06,
    "wrong answer": 0.01,
    "worker dies": 0.06,
    "worker hangs": 0.03,
    "worker fails": 0.04,
    "other version": 0.06,
}
"""Kinds of faults, and the share of the occasions of each at which it happens, before a seed changes it."""

ASKED = "asked to end", 0.004
"""A kind of fault with a random stream of its own, which half of the seeds have."""


class Ended(BaseException):
    """The driver's process ends at this moment; no exception of the program, so that nothing catches it."""


@dataclass
class World:
    """What happens outside of the program, in the order of one random stream. left: faults that may still happen."""

    random: random.Random
    left: int
    now: float = 1_000_000.0
    counts: Counter[str] = field(default_factory=Counter)
    """Faults that have happened, by kind."""
    turn: Callable[[], None] = lambda: None
    """Lets the driver's other work go on for a turn."""
    rates: dict[str, float] = field(default_factory=dict)
    is_over: bool = False
    """The driver's process has ended; what still runs is Python that winds up."""
    power_is_lost: bool = False
    """It ended with the machine."""
    requests: Random = field(default_factory=lambda: Random(0))
    """Draws whether the driver is asked to end."""

    def __post_init__(self) -> None:
        # Each seed has faults of its own: some kinds never, others often, so that few hide the effect of many.
        for kind, rate in RATES.items():
            self.rates[kind] = rate * self.random.choice((0.0, 0.5, 1.0, 1.0, 2.0, 4.0))
        kind, rate = ASKED
        self.rates[kind] = rate * self.requests.choice((0.0, 0.0, 0.5, 2.0))

    def fault(self, kind: str) -> bool:
        """Return whether a fault happens now."""
        draws = self.requests if kind == ASKED[0] else self.random
        if self.left <= 0 or draws.random() >= self.rates[kind]:
            return False
        self.left -= 1
        self.counts[kind] += 1
        return True

    def may_ask(self) -> None:
        """Ask the driver to end in order, if that is to happen now, as SIGTERM does; a second time ends it at once."""
        if not self.fault(ASKED[0]):
            return
        if stop.requested:
            self.is_over = True
            raise Ended
        stop.arrive()

    def may_end(self) -> None:
        """End the driver here, by a signal or with the power, if that is to happen now."""
        if self.is_over:
            raise Ended
        self.power_is_lost = self.fault("power lost")
        self.is_over = self.power_is_lost or self.fault("killed")
        if self.is_over:
            raise Ended


class WorldClock(HostClock):
    """The world's time; processors take none."""

    def __init__(self, world: World) -> None:
        self._world = world

    def now(self) -> float:
        """Return the time of the world."""
        return self._world.now

    def passed(self) -> float:
        """Return the time of the world."""
        return self._world.now

    def processor(self) -> float:
        """Return no seconds."""
        return 0.0


@dataclass(eq=False)
class Inode:
    """A file whatever its name."""

    synced: bytes = b""
    """The content that is on disk."""
    changed: bool = False
    """Whether another was written since."""
    uncut: int = 0
    """Bytes of `synced` from the first on that no process has cut off or written over since."""

    @classmethod
    def on_disk(cls, content: bytes) -> Inode:
        """Return a file whose content is on disk."""
        return cls(content, uncut=len(content))

    def cut(self, size: int) -> None:
        """Note that what follows after so many bytes was cut off."""
        self.changed = True
        self.uncut = min(self.uncut, size)


Change = tuple[Literal["link", "unlink", "rename"], Path, Path, Inode]
"""A change of names in a folder: what, the name, the new name of a renamed file, the file."""


class WorldDisk(Disk):
    """Files of a folder in memory, as programs see them, and what of them a loss of power leaves.

    A content is on disk when it was synced, a name when its folder was. The changes of names in a folder come to disk
    in their order, as far as they come: file systems with a journal keep it. What was not synced of a file is there in
    part, as zeros, or not at all.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._names: dict[Path, Inode] = {}
        self._stored: dict[Path, Inode] = {}
        self._changes: dict[Path, list[Change]] = {}

    def open(self, path: Path, mode: Literal["wb", "a+b"]) -> IO[bytes]:
        """Open a file; a full disk may refuse it."""
        self._meet(path)
        if path not in self._names:
            self._names[path] = Inode()
            self._note(("link", path, path, self._names[path]))
        if mode == "wb":
            self._names[path].cut(0)
        file: Any = WorldFile(self, path, path.open(mode, buffering=0))
        return file  # type: ignore[no-any-return]

    def sync(self, file: IO[bytes]) -> None:
        """Bring a content to disk."""
        path = Path(file.name)
        self._meet(path)
        inode = self._names[path]
        inode.synced = path.read_bytes()
        inode.changed = False
        inode.uncut = len(inode.synced)

    def sync_folder(self, folder: Path) -> None:
        """Bring names to disk."""
        self._meet(None)
        self._store(folder, len(self._changes.get(folder, [])))

    def rename(self, path: Path, to: Path) -> None:
        """Give a file another name."""
        self._meet(None)
        path.replace(to)
        self._names[to] = self._names.pop(path)
        self._note(("rename", path, to, self._names[to]))

    def remove(self, path: Path) -> None:
        """Remove a file; a process that has ended removes none."""
        if self._world.is_over:
            return
        self._meet(None)
        path.unlink(missing_ok=True)
        if (inode := self._names.pop(path, None)) is not None:
            self._note(("unlink", path, path, inode))

    def lose_power(self) -> None:
        """Leave what a loss of power leaves."""
        for folder, changes in self._changes.items():
            self._store(folder, self._world.random.randint(0, len(changes)))
        seen = {id(inode): path for path, inode in self._names.items()}
        contents = {path: self._left(inode, seen.get(id(inode))) for path, inode in self._stored.items()}
        for path in self._names.keys() - contents.keys():
            path.unlink()
        for path, content in contents.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            self._stored[path] = Inode.on_disk(content)
        self._names = dict(self._stored)
        self._changes = {}

    def to_write(self, path: Path, size: int) -> int:
        """Return how many of these bytes are written before the disk is full, or the process ends."""
        world = self._world
        self._names[path].changed = True
        part = world.random.randint(0, size)
        if world.fault("killed"):
            world.is_over = True
        return part if world.is_over or world.fault("disk full") else size

    def cut(self, path: Path, size: int) -> None:
        """Note that a file was cut."""
        self._names[path].cut(size)

    def stop(self) -> NoReturn:
        """Raise why a write has not been done whole."""
        self._world.may_end()
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _meet(self, path: Path | None) -> None:
        """Let happen what may before an operation. path: of a file that takes room."""
        world = self._world
        if world.fault("disk slow"):
            world.now += world.random.uniform(0.1, 200.0)
        world.may_end()
        if path is not None and world.fault("disk full"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if world.random.random() < 0.1:
            world.turn()

    def _note(self, change: Change) -> None:
        """Keep a change of names that is not on disk yet."""
        self._changes.setdefault(change[1].parent, []).append(change)

    def _store(self, folder: Path, count: int) -> None:
        """Bring the first changes of names in a folder to disk."""
        changes = self._changes.get(folder, [])
        for what, path, to, inode in changes[:count]:
            if what != "link":
                self._stored.pop(path, None)
            if what != "unlink":
                self._stored[to] = inode
        del changes[:count]

    def _left(self, inode: Inode, path: Path | None) -> bytes:
        """Return what is left of a file. path: its name until now; None: it has been replaced."""
        if not inode.changed or path is None:
            return inode.synced
        draws = self._world.random
        content = path.read_bytes()
        was_cut = inode.uncut < len(inode.synced)
        if was_cut and draws.random() < 1 / 3:
            return inode.synced
        # What was neither cut nor written over stays: a file system that loses it would lose files that nobody opened.
        kept = content[: draws.randint(inode.uncut, len(content))]
        return kept + bytes(draws.choice((0, len(content) - len(kept))))


class WorldFile:
    """An open file of a simulated disk, for writing."""

    def __init__(self, disk: WorldDisk, path: Path, file: IO[bytes]) -> None:
        self.name = str(path)
        self._disk = disk
        self._path = path
        self._file = file

    def write(self, data: bytes) -> int:
        """Write all, or what is written before the process ends or the disk is full."""
        count = self._disk.to_write(self._path, len(data))
        self._file.write(data[:count])
        if count < len(data):
            self._disk.stop()
        return count

    def truncate(self, size: int) -> int:
        """Cut the file."""
        self._disk.cut(self._path, size)
        return self._file.truncate(size)

    def seek(self, place: int, whence: int = 0) -> int:
        """Go to a place."""
        return self._file.seek(place, whence)

    def read(self, size: int = -1) -> bytes:
        """Read from the present place."""
        return self._file.read(size)

    def __enter__(self) -> WorldFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
