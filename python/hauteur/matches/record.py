"""The record of a game: its plan, its moves, what the searches found at every move; the table of those columns."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from hauteur import _core
from hauteur.system.settings import Section


@dataclass(frozen=True)
class GamePlan:
    """A game to be played."""

    index: int
    """Number of the game."""
    sides: tuple[int, int] = (0, 0)
    """Index of the player who moves first, and of the one who moves second."""
    start: tuple[int, ...] = ()
    """Actions played from `origin` before the first search."""
    origin: _core.State | None = None
    """Position that the game begins from; None: the game's own start."""
    seed: int | None = None
    """Seed of the game's random draws; None: derived from its number."""

    @property
    def origin_spec(self) -> str | None:
        """Spec of the game whose start it begins from, None: the game's own; ValueError for another kind of origin."""
        if self.origin is not None and self.origin.ply:
            raise ValueError(
                f"game {self.index} begins {self.origin.ply} plies after the start of {self.origin.game.spec}"
            )
        return None if self.origin is None else self.origin.game.spec

    def begin(self, game: _core.Game) -> _core.State:
        """A copy of the position before the actions of the start."""
        return game.new_initial_state() if self.origin is None else self.origin.copy()


class Resignation(Section):
    """Rule of resignation, and the share of games played out to see how often it is wrong (Silver et al. 2017).

    threshold: a player resigns once the root value of its searches, -1 to 1, is at most this `moves` times in a row;
    earliest_ply: plies of the game, opening included, before which no player resigns; play_through: share of games
    played on regardless, to measure how often resigning is wrong.
    """

    threshold: Annotated[float, Field(ge=-1, lt=0)] = -0.9
    moves: Annotated[int, Field(ge=1, le=10_000)] = 3
    earliest_ply: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    play_through: Annotated[float, Field(ge=0, le=1)] = 0.1


Level = Literal["game", "line", "move", "edge"]
"""Unit of a row of a column: a game, an action of a game from its start, a searched move, a visited root edge."""


@dataclass(frozen=True)
class Column:
    """A column of recorded games."""

    name: str
    """Name of the field of `GameRecord`, and of the column of a shard."""
    level: Level
    """What has one row each; see `Level`."""
    dtype: type[np.generic]
    """Type of the values."""
    default: float | None = None
    """Value recorded where nothing is known; None: the column must be given."""
    width: int = 1
    """Values of a row; 1: the array has one dimension."""
    stored: bool = True
    """Whether shards hold the column."""

    @property
    def default_row(self) -> Any:
        """One row of the default."""
        if self.width == 1:
            return self.default
        return (self.default,) * self.width

    def array(self, values: Sequence[Any]) -> NDArray[Any]:
        """Return the values as an array of this column: one row after another, [n] or [n, width]."""
        shape = -1 if self.width == 1 else (-1, self.width)
        return np.array(values, self.dtype).reshape(shape)


def column(level: Level, dtype: type[np.generic], default: float | None = None, **more: Any) -> Any:
    """Declare a field as a `Column` of the table."""
    return field(default=None, metadata={"column": {"level": level, "dtype": dtype, "default": default, **more}})


def columns_of(kind: type) -> tuple[Column, ...]:
    """Return the columns that a dataclass declares."""
    declared = [field for field in fields(kind) if "column" in field.metadata]
    return tuple(Column(field.name, **field.metadata["column"]) for field in declared)


