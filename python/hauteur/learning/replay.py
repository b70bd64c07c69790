"""Games on disk and the positions that training draws from them.

A shard is a Parquet file, one row a game: what was played and what the searches found, never tensors. Positions are
encoded again by the core when they are drawn, and the game's symmetries are applied then. Shards are written under a
temporary name and renamed, so a shard is whole or absent; a torn or foreign file is skipped and named, never fatal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from hauteur import _core
from hauteur.games.end_reasons import RESIGNATION
from hauteur.games.registry import make
from hauteur.matches.record import GameRecord
from hauteur.players.surprise import drawing_weights
from hauteur.system.files import write_bytes

FORMAT = "hauteur games 2"

SCHEMA = pa.schema(
    [
        ("game_spec", pa.string()),
        ("index", pa.int64()),  # number of the game in its generation
        ("generation", pa.int32()),
        ("seed", pa.int64()),
        ("net_first", pa.int32()),  # generation of the net that moved as first
        ("net_second", pa.int32()),
        ("start", pa.list_(pa.uint16())),  # actions from the game's initial state to the first searched position
        ("actions", pa.list_(pa.uint16())),
        ("movers", pa.list_(pa.uint8())),
        ("policy_actions", pa.list_(pa.uint16())),  # visited root edges of all moves, one after another
        ("policy_counts", pa.list_(pa.uint32())),
        ("policy_lengths", pa.list_(pa.uint16())),  # how many of them belong to each move
        ("root_q", pa.list_(pa.float32())),  # for the mover, as all values
        ("root_wdl", pa.list_(pa.float32())),  # three a move
        ("net_value", pa.list_(pa.float32())),
        ("visits", pa.list_(pa.uint32())),
        ("temperatures", pa.list_(pa.float32())),
        ("outcome", pa.int8()),
        ("end_reason", pa.string()),
        ("surprise", pa.list_(pa.float32())),  # KL(policy target || net's priors), nats
        ("learn", pa.list_(pa.uint8())),  # 1: the position is learned from, 0: it is not
        ("n_scl", pa.float32()),  # of search-contempt; null where it is off
        ("resigned", pa.int8()),  # seat that resigned, or played out would have: 0 first, 1 second; -1 neither
        ("origin", pa.string()),  # spec of the game whose initial state it began from; null: the game's own
    ],
    metadata={"format": FORMAT},
)

MAY_BE_NULL = ("end_reason", "n_scl", "origin")

FORMAT_1 = "hauteur games 1"
ADDED_IN_2 = ("surprise", "learn", "n_scl", "resigned", "origin")
SCHEMA_1 = pa.schema([field for field in SCHEMA if field.name not in ADDED_IN_2], metadata={"format": FORMAT_1})
"""The older format, which is still read."""


def write_shard(
    path: Path, game_spec: str, games: Sequence[GameRecord], *, generation: int, nets: Sequence[int]
) -> None:
    """Writes games as one shard, whole or not at all; nets: generation of each player's net, by player index."""
    rows = [_row(game_spec, game, generation, nets) for game in games]
    file = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(rows, schema=SCHEMA), file, compression="zstd")
    write_bytes(path, file.getvalue().to_pybytes())


def read_shard(path: Path, game_spec: str) -> Shard:
    """Reads a shard; ValueError naming the file when it is torn, foreign or of another game."""
    table = read_table(path)
    others = set(table["game_spec"].to_pylist()) - {game_spec}
    if others:
        raise ValueError(f"{path}: games of {', '.join(sorted(map(str, others)))}, expected {game_spec}")
    return Shard.from_table(path, table)


def read_table(path: Path) -> pa.Table:
    """The columns of a shard, with those that an older format did not have; ValueError when it is torn or foreign."""
    try:
        table = pq.ParquetFile(path).read()
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{path}: not a whole Parquet file: {str(error).splitlines()[0]}") from error
    written = (table.schema.metadata or {}).get(b"format", b"").decode(errors="replace")
    schema = SCHEMA_1 if written == FORMAT_1 else SCHEMA
    if written not in (FORMAT, FORMAT_1) or not table.schema.equals(schema):
        raise ValueError(f"{path}: not a shard of games: its format is {written!r}, expected {FORMAT!r}")
    empty = next((name for name in table.column_names if name not in MAY_BE_NULL and _has_nulls(table[name])), None)
    if empty is not None:
        raise ValueError(f"{path}: its column {empty} has places without a value")
    return _with_added_columns(table.combine_chunks())


