"""Training data before a run's first generation: recorded games or chunks, and a teacher's targets for the games.

Games become shards of the folder `start`, so that a resumed run has the same data whatever becomes of the source files.
Chunks stay in place; only their paths are recorded. A teacher sees every position of the games once; a student then
learns its softmax over the legal moves and its win, draw, loss (Hinton et al. 2015, "Distilling the Knowledge in a
Neural Network", with temperature 1).
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hauteur import _core
from hauteur.games.game_line import NO_NET, BadGame
from hauteur.learning.lc0_chunks import ChunkBuffer
from hauteur.learning.recorded_files import GAME_SUFFIXES, files_of, good_games, read_games
from hauteur.learning.replay import ReplayBuffer, Samples
from hauteur.learning.shards import write_shard
from hauteur.matches.record import GameRecord
from hauteur.networks.evaluators.base import Evaluator, Pending
from hauteur.system.files import write_json
from hauteur.system.seeds import stream

CHUNK_SUFFIX = ".gz"
"""Of lc0's training chunks."""

SHARD_GAMES = 1000
UNLIMITED = 2**40

LEARN, HELD_OUT = "learn", "held-out"
"""The two parts, as files are called."""

IN_FLIGHT = 3
"""Games that wait for the teacher at a time."""

SHARES = 65_535
"""A share of the policy target is stored in games as a number of parts of the whole, as self-play does with Gumbel."""


class Positions(Protocol):
    """Source of positions, drawn at random or by number: a ReplayBuffer or a ChunkBuffer."""

    @property
    def positions(self) -> int: ...
    def sample(
        self, random: np.random.Generator, rows: int, *, root_value_share: float, symmetries: bool
    ) -> Samples: ...
    def samples_of(self, positions: NDArray[np.int64], *, root_value_share: float) -> Samples: ...


@dataclass
class StartFacts:
    """Counts of what was read: games or chunks of both parts, results of the games to learn from, unusable games."""

    counts: dict[str, int] = field(default_factory=lambda: {LEARN: 0, HELD_OUT: 0})
    results: dict[int, int] = field(default_factory=lambda: {1: 0, 0: 0, -1: 0})
    bad: list[BadGame] = field(default_factory=list)


def source_files(sources: Sequence[str]) -> tuple[list[Path], bool]:
    """Return the files of `start.games` and whether they are lc0's chunks; ValueError for both kinds at once."""
    files = files_of(sources, (*GAME_SUFFIXES, CHUNK_SUFFIX))
    kinds = {path.suffix.lower() == CHUNK_SUFFIX for path in files}
    if len(kinds) > 1:
        raise ValueError("start.games: games and lc0's chunks cannot be mixed in one run; name one kind")
    return files, True in kinds


def bring_in(
    sources: Sequence[str],
    game: _core.Game,
    folder: Path,
    *,
    hold_out: float,
    seed: int,
    on_games: Callable[[int], None] | None = None,
) -> StartFacts:
    """Read all games into shards of the folder; the share `hold_out` of games or chunks, drawn by the seed, apart.

    ValueError when nothing can be used.
    """
    files, are_chunks = source_files(sources)
    folder.mkdir(exist_ok=True)
    for old in folder.iterdir():  # of an attempt that was killed
        old.unlink()
    facts = StartFacts()
    if are_chunks:
        reason = _bring_in_chunks(files, game, folder, facts, hold_out, seed)
    else:
        _bring_in_games(files, game, folder, facts, hold_out, seed, on_games)
        reason = "the files are empty" if not facts.counts[LEARN] else None
    if reason is not None:
        held_out = facts.counts[HELD_OUT]
        found = f"start.hold_out leaves all {held_out} out" if held_out else facts.bad[0] if facts.bad else reason
        raise ValueError(f"start.games: no game can be used: {found}")
    return facts


def _bring_in_chunks(
    paths: Sequence[Path], game: _core.Game, folder: Path, facts: StartFacts, hold_out: float, seed: int
) -> str | None:
    """Record the paths of both parts; return the reason why none can be learned from, or None."""
    parts: dict[str, list[Path]] = {LEARN: [], HELD_OUT: []}
    for index, path in enumerate(paths):
        parts[_part(hold_out, seed, "chunk", index)].append(path.resolve())
    facts.counts = {part: len(found) for part, found in parts.items()}
    write_json(folder / "chunks.json", {part: list(map(str, found)) for part, found in parts.items()})
    buffer = ChunkBuffer(game)  # refuses other games than chess
    if any(buffer.extend([path]) for path in parts[LEARN]):
        return None
    return buffer.skipped[-1] if buffer.skipped else "the files are empty"


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
    for found in read_games(paths, game):
        if isinstance(found, BadGame):
            facts.bad.append(found)
            continue
        part = _part(hold_out, seed, "game", found.plan.index)
        if len(waiting[part]) == SHARD_GAMES:
            _flush(folder, part, game, waiting[part], facts)
        waiting[part].append(found)
        facts.counts[part] += 1
        if part == LEARN:
            facts.results[found.outcome] += 1
        if on_games is not None:
            on_games(found.plan.index + 1)
    for part, records in waiting.items():
        if records:
            _flush(folder, part, game, records, facts)


