"""Games of a run on a board: some of each generation for its report, and any of them, with what the searches found."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hauteur import _core
from hauteur.games.game_line import NO_NET, result_text
from hauteur.games.played_game import move_text
from hauteur.games.walks import MoveNote, WalkNotes, drawing_of, result_title, walk_of
from hauteur.learning.run_folder import RunFolder
from hauteur.plots.boards import walks_html
from hauteur.plots.report import ReportGames
from hauteur.system.errors import explain

GENERATIONS, GAMES = 8, 3
"""Generations of which the report shows games, from the first to the last, and games of each."""
MOVES = 6
"""Moves of a search that are named, those with the most visits."""


class ListedGame(NamedTuple):
    """A game in a list. number: in its generation, from 0; first, second: who sat there; plies: all moves."""

    number: int
    result: str
    plies: int
    first: str
    second: str


def sample_games(folder: RunFolder, game: _core.Game) -> tuple[ReportGames, list[str]]:
    """Return games of some generations, and a line for each whose games cannot be read."""
    walks, unread = list[dict[str, Any]](), list[str]()
    for generation in evenly(generations_with_games(folder), GENERATIONS):
        try:
            walks += [_walk(row) for row in _first_rows(_shards(folder, generation)[0])]
        except (ValueError, OSError, ImportError) as error:
            unread.append(f"Games of generation {generation} are not shown: {explain(error)}")
    return ReportGames(drawing_of(game.new_initial_state()), walks), unread


def evenly(places: Sequence[int], most: int) -> list[int]:
    """Return `most` of the places at most, spread evenly, the first and the last among them."""
    if len(places) <= most:
        return list(places)
    return [places[round(step * (len(places) - 1) / (most - 1))] for step in range(most)]


def generations_with_games(folder: RunFolder) -> list[int]:
    """Return the generations whose games are on disk, in order."""
    found = {re.fullmatch(r"gen-([0-9]+)-[0-9]+\.parquet", path.name) for path in folder.games.glob("gen-*.parquet")}
    return sorted({int(match[1]) for match in found if match})


def played_games(folder: RunFolder, generation: int) -> list[ListedGame]:
    """Return the games of a generation, by number. ValueError for damaged files, MissingLayerError without pyarrow."""
    found = []
    for path in _shards(folder, generation):
        names = ("index", "outcome", "end_reason", "start", "actions", "net_first", "net_second")
        for row in _table(path).select(names).to_pylist():
            sides = [_player(row[name]) for name in ("net_first", "net_second")]
            reason = f" ({row['end_reason']})" if row["end_reason"] else ""
            plies = len(row["start"]) + len(row["actions"])
            found.append(ListedGame(row["index"], result_text(row["outcome"]) + reason, plies, *sides))
    return sorted(found)


def game_html(folder: RunFolder, generation: int, number: int) -> str:
    """Return the widget with one game; each move has its search's visits, their shares, and the value.

    ValueError where the generation has no such game, or the game could not have been played.
    """
    shards = _shards(folder, generation)
    import pyarrow.compute as pc

    from hauteur.learning.shards import bad_games

    for path in shards:
        table = _table(path)
        place = pc.index(table["index"], number).as_py()
        if place >= 0:
            found = table.slice(place, 1)
            for reason in bad_games(found).values():
                raise ValueError(f"{path.name}, game {number + 1}: {reason}")
            row = found.to_pylist()[0]
            return walks_html(drawing_of(_start_of(row)), [_walk(row)])
    raise ValueError(f"generation {generation} has no game {number + 1}")


def _shards(folder: RunFolder, generation: int) -> list[Path]:
    from hauteur.system.extras import require

    require("replaying games of a run", "pyarrow")
    paths = sorted(folder.games.glob(f"gen-{generation:05d}-*.parquet"))
    if not paths:
        known = generations_with_games(folder)
        there = f"generations {known[0]} to {known[-1]} have" if known else "no generation has"
        raise ValueError(f"there are no games of generation {generation}; {there} games on disk")
    return paths


def _table(path: Path) -> Any:
    from hauteur.learning.shards import read_table

    return read_table(path)


def _first_rows(path: Path) -> list[dict[str, Any]]:
    """Return the first rows of a shard, without reading the rest of it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from hauteur.learning.shards import SCHEMA

    try:
        rows: list[dict[str, Any]] = next(pq.ParquetFile(path).iter_batches(GAMES, columns=SCHEMA.names)).to_pylist()
    except (pa.ArrowException, KeyError, StopIteration) as error:
        raise ValueError(f"{path.name}: no shard of games: {error}") from None
    if any(row.keys() != set(SCHEMA.names) for row in rows):
        raise ValueError(f"{path.name}: no shard of games: it lacks columns")
    return rows


def _start_of(row: dict[str, Any]) -> _core.State:
    """Return the position that a recorded game begins from."""
    from hauteur.learning.recorded_games import make_cached

    return make_cached(row["origin"] or row["game_spec"]).new_initial_state()


def _player(net: int) -> str:
    return "the opponent" if net == NO_NET else f"net {net}"


def _walk(row: dict[str, Any]) -> dict[str, Any]:
    """Return the game with the notes of its searches. ValueError where it could not have been played."""
    start = _start_of(row)
    before = len(row["start"])
    notes = dict.fromkeys(range(before), MoveNote("of the opening, not searched"))
    best = dict[int, int]()
    state = start.copy()
    for action in row["start"]:
        state.apply(action)
    ends = np.cumsum(row["policy_lengths"]).tolist()
    for number, (action, begin, end) in enumerate(zip(row["actions"], [0, *ends], ends, strict=False)):
        edges = (row["policy_actions"][begin:end], row["policy_counts"][begin:end])
        note, best_action = _search_note(state, *edges, row["visits"][number], row["learn"][number])
        notes[before + number] = note
        if best_action is not None:
            best[before + number] = best_action
        state.apply(action)
    sides = [_player(row[name]) for name in ("net_first", "net_second")]
    result = result_title(sides[0], sides[1], row["outcome"], row["end_reason"] or "")
    title = f"generation {row['generation']}, game {row['index'] + 1}: {result}"
    chances = _chances(row, before)
    return walk_of(start, [*row["start"], *row["actions"]], title=title, notes=WalkNotes(chances, best, notes))


def _search_note(
    state: _core.State, actions: Sequence[int], counts: Sequence[int], visits: int, learned: int
) -> tuple[MoveNote, int | None]:
    """Return what a search found: its visits, and the moves that had most of them with their shares."""
    if not visits or not sum(counts):
        return MoveNote("chosen without a search"), None
    order = sorted(range(len(actions)), key=lambda i: -counts[i])
    shares = [f"{move_text(state, actions[i])} {counts[i] / sum(counts):.0%}" for i in order[:MOVES]]
    more = f" and {len(order) - MOVES} more" if len(order) > MOVES else ""
    use = "" if learned else "; not learned from"
    return MoveNote(f"{visits:,} visits: {', '.join(shares)}{more}{use}"), actions[order[0]]


def _chances(row: dict[str, Any], plies: int) -> dict[int, tuple[float, float, float]]:
    """Return the first player's chances by position, from those that the searches found for the movers."""
    shares = np.array(row["root_wdl"], np.float64).reshape(-1, 3)
    found: dict[int, tuple[float, float, float]] = {}
    for number, (wdl, mover) in enumerate(zip(shares.tolist(), row["movers"], strict=True)):
        if not np.isnan(wdl).any():
            win, draw, loss = wdl if mover == 0 else wdl[::-1]
            found[plies + number] = (win, draw, loss)
    return found