def _has_nulls(column: pa.ChunkedArray) -> bool:
    """Whether a value is missing, or one within a list."""
    return bool(column.null_count or (pa.types.is_list(column.type) and pc.list_flatten(column).null_count))


def _row(game_spec: str, game: GameRecord, generation: int, nets: Sequence[int]) -> dict[str, Any]:
    first, second = game.plan.seats
    return {
        "game_spec": game_spec,
        "index": game.plan.index,
        "generation": generation,
        "seed": game.seed,
        "net_first": nets[first],
        "net_second": nets[second],
        "start": np.array(game.plan.start, np.uint16),
        "actions": game.actions,
        "movers": game.movers,
        "policy_actions": game.policy_actions,
        "policy_counts": game.policy_counts,
        "policy_lengths": game.policy_lengths,
        "root_q": game.root_wdl[:, 0] - game.root_wdl[:, 2],
        "root_wdl": game.root_wdl.ravel(),
        "net_value": game.net_value,
        "visits": game.visits,
        "temperatures": game.temperatures,
        "outcome": game.outcome,
        "end_reason": game.end_reason,
        "surprise": game.surprise,
        "learn": game.learn,
        "n_scl": game.n_scl,
        "resigned": game.resigned,
        "origin": _origin(game),
    }


def _origin(game: GameRecord) -> str | None:
    """The spec that gives the position that the game began from; None: it is the game's own start."""
    origin = game.plan.origin
    if origin is not None and origin.ply:
        raise ValueError(f"game {game.plan.index} begins {origin.ply} plies after the start of {origin.game.spec}")
    return None if origin is None else origin.game.spec


@dataclass(frozen=True)
class Games:
    """Many games as flat arrays: G games, M searched moves in all, V visited root edges in all, L actions in all.

    lines uint16 [L]: all actions of a game with those before its first search, from line_offsets [G + 1]; per move:
    ply int64 (index into the line), mover uint8, root_wdl float32 [M, 3], surprise float32, NaN where it is not known,
    learn uint8, edge_offsets int64 [M + 1]; per edge: edge_actions, edge_counts; per game: outcome int8, generation
    int32, index int64, nets int32 [G, 2] (generation of the net in each seat), n_scl float32, NaN without
    search-contempt, resigned int8, gave_up bool (the game ended by resignation), origin (spec of the game whose start
    it began from, None: the game's own), moves_before int64 [G + 1].
    """

    lines: NDArray[np.uint16]
    line_offsets: NDArray[np.int64]
    moves_before: NDArray[np.int64]
    outcome: NDArray[np.int8]
    generation: NDArray[np.int32]
    index: NDArray[np.int64]
    n_scl: NDArray[np.float32]
    nets: NDArray[np.int32]
    resigned: NDArray[np.int8]
    gave_up: NDArray[np.bool_]
    origin: NDArray[np.object_]
    plies: NDArray[np.int64]
    movers: NDArray[np.uint8]
    root_wdl: NDArray[np.float32]
    surprise: NDArray[np.float32]
    learn: NDArray[np.uint8]
    edge_offsets: NDArray[np.int64]
    edge_actions: NDArray[np.uint16]
    edge_counts: NDArray[np.uint32]

    @property
    def games(self) -> int:
        """Number of games."""
        return len(self.outcome)

    @property
    def positions(self) -> int:
        """Number of positions that are learned from."""
        return int(np.count_nonzero(self.learn))

    @property
    def lacks_surprise(self) -> bool:
        """Whether the surprise of a position that is learned from is not known."""
        return bool(np.isnan(self.surprise[self.learn > 0]).any())

    def last(self, games: int) -> Games:
        """The last so many games."""
        skip = max(0, self.games - games)
        line, move = self.line_offsets[skip], self.moves_before[skip]
        edge = self.edge_offsets[move]
        return Games(
            lines=self.lines[line:],
            line_offsets=self.line_offsets[skip:] - line,
            moves_before=self.moves_before[skip:] - move,
            outcome=self.outcome[skip:],
            generation=self.generation[skip:],
            index=self.index[skip:],
            n_scl=self.n_scl[skip:],
            nets=self.nets[skip:],
            resigned=self.resigned[skip:],
            gave_up=self.gave_up[skip:],
            origin=self.origin[skip:],
            plies=self.plies[move:],
            movers=self.movers[move:],
            root_wdl=self.root_wdl[move:],
            surprise=self.surprise[move:],
            learn=self.learn[move:],
            edge_offsets=self.edge_offsets[move:] - edge,
            edge_actions=self.edge_actions[edge:],
            edge_counts=self.edge_counts[edge:],
        )

    @classmethod
    def join(cls, parts: Sequence[Games]) -> Games:
        """All games of the parts, in order."""
        offsets = {"line_offsets", "moves_before", "edge_offsets"}
        columns: dict[str, Any] = {}
        for field in fields(cls):
            join = _join_offsets if field.name in offsets else np.concatenate
            columns[field.name] = join([getattr(part, field.name) for part in parts])
        return cls(**columns)

    def ordered(self) -> Games:
        """The games by generation and number, whatever the order of their shards."""
        order = np.lexsort((self.index, self.generation))
        line_offsets, lines = _take_ragged(self.line_offsets, order)
        moves_before, moves = _take_ragged(self.moves_before, order)
        edge_offsets, edges = _take_ragged(self.edge_offsets, moves)
        return Games(
            lines=self.lines[lines],
            line_offsets=line_offsets,
            moves_before=moves_before,
            outcome=self.outcome[order],
            generation=self.generation[order],
            index=self.index[order],
            n_scl=self.n_scl[order],
            nets=self.nets[order],
            resigned=self.resigned[order],
            gave_up=self.gave_up[order],
            origin=self.origin[order],
            plies=self.plies[moves],
            movers=self.movers[moves],
            root_wdl=self.root_wdl[moves],
            surprise=self.surprise[moves],
            learn=self.learn[moves],
            edge_offsets=edge_offsets,
            edge_actions=self.edge_actions[edges],
            edge_counts=self.edge_counts[edges],
        )


