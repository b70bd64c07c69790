"""Training data before a run's first generation: recorded games and chunks, imported into the run's folder.

Games become shards of the folder `start`, so that a resumed run has the same data whatever becomes of the source files.
Chunks stay in place; only their paths are recorded.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hauteur import _core
from hauteur.games.game_line import NO_NET, BadGame
from hauteur.learning.bootstrap.distillation import taught_games
from hauteur.learning.game_files.importing import (
    CHUNK_SUFFIX,
    GAME_SUFFIXES,
    SHARD_GAMES,
    ImportFacts,
    files_of,
    read_games,
)
from hauteur.learning.game_files.lc0_chunks import ChunkPositions, read_chunk
from hauteur.learning.game_files.stored_games import good_games
from hauteur.learning.replay import ReplayBuffer, Samples
from hauteur.learning.shards import write_shard
from hauteur.matches.record import GameRecord
from hauteur.networks.evaluators.base import Evaluator
from hauteur.system.files import write_bytes
from hauteur.system.seeds import stream

LEARN, HELD_OUT = "learn", "held-out"
"""The two parts, as files are called."""

UNLIMITED = 2**40

Teach = Callable[[ChunkPositions], ChunkPositions]
"""Gives positions of chunks a teacher's targets."""


class Positions(Protocol):
    """Source of positions, drawn at random or by number: a ReplayBuffer, a ChunkBuffer, or both."""

    @property
    def positions(self) -> int: ...
    def sample(
        self, random: np.random.Generator, rows: int, *, root_value_share: float, symmetries: bool
    ) -> Samples: ...
    def samples_of(self, positions: NDArray[np.int64], *, root_value_share: float) -> Samples: ...


@dataclass
class StartFacts:
    """Games and chunks that were read: those to learn from and held out, and the games that cannot be used."""

    learn: ImportFacts = field(default_factory=ImportFacts)
    held_out: ImportFacts = field(default_factory=ImportFacts)
    chunks: int = 0
    held_out_chunks: int = 0
    bad: list[BadGame] = field(default_factory=list)


def bring_in(
    sources: Sequence[str],
    game: _core.Game,
    folder: Path,
    *,
    hold_out: float,
    seed: int,
    on_games: Callable[[int], None] | None = None,
) -> StartFacts:
    """Read all games into shards of the folder; the share `hold_out` of games and chunks, drawn by the seed, apart.

    ValueError when nothing can be used.
    """
    files = files_of(sources, (*GAME_SUFFIXES, CHUNK_SUFFIX))
    chunks = [path for path in files if path.suffix.lower() == CHUNK_SUFFIX]
    games = [path for path in files if path.suffix.lower() != CHUNK_SUFFIX]
    folder.mkdir(exist_ok=True)
    for old in folder.iterdir():  # of an attempt that was killed
        old.unlink()
    facts = StartFacts()
    _bring_in_games(games, game, folder, facts, hold_out, seed, on_games)
    if chunks:
        ChunkBuffer(game)  # refuses other games than chess
    is_apart = [_held_out(hold_out, seed, "chunk", index) for index in range(len(chunks))]
    apart = [path for path, out in zip(chunks, is_apart, strict=True) if out]
    kept = [path for path, out in zip(chunks, is_apart, strict=True) if not out]
    facts.chunks, facts.held_out_chunks = len(kept), len(apart)
    names = {LEARN: [str(path.resolve()) for path in kept], HELD_OUT: [str(path.resolve()) for path in apart]}
    write_bytes(folder / "chunks.json", json.dumps(names, indent=1).encode())
    if not facts.learn.games and (wrong := _wrong_with_chunks(kept)) is not None:
        held_out = facts.held_out.games + len(apart)
        reason = f"start.hold_out leaves all {held_out} out" if held_out else facts.bad[0] if facts.bad else wrong
        raise ValueError(f"start.games: no game can be used: {reason}")
    return facts


def _wrong_with_chunks(paths: Sequence[Path]) -> str | None:
    """Return the reason why none of these chunks has a position to learn from; None if one has."""
    wrong = "the files are empty"
    for path in reversed(paths):
        try:
            if len(ChunkPositions.of_records(read_chunk(path))):
                return None
        except ValueError as error:
            wrong = str(error)
    return wrong


