"""What is kept of a game: its plan, its moves, and what the searches found at every move."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hauteur import _core


@dataclass(frozen=True)
class GamePlan:
    """A game to be played: its number, who sits where, how it starts.

    seats: index of the player who moves as first and as second; origin: the position that the game begins from,
    default the game's own start; start: actions played from there before the first search; seed: of its random draws,
    default that of its number.
    """

    index: int
    seats: tuple[int, int] = (0, 0)
    start: tuple[int, ...] = ()
    origin: _core.State | None = None
    seed: int | None = None

    def begin(self, game: _core.Game) -> _core.State:
        """A copy of the position before the actions of the start."""
        return game.initial_state() if self.origin is None else self.origin.copy()


@dataclass(frozen=True)
class GameRecord:
    """A finished game of n searched moves, with what the searches found.

    movers uint8 [n] (0 first, 1 second); policy_actions uint16 and policy_counts uint32 hold the visited root edges
    of all moves one after another (with Gumbel, solver or forced playouts: their shares of the policy target in
    65,535ths), policy_lengths uint16 [n] how many belong to each; root_wdl float32 [n, 3] and net_value float32 [n] are
    for the mover; visits uint32 [n] are the root's; surprise float32 [n] is KL(policy target || net's priors) in nats;
    learn uint8 [n]: 1 = the move is learned from, policy and value, 0 = it is not (a fast search, an opponent's move);
    outcome: +1 first won, 0 draw, -1 second won. n_scl: of search-contempt, None where it is off; resigned: the seat
    that resigned (0 the first player, 1 the second), or would have in a game that was played out; -1 = neither. notes:
    what players said of their moves, by the number of the move (n: of the one that a player who lost instead did not
    make). A move of a player without a forest has itself with count 1 as its policy, no visits, learn 0, and NaN for
    everything that a search would have found.

    Only told, not learned from: scores float32 [n] in pawns from the mover's view (hauteur.search.scores; NaN
    unknown), depths
    uint16 [n] in plies (0 unknown), seconds float32 [n] from when the player was to move until it had chosen. All are
    empty where nobody watched the game being played.
    """

    plan: GamePlan
    seed: int
    actions: NDArray[np.uint16]
    movers: NDArray[np.uint8]
    policy_actions: NDArray[np.uint16]
    policy_counts: NDArray[np.uint32]
    policy_lengths: NDArray[np.uint16]
    root_wdl: NDArray[np.float32]
    net_value: NDArray[np.float32]
    visits: NDArray[np.uint32]
    temperatures: NDArray[np.float32]
    surprise: NDArray[np.float32]
    learn: NDArray[np.uint8]
    outcome: int
    end_reason: str
    n_scl: float | None = None
    resigned: int = -1
    notes: Mapping[int, str] = field(default_factory=dict)
    scores: NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, np.float32))
    depths: NDArray[np.uint16] = field(default_factory=lambda: np.zeros(0, np.uint16))
    seconds: NDArray[np.float32] = field(default_factory=lambda: np.zeros(0, np.float32))

    def score_of(self, player: int) -> float:
        """Score of a player of the plan: 1 won, 0.5 drawn, 0 lost."""
        sign = 1 if self.plan.seats[0] == player else -1
        return (1 + sign * self.outcome) / 2