@dataclass(frozen=True)
class Shard:
    """The games of one file."""

    path: Path
    games: Games

    @classmethod
    def from_table(cls, path: Path, table: pa.Table) -> Self:
        """Flattens the columns of a shard."""
        start, start_offsets = _list_column(table, "start")
        actions, action_offsets = _list_column(table, "actions")
        lengths, _ = _list_column(table, "policy_lengths")
        starts, moves = np.diff(start_offsets), np.diff(action_offsets)
        return cls(
            path,
            Games(
                lines=_interleave(start, starts, actions, moves),
                line_offsets=start_offsets + action_offsets,
                moves_before=action_offsets,
                outcome=table["outcome"].to_numpy(),
                generation=table["generation"].to_numpy(),
                index=table["index"].to_numpy(),
                n_scl=table["n_scl"].fill_null(float("nan")).to_numpy(),
                nets=np.stack([table["net_first"].to_numpy(), table["net_second"].to_numpy()], axis=1),
                resigned=table["resigned"].to_numpy(),
                gave_up=np.array([reason == RESIGNATION for reason in table["end_reason"].to_pylist()], np.bool_),
                origin=np.array(table["origin"].to_pylist(), np.object_),
                plies=np.repeat(starts - action_offsets[:-1], moves) + np.arange(len(actions)),
                movers=_list_column(table, "movers")[0],
                root_wdl=_list_column(table, "root_wdl")[0].reshape(-1, 3),
                surprise=_list_column(table, "surprise")[0],
                learn=_list_column(table, "learn")[0],
                edge_offsets=np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]),
                edge_actions=_list_column(table, "policy_actions")[0],
                edge_counts=_list_column(table, "policy_counts")[0],
            ),
        )


def _with_added_columns(table: pa.Table) -> pa.Table:
    """A table of the older format with the columns of the present one: every move learned from, no surprise known."""
    if "learn" in table.column_names:
        return table
    actions, offsets = _list_column(table, "actions")

    def of_moves(values: NDArray[Any]) -> pa.Array:
        return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pa.array(values))

    table = table.append_column("surprise", of_moves(np.full(len(actions), np.nan, np.float32)))
    table = table.append_column("learn", of_moves(np.ones(len(actions), np.uint8)))
    table = table.append_column("n_scl", pa.nulls(table.num_rows, pa.float32()))
    table = table.append_column("resigned", pa.array(np.full(table.num_rows, -1, np.int8)))
    return table.append_column("origin", pa.nulls(table.num_rows, pa.string()))


