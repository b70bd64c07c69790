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
    """A game to be played: its number, who sits where, how it starts.

    sides: index of the player who moves as first and as second; origin: the position that the game begins from,
    default the game's own start; start: actions played from there before the first search; seed: of its random draws,
    default that of its number.
    """

    index: int
    sides: tuple[int, int] = (0, 0)
    start: tuple[int, ...] = ()
    origin: _core.State | None = None
    seed: int | None = None

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
    """A column of recorded games.

    default: what is recorded where nothing is known, None: the column must be given; width: values in a row; stored:
    shards hold it.
    """

    name: str
    level: Level
    dtype: type[np.generic]
    default: float | None = None
    width: int = 1
    stored: bool = True

    @property
    def default_row(self) -> Any:
        """One row of the default."""
        return self.default if self.width == 1 else (self.default,) * self.width

    def array(self, values: Sequence[Any]) -> NDArray[Any]:
        """Return the values as an array of this column: one row after another, [n] or [n, width]."""
        return np.array(values, self.dtype).reshape(-1 if self.width == 1 else (-1, self.width))


def column(level: Level, dtype: type[np.generic], default: float | None = None, **more: Any) -> Any:
    """Declare a field as a `Column` of the table."""
    return field(default=None, metadata={"column": {"level": level, "dtype": dtype, "default": default, **more}})


def columns_of(kind: type) -> tuple[Column, ...]:
    """Return the columns that a dataclass declares."""
    return tuple(Column(one.name, **one.metadata["column"]) for one in fields(kind) if "column" in one.metadata)


@dataclass(frozen=True, kw_only=True)
class LearnedColumns:
    """Columns that training reads of one recorded game or of many: n searched moves, V visited root edges.

    All values are for the mover. With Gumbel, solver or forced playouts the counts are shares of the policy target in
    65,535ths. A move of a player without a forest has itself with count 1 as its policy and learn 0. With
    train.proven_targets the other bits of learn are GameRecord.proven; otherwise they are 0.
    """

    movers: NDArray[np.uint8] = column("move", np.uint8)  # 0 the first player, 1 the second
    policy_actions: NDArray[np.uint16] = column("edge", np.uint16)
    policy_counts: NDArray[np.uint32] = column("edge", np.uint32)
    policy_lengths: NDArray[np.uint16] = column("move", np.uint16)  # edges of each move
    root_wdl: NDArray[np.float32] = column("move", np.float32, math.nan, width=3)
    surprise: NDArray[np.float32] = column("move", np.float32, math.nan)  # KL(policy target || net's priors), nats
    learn: NDArray[np.uint8] = column("move", np.uint8, 1)  # bit 0: learned from (no fast search, no opponent's move)

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
    """A finished game of n searched moves, with what the searches found; columns not given have their defaults.

    outcome: +1 first won, 0 draw, -1 second won. n_scl: of search-contempt, None where it is off; resigned: the side
    that resigned (0 the first player, 1 the second), or would have in a game that was played out; -1 = neither. notes:
    what players said of their moves, by the number of the move (n: of the one that a player who lost instead did not
    make). scores are those of hauteur.mcts.scores, in pawns; seconds from when the player was to move until it had
    chosen; proven: the result that the solver has proven of the position, 0: none.

    >>> import hauteur as ht
    >>> record = next(ht.self_play("tictactoe", "net=uniform visits=10", games=1))
    >>> len(record.actions) == len(record.visits), record.outcome in (-1, 0, 1)
    (True, True)
    """

    plan: GamePlan
    seed: int
    actions: NDArray[np.uint16] = column("move", np.uint16)
    net_value: NDArray[np.float32] = column("move", np.float32, math.nan)
    visits: NDArray[np.uint32] = column("move", np.uint32, 0)  # of the root
    temperatures: NDArray[np.float32] = column("move", np.float32, 0)
    scores: NDArray[np.float32] = column("move", np.float32, math.nan, stored=False)
    depths: NDArray[np.uint16] = column("move", np.uint16, 0, stored=False)  # plies; 0: not known
    seconds: NDArray[np.float32] = column("move", np.float32, math.nan, stored=False)
    proven: NDArray[np.uint8] = column("move", np.uint8, 0, stored=False)  # for the mover: 1 loss, 2 draw, 3 win
    outcome: int
    end_reason: str
    n_scl: float | None = None
    resigned: int = -1
    notes: Mapping[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for one in COLUMNS:
            if getattr(self, one.name) is None:
                if one.default is None:
                    raise TypeError(f"a recorded game needs its column {one.name}")
                object.__setattr__(self, one.name, one.array([one.default_row] * len(self.actions)))

    def score_of(self, player: int) -> float:
        """Return the score of a player of the plan: 1 won, 0.5 drawn, 0 lost."""
        sign = 1 if self.plan.sides[0] == player else -1
        return (1 + sign * self.outcome) / 2


COLUMNS = columns_of(GameRecord)
"""The table of the columns of recorded games: all that is recorded of moves and edges, in shards or beside them."""
