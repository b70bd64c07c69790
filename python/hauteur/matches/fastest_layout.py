"""The layout of games with which a device that Python asks, a GPU say, answers most rows a second: found by trying.

A batch of a GPU takes hardly longer with more rows, as long as it is small. So batches are made larger until the games
give no more rows a second: then the threads that search are the limit, or the device is. The smallest batch that comes
near the best is taken, since larger ones need more games at a time and keep each of them waiting longer.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hauteur.matches.arena import USUAL_RULES, GameRules, Layout
from hauteur.matches.speed import speed_of_games

if TYPE_CHECKING:
    from hauteur import _core
    from hauteur.players.search_player import SearchPlayer

SIZES = (64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096)
"""Rows of the batches that are tried, in order."""

NEAR = 0.95
"""Share of the most rows a second that the layout must reach."""

PATIENCE = 3
"""Sizes in a row that bring nothing after which no larger one is tried."""

IN_TURN = 2
"""Threads beyond the cores: while the device computes the batch of one, that of another waits for its turn."""

MOST_THREADS = 64
"""Threads that a recipe allows (`selfplay.in_flight`)."""

WARM_UP = 0.5
"""Seconds before a measurement."""
SECONDS = 1.0
"""Seconds of a measurement."""

OpenPlayer = Callable[[int], AbstractContextManager["SearchPlayer"]]
"""Opens a player whose evaluator is made for batches of this many rows."""


@dataclass(frozen=True)
class Tried:
    """A layout and the rows that its games gave a second."""

    layout: Layout
    rows_per_second: float


def fastest_layout(
    game: _core.Game,
    open_player: OpenPlayer,
    *,
    cores: int,
    most_games: int,
    rules: GameRules = USUAL_RULES,
) -> Layout:
    """Return the layout for a player whose net Python computes.

    cores: of the processor; most_games: that there are to be played at a time, at least 1. It takes about ten to twenty
    seconds, and depends on what else the machine does meanwhile.
    """

    def rows_per_second(layout: Layout) -> float:
        with open_player(layout.batch_size) as player:
            speed = speed_of_games(game, player, layout, seconds=SECONDS, warm_up=WARM_UP, rules=rules)
            return speed.rows_per_second

    return chosen_layout(layouts_to_try(cores, most_games), rows_per_second)


def layouts_to_try(cores: int, most_games: int) -> list[Layout]:
    """Return layouts with ever larger batches, a batch of games for each thread, as far as there are games."""
    threads = min(cores + IN_TURN, MOST_THREADS, most_games)
    full = [rows for rows in SIZES if rows * threads <= most_games]
    found = [Layout(rows * threads, rows, threads) for rows in full]
    if len(found) == len(SIZES):
        return found
    # Few games give full batches to few threads only.
    for fewer in sorted({threads, min(IN_TURN, most_games), 1}, reverse=True):
        rows = min(most_games // fewer, SIZES[-1])
        found.append(Layout(rows * fewer, rows, fewer))
    return found


def chosen_layout(layouts: list[Layout], rows_per_second: Callable[[Layout], float]) -> Layout:
    """Return the first of these layouts that comes near the best of them; the last ones are not tried in vain."""
    tried: list[Tried] = []
    best = 0.0
    without_gain = 0
    for layout in layouts:
        tried.append(Tried(layout, rows_per_second(layout)))
        if tried[-1].rows_per_second > best / NEAR:
            without_gain = 0
        else:
            without_gain += 1
        best = max(best, tried[-1].rows_per_second)
        if without_gain == PATIENCE:
            break
    return next(one.layout for one in tried if one.rows_per_second >= NEAR * best)