def _list_column(table: pa.Table, name: str) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """All values of a list column, and the offsets of its rows [G + 1]."""
    column = table[name].combine_chunks()
    if isinstance(column, pa.ChunkedArray):
        column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
    offsets = column.offsets.to_numpy().astype(np.int64)
    return column.flatten().to_numpy(), offsets - offsets[0]


def _interleave(
    first: NDArray[np.uint16], first_lengths: NDArray[np.int64], second: NDArray[np.uint16], lengths: NDArray[np.int64]
) -> NDArray[np.uint16]:
    """Of every row the values of `first`, then those of `second`."""
    order = np.argsort(
        np.concatenate(
            [np.repeat(np.arange(len(lengths)), first_lengths), np.repeat(np.arange(len(lengths)), lengths)]
        ),
        kind="stable",
    )
    return np.asarray(np.concatenate([first, second])[order])


def _take_ragged(offsets: NDArray[np.int64], rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """New offsets when only these rows are taken in this order, and the old place of every value."""
    lengths = np.diff(offsets)[rows]
    taken = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])
    return taken, np.repeat(offsets[rows] - taken[:-1], lengths) + np.arange(taken[-1])


def _join_offsets(parts: Iterable[NDArray[np.int64]]) -> NDArray[np.int64]:
    result = [np.zeros(1, np.int64)]
    for part in parts:
        result.append(part[1:] + result[-1][-1])
    return np.concatenate(result)


@dataclass(frozen=True)
class Samples:
    """A training batch of B positions, all float32: features [B, C, H, W], policy [B, A] and wdl [B, 3] targets.

    policy: shares of the recorded counts; wdl: outcome for the mover, mixed with the search's root value; legal, where
    it was asked for: uint8 [B, A], 1 for legal actions.
    """

    features: NDArray[np.float32]
    policy: NDArray[np.float32]
    wdl: NDArray[np.float32]
    legal: NDArray[np.uint8] | None = None


def first_needed(games: Mapping[int, int], window: int) -> int:
    """The earliest generation that the last `window` games reach back to; games: how many each generation has."""
    held = 0
    for generation in sorted(games, reverse=True):
        held += games[generation]
        if held >= window:
            return generation
    return min(games, default=1)


