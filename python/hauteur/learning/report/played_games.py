"""Any game of any generation of a run, to step through, with what the search found at every move."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hauteur import _core
from hauteur.games.game_line import NO_NET, result_text
from hauteur.games.walks import MoveNote, WalkNotes, drawing_of, result_title, walk_of
from hauteur.learning.report.board_games import chances_of, start_of
from hauteur.learning.run_folder import RunFolder
from hauteur.plots.boards import walks_html

MOVES = 6
"""Moves of a search that are named, those with the most visits."""


class ListedGame(NamedTuple):
    """A game in a list. number: in its generation, from 0; first, second: who sat there; plies: all moves."""

    number: int
    result: str
    plies: int
    first: str
    second: str


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
            seats = [_player(row[name]) for name in ("net_first", "net_second")]
            reason = f" ({row['end_reason']})" if row["end_reason"] else ""
            plies = len(row["start"]) + len(row["actions"])
            found.append(ListedGame(row["index"], result_text(row["outcome"]) + reason, plies, *seats))
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
            start = start_of(row["game_spec"], row["origin"])
            return walks_html(drawing_of(start), [walk_of_row(start, row)])
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


def _player(net: int) -> str:
    return "the opponent" if net == NO_NET else f"net {net}"


def walk_of_row(start: _core.State, row: dict[str, Any]) -> dict[str, Any]:
    """Return the game with the notes of its searches."""
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
    seats = [_player(row[name]) for name in ("net_first", "net_second")]
    result = result_title(seats[0], seats[1], row["outcome"], row["end_reason"] or "")
    title = f"generation {row['generation']}, game {row['index'] + 1}: {result}"
    chances = chances_of(row, before)
    return walk_of(start, [*row["start"], *row["actions"]], title=title, notes=WalkNotes(chances, best, notes))


def _search_note(
    state: _core.State, actions: Sequence[int], counts: Sequence[int], visits: int, learned: int
) -> tuple[MoveNote, int | None]:
    """Return what a search found: its visits, and the moves that had most of them with their shares."""
    if not visits or not sum(counts):
        return MoveNote("chosen without a search"), None
    order = sorted(range(len(actions)), key=lambda i: -counts[i])
    form = ("san",) if state.game.name == "chess" else ()
    shares = [f"{state.action_to_text(actions[i], *form)} {counts[i] / sum(counts):.0%}" for i in order[:MOVES]]
    more = f" and {len(order) - MOVES} more" if len(order) > MOVES else ""
    use = "" if learned else "; not learned from"
    return MoveNote(f"{visits:,} visits: {', '.join(shares)}{more}{use}"), actions[order[0]]
