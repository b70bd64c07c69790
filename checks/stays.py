"""How the way from `hauteur train` to the first game of self-play leads through the files: stays, rooms, returns.

    python checks/stays.py                                 a small run of tic-tac-toe
    python checks/stays.py --depth 5                       without what is more than 5 calls below the command
    python checks/stays.py RECIPE KEY=VALUE ...            another recipe, with settings as of `hauteur train`
    python checks/stays.py --learn                         from `ht.learn` in the place of the command

A *stay* is a row of calls of functions of one file of the package, with none of another file in between. *Rooms* are
the files, *returns* the stays in a file that was left before. A reader who follows the program changes files that
often. Two counts are printed: *read*, in which a function counts where it is called first, since nobody reads it twice,
and *run*, of all calls. The way ends with the call that begins a game. The stays of *read* are listed, one a line.

What runs while a module is imported does not count; a generator that is continued is called again.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType, FrameType

import hauteur as ht
from hauteur._core import PlayedGames
from hauteur.cli.commands.learn import train

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = str(Path(ht.__file__).parent) + "/"

SMALL = ("selfplay.games=20", "selfplay.visits=10", "gate.games=4", "run.generations=1")
"""Settings of a run of seconds."""


class FirstGameError(BaseException):
    """Ends a run where its first game begins; nothing that handles errors takes it."""


@dataclass(frozen=True)
class Call:
    """A call of a function of the package."""

    file: str
    """Path below the package."""
    function: str
    """Qualified name."""


@dataclass
class Trace:
    """A profiler of the present thread (`sys.setprofile`), which keeps the calls until the first game begins."""

    most_depth: int
    """Calls with more functions of the package below the first one are left out."""
    calls: list[Call] = field(default_factory=list)
    """All others, in order."""

    def __call__(self, frame: FrameType, event: str, callee: object) -> None:
        """Take an event of the interpreter."""
        if event == "c_call" and begins_game(callee):
            raise FirstGameError
        code = frame.f_code
        if event != "call" or not is_function(code):
            return
        callers = [caller.co_filename for caller in callers_of(frame)]
        depth = sum(name.startswith(PACKAGE) for name in callers)
        is_import = any(name.startswith("<frozen importlib") for name in callers)
        if depth <= self.most_depth and not is_import:
            self.calls.append(Call(code.co_filename.removeprefix(PACKAGE), code.co_qualname))


def begins_game(callee: object) -> bool:
    """Return whether a function of the core is the one that begins a game."""
    owner = getattr(callee, "__self__", None)
    return isinstance(owner, PlayedGames) and getattr(callee, "__name__", "") == "begin"


def is_function(code: CodeType) -> bool:
    """Return whether code is of a function of the package with a name: no module, comprehension or lambda."""
    return code.co_filename.startswith(PACKAGE) and not code.co_name.startswith("<")


def callers_of(frame: FrameType) -> Iterable[CodeType]:
    """Yield what has called a frame, the innermost first."""
    caller = frame.f_back
    while caller is not None:
        yield caller.f_code
        caller = caller.f_back


def calls_until_first_game(run: Callable[[], object], most_depth: int) -> list[Call]:
    """Return the calls of a run until its first game."""
    trace = Trace(most_depth)
    with TemporaryDirectory() as folder, chdir(folder), redirect_stdout(StringIO()):
        sys.setprofile(trace)
        try:
            run()
        except FirstGameError:
            pass
        finally:
            sys.setprofile(None)
    return trace.calls


def stays_of(calls: Iterable[Call]) -> list[tuple[str, list[str]]]:
    """Return the file of each stay with the functions that are called in it."""
    rows = groupby(calls, key=attrgetter("file"))
    return [(file, [call.function for call in row]) for file, row in rows]


def counts(stays: list[tuple[str, list[str]]]) -> str:
    """Return stays, rooms and returns in words."""
    rooms = len({file for file, _ in stays})
    return f"{len(stays)} stays in {rooms} rooms, {len(stays) - rooms} returns"


def main() -> None:
    """Trace a run as the command line says, and print its stays."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe", nargs="?", default=str(ROOT / "runs" / "tictactoe.toml"))
    parser.add_argument("settings", nargs="*", default=SMALL)
    parser.add_argument("--depth", type=int, default=1000)
    parser.add_argument("--learn", action="store_true")
    options = parser.parse_args()
    entry = ht.learn if options.learn else train
    calls = calls_until_first_game(lambda: entry(options.recipe, *options.settings), options.depth)
    read = stays_of(dict.fromkeys(calls))
    for number, (file, functions) in enumerate(read, 1):
        print(f"{number:4} {file}: {', '.join(functions)}")
    print(f"read: {counts(read)}\nrun: {counts(stays_of(calls))}")


if __name__ == "__main__":
    main()
