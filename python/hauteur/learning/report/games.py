"""Games of a run on a board: some of each generation for its report, and any of them, with what the searches found."""

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from hauteur import _core
from hauteur.games.game_line import NO_NET, result_text
from hauteur.games.played_game import move_text, position_after
from hauteur.games.walks import MoveNote, WalkNotes, drawing_of, evenly, result_title, walk_of
from hauteur.learning.run_folder import RunFolder
from hauteur.plots.boards import walks_html
from hauteur.plots.report import ReportGames
from hauteur.system.errors import explain
from hauteur.system.extras import require

GENERATIONS = 8
"""Generations of which the report shows games, from the first to the last."""
GAMES = 3
"""Games that the report shows of each of these generations."""
MOVES = 6
"""Moves of a search that are named, those with the most visits."""


class ListedGame(NamedTuple):
    """A game in a list."""

    number: int
    """Number of the game in its generation, from 0."""
    result: str
    """The result, as in `1-0`."""
    plies: int
    """All moves, those of the opening too."""
    first: str
    """Who played first."""
    second: str
    """Who played second."""


def sample_games(folder: RunFolder, game: _core.Game) -> tuple[ReportGames, list[str]]:
    """Return games of some generations, and a line for each whose games cannot be read."""
    walks = list[dict[str, Any]]()
    unread = list[str]()
    for generation in evenly(generations_with_games(folder), GENERATIONS):
        try:
            # The first file has enough games: a report follows every generation, and must not read all of them again.
            first_table = next(_tables(folder, generation))
            walks += [_walk(row) for row in _rows(first_table.slice(0, GAMES))]
        except (ValueError, OSError, ImportError) as error:
            unread.append(f"Games of generation {generation} are not shown: {explain(error)}")
    return ReportGames(drawing_of(game.new_initial_state()), walks), unread


def generations_with_games(folder: RunFolder) -> list[int]:
    """Return the generations whose games are on disk, in order."""
    generations = set()
    for path in folder.games.glob("gen-*.parquet"):
        match = re.fullmatch(r"gen-([0-9]+)-[0-9]+\.parquet", path.name)
        if match:
            generations.add(int(match[1]))
    return sorted(generations)


def played_games(folder: RunFolder, generation: int) -> list[ListedGame]:
    """Return the games of a generation, by number. ValueError for damaged files, MissingLayerError without pyarrow."""
    found = []
    names = ("index", "outcome", "end_reason", "start", "actions", "net_first", "net_second")
    for table in _tables(folder, generation):
        for row in table.select(names).to_pylist():
            reason = f" ({row['end_reason']})" if row["end_reason"] else ""
            plies = len(row["start"]) + len(row["actions"])
            result = result_text(row["outcome"]) + reason
            found.append(ListedGame(row["index"], result, plies, *_players(row)))
    return sorted(found)


def game_html(folder: RunFolder, generation: int, number: int) -> str:
    """Return the widget with one game; each move has its search's visits, their shares, and the value.

    ValueError where the generation has no such game, or the game could not have been played.
    """
    for table in _tables(folder, generation):
        numbers = table["index"].to_pylist()
        if number in numbers:
            (row,) = _rows(table.slice(numbers.index(number), 1))
            return walks_html(drawing_of(_start_of(row)), [_walk(row)])
    raise ValueError(f"generation {generation} has no game {number + 1}")


def _tables(folder: RunFolder, generation: int) -> Iterator[Any]:
    """Yield the shards of a generation; ValueError where there are none, or one is damaged."""
    require("replaying games of a run", "pyarrow")
    from hauteur.learning.shards import read_table

    paths = sorted(folder.games.glob(f"gen-{generation:05d}-*.parquet"))
    if not paths:
        known = generations_with_games(folder)
        there = "no generation has"
        if known:
            there = f"generations {known[0]} to {known[-1]} have"
        raise ValueError(f"there are no games of generation {generation}; {there} games on disk")
    yield from map(read_table, paths)


def _rows(table: Any) -> list[dict[str, Any]]:
    """Return the games of a part of a shard; ValueError for the first that could not have been played."""
    from hauteur.learning.shards import bad_games

    for place, reason in bad_games(table).items():
        index = table["index"][place].as_py()
        raise ValueError(f"game {index + 1}: {reason}")
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows


def _start_of(row: dict[str, Any]) -> _core.State:
    from hauteur.learning.recorded_games import make_cached

    return make_cached(row["origin"] or row["game_spec"]).new_initial_state()


def _players(row: dict[str, Any]) -> tuple[str, str]:
    return _player_name(row["net_first"]), _player_name(row["net_second"])


def _player_name(net: int) -> str:
    return "the opponent" if net == NO_NET else f"net {net}"


def _walk(row: dict[str, Any]) -> dict[str, Any]:
    start = _start_of(row)
    state = position_after(start, row["start"])
    before = len(row["start"])
    notes = dict.fromkeys(range(before), MoveNote("of the opening, not searched"))
    best = dict[int, int]()
    end = 0
    for number, action in enumerate(row["actions"]):
        ply = before + number
        visits = row["visits"][number]
        begin = end
        end += row["policy_lengths"][number]
        counts = row["policy_counts"][begin:end]
        actions = row["policy_actions"][begin:end]
        edges = sorted(zip(counts, actions, strict=True), reverse=True)
        if visits and any(counts):
            is_learned = row["learn"][number] & 1
            notes[ply] = _search_note(state, edges, visits, is_learned)
            _, best[ply] = edges[0]
        else:
            notes[ply] = MoveNote("chosen without a search")
        state.apply(action)
    first, second = _players(row)
    result = result_title(first, second, row["outcome"], row["end_reason"] or "")
    title = f"generation {row['generation']}, game {row['index'] + 1}: {result}"
    noted = WalkNotes(_chances(row, before), best, notes)
    return walk_of(start, [*row["start"], *row["actions"]], title=title, notes=noted)


def _search_note(state: _core.State, edges: Sequence[tuple[int, int]], visits: int, learned: int) -> MoveNote:
    """Return what a search found: its visits, and the moves that had most of them with their shares.

    edges: counts and actions, the most visited first.
    """
    whole = sum(count for count, _ in edges)
    shares = []
    for count, action in edges[:MOVES]:
        move = move_text(state, action)
        shares.append(f"{move} {count / whole:.0%}")
    note = f"{visits:,} visits: {', '.join(shares)}"
    if len(edges) > MOVES:
        note += f" and {len(edges) - MOVES} more"
    if not learned:
        note += "; not learned from"
    return MoveNote(note)


def _chances(row: dict[str, Any], plies: int) -> dict[int, tuple[float, float, float]]:
    """Return the first player's chances by position, from those that the searches found for the movers."""
    shares = np.array(row["root_wdl"], np.float64).reshape(-1, 3)
    found: dict[int, tuple[float, float, float]] = {}
    for number, mover in enumerate(row["movers"]):
        win, draw, loss = shares[number].tolist()
        if math.isnan(win + draw + loss):
            continue
        if mover == 1:
            win, loss = loss, win
        found[plies + number] = (win, draw, loss)
    return found
