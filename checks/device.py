"""Self-play on a device of fixed latency, which stands for a GPU: does the processor keep it busy?

    python checks/device.py                                        chess and Connect Four at 2, 4 and 8 ms
    python checks/device.py connect4 --latency 4 --layout 256,128,2 --layout auto --seconds 5 --repeats 3 --json FILE

The device computes one batch at a time, of at most 4,096 rows, in the same time however many rows it has. It waits
without the processor and without the interpreter's lock; the answers of a row are drawn from a table by a hash of the
row. A layout is GAMES,ROWS,IN_FLIGHT (games at a time, rows of a batch, threads that each wait for a batch), or `auto`,
which is chosen as `selfplay.parallel_games=0` chooses it in a run. Before them a line `search alone`: the uniform
evaluator of the core, no device and no rows written, in as many threads as there are cores.

Columns: rows a second; fill, the mean share of a batch that holds rows; busy, the share of the time in which the device
computes; visits and moves a second (a move is the visits of a search); cores, processor time by the clock, and of it
the share spent in Python (the border and the answers); wait, the share of the threads' time in which they wait for the
device. Games begin with up to 12 random plies and are measured in their middle. Each figure is the median of the
repeats, which take turns.
"""

from __future__ import annotations

import argparse
import json
import os
import threading
import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray

from hauteur import _core
from hauteur.games.registry import load_game
from hauteur.learning.sections import LearningSearch
from hauteur.matches.arena import Layout
from hauteur.matches.fastest_layout import fastest_layout
from hauteur.matches.speed import speed_of_games
from hauteur.mcts.params import Temperature
from hauteur.networks.evaluators.base import Answers, Evaluator, Floats, GameEvaluator, UniformEvaluator
from hauteur.players.search_player import SearchPlayer
from hauteur.system.hardware import processor_name, usable_cores

MOST_ROWS = 4096
MOST_GAMES = 100_000
"""Games at a time that may be played."""

TABLE_ROWS = 256
"""Answers that rows are given by their hash."""

ALONE = (256, 4096)
"""Games at a time with which the search alone is measured."""

DEFAULTS = Layout(parallel=256, batch_size=128, in_flight=2)
"""What a recipe has where it says nothing."""


class Device(GameEvaluator):
    """An evaluator that answers any batch after a fixed time, one batch after another."""

    def __init__(self, game: _core.Game, latency: float) -> None:
        """latency: seconds of a batch."""
        super().__init__(game, f"device of {1000 * latency:g} ms", MOST_ROWS)
        self.latency = latency
        random = np.random.default_rng(0)
        self._logits = random.standard_normal((TABLE_ROWS, game.num_actions), np.float32)
        self._wdl = random.dirichlet((2.0, 1.0, 2.0), TABLE_ROWS).astype(np.float32)
        self._factors = random.integers(0, 2**63, (2, game.feature_shape[0]), np.uint64) * 2 + 1
        self._lock = threading.Lock()
        self._memory = threading.local()
        self._free_at = 0.0
        self.batches = 0
        self.python = 0.0
        """Processor time of submitting and answering, in seconds."""

    def compute(self, features: Floats) -> Answers:
        """Raise ValueError: it reads bit planes alone."""
        raise ValueError(f"{self.name} reads rows as bit planes, got {len(features)} rows of features")

    def submit_packed(self, masks: NDArray[np.uint64], values: Floats) -> PendingAnswers:
        """Begin to compute rows of bit planes, after the batches before."""
        if len(masks) > MOST_ROWS:
            raise ValueError(f"a batch has at most {MOST_ROWS} rows, got {len(masks)}")
        begun = time.thread_time()
        hashes = (masks * self._factors[0]).sum(axis=1) ^ (values.view(np.uint32) * self._factors[1]).sum(axis=1)
        with self._lock:
            self._free_at = max(time.monotonic(), self._free_at) + self.latency
            self.batches += 1
            self.python += time.thread_time() - begun
            return PendingAnswers(self, hashes, self._free_at)

    def answers(self, hashes: NDArray[np.uint64]) -> Answers:
        """Return the answers to rows with these hashes, in memory that the thread's next batch uses again."""
        begun = time.thread_time()
        if not hasattr(self._memory, "answers"):
            self._memory.answers = [np.empty((MOST_ROWS, width), np.float32) for width in (self.num_actions, 3)]
        places = (hashes >> np.uint64(56)).astype(np.intp)
        logits, wdl = (memory[: len(hashes)] for memory in self._memory.answers)
        np.take(self._logits, places, axis=0, out=logits, mode="clip")
        np.take(self._wdl, places, axis=0, out=wdl, mode="clip")
        with self._lock:
            self.python += time.thread_time() - begun
        return logits, wdl