@dataclass(frozen=True, kw_only=True)
class LearnedColumns:
    """Columns that training reads of one recorded game or of many: n searched moves, V visited root edges.

    All values are for the mover.
    """

    movers: NDArray[np.uint8] = column("move", np.uint8)
    """uint8 [n]: who moved, 0 the first player, 1 the second."""
    policy_actions: NDArray[np.uint16] = column("edge", np.uint16)
    """uint16 [V]: actions of the visited root edges, move after move."""
    policy_counts: NDArray[np.uint32] = column("edge", np.uint32)
    """uint32 [V]: visits of these edges; with Gumbel, solver or forced playouts shares of the policy target in
    65,535ths. A move of a player without a forest has itself alone, with count 1."""
    policy_lengths: NDArray[np.uint16] = column("move", np.uint16)
    """uint16 [n]: edges of each move."""
    root_wdl: NDArray[np.float32] = column("move", np.float32, math.nan, width=3)
    """float32 [n, 3]: win, draw, loss of the root by the search; NaN: not known."""
    surprise: NDArray[np.float32] = column("move", np.float32, math.nan)
    """float32 [n]: KL(policy target || net's priors) in nats; NaN: not known."""
    learn: NDArray[np.uint8] = column("move", np.uint8, 1)
    """uint8 [n]. Bit 0: the move is learned from (not a fast search, not an opponent's move). The other bits are
    `GameRecord.proven` with train.proven_targets, otherwise 0."""

    @property
    def learned(self) -> NDArray[np.bool_]:
        """Whether each move is learned from [n]."""
        return (self.learn & 1).astype(np.bool_)

    @property
    def proven_targets(self) -> NDArray[np.uint8]:
        """Proven results that are value targets, for the mover [n]: 1 loss, 2 draw, 3 win; 0: none."""
        return np.asarray(self.learn >> 1)


@dataclass(frozen=True, kw_only=True)
class GameRecord(LearnedColumns):
    """A finished game of n searched moves, with the findings of the searches; columns not given have their defaults.

    >>> import hauteur as ht
    >>> record = next(ht.self_play("tictactoe", "net=uniform visits=10", games=1))
    >>> len(record.actions) == len(record.visits), record.outcome in (-1, 0, 1)
    (True, True)
    """

    plan: GamePlan
    """The plan that was played."""
    seed: int
    """Seed of the game's random draws."""
    actions: NDArray[np.uint16] = column("move", np.uint16)
    """uint16 [n]: the searched moves."""
    net_value: NDArray[np.float32] = column("move", np.float32, math.nan)
    """float32 [n]: the network's own value of each position for the mover, -1 to 1; NaN: not known."""
    visits: NDArray[np.uint32] = column("move", np.uint32, 0)
    """uint32 [n]: visits of each root."""
    temperatures: NDArray[np.float32] = column("move", np.float32, 0)
    """float32 [n]: temperature by which each move was drawn; 0: the best move."""
    scores: NDArray[np.float32] = column("move", np.float32, math.nan, stored=False)
    """float32 [n]: score of each position for the mover in pawns, as hauteur.mcts.scores defines it; NaN: not known."""
    depths: NDArray[np.uint16] = column("move", np.uint16, 0, stored=False)
    """uint16 [n]: depth of each search in plies; 0: not known."""
    seconds: NDArray[np.float32] = column("move", np.float32, math.nan, stored=False)
    """float32 [n]: time from when the player was to move until it had chosen; NaN: not known."""
    proven: NDArray[np.uint8] = column("move", np.uint8, 0, stored=False)
    """uint8 [n]: result that the solver proved for the mover: 1 loss, 2 draw, 3 win; 0: none."""
    outcome: int
    """+1 the first player won, 0 draw, -1 the second player won."""
    end_reason: str
    """Reason of the end, such as `checkmate`."""
    n_scl: float | None = None
    """Visits at which search-contempt froze opponent nodes; None: it was off."""
    resigned: int = -1
    """Side that resigned, or would have in a game that was played out: 0 first, 1 second; -1: neither."""
    notes: Mapping[int, str] = field(default_factory=dict)
    """What players said of their moves, by the number of the move; n: of the move that a player did not make because it
    lost the game first."""

    def __post_init__(self) -> None:
        for one in COLUMNS:
            if getattr(self, one.name) is None:
                if one.default is None:
                    raise TypeError(f"a recorded game needs its column {one.name}")
                values = one.array([one.default_row] * len(self.actions))
                object.__setattr__(self, one.name, values)

    def score_of(self, player: int) -> float:
        """Return the score of a player of the plan: 1 won, 0.5 drawn, 0 lost."""
        sign = 1 if self.plan.sides[0] == player else -1
        return (1 + sign * self.outcome) / 2


COLUMNS = columns_of(GameRecord)
"""The table of the columns of recorded games: all that is recorded of moves and edges, in shards or elsewhere."""
