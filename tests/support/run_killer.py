"""Runs that are killed: a process of its own, which loads torch once and forks a child for every attempt.

    python run_killer.py random RECIPE FOLDER SEED KILLS      at random moments, KILLS times, then to the end
    python run_killer.py writes RECIPE FOLDER FIRST           at one write after another, then to the end

Writes are killed at three moments in turn, beginning with FIRST: torn (half of the temporary file is written), before
(all of it, not renamed yet), after (renamed). Prints one JSON object: kills, and what was killed.
"""

import importlib
import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from run_toys import Silent as Silent

import hauteur.learning.loop
from hauteur.learning.recipe import Recipe, load_recipe

PRELOADED = ("hauteur.networks.evaluators.core", "hauteur.networks.modules", "torch._dynamo")
"""Modules that a run loads on its way, the longest first by torch's optimisers."""

MOMENTS = ("torn", "before", "after")
CHECKPOINT_KILLS = 3


def forked(action: Callable[[], None]) -> int:
    """Runs the action in a child; returns its process id."""
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        action()
        status = 0
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
    finally:
        os._exit(status)


def ended(pid: int) -> bool:
    """Waits for the child: True when it finished, False when it was killed, an error otherwise."""
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
        return False
    if status:
        raise RuntimeError(f"the run ended with status {status}")
    return True


def kill_at_random(recipe: Recipe, folder: Path, seed: int, kills: int) -> list[str]:
    """Kills the run at random moments; where it ends too early another folder (1, 2 ...) goes on with the kills."""
    draws = random.Random(seed)
    killed: list[str] = []
    number = 0
    longest = 0.5
    while True:
        target = folder / str(number)
        started = time.monotonic()
        pid = forked(partial(learned, recipe, target))
        if len(killed) < kills and alive_after(pid, draws.uniform(0.0, longest)):
            os.kill(pid, signal.SIGKILL)
        if not ended(pid):
            killed.append(f"{number}: {time.monotonic() - started:.2f} s")
            longest *= 1.1  # slow machines need longer for a step
        elif len(killed) == kills:
            return killed
        else:
            number = number + 1
            longest = longest / 2


def alive_after(pid: int, seconds: float) -> bool:
    """Return whether the child still runs after so long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            return False
        time.sleep(0.002)
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None


def kill_at_writes(recipe: Recipe, folder: Path, first: str) -> list[str]:
    """Kills the run at its first write, goes on and kills it at the next file that it writes, and so on."""
    killed: list[str] = []
    note = folder.with_name(f"{folder.name}.note")
    while True:
        moment = MOMENTS[(MOMENTS.index(first) + len(killed)) % len(MOMENTS)]
        if ended(forked(partial(learned_with_fault, recipe, folder, moment, note, killed))):
            return killed
        killed.append(note.read_text())


def learned(recipe: Recipe, folder: Path) -> None:
    """The run, to its end."""
    hauteur.learning.loop.learn(recipe, folder=folder, display=Silent())


def learned_with_fault(recipe: Recipe, folder: Path, moment: str, note: Path, killed: list[str]) -> None:
    """The run, until it writes a file of its folder that it has not been killed at so often before."""
    replace = os.replace

    def deadly(source: Any, target: Any, **options: Any) -> None:
        most = CHECKPOINT_KILLS if "checkpoint" in str(target) else 1
        if folder not in Path(target).parents or killed.count(str(target)) >= most:
            replace(source, target, **options)
            return
        note.write_text(str(target))
        if moment == "torn":
            os.truncate(source, Path(source).stat().st_size // 2)
        if moment == "after":
            replace(source, target, **options)
        os.kill(os.getpid(), signal.SIGKILL)

    setattr(os, "replace", deadly)  # noqa: B010 (its signature is longer)
    learned(recipe, folder)


if __name__ == "__main__":
    for module in PRELOADED:
        importlib.import_module(module)
    kind, recipe_file, folder, *rest = sys.argv[1:]
    recipe = load_recipe(Path(recipe_file))
    if kind == "random":
        found = kill_at_random(recipe, Path(folder), *map(int, rest))
    else:
        found = kill_at_writes(recipe, Path(folder), rest[0])
    print(json.dumps({"kills": len(found), "killed": found}))
