"""Programs in processes: their starts; self-play of hauteur, of lc0 (chess) and alphazero-pybind11 (Connect Four)."""

import json
import shlex
import subprocess
import sys
import threading
import time
from importlib import import_module
from importlib.machinery import PathFinder
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hauteur.games.registry import load_game
from hauteur.networks.evaluators.base import Floats, Precision
from hauteur.networks.evaluators.factory import make_evaluator

if TYPE_CHECKING:
    from hauteur.players.engines.settings import EngineSettings

COMMAND = "import sys; from hauteur.cli.start import main; sys.exit(main())"
"""What the installed script `hauteur` does."""

PATIENCE = 120
"""Seconds after which a process that has not answered is ended."""
MODULE = "alphazero"
"""What alphazero-pybind11 is imported by."""
PARALLEL, ROWS = 256, 128
"""Games at once and most rows of a batch, of alphazero-pybind11 and of hauteur."""
SETTINGS = {
    "max_cache_size": 200_000,
    "cpuct": 1.25,
    "fpu_reduction": 0.25,
    "mcts_root_temp": 1.25,
    "root_fpu_zero": True,
    "shaped_dirichlet": True,
    "start_temp": 1.0,
    "final_temp": 1.0,
    "epsilon": 0.25,
    "tree_reuse": True,
    "self_play": True,
    "history_enabled": True,
    "cache_shards": 1,
    "queue_shards": 1,
}
"""alphazero-pybind11's own defaults of training, with a temperature of 1 at every move as hauteur's recipes have it."""


class StartTime(NamedTuple):
    """Something that is started: its name, words, lines to send, the word to wait for, and the program, this Python."""

    name: str
    words: list[str]
    lines: str = ""
    until: str = ""
    program: str = sys.executable


class Taken(NamedTuple):
    """The cost of one start: seconds until the awaited line or the end, and the process's own seconds of processor."""

    seconds: float
    cpu_seconds: float | None


