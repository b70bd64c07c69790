"""lc0's training chunks: gzip files of packed records, one position a record, versions 6 and 7.

A chunk has no list of moves that could be replayed surely, so it is a source of positions, not of games. Only input
format 1 (classical, 112 planes) is read, which is what the core's chess encoder makes.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hauteur import _core
from hauteur.learning.replay import Samples
from hauteur.networks.chess_moves import NUM_MOVES

HISTORY_PLANES = 104
"""Eight positions of 13 planes; the other eight planes follow from six small numbers."""

CLASSICAL = 1
"""Input format of the records."""

INPUT_FORMATS = {
    1: "classical, 112 planes",
    2: "112 planes with castling plane",
    3: "112 planes with canonicalisation",
    4: "112 planes with canonicalisation, hectoplies",
    132: "112 planes with canonicalisation, hectoplies, armageddon",
    5: "112 planes with canonicalisation v2",
    133: "112 planes with canonicalisation v2, armageddon",
}

DELETED = 1 << 6
"""Bit of `invariance_info`: the position is to be left out."""

_COMMON: list[Any] = [
    ("version", "<u4"),
    ("input_format", "<u4"),
    ("probabilities", "<f4", (NUM_MOVES,)),  # shares of the visits, -1: illegal
    ("planes", "u1", (HISTORY_PLANES, 8)),  # a byte a rank; its most significant bit is file a
    ("castling", "u1", (4,)),  # us queen side, us king side, them queen side, them king side
    ("black_to_move", "u1"),
    ("rule50", "u1"),  # plies since the last capture or pawn move
    ("invariance_info", "u1"),
    ("dummy", "u1"),
    *[(f"{of}_{what}", "<f4") for what in "qd" for of in ("root", "best")],  # for the mover: q = win - loss, d = draw
    ("root_m", "<f4"),  # plies to the end, as the net expects
    ("best_m", "<f4"),
    ("plies_left", "<f4"),
    ("result_q", "<f4"),
    ("result_d", "<f4"),
    *[(f"{of}_{what}", "<f4") for of in ("played", "orig") for what in "qdm"],  # orig: of the net, NaN: not known
    ("visits", "<u4"),
    ("played_idx", "<u2"),
    ("best_idx", "<u2"),
    ("policy_kld", "<f4"),  # of the shares from the net's policy, nats; 0: not known
    ("q_st", "<f4"),
]

RECORDS = {
    6: np.dtype(_COMMON),
    7: np.dtype([*_COMMON, ("d_st", "<f4"), ("opp_played_idx", "<u2"), ("next_played_idx", "<u2"), ("more", "<f4", 8)]),
}
"""Layout of a record by version: 8356 and 8396 bytes."""

MAX_BYTES = 2**27
"""Most bytes of an unpacked chunk: a game of 16,000 positions, longer than the rules of chess allow."""

TOLERANCE = 1e-3
"""By which sums of shares and values may miss their range."""

Records = NDArray[Any]
"""Records of one version, one axis."""


def read_chunk(path: Path) -> Records:
    """Read and check all records of a chunk; ValueError names the file, the record (from 0) and the fault."""
    data = _unpacked(path)
    if len(data) < 4:
        raise ValueError(f"{path}: record 0 is cut off: {len(data)} bytes")
    version = int.from_bytes(data[:4], "little")
    if version not in RECORDS:
        raise ValueError(f"{path}: record 0 has version {version}, read are {', '.join(map(str, RECORDS))}")
    layout = RECORDS[version]
    whole, rest = divmod(len(data), layout.itemsize)
    if rest:
        raise ValueError(f"{path}: record {whole} is cut off: {rest} bytes of {layout.itemsize}")
    records = np.frombuffer(data, layout)
    _check(path, records, version)
    return records


def _unpacked(path: Path) -> bytes:
    """The bytes in a gzip file, not more than MAX_BYTES."""
    try:
        with gzip.open(path) as file:
            data = file.read(MAX_BYTES + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(f"{path}: not a whole gzip file: {error}") from error
    if len(data) > MAX_BYTES:
        raise ValueError(f"{path}: has more than {MAX_BYTES} bytes unpacked")
    return data


def _check(path: Path, records: Records, version: int) -> None:
    """ValueError for the first record that cannot be learned from."""
    _refuse(path, np.asarray(records["version"] != version), f"has another version than record 0 ({version})")
    for number in np.unique(records["input_format"]).tolist():
        name = INPUT_FORMATS.get(number, "unknown")
        wrong = f"has input format {number} ({name}), only 1 ({INPUT_FORMATS[1]}) can be read"
        if number != CLASSICAL:
            _refuse(path, np.asarray(records["input_format"] == number), wrong)
    shares = records["probabilities"]
    with np.errstate(invalid="ignore"):
        _refuse(path, np.asarray(~(shares <= 1 + TOLERANCE).all(axis=1)), "has a probability that is not -1 or 0 to 1")
        totals = np.where(shares > 0, shares, 0).sum(axis=1)
        _refuse(path, ~(np.abs(totals - 1) <= TOLERANCE), "has probabilities that do not sum to 1")
        for of in ("result", "root"):
            q, d = records[f"{of}_q"], records[f"{of}_d"]
            fits = (d >= -TOLERANCE) & (np.abs(q) + d <= 1 + TOLERANCE)
            _refuse(path, ~fits, f"has {of}_q and {of}_d that are no win, draw and loss")
    _refuse(path, records["played_idx"] >= NUM_MOVES, f"has a played_idx that is not below {NUM_MOVES}")


def _refuse(path: Path, wrong: NDArray[np.bool_], what: str) -> None:
    """Raise ValueError naming the first invalid record, if any."""
    if wrong.any():
        raise ValueError(f"{path}: record {int(np.argmax(wrong))} {what}")


@dataclass(frozen=True)
class ChunkPositions:
    """N positions as training needs them, about 1.1 kB each, E legal moves in all.

    planes uint8 [N, 104, 8] as in a record; facts uint8 [N, 6]: castling of us and them (queen side, king side), black
    to move, plies since a capture or pawn move; wdl and root_wdl float32 [N, 3]: outcome and the search's value for
    the mover; per move: edge_actions uint16, edge_shares float32 (of the policy target), from edge_offsets [N + 1].
    """

    planes: NDArray[np.uint8]
    facts: NDArray[np.uint8]
    wdl: NDArray[np.float32]
    root_wdl: NDArray[np.float32]
    edge_offsets: NDArray[np.int64]
    edge_actions: NDArray[np.uint16]
    edge_shares: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.facts)

    @classmethod
    def of_records(cls, records: Records) -> Self:
        """Return the positions of checked records, without those marked as deleted."""
        records = records[records["invariance_info"] & DELETED == 0]
        rows, actions = np.nonzero(records["probabilities"] >= 0)
        shares = records["probabilities"][rows, actions]
        total = np.bincount(rows, shares, minlength=len(records))
        counts = np.bincount(rows, minlength=len(records))
        return cls(
            planes=records["planes"].copy(),
            facts=np.column_stack([records["castling"] != 0, records["black_to_move"] != 0, records["rule50"]]),
            wdl=_wdl(records["result_q"], records["result_d"]),
            root_wdl=_wdl(records["root_q"], records["root_d"]),
            edge_offsets=np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)]),
            edge_actions=actions.astype(np.uint16),
            edge_shares=(shares / total[rows]).astype(np.float32),
        )

    @classmethod
    def join(cls, parts: list[Self]) -> Self:
        """All positions of the parts, in order; at least one part."""
        columns = {field.name: np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(cls)}
        counts = [np.diff(part.edge_offsets) for part in parts]
        columns["edge_offsets"] = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.concatenate(counts))])
        return cls(**columns)

    def features(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """The 112 input planes of these positions, float32 [B, 112, 8, 8]."""
        result = np.zeros((len(rows), HISTORY_PLANES + 8, 8, 8), np.float32)
        result[:, :HISTORY_PLANES] = np.unpackbits(self.planes[rows], axis=2, bitorder="big").reshape(-1, 104, 8, 8)
        result[:, HISTORY_PLANES : HISTORY_PLANES + 6] = self.facts[rows][:, :, None, None]
        result[:, HISTORY_PLANES + 7] = 1
        return result

    def policy(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Their policy targets, float32 [B, 1858], rows sum to 1."""
        result = np.zeros((len(rows), NUM_MOVES), np.float32)
        for row, position in enumerate(rows.tolist()):
            edges = slice(self.edge_offsets[position], self.edge_offsets[position + 1])
            result[row, self.edge_actions[edges]] = self.edge_shares[edges]
        return result

    def legal(self, rows: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Return the mask of legal moves, uint8 [B, 1858]."""
        result = np.zeros((len(rows), NUM_MOVES), np.uint8)
        for row, position in enumerate(rows.tolist()):
            result[row, self.edge_actions[self.edge_offsets[position] : self.edge_offsets[position + 1]]] = 1
        return result


def _wdl(q: NDArray[np.float32], d: NDArray[np.float32]) -> NDArray[np.float32]:
    """Win, draw, loss [N, 3] from q = win - loss and the share of draws, inside their range."""
    wdl = np.clip(np.column_stack([(1 + q - d) / 2, d, (1 - q - d) / 2]), 0, 1)
    return np.asarray(wdl / wdl.sum(axis=1, keepdims=True), np.float32)


class ChunkBuffer:
    """The positions of chunks, and training batches of them."""

    def __init__(self, game: _core.Game) -> None:
        if game.name != "chess":
            raise ValueError(f"training chunks of lc0 are for chess, the game is {game.spec}")
        self.game = game
        self.content: ChunkPositions | None = None
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