def _bring_in_games(
    paths: Sequence[Path],
    game: _core.Game,
    folder: Path,
    facts: StartFacts,
    hold_out: float,
    seed: int,
    on_games: Callable[[int], None] | None,
) -> None:
    """Write the good games as shards of both parts."""
    waiting: dict[str, list[GameRecord]] = {LEARN: [], HELD_OUT: []}
    parts = {LEARN: facts.learn, HELD_OUT: facts.held_out}
    for found in read_games(paths, game):
        if isinstance(found, BadGame):
            facts.bad.append(found)
            continue
        part = HELD_OUT if _held_out(hold_out, seed, "game", found.plan.index) else LEARN
        parts[part].add(found)
        waiting[part].append(found)
        if len(waiting[part]) == SHARD_GAMES:
            _flush(folder, part, game, waiting[part], parts[part])
        if on_games is not None:
            on_games(found.plan.index + 1)
    for part, records in waiting.items():
        _flush(folder, part, game, records, parts[part])


def _held_out(share: float, seed: int, kind: str, index: int) -> bool:
    return share > 0 and float(stream(seed, f"hold out {kind}", index).random()) < share


def _flush(folder: Path, part: str, game: _core.Game, records: list[GameRecord], facts: ImportFacts) -> None:
    """Write the waiting games as the part's next shard."""
    if records:
        facts.shards.append(folder / f"{part}-{len(facts.shards):05d}.parquet")
        write_shard(facts.shards[-1], game.spec, records, generation=0, nets=[NO_NET, NO_NET])
        records.clear()


def teach_games(
    game: _core.Game, folder: Path, teacher: Evaluator, *, on_games: Callable[[int], None] | None = None
) -> None:
    """Write the teacher's targets into all shards of the folder. Done again it changes nothing."""
    done = 0
    for path in sorted(folder.glob("*.parquet")):
        records = [stored.record for stored in good_games(path)]
        taught = []
        for record in taught_games(game, records, teacher):
            taught.append(record)
            done += 1
            if on_games is not None:
                on_games(done)
        write_shard(path, game.spec, taught, generation=0, nets=[NO_NET, NO_NET])


@dataclass(frozen=True)
class StartData:
    """Training positions and held-out positions; skipped: unreadable files."""

    learn: Positions
    held_out: Positions | None
    skipped: list[str]


def open_data(game: _core.Game, folder: Path, teach: Teach | None = None, *, legal: bool = False) -> StartData:
    """Open the data that `bring_in` left in the folder; `teach` adds teacher targets to chunks, as games already have.

    legal: return masks of legal actions with training samples of games; those of chunks and held-out samples always
    have them.
    """
    skipped: list[str] = []
    learn = _open_part(game, folder, LEARN, teach, skipped, legal)
    if learn is None:
        raise ValueError(f"{folder}: no positions to learn from{f' ({skipped[0]})' if skipped else ''}")
    return StartData(learn, _open_part(game, folder, HELD_OUT, teach, skipped, True), skipped)


def _open_part(
    game: _core.Game,
    folder: Path,
    part: str,
    teach: Teach | None,
    skipped: list[str],
    legal: bool,
) -> Positions | None:
    found: list[Positions] = []
    games = ReplayBuffer(game, UNLIMITED, legal=legal)
    games.extend(sorted(folder.glob(f"{part}-*.parquet")))
    if games.positions:
        found.append(games)
    names = json.loads((folder / "chunks.json").read_text(encoding="utf-8"))[part]
    chunks = _chunks(game, [Path(name) for name in names], teach) if names else None
    if chunks is not None and chunks.positions:
        found.append(chunks)
    skipped += games.skipped + (chunks.skipped if chunks is not None else [])
    if not found:
        return None
    data = found[0] if len(found) == 1 else Mixture(found)
    return data if teach is None else TeacherTargets(data)


def _chunks(game: _core.Game, paths: Sequence[Path], teach: Teach | None) -> ChunkBuffer:
    buffer = ChunkBuffer(game)
    buffer.extend([path for path in paths if path.exists()])
    buffer.skipped += [f"{path}: is not there any more" for path in paths if not path.exists()]
    if teach is not None and buffer.content is not None:
        buffer.content = teach(buffer.content)
    return buffer


