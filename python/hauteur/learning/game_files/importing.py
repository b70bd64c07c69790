"""Import of game files into shards: good games are kept, bad ones reported."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from glob import glob, has_magic
from pathlib import Path

import numpy as np

from hauteur import _core
from hauteur.games.end_reasons import RESIGNATION
from hauteur.games.game_line import NO_NET, BadGame, GameLine, end_text, result_text
from hauteur.games.pgn import read_pgn
from hauteur.games.sgf import read_sgf
from hauteur.learning.game_files.stored_games import StoredGame, read_stored
from hauteur.matches.record import GamePlan, GameRecord

SHARD_GAMES = 1000

GAME_SUFFIXES = (".pgn", ".sgf", ".parquet")
CHUNK_SUFFIX = ".gz"
"""Of lc0's training chunks."""


@dataclass
class ImportFacts:
    """The result of an import: games and their results, positions, and the bad games."""

    games: int = 0
    positions: int = 0
    first_wins: int = 0
    draws: int = 0
    second_wins: int = 0
    bad: list[BadGame] = field(default_factory=list)
    shards: list[Path] = field(default_factory=list)

    def add(self, record: GameRecord) -> None:
        """Count a good game."""
        self.games += 1
        self.positions += len(record.actions)
        self.first_wins += record.outcome > 0
        self.draws += record.outcome == 0
        self.second_wins += record.outcome < 0


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
                good = replace(found, plan=replace(found.plan, index=number, seats=(0, 0)))
                number += 1
            yield good


def _read_file(path: Path, game: _core.Game) -> Iterator[GameRecord | BadGame]:
    if path.suffix.lower() == ".parquet":
        yield from _read_shard(path, game)
        return
    lines = read_pgn(path, game) if path.suffix.lower() == ".pgn" else read_sgf(path, game)
    for number, line in enumerate(lines, 1):
        yield _checked(game, line, f"{path}, game {number}") if isinstance(line, GameLine) else line


def _checked(game: _core.Game, line: GameLine, where: str) -> GameRecord | BadGame:
    try:
        return record_of(game, line, 0)
    except ValueError as error:
        return BadGame(where, str(error))


def _read_shard(path: Path, game: _core.Game) -> Iterator[GameRecord | BadGame]:
    try:
        for number, stored in enumerate(read_stored(path), 1):
            if isinstance(stored, BadGame):
                yield stored
            else:
                wrong = _wrong_with(stored, game)
                yield stored.record if wrong is None else BadGame(f"{path}, game {number}", wrong)
    except ValueError as error:
        yield BadGame(str(path), str(error).removeprefix(f"{path}: "))


def _wrong_with(stored: StoredGame, game: _core.Game) -> str | None:
    """Return the reason why a game of a shard cannot be used, or None."""
    if stored.game.spec != game.spec:
        return f"is a game of {stored.game.spec}, not of {game.spec}"
    return None if stored.record.learn.any() else "has no positions to learn from"


def import_games(
    paths: Iterable[Path], game: _core.Game, folder: Path, *, on_games: Callable[[int], None] | None = None
) -> ImportFacts:
    """Write the games of these files as shards gen-00000-*.parquet of a folder that has none yet.

    ValueError when there is no good game among them; nothing is written then.
    """
    if any(folder.glob("*.parquet")):
        raise ValueError(f"{folder}: holds shards already; name a new folder")
    facts, waiting = ImportFacts(), list[GameRecord]()
    for found in read_games(paths, game):
        if isinstance(found, BadGame):
            facts.bad.append(found)
            continue
        facts.add(found)
        waiting.append(found)
        if on_games is not None:
            on_games(facts.games)
        if len(waiting) == SHARD_GAMES:
            _flush(folder, game, waiting, facts)
    _flush(folder, game, waiting, facts)
    if not facts.games:
        raise ValueError(f"no game can be used: {facts.bad[0] if facts.bad else 'the files are empty'}")
    return facts


def _flush(folder: Path, game: _core.Game, waiting: list[GameRecord], facts: ImportFacts) -> None:
    """Write the waiting games as the next shard."""
    from hauteur.learning.shards import write_shard  # here: reading games needs no pyarrow

    if waiting:
        folder.mkdir(parents=True, exist_ok=True)
        facts.shards.append(folder / f"gen-00000-{len(facts.shards):04d}.parquet")
        write_shard(facts.shards[-1], game.spec, waiting, generation=0, nets=[NO_NET, NO_NET])
        waiting.clear()


def record_of(game: _core.Game, line: GameLine, index: int) -> GameRecord:
    """Return the line as a game to learn from.

    ValueError for an illegal move or a result that contradicts the last position. No search stands behind it: the
    policy target is the move that was played, the root's value is the outcome, the root has no visits.
    """
    movers = _movers(game, line)
    moves = len(movers)
    results = np.where(movers == 0, line.outcome, -line.outcome)
    resigned = (1 if line.outcome > 0 else 0) if line.end_reason == RESIGNATION else -1
    return GameRecord(
        plan=GamePlan(index, origin=line.origin),
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