@dataclass(frozen=True)
class PendingAnswers:
    """A batch that the device computes."""

    device: Device
    hashes: NDArray[np.uint64]
    done_at: float
    """Of the monotonic clock."""

    def result(self) -> Answers:
        """Wait until the device has computed the batch."""
        logits, wdl = self.borrowed()
        return logits.copy(), wdl.copy()

    def borrowed(self) -> Answers:
        """Return the same in memory that this thread's next batch uses again."""
        left = self.done_at - time.monotonic()
        if left > 0:
            time.sleep(left)
        return self.device.answers(self.hashes)


@dataclass(frozen=True)
class Cell:
    """What one layout has done on one device."""

    game: str
    device: str
    parallel_games: int
    batch_size: int
    in_flight: int
    rows_per_second: float
    fill: float
    busy: float
    visits_per_second: float
    moves_per_second: float
    cores: float
    """Processor time by the time of the clock."""
    python_share: float
    """Of the processor time: the border and the answers."""
    wait_share: float
    """Of the threads' time: waiting for the device."""
    rows_per_cpu_second: float


@dataclass
class Watch:
    """What the process and a device have used at the begin and at the end of a stretch."""

    device: Device | None
    marks: list[tuple[float, float, int, float]] = field(default_factory=list)

    def mark(self) -> None:
        """Note clock, processor time, batches and Python's time now."""
        device = self.device
        batches, python = (device.batches, device.python) if device is not None else (0, 0.0)
        self.marks.append((time.perf_counter(), time.process_time(), batches, python))

    def spent(self) -> tuple[float, float, int, float]:
        """Return clock, processor time, batches and Python's time from begin to end."""
        begin, end = self.marks
        return end[0] - begin[0], end[1] - begin[1], end[2] - begin[2], end[3] - begin[3]


def measured(game: _core.Game, latency: float | None, layout: Layout, options: argparse.Namespace) -> Cell:
    """Measure a layout on a device of this latency in seconds; None: the search alone."""
    device = None if latency is None else Device(game, latency)
    player = player_with(game, device or UniformEvaluator(game), options.visits)
    watch = Watch(device)
    speed = speed_of_games(
        game,
        player,
        layout,
        seconds=options.seconds,
        warm_up=options.warm_up,
        on_begin=watch.mark,
        on_end=watch.mark,
    )
    seconds, processor, batches, python = watch.spent()
    return Cell(
        game=game.spec,
        device="search alone" if latency is None else f"{1000 * latency:g} ms",
        parallel_games=layout.parallel,
        batch_size=layout.batch_size,
        in_flight=layout.in_flight,
        rows_per_second=speed.rows_per_second,
        fill=speed.fill,
        busy=batches * (latency or 0.0) / seconds,
        visits_per_second=speed.visits / speed.seconds,
        moves_per_second=speed.visits / speed.seconds / options.visits,
        cores=processor / seconds,
        python_share=python / processor,
        wait_share=speed.waiting,
        rows_per_cpu_second=speed.rows / processor,
    )