@dataclass(frozen=True)
class TeacherTargets:
    """Positions whose value target is the teacher's wdl alone, whatever root_value_share is requested."""

    data: Positions

    @property
    def positions(self) -> int:
        """Number of positions."""
        return self.data.positions

    def sample(
        self,
        random: np.random.Generator,
        rows: int,
        *,
        root_value_share: float = 1.0,  # noqa: ARG002
        symmetries: bool = True,
    ) -> Samples:
        """Draws positions uniformly."""
        return self.data.sample(random, rows, root_value_share=1.0, symmetries=symmetries)

    def samples_of(self, positions: NDArray[np.int64], *, root_value_share: float = 1.0) -> Samples:  # noqa: ARG002
        """Return the samples of these positions."""
        return self.data.samples_of(positions, root_value_share=1.0)


class Mixture:
    """Several sources as one, numbered one after another. Games and chunks of chess, which has no symmetries."""

    def __init__(self, parts: Sequence[Positions]) -> None:
        self._parts = parts
        self._ends = np.cumsum([part.positions for part in parts])

    @property
    def positions(self) -> int:
        """Number of positions of all sources."""
        return int(self._ends[-1])

    def sample(
        self,
        random: np.random.Generator,
        rows: int,
        *,
        root_value_share: float = 0.0,
        symmetries: bool = True,  # noqa: ARG002
    ) -> Samples:
        """Draws positions uniformly from all sources."""
        return self.samples_of(random.integers(self.positions, size=rows), root_value_share=root_value_share)

    def samples_of(self, positions: NDArray[np.int64], *, root_value_share: float = 0.0) -> Samples:
        """Return the samples of these positions, in this order."""
        sources = np.searchsorted(self._ends, positions, side="right")
        order, found = [], []
        for number, part in enumerate(self._parts):
            rows = np.flatnonzero(sources == number)
            if len(rows):
                begins = int(self._ends[number]) - part.positions
                found.append(part.samples_of(positions[rows] - begins, root_value_share=root_value_share))
                order.append(rows)
        back = np.argsort(np.concatenate(order))
        features, policy, wdl = (
            np.concatenate([getattr(one, name) for one in found])[back] for name in ("features", "policy", "wdl")
        )
        legal = [one.legal for one in found if one.legal is not None]
        return Samples(features, policy, wdl, np.concatenate(legal)[back] if len(legal) == len(found) else None)


class ChunkBuffer:
    """The positions of chunks, and training batches of them."""

    def __init__(self, game: _core.Game, content: ChunkPositions | None = None) -> None:
        if game.name != "chess":
            raise ValueError(f"training chunks of lc0 are for chess, the game is {game.spec}")
        self.game = game
        self.content = content
        self.skipped: list[str] = []

    def extend(self, paths: Iterable[Path]) -> int:
        """Add the positions of these chunks, in order; how many. Files that are no whole chunk are in `skipped`."""
        parts = []
        for path in paths:
            try:
                parts.append(ChunkPositions.of_records(read_chunk(path)))
            except ValueError as error:
                self.skipped.append(str(error))
        if parts:
            before = [self.content] if self.content is not None else []
            self.content = ChunkPositions.join([*before, *parts])
        return sum(map(len, parts))

    @property
    def positions(self) -> int:
        """Number of positions."""
        return len(self.content) if self.content is not None else 0

    def sample(
        self,
        random: np.random.Generator,
        rows: int,
        *,
        root_value_share: float = 0.0,
        symmetries: bool = True,  # noqa: ARG002
    ) -> Samples:
        """Draws positions uniformly. Chess has no symmetries, so `symmetries` changes nothing."""
        if self.positions == 0:
            raise ValueError("the chunks hold no positions")
        return self.samples_of(random.integers(self.positions, size=rows), root_value_share=root_value_share)

    def samples_of(self, positions: NDArray[np.int64], *, root_value_share: float = 0.0) -> Samples:
        """Features and targets of these positions (numbers 0 to positions - 1); wdl as in ReplayBuffer.samples_of."""
        if self.content is None:
            raise ValueError("the chunks hold no positions")
        content = self.content
        wdl = (1 - root_value_share) * content.wdl[positions] + root_value_share * content.root_wdl[positions]
        features, policy = content.features(positions), content.policy(positions)
        return Samples(features, policy, wdl.astype(np.float32), content.legal(positions))