def _part(hold_out: float, seed: int, kind: str, index: int) -> str:
    drawn = hold_out > 0 and float(stream(seed, f"hold out {kind}", index).random()) < hold_out
    return HELD_OUT if drawn else LEARN


def _flush(folder: Path, part: str, game: _core.Game, records: list[GameRecord], facts: StartFacts) -> None:
    """Write the waiting games as the part's next shard."""
    path = folder / f"{part}-{(facts.counts[part] - 1) // SHARD_GAMES:05d}.parquet"
    write_shard(path, game.spec, records, generation=0, nets=[NO_NET, NO_NET])
    records.clear()


@dataclass(frozen=True)
class StartData:
    """Training positions and held-out positions; skipped: unreadable files."""

    learn: Positions
    held_out: Positions | None
    skipped: list[str]


class TaughtGames(ReplayBuffer):
    """Games whose value target is the teacher's wdl alone, for any root_value_share."""

    def samples_of(self, positions: NDArray[np.int64], *, root_value_share: float = 1.0) -> Samples:  # noqa: ARG002
        """Return the samples of these positions."""
        return super().samples_of(positions, root_value_share=1.0)


def open_data(game: _core.Game, folder: Path, *, taught: bool = False, legal: bool = False) -> StartData:
    """Open the data that `bring_in` left in the folder.

    taught: the games have a teacher's targets; legal: return masks of legal actions with training samples of games;
    those of chunks and held-out samples always have them.
    """
    learn, held_out = (_open_part(game, folder, part, taught, legal or part == HELD_OUT) for part in (LEARN, HELD_OUT))
    skipped = [*learn.skipped, *held_out.skipped]
    if not learn.positions:
        raise ValueError(f"{folder}: no positions to learn from{f' ({skipped[0]})' if skipped else ''}")
    return StartData(learn, held_out if held_out.positions else None, skipped)


def _open_part(game: _core.Game, folder: Path, part: str, taught: bool, legal: bool) -> ReplayBuffer | ChunkBuffer:
    if not (folder / "chunks.json").exists():
        games = (TaughtGames if taught else ReplayBuffer)(game, UNLIMITED, legal=legal)
        games.extend(sorted(folder.glob(f"{part}-*.parquet")))
        return games
    chunks = ChunkBuffer(game)
    paths = list(map(Path, json.loads((folder / "chunks.json").read_text(encoding="utf-8"))[part]))
    chunks.extend([path for path in paths if path.exists()])
    chunks.skipped += [f"{path}: is not there any more" for path in paths if not path.exists()]
    return chunks


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


def taught_games(game: _core.Game, records: Sequence[GameRecord], teacher: Evaluator) -> Iterator[GameRecord]:
    """The games with the teacher's policy as the policy target and its wdl as the root's value, in order."""
    waiting: deque[tuple[GameRecord, list[NDArray[np.uint16]], Pending]] = deque()
    for record in records:
        features, legal = _encoded(game, record)
        waiting.append((record, legal, teacher.submit(features)))
        if len(waiting) >= IN_FLIGHT:
            yield _taught(*waiting.popleft())
    while waiting:
        yield _taught(*waiting.popleft())


def _encoded(game: _core.Game, record: GameRecord) -> tuple[NDArray[np.float32], list[NDArray[np.uint16]]]:
    """Play the game; return the features of its n searched positions, [n, C, H, W], and the legal actions of each."""
    state = (record.plan.origin or game.new_initial_state()).copy()
    for action in record.plan.start:
        state.apply(action)
    features = np.empty((len(record.actions), *game.feature_shape), np.float32)
    legal = []
    for move, action in enumerate(record.actions.tolist()):
        features[move] = state.features()
        legal.append(state.legal_actions().astype(np.uint16))
        state.apply(action)
    return features, legal


def _taught(record: GameRecord, legal: list[NDArray[np.uint16]], pending: Pending) -> GameRecord:
    logits, wdl = pending.result()
    wdl = wdl[: len(legal)]
    shares = [_softmax(row[actions]) for row, actions in zip(logits, legal, strict=False)]
    counts = [np.rint(SHARES * row).astype(np.uint32) for row in shares]
    return replace(
        record,
        policy_actions=np.concatenate([actions[count > 0] for actions, count in zip(legal, counts, strict=True)]),
        policy_counts=np.concatenate([count[count > 0] for count in counts]),
        policy_lengths=np.array([np.count_nonzero(count) for count in counts], np.uint16),
        root_wdl=np.asarray(wdl / wdl.sum(axis=1, keepdims=True), np.float32),  # half precision misses 1 by a little
        net_value=(wdl[:, 0] - wdl[:, 2]).astype(np.float32),
    )


def _softmax(logits: NDArray[np.float32]) -> NDArray[np.float64]:
    weights = np.exp(logits.astype(np.float64) - logits.max())
    return np.asarray(weights / weights.sum())
