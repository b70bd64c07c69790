"""Every operation on files of a run and of a match fails once: a line is said, and the next attempt ends as it should.

    python checks/fail_writes.py --cases 100
    python checks/fail_writes.py --cases 1000 --seed 1

A case is an operation below the folder (the opening of a file to write, a write, of which half is done, a flush to
disk, a rename, a removal, the making of a folder) and an error (no space, an error of the device, no permission). The
first attempt meets it: it must end well all the same, or with status 2 and one line that names a file of the folder.
The second attempt, which meets nothing, must end well, with the games, nets and decisions of an undisturbed run, or the
games of an undisturbed match, and leave nothing behind. Prints sums and what is wrong; status 1 where anything is.
"""

from __future__ import annotations

import argparse
import errno
import importlib
import os
import random
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from hauteur.cli import main as cli
from hauteur.matches.folder import MatchFolder
from kill_runs import PRELOADED, checks, finish, started

ERRORS = (errno.ENOSPC, errno.EIO, errno.EACCES)
RECIPE = {"game": "tictactoe", "games": 8, "generations": 1, "lag": 0}
MATCH = ("match", "net=uniform visits=4", "net=uniform visits=8", "--game", "connect4", "--games", "6", "--seed", "1")


class Faults:
    """Counts operations on files below a folder, and lets one of them fail. at: its number, from 1; 0: none."""

    def __init__(self, folder: Path, at: int, error: int) -> None:
        self.folder = folder
        self.at = at
        self.error = error
        self.count = 0

    def meet(self, path: Any) -> None:
        """Count an operation on a path, None for one of a file that is open; raise the error at its turn."""
        if path is not None and self.folder not in (Path(path), *Path(path).parents):
            return
        self.count += 1
        if self.count == self.at:
            name = None if path is None else str(path)
            raise OSError(self.error, os.strerror(self.error), name)

    def install(self) -> None:
        """Take the place of the functions of the system in this process."""
        for name in ("replace", "unlink", "mkdir"):
            setattr(os, name, self.failing(getattr(os, name)))
        setattr(os, "fsync", self.failing(os.fsync))  # noqa: B010  (its signature is longer)
        opening = Path.open
        faults = self

        def open_file(path: Path, mode: str = "r", *others: Any, **named: Any) -> Any:
            if not set(mode) & set("wax+") or faults.folder not in path.parents:
                return opening(path, mode, *others, **named)
            faults.meet(path)
            return Torn(opening(path, mode, *others, **named), faults)

        setattr(Path, "open", open_file)  # noqa: B010

    def failing(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that may fail before it does anything."""

        def may_fail(first: Any, *others: Any, **named: Any) -> Any:
            self.meet(None if isinstance(first, int) else first)
            return function(first, *others, **named)

        return may_fail


class Torn:
    """A file that is written to; a write that fails is half done."""

    def __init__(self, file: Any, faults: Faults) -> None:
        self.file = file
        self.faults = faults

    def write(self, data: bytes) -> int:
        """Write, or half of it."""
        try:
            self.faults.meet(None)
        except OSError:
            self.file.write(data[: len(data) // 2])
            raise
        return int(self.file.write(data))

    def __enter__(self) -> Torn:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def __iter__(self) -> Any:
        return iter(self.file)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.file, name)


def words_of(kind: str, folder: Path) -> list[str]:
    """The command of a run or a match in a folder."""
    if kind == "match":
        return [*MATCH, "--out", str(folder)]
    recipe = folder.parent / "recipe.toml"
    if not recipe.exists():
        recipe.write_text(checks.RECIPE.format(**RECIPE))
    return ["train", str(recipe), "--run", str(folder)]


def attempt(kind: str, folder: Path, at: int = 0, error: int = 0) -> tuple[int, str]:
    """Give the command in a child; return its status and what it said as an error. at: the operation that fails."""
    log = folder.parent / f"{folder.name}.log"
    log.unlink(missing_ok=True)
    words = words_of(kind, folder)

    def act() -> None:
        faults = Faults(folder, at, error)
        faults.install()
        status = cli.main(words)
        print(f"\noperations {faults.count}", flush=True)
        os._exit(status)

    status = finish(started(act, log), 600)
    return (-1 if status is None else status), log.read_text(errors="replace")


@cache
def expected(kind: str, folder: Path) -> tuple[Any, int]:
    """Return what an undisturbed attempt makes, and the number of its operations."""
    status, said = attempt(kind, folder / kind)
    if status:
        raise RuntimeError(f"the undisturbed {kind} ended with {status}: {said[-1000:]}")
    return made(kind, folder / kind), int(said.rpartition("operations ")[2])


def made(kind: str, folder: Path) -> Any:
    """Return what is compared."""
    if kind == "match":
        return sorted(MatchFolder(folder).games(), key=lambda game: game.index)
    return checks.run_hashes(folder), checks.game_numbers(folder)


def wrong_in(kind: str, folder: Path, at: int, error: int) -> tuple[str, str]:
    """Return how the first attempt ended, and what is wrong; empty: nothing."""
    right, _ = expected(kind, folder)
    target = folder / "case"
    shutil.rmtree(target, ignore_errors=True)
    status, said = attempt(kind, target, at, error)
    lines = [line for line in said.splitlines() if line.startswith("hauteur: ")]
    if "Traceback" in said or status not in (0, cli.EXIT_BAD_INPUT):
        return "fault", f"status {status}: {said[-700:]}"
    if status and (len(lines) != 1 or str(target) not in lines[0]):
        return "refused", f"not one line that names a file: {lines}"
    second, said = attempt(kind, target)
    how = "refused" if status else "ended well"
    if second:
        return how, f"then status {second}: {said[-700:]}"
    if made(kind, target) != right:
        return how, "then another result"
    left = checks.left_behind(target)
    return how, f"then {left} left behind" if left else ""


def main(words: Sequence[str] | None = None) -> int:
    """Try the cases; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, default=Path("build/faults"))
    given = parser.parse_args(words)
    folder = given.folder.resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for module in PRELOADED:
        importlib.import_module(module)
    operations = [(kind, at) for kind in ("train", "match") for at in range(1, expected(kind, folder)[1] + 1)]
    kinds = [(*operation, error) for operation in operations for error in ERRORS]
    draws = random.Random(given.seed)
    counts = Counter[str]()
    wrong = 0
    began = time.monotonic()
    order = draws.sample(kinds, len(kinds)) * (1 + given.cases // len(kinds))
    for kind, at, error in order[: given.cases]:
        how, what = wrong_in(kind, folder, at, error)
        counts[f"{kind} {how}"] += 1
        wrong += bool(what)
        if what:
            print(f"{kind}, operation {at}, {errno.errorcode[error]}: {how}, {what}", flush=True)
    seconds = time.monotonic() - began
    print(f"{len(kinds)} different cases; tried {sum(counts.values())} in {seconds:.0f} s: {dict(counts)}")
    print(f"{wrong} wrong")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
