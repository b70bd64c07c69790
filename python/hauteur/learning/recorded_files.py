"""Games in files, to learn from or to write again: PGN, SGF and shards; good games are kept, bad ones reported."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from glob import glob, has_magic
from pathlib import Path
from typing import Any

import numpy as np

from hauteur import _core
from hauteur.games.end_reasons import RESIGNATION
from hauteur.games.game_line import NO_NET, BadGame, GameLine, end_text, result_text
from hauteur.games.pgn import read_pgn
from hauteur.games.sgf import read_sgf
from hauteur.learning.recorded_games import STORED, make_cached
from hauteur.matches.record import GamePlan, GameRecord

GAME_SUFFIXES = (".pgn", ".sgf", ".parquet")


@dataclass(frozen=True)
class StoredGame:
    """A game of a shard; nets: generation of the nets that moved as first and as second."""

    game: _core.Game
    record: GameRecord
    generation: int
    nets: tuple[int, int]

    def start(self) -> _core.State:
        """Return the position that the game began from."""
        return (self.record.plan.origin or self.game.new_initial_state()).copy()


def read_stored(path: Path) -> Iterator[StoredGame | BadGame]:
    """Yield the games of a shard, in order; ValueError naming the file when it is damaged or foreign."""
    from hauteur.learning.shards import bad_games, read_table  # here: other files of games need no pyarrow

    table = read_table(path)
    bad = bad_games(table)
    for number, row in enumerate(table.to_pylist()):
        if (reason := bad.get(number)) is not None:
            yield BadGame(f"{path}, game {number + 1}", reason)
        else:
            nets = (row["net_first"], row["net_second"])
            yield StoredGame(make_cached(row["game_spec"]), _record(row), row["generation"], nets)


def good_games(path: Path) -> Iterator[StoredGame]:
    """Yield the games of a shard, in order; ValueError also for a game that cannot be as recorded."""
    for stored in read_stored(path):
        if isinstance(stored, BadGame):
            raise ValueError(str(stored))
        yield stored


def player_name(net: int) -> str:
    """Return the name of a player whose net has this generation."""
    return "recorded" if net == NO_NET else f"net of generation {net}"


def _record(row: dict[str, Any]) -> GameRecord:
    origin = None if row["origin"] is None else make_cached(row["origin"]).new_initial_state()
    columns: dict[str, Any] = {column.name: column.array(row[column.name]) for column in STORED}
    return GameRecord(
        plan=GamePlan(row["index"], (0, 1), tuple(row["start"]), origin),
        seed=row["seed"],
        outcome=row["outcome"],
        end_reason=row["end_reason"],
        n_scl=row["n_scl"],
        resigned=row["resigned"],
        **columns,
    )


def files_of(sources: Iterable[str | Path], suffixes: Sequence[str]) -> list[Path]:
    """The files that the sources name: files, folders (searched through) and patterns such as games/*.pgn, in order.

    ValueError for a source that names nothing, or a file of another kind.
    """
    found: list[Path] = []
    for source in map(str, sources):
        names = sorted(glob(source, recursive=True)) if has_magic(source) else [source]  # noqa: PTH207
        files = [file for name in names for file in _files_below(Path(name), suffixes)]
        if not files:
            raise ValueError(f"{source}: no file of games there (read are {', '.join(suffixes)})")
        found += files
    wrong = next((path for path in found if path.suffix.lower() not in suffixes), None)
    if wrong is not None:
        raise ValueError(f"{wrong}: files of this kind are not read here; read are {', '.join(suffixes)}")
    return list(dict.fromkeys(found))


def _files_below(path: Path, suffixes: Sequence[str]) -> list[Path]:
    """The file itself, or those with one of the suffixes in the folder."""
    if path.is_dir():
        return sorted(file for file in path.rglob("*") if file.suffix.lower() in suffixes and file.is_file())
    if not path.exists():
        raise ValueError(f"{path}: there is no such file or folder")
    return [path]


def read_games(paths: Iterable[Path], game: _core.Game) -> Iterator[GameRecord | BadGame]:
    """The games of PGN, SGF and Parquet files, each checked by playing it, numbered from 0 in this order."""
    number = 0
    for path in paths:
        for found in _read_file(path, game):
            good = found
            if isinstance(found, GameRecord):
                good = replace(found, plan=replace(found.plan, index=number, sides=(0, 0)))
                number += 1
            yield good


def _read_file(path: Path, game: _core.Game) -> Iterator[GameRecord | BadGame]:
    if path.suffix.lower() == ".parquet":
        yield from _read_shard(path, game)
        return
    lines = read_pgn(path, game) if path.suffix.lower() == ".pgn" else read_sgf(path, game)
    for number, line in enumerate(lines, 1):
        try:
            yield record_of(game, line) if isinstance(line, GameLine) else line
        except ValueError as error:
            yield BadGame(f"{path}, game {number}", str(error))


def _read_shard(path: Path, game: _core.Game) -> Iterator[GameRecord | BadGame]:
    try:
        for number, stored in enumerate(read_stored(path), 1):
            if isinstance(stored, BadGame):
                yield stored
            elif stored.game.spec != game.spec:
                yield BadGame(f"{path}, game {number}", f"is a game of {stored.game.spec}, not of {game.spec}")
            elif not stored.record.learn.any():
                yield BadGame(f"{path}, game {number}", "has no positions to learn from")
            else:
                yield stored.record
    except ValueError as error:
        yield BadGame(str(path), str(error).removeprefix(f"{path}: "))


def record_of(game: _core.Game, line: GameLine) -> GameRecord:
    """Return the line as a game to learn from.

    ValueError for an illegal move or a result that contradicts the last position. No search stands behind it: the
    policy target is the move that was played, the root's value is the outcome, the root has no visits.
    """
    movers = _movers(game, line)
    moves = len(movers)
    results = np.where(movers == 0, line.outcome, -line.outcome)
    resigned = (1 if line.outcome > 0 else 0) if line.end_reason == RESIGNATION else -1
    return GameRecord(
        plan=GamePlan(0, origin=line.origin),
        seed=0,
        actions=np.array(line.actions, np.uint16),
        movers=movers,
        policy_actions=np.array(line.actions, np.uint16),
        policy_counts=np.ones(moves, np.uint32),
        policy_lengths=np.ones(moves, np.uint16),
        root_wdl=np.eye(3, dtype=np.float32)[1 - results],
        outcome=line.outcome,
        end_reason=line.end_reason,
        resigned=resigned,
    )


def _movers(game: _core.Game, line: GameLine) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    """Return the side that made each move, by replaying the game."""
    if not line.actions:
        raise ValueError("it has no moves")
    state = (line.origin or game.new_initial_state()).copy()
    movers = []
    for action in line.actions:
        movers.append(state.to_move)
        state.apply(action)
    if not len(state.legal_actions()) and state.outcome() != line.outcome:
        raise ValueError(f"its result is {result_text(line.outcome)}, but the last position is {end_text(state)}")
    return np.array(movers, np.uint8)