class ReplayBuffer:
    """The last `window` games that self-play made, and training batches of their positions.

    `window` may grow from one `extend` to the next; games that left it do not come back. surprise_weight: share of a
    game's weight that its positions have by their policy surprise; 0: all are drawn alike. legal: samples say which
    actions are legal.
    """

    def __init__(self, game: _core.Game, window: int, *, surprise_weight: float = 0.0, legal: bool = False) -> None:
        if window < 1:
            raise ValueError(f"the window must be >= 1 game, got {window}")
        if not 0 <= surprise_weight <= 1:
            raise ValueError(f"surprise_weight must be 0 to 1, got {surprise_weight}")
        self.game = game
        self.window = window
        self.surprise_weight = surprise_weight
        self.legal = legal
        self.games: Games | None = None
        self.skipped: list[str] = []
        self._learned = np.zeros(0, np.int64)  # the moves that are learned from
        self._summed_weights = np.zeros(0)  # of their positions, one after another; empty: all are drawn alike
        self._starts: dict[str | None, _core.State] = {}
        self._squares, self._actions = game.symmetries()

    def extend(self, paths: Iterable[Path]) -> Games | None:
        """Adds the games of these shards and returns them, ordered; files that are no whole shard are in `skipped`."""
        parts = []
        for path in paths:
            try:
                parts.append(read_shard(path, self.game.spec).games)
            except ValueError as error:
                self.skipped.append(str(error))
        if not parts:
            return None
        added = Games.join(parts).ordered()
        before = [self.games] if self.games is not None else []
        self.games = Games.join([*before, added]).last(self.window)
        self._learned = np.flatnonzero(self.games.learn)
        self._weigh(self.games)
        return added

    def _weigh(self, games: Games) -> None:
        """Sums up by what weight each position is drawn."""
        if self.surprise_weight > 0:
            game = np.searchsorted(games.moves_before, self._learned, side="right") - 1
            surprise = games.surprise[self._learned]
            self._summed_weights = np.cumsum(drawing_weights(surprise, game, self.surprise_weight))

    @property
    def positions(self) -> int:
        """Number of positions in the window that are learned from."""
        return len(self._learned)

    def sample(
        self, random: np.random.Generator, rows: int, *, root_value_share: float = 0.0, symmetries: bool = True
    ) -> Samples:
        """Draws positions from the window (see `draw`), each in a random symmetry."""
        samples = self.samples_of(self.draw(random, rows), root_value_share=root_value_share)
        if not symmetries or len(self._squares) == 1:
            return samples
        return self.transformed(samples, random.integers(len(self._squares), size=rows))

    def draw(self, random: np.random.Generator, rows: int) -> NDArray[np.int64]:
        """Numbers of positions of the window, 0 to positions - 1: uniform, or by weights as `surprise_weight` says."""
        if self.positions == 0:
            raise ValueError("the replay buffer holds no positions")
        if self.surprise_weight == 0:
            return random.integers(self.positions, size=rows)
        points = random.random(rows) * self._summed_weights[-1]
        found = np.searchsorted(self._summed_weights, points, side="right")
        return np.asarray(np.minimum(found, self.positions - 1))  # a point may be rounded up to the sum

    def samples_of(self, positions: NDArray[np.int64], *, root_value_share: float = 0.0) -> Samples:
        """Features and targets of these positions of the window (numbers 0 to positions - 1)."""
        games, moves = self._all(), self._learned[positions]
        outcomes = games.outcome[np.searchsorted(games.moves_before, moves, side="right") - 1]
        signs = np.where(games.movers[moves] == 0, outcomes, -outcomes)
        wdl = np.eye(3, dtype=np.float32)[1 - signs]
        if root_value_share > 0:
            wdl = (1 - root_value_share) * wdl + root_value_share * games.root_wdl[moves]
        features, legal = self._features(moves)
        return Samples(features, self._policy(moves), wdl.astype(np.float32), legal)

    def transformed(self, samples: Samples, symmetries: NDArray[np.int64]) -> Samples:
        """The samples seen through these symmetries (one number a row)."""
        flat = samples.features.reshape(*samples.features.shape[:2], -1)
        features = np.take_along_axis(flat, self._squares[symmetries][:, None, :], axis=2)
        policy = np.take_along_axis(samples.policy, self._actions[symmetries], axis=1)
        legal = samples.legal
        if legal is not None:
            legal = np.take_along_axis(legal, self._actions[symmetries], axis=1)
        return Samples(features.reshape(samples.features.shape), policy, samples.wdl, legal)

    def _all(self) -> Games:
        if self.games is None:
            raise ValueError("the replay buffer holds no games")
        return self.games

    def _features(self, moves: NDArray[np.int64]) -> tuple[NDArray[np.float32], NDArray[np.uint8] | None]:
        """Features, and which actions are legal where that is wanted."""
        games = self._all()
        of_game = np.searchsorted(games.moves_before, moves, side="right") - 1
        lines = [games.lines[games.line_offsets[g] : games.line_offsets[g + 1]] for g in of_game]
        features = np.empty((len(moves), *self.game.feature_shape), np.float32)
        starts = [self._start(origin) for origin in games.origin[of_game]]
        legal = np.empty((len(moves), self.game.num_actions), np.uint8) if self.legal else None
        _core.encode_games(starts, lines, np.arange(len(moves)), games.plies[moves], features, legal=legal)
        return features, legal

    def _start(self, origin: str | None) -> _core.State:
        """The position that a game began from; never played on, so one is enough for all games."""
        if origin not in self._starts:
            self._starts[origin] = (self.game if origin is None else make(origin)).initial_state()
        return self._starts[origin]

    def _policy(self, moves: NDArray[np.int64]) -> NDArray[np.float32]:
        games = self._all()
        taken, edges = _take_ragged(games.edge_offsets, moves)
        rows = np.repeat(np.arange(len(moves)), np.diff(taken))
        policy = np.zeros((len(moves), self.game.num_actions), np.float32)
        policy[rows, games.edge_actions[edges]] = games.edge_counts[edges]
        return np.asarray(policy / np.maximum(policy.sum(axis=1, keepdims=True), 1))