def player_with(game: _core.Game, evaluator: Evaluator, visits: int) -> SearchPlayer:
    """Return a player with the search of self-play."""
    return SearchPlayer(game.name, evaluator, LearningSearch(), visits, Temperature(initial=1.0))


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print a line a layout, and write all figures where they are wanted."""
    options = options_of(arguments)
    load = os.getloadavg()[0]
    print(f"{processor_name()}, {usable_cores()} cores; load at the beginning {load:.1f}")
    print(" | ".join(f"{name:>{width}}" for name, width in COLUMNS.items()), flush=True)
    cells = list[Cell]()
    for spec in options.games:
        game = load_game(spec)
        runs = [(latency, layout) for latency, layout in wanted(game, options)]
        found: list[list[Cell]] = [[] for _ in runs]
        for _ in range(options.repeats):
            for (latency, layout), cells_of_run in zip(runs, found, strict=True):
                cells_of_run.append(measured(game, latency, layout, options))
        for cells_of_run in found:
            cells.append(middle(cells_of_run))
            print(line(cells[-1]), flush=True)
    if options.json is not None:
        facts = {"processor": processor_name(), "cores": usable_cores(), "load": load, "cells": [*map(asdict, cells)]}
        options.json.write_text(json.dumps(facts, indent=1) + "\n")


def options_of(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="*", default=["chess", "connect4"], help="games of at most 64 squares")
    parser.add_argument("--latency", type=float, action="append", help="of a batch, in ms; default 2, 4 and 8")
    parser.add_argument("--layout", action="append", help="GAMES,ROWS,IN_FLIGHT or auto; default: a recipe's, and auto")
    parser.add_argument("--visits", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=5.0, help="of a measurement")
    parser.add_argument("--warm-up", type=float, default=3.0, help="seconds before it")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    options.latency = options.latency or [2.0, 4.0, 8.0]
    options.layout = options.layout or ["default", "auto"]
    return options


def wanted(game: _core.Game, options: argparse.Namespace) -> list[tuple[float | None, Layout]]:
    """Return the latency in seconds and the layout of each line: the search alone, then each device."""
    found: list[tuple[float | None, Layout]] = [
        (None, Layout(parallel=games, batch_size=games // 2, threads=usable_cores())) for games in ALONE
    ]
    for milliseconds in options.latency:
        for name in options.layout:
            found.append((milliseconds / 1000, layout_of(game, name, milliseconds / 1000, options)))
    return found


def layout_of(game: _core.Game, name: str, latency: float, options: argparse.Namespace) -> Layout:
    """Return the layout with this name on a device of this latency."""
    if name == "default":
        return DEFAULTS
    if name == "auto":
        player = player_with(game, Device(game, latency), options.visits)
        return fastest_layout(game, lambda _: nullcontext(player), cores=usable_cores(), most_games=MOST_GAMES)
    games, rows, in_flight = (int(word) for word in name.split(","))
    return Layout(games, rows, in_flight)


def middle(cells: Sequence[Cell]) -> Cell:
    """Return the cell whose figures are the medians of those of the repeats."""
    rows = [asdict(cell) for cell in cells]
    numbers = {name: median(row[name] for row in rows) for name, value in rows[0].items() if isinstance(value, float)}
    return replace(cells[0], **numbers)


COLUMNS = {
    "game": 10,
    "device": 12,
    "games, rows, in flight": 22,
    "rows/s": 8,
    "fill": 5,
    "busy": 5,
    "visits/s": 9,
    "moves/s": 8,
    "cores": 5,
    "Python": 6,
    "wait": 5,
    "rows/CPU-s": 10,
}


def line(cell: Cell) -> str:
    """Return a line of the table."""
    layout = f"{cell.parallel_games:,}, {cell.batch_size:,}, {cell.in_flight}"
    busy = "" if cell.device == "search alone" else f"{cell.busy:.2f}"
    parts = [
        cell.game,
        cell.device,
        layout,
        f"{cell.rows_per_second:,.0f}",
        f"{cell.fill:.2f}",
        busy,
        f"{cell.visits_per_second:,.0f}",
        f"{cell.moves_per_second:,.0f}",
        f"{cell.cores:.2f}",
        f"{cell.python_share:.0%}",
        f"{cell.wait_share:.0%}",
        f"{cell.rows_per_cpu_second:,.0f}",
    ]
    return " | ".join(f"{part:>{width}}" for part, width in zip(parts, COLUMNS.values(), strict=True))


if __name__ == "__main__":
    main()