def measure(one: StartTime) -> Taken:
    """Start it once. Raise ValueError if it fails, or says nothing of what is awaited."""
    before, began = children_seconds(), time.perf_counter()
    process = subprocess.Popen(
        [one.program, *one.words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(one.lines)
        process.stdin.flush()
        found = wait_for(one.until, process.stdout)
        seconds = time.perf_counter() - began
        _, complaint = process.communicate("quit\n" if one.lines else None, timeout=PATIENCE)
    finally:
        process.kill()
        process.wait()
    seconds = seconds if one.until else time.perf_counter() - began
    if not found or (process.returncode != 0 and not one.lines):
        raise ValueError(f"{one.name} failed: {(complaint.strip().splitlines() or ['no answer'])[-1]}")
    after = children_seconds()
    return Taken(seconds, None if before is None or after is None else after - before)


def wait_for(word: str, output: IO[str]) -> bool:
    """Read lines until one begins with the word; return whether one did. No word: nothing is read."""
    return not word or any(line.startswith(word) for line in output)


def children_seconds() -> float | None:
    """Seconds of the processor of all ended processes that this one started; None where the system does not say."""
    if sys.platform == "win32":
        return None
    import resource

    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


# Self-play.


class SelfPlayed(NamedTuple):
    """Some games of self-play. evaluations: rows of the net, None where the program does not say.

    cpu_seconds: of all threads; of lc0 from its start on, of the others without it.
    """

    games: int
    moves: int
    cpu_seconds: float
    evaluations: int | None = None


def hauteur_plays(spec: str, net: str, games: int, visits: int, precision: Precision | None) -> SelfPlayed:
    """Play with `hauteur bench selfplay`. Raise ValueError where it fails."""
    words = ["bench", "selfplay", spec, "--net", net, "--games", str(games), "--parallel", str(min(games, PARALLEL))]
    words += ["--visits", str(visits), "--batch", str(ROWS), *(["--precision", precision] if precision else [])]
    line = json.loads(last_line([sys.executable, "-c", COMMAND, *words]))
    return SelfPlayed(line["games"], line["moves"], line["cpu_seconds"], line["evaluations"])


def lc0_plays(engine: "EngineSettings", games: int, visits: int) -> SelfPlayed:
    """Play with `lc0 selfplay`, its net and backend, trees kept from move to move. Raise ValueError where it fails."""
    command = shlex.split(engine.command)
    given = [f"--weights={engine.options['WeightsFile']}", f"--threads={engine.options['Threads']}"]
    given += [f"--backend={engine.options['Backend']}"] if "Backend" in engine.options else []
    plays = [f"--visits={visits}", f"--games={games}", "--temperature=1", "--noise-epsilon=0.25", "--reuse-tree=true"]
    before = children_seconds()
    words = last_line([*command[:-1], "selfplay", command[-1], *given, *plays]).split()
    after = children_seconds()
    if "moves" not in words or before is None or after is None:
        raise ValueError(f"{engine.command} selfplay: its last line has no `moves`: {' '.join(words)[:80]}")
    return SelfPlayed(games, int(words[words.index("moves") + 1]), after - before)


def azpb_plays(folder: str, net: str, games: int, visits: int, precision: Precision | None) -> SelfPlayed:
    """Play Connect Four with alphazero-pybind11 and the evaluator that hauteur has. Raise ValueError where it fails."""
    code = "import sys; from hauteur.cli.commands.bench_programs import main; main(*sys.argv[1:])"
    words = [folder, net, str(games), str(visits), precision or "auto"]
    return SelfPlayed(**json.loads(last_line([sys.executable, "-c", code, *words])))


def azpb_folder(program: str) -> str:
    """Return the folder of the module, empty where Python finds it; ValueError where it is not there."""
    folder = program.removeprefix("azpb").removeprefix(":")
    if PathFinder.find_spec(MODULE, [folder] if folder else None) is None:
        where = folder or "Python's path"
        raise ValueError(f"{program}: no module {MODULE} in {where}; build alphazero-pybind11, and name it azpb:FOLDER")
    return folder


def last_line(command: list[str]) -> str:
    """Run a program; return the last line that it prints. ValueError, with its last complaint, where it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines, complaints = done.stdout.strip().splitlines(), done.stderr.strip().splitlines()
    if done.returncode or not lines:
        raise ValueError(f"{shlex.join(command)[:100]}: {(complaints or ['no answer'])[-1]}")
    return lines[-1]


# alphazero-pybind11, in a process of its own: one thread of its search, and this one, which asks the net.


def main(folder: str, net: str, games: str, visits: str, precision: Any) -> None:
    """Play games of Connect Four and print their `SelfPlayed` as a JSON line."""
    sys.path[:0] = [folder] if folder else []
    alphazero, game = import_module(MODULE), load_game("connect4")
    parameters = alphazero.PlayParams()
    sizes = {"games_to_play": int(games), "concurrent_games": min(int(games), PARALLEL), "max_batch_size": ROWS}
    for name, value in {**SETTINGS, **sizes, "mcts_visits": [int(visits)] * 2, "model_groups": [0, 0]}.items():
        setattr(parameters, name, value)
    manager = alphazero.PlayManager(alphazero.Connect4GS(), parameters)
    with make_evaluator(game, str(Path(net)), precision=precision, threads=1) as evaluator:
        evaluator(np.zeros((ROWS, *game.feature_shape), np.float32))
        began, evaluations = time.process_time(), 0
        search = threading.Thread(target=manager.play)
        search.start()
        rows = np.zeros((ROWS, 4, *game.feature_shape[1:]), np.float32)
        while manager.remaining_games() > 0:
            asked = manager.build_batch(0, rows)
            if asked:
                planes, second = features_of(rows[: len(asked)], game.feature_shape[0])
                manager.update_inferences(0, asked, *answers_of(*evaluator(planes), second))
                evaluations += len(asked)
        search.join()
        seconds = time.process_time() - began
    played = manager.games_completed()
    print(json.dumps(SelfPlayed(played, round(manager.avg_game_length() * played), seconds, evaluations)._asdict()))


def features_of(rows: Floats, planes: int) -> tuple[Floats, Floats]:
    """Return hauteur's planes [B, planes, 6, 7] of alphazero's [B, 4, 6, 7], and in which rows the second moves [B, 1].

    Theirs are the stones of the first and of the second player, then two that say who is to move; ours the mover's
    stones, the opponent's, and ones.
    """
    second = rows[:, 3, :1, 0]
    found = np.ones((len(rows), planes, *rows.shape[2:]), np.float32)
    found[:, :2] = np.where(second[:, :, None, None] > 0, rows[:, 1::-1], rows[:, :2])
    return found, second


def answers_of(logits: Floats, wdl: Floats, second: Floats) -> tuple[Floats, Floats]:
    """Return what alphazero takes: shares of first player's, second player's win and draw [B, 3], and priors [B, 7]."""
    priors = np.exp(logits - logits.max(axis=1, keepdims=True))
    values = np.where(second > 0, wdl[:, [2, 0, 1]], wdl[:, [0, 2, 1]])
    return np.ascontiguousarray(values), priors / priors.sum(axis=1, keepdims=True)
