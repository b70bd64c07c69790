"""Games of a run's generations on a board, with what the searches thought of their positions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from hauteur import _core
from hauteur.games.walks import WalkNotes, drawing_of, result_title, walk_of
from hauteur.learning.run_folder import RunFolder
from hauteur.plots.boards import walks_html
from hauteur.system.errors import explain

GENERATIONS = 8
"""Generations of which the page shows games, from the first to the last."""

GAMES = 3
"""Games of each."""

COLUMNS = ("index", "start", "actions", "outcome", "end_reason", "origin", "root_wdl", "movers", "game_spec")


def evenly(places: Sequence[int], most: int) -> list[int]:
    """Return at most so many of the places, spread evenly, the first and the last among them."""
    if len(places) <= most:
        return list(places)
    return [places[round(step * (len(places) - 1) / (most - 1))] for step in range(most)]


def games_html(folder: RunFolder, game: _core.Game) -> str:
    """Return the widget with games of some generations; generations whose games cannot be read are named."""
    walks, unread = list[dict[str, Any]](), list[str]()
    found = shards_by_generation(folder.games)
    for generation in evenly(sorted(found), GENERATIONS):
        try:
            walks += _walks(found[generation], generation)
        except (ValueError, OSError, ImportError) as error:
            unread.append(f"Games of generation {generation} are not shown: {explain(error)}")
    said = "".join(f"<p>{escape(line)}</p>" for line in unread)
    return walks_html(drawing_of(game.new_initial_state()), walks) + said


def shards_by_generation(folder: Path) -> dict[int, Path]:
    """Return the first shard of each generation."""
    found: dict[int, Path] = {}
    for path in sorted(folder.glob("gen-*.parquet"), reverse=True):
        if match := re.fullmatch(r"gen-([0-9]+)-[0-9]+", path.stem):
            found[int(match[1])] = path
    return found


def _walks(path: Path, generation: int) -> Iterator[dict[str, Any]]:
    """Yield the first games of a shard; raise ValueError where they could not have been played."""
    for row in _first_rows(path):
        start = start_of(row["game_spec"], row["origin"])
        actions = [*row["start"], *row["actions"]]
        title = f"generation {generation}, game {row['index'] + 1}"
        result = result_title("first", "second", row["outcome"], row["end_reason"] or "")
        notes = WalkNotes(wdl=chances_of(row, len(row["start"])))
        yield walk_of(start, actions, title=f"{title}: {result}", notes=notes)


def _first_rows(path: Path) -> list[dict[str, Any]]:
    """Return the first rows of a shard, without reading the rest of it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        batches: Iterable[Any] = pq.ParquetFile(path).iter_batches(batch_size=GAMES, columns=list(COLUMNS))
        rows: list[dict[str, Any]] = next(iter(batches)).to_pylist()
    except (pa.ArrowException, KeyError, StopIteration) as error:
        raise ValueError(f"{path.name}: no shard of games: {error}") from None
    if any(row.keys() != set(COLUMNS) for row in rows):
        raise ValueError(f"{path.name}: no shard of games: it lacks columns")
    return rows


def start_of(spec: str, origin: str | None) -> _core.State:
    """Return the position that a recorded game begins from."""
    from hauteur.learning.recorded_games import make_cached

    return make_cached(origin or spec).new_initial_state()


def chances_of(row: dict[str, Any], plies: int) -> dict[int, tuple[float, float, float]]:
    """Return the first player's chances by position, from those that the searches found for the movers."""
    shares = np.array(row["root_wdl"], np.float64).reshape(-1, 3)
    found: dict[int, tuple[float, float, float]] = {}
    for number, (wdl, mover) in enumerate(zip(shares.tolist(), row["movers"], strict=True)):
        if not np.isnan(wdl).any():
            win, draw, loss = wdl if mover == 0 else wdl[::-1]
            found[plies + number] = (win, draw, loss)
    return found
