"""The replay buffer: the games that training draws positions from.

Positions are encoded again by the core when they are drawn, and the game's symmetries are applied then. A shard that
cannot be read is skipped and named, never fatal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hauteur import _core
from hauteur.games.registry import has_points, load_game
from hauteur.learning.recorded_games import Games, faults, places_of
from hauteur.learning.sections import ExtraTargets
from hauteur.learning.targets import Columns, EqualPositions, GameEnds, keys_of, own_columns, short_term_values
from hauteur.matches.record import GameRecord
from hauteur.networks.registered import Targets
from hauteur.system.formatting import described

if TYPE_CHECKING:
    from hauteur.learning.sections import ProvenTargets


@dataclass(frozen=True)
class Samples:
    """A training batch of B positions, with C planes of H rows and W columns, and A actions."""

    features: NDArray[np.float32]
    """The positions, float32 [B, C, H, W]."""
    policy: NDArray[np.float32]
    """Shares of the recorded counts, float32 [B, A]."""
    wdl: NDArray[np.float32]
    """Result for the mover, mixed with the search's root value, float32 [B, 3]."""
    legal: NDArray[np.uint8] | None = None
    """1 for legal actions, uint8 [B, A]; None unless requested."""
    extra: Columns = field(default_factory=dict)
    """Further targets by name, float32 [B, ...]."""


def first_needed(games: Mapping[int, int], window: int) -> int:
    """The earliest generation that the last `window` games reach back to; games: how many each generation has."""
    held = 0
    for generation in sorted(games, reverse=True):
        held += games[generation]
        if held >= window:
            return generation
    return min(games, default=1)


def drawing_weights(kl: NDArray[np.float32], game: NDArray[np.int64], share: float) -> NDArray[np.float64]:
    """Return the weights by which P positions are drawn, float64 [P]; those of a game sum to its n positions.

    weight_i = (1 - share) + share n KL_i / sum_j KL_j over the positions j of the same game (Wu, KataGo's methods,
    "Policy Surprise Weighting"), so that what the network got wrong is seen more often.

    kl float32 [P]: KL(policy target || prior), NaN (not known) counts as 0; game int64 [P]: number of the game, 0 or
    more. A game in which all are 0 is drawn evenly.
    """
    # KataGo writes a position as often as its weight says, rounded at random, when it is recorded. Weights at the draw
    # round nothing, and another run over the same games may have others.
    known = np.nan_to_num(kl.astype(np.float64), nan=0.0)
    positions_of = np.bincount(game)
    total_of = np.bincount(game, known)
    n = positions_of[game]
    total = total_of[game]
    even = np.ones_like(known)
    relative = np.divide(n * known, total, out=even, where=total > 0)
    return np.asarray((1 - share) + share * relative)


class ReplayBuffer:
    """The last `window` games that self-play made, and training batches of their positions.

    window: games, at least 1; it may grow from one `add` or `extend` to the next, games that left it do not come back.
    surprise_weight: share of a game's weight that its positions have by `drawing_weights`, 0 to 1; 0: all are drawn
    alike. average_equal: positions that the window has several times have the means of their targets. legal: samples
    say which actions are legal. proven: whether proven results that the games have are value
    targets (`train.proven_targets`). extra: samples have these further targets (those of the settings of `ht.Trainer`).
    targets: a function that gives further ones of each game, as in `ht.register_network`. Raise ValueError for other
    values.

    >>> import numpy as np
    >>> import hauteur as ht
    >>> game = ht.load_game("tictactoe")
    >>> buffer = ht.ReplayBuffer(game, window=1000)
    >>> games = buffer.add(ht.self_play(game, "net=uniform visits=10", games=8))
    >>> batch = buffer.sample(np.random.default_rng(0), 32)
    >>> batch.features.shape, batch.policy.shape, batch.wdl.shape
    ((32, 2, 3, 3), (32, 9), (32, 3))
    """

    def __init__(
        self,
        game: _core.Game,
        window: int = 20_000,
        *,
        surprise_weight: float = 0.0,
        average_equal: bool = False,
        legal: bool = False,
        proven: ProvenTargets = "off",
        extra: ExtraTargets | None = None,
        targets: Targets | None = None,
    ) -> None:
        if window < 1:
            raise ValueError(f"the window must be >= 1 game, got {window}")
        if not 0 <= surprise_weight <= 1:
            raise ValueError(f"surprise_weight must be 0 to 1, got {surprise_weight}")
        if proven not in ("off", "position", "earlier"):
            raise ValueError(f"proven must be off, position or earlier, got {proven!r}")
        if not isinstance(game, _core.Game):
            raise TypeError(f"a buffer is of a game: give hauteur.load_game('tictactoe'), got {described(game)}")
        self.game = game
        self.window = window
        self.surprise_weight = surprise_weight
        self.average_equal = average_equal
        self.legal = legal
        self.proven = proven
        self.games: Games | None = None
        self.extra = extra or ExtraTargets()
        self.targets = targets
        self._ends: GameEnds | None = None  # of all games, where ownership or score are targets
        self._columns: Columns = {}  # further targets of all moves of the games
        self.skipped: list[str] = []
        self._learned = np.zeros(0, np.int64)  # the moves that are learned from
        self._results = np.zeros(0, np.int8)  # of all moves, for their movers
        self._keys = np.zeros(0, "S32")  # of the positions of all moves, where equal ones are averaged
        self._equal: EqualPositions | None = None
        self._summed_weights = np.zeros(0)  # of their positions, one after another; empty: all are drawn alike
        self._starts: dict[str | None, _core.State] = {}
        self._squares, self._actions = game.symmetries()
        if self._needs_ends and not has_points(game):
            raise ValueError(f"train.extra: ownership and score are of games of points, not of {game.spec}")

    def add(self, records: Iterable[GameRecord]) -> int:
        """Add games as they were played (`ht.self_play`, `ht.play_match(...).records`), oldest first; return how many.

        Nothing is written. Games of players whose moves are not learned from add no positions. Raise ValueError where a
        record is no game of this buffer's game; none is added then.
        """
        taken = list(records)
        if not taken:
            return 0
        games = Games.of(taken)
        for number, reason in faults(games, [self.game] * len(taken)):
            index = taken[number].plan.index
            raise ValueError(f"record {index} is no game of {self.game.spec}: {reason}")
        self.append(games)
        return len(taken)

    def extend(self, paths: Iterable[Path]) -> Games | None:
        """Add the games of these shards and return them, ordered; files that are no whole shard are in `skipped`."""
        from hauteur.learning.shards import read_shard  # pyarrow, which games in memory do not need

        parts = []
        for path in paths:
            try:
                parts.append(read_shard(path, self.game.spec))
            except ValueError as error:
                self.skipped.append(str(error))
        if not parts:
            return None
        added = Games.join(parts).ordered()
        self.append(added)
        return added

    def append(self, added: Games) -> None:
        """Append games, and drop those that leave the window."""
        parts = [added] if self.games is None else [self.games, added]
        games = Games.join(parts)
        self._hold(games.last(self.window), len(added.movers), added.games)

    def retarget(self, moves: NDArray[np.int64], found: Games) -> None:
        """Learn of these moves of the window (0 to all its moves - 1) what `found`, games of one move each, says."""
        # No move is new: positions, and so the keys of equal ones, are those of before.
        self._hold(self._all().with_targets(moves, found), 0, 0)

    def _hold(self, games: Games, added: int, added_games: int) -> None:
        """Hold these games, and all that follows from them. added: new moves at their end, of so many games."""
        self.games = games
        self._learned = np.flatnonzero(games.learned)
        self._results = games.results
        if self.proven != "off":
            self._results = games.proven_results(earlier=self.proven == "earlier")
        if self.surprise_weight > 0:
            divergences = games.surprise[self._learned]
            weights = drawing_weights(divergences, games.game_of(self._learned), self.surprise_weight)
            # Summed once a generation, so that a draw is one bisection.
            self._summed_weights = np.cumsum(weights)
        if self.average_equal:
            self._group(games, added)
        self._columns = own_columns(self.targets, games) if self.targets is not None else {}
        if self.extra.short_term > 0:
            self._columns["short_term"] = short_term_values(games, self.extra.horizons)
        if self._needs_ends:
            kept = max(0, games.games - added_games)
            new = GameEnds.of(games, kept, self._start)
            self._ends = new if self._ends is None else self._ends.followed_by(new, games.games)

    @property
    def _needs_ends(self) -> bool:
        """Whether the ends of games are targets."""
        return self.extra.ownership > 0 or self.extra.score > 0

    def _group(self, games: Games, added: int) -> None:
        """Average the targets of equal positions; `added` moves at the end are new, the others have their keys."""
        moves = len(games.movers)
        kept = max(0, moves - added)
        new = keys_of(lambda part: self._features(part)[0], np.arange(kept, moves))
        # Keys are hashes of features, the dearest part: games that stay in the window keep theirs.
        old = self._keys[len(self._keys) - kept :]
        self._keys = np.concatenate([old, new])
        learned = self._learned
        roots = games.root_wdl[self._learned]
        results = np.eye(3, dtype=np.float32)[1 - self._results[learned]]
        proven = np.zeros(len(learned), bool)
        if self.proven != "off":
            proven = games.proven_targets[learned] > 0
        self._equal = EqualPositions.of(
            self._keys[learned],
            lambda some: self._policy(learned[some]),
            results,
            roots,
            proven,
        )

    @property
    def positions(self) -> int:
        """Number of positions in the window that are learned from."""
        return len(self._learned)

    def sample(
        self,
        random: np.random.Generator,
        rows: int,
        *,
        root_value_share: float = 0.0,
        symmetries: bool = True,
    ) -> Samples:
        """Draw positions from the window, uniformly or by their weights, each in a random symmetry of the game.

        random: numpy's generator; rows: B, at least 1; root_value_share: share of the search's root value in the value
        target, 0 to 1, the rest is the outcome. Return features float32 [B, C, H, W], policy float32 [B, A] (shares of
        the visits) and wdl float32 [B, 3] (win, draw, loss of the player to move). ValueError for an empty buffer.
        """
        samples = self.samples_of(self.draw(random, rows), root_value_share=root_value_share)
        if not symmetries or len(self._squares) == 1:
            return samples
        return self.transformed(samples, random.integers(len(self._squares), size=rows))

    def draw(self, random: np.random.Generator, rows: int) -> NDArray[np.int64]:
        """Draw indices of window positions, 0 to positions - 1: uniform, or weighted according to `surprise_weight`."""
        if self.positions == 0:
            raise ValueError("the replay buffer holds no positions")
        # Not as weights that are all 1: without them whole numbers are drawn as before there were any, bit for bit.
        if self.surprise_weight == 0:
            return random.integers(self.positions, size=rows)
        # Drawn by bisection in the sums: with replacement, and a draw depends on the numbers of `random` alone.
        points = random.random(rows) * self._summed_weights[-1]
        found = np.searchsorted(self._summed_weights, points, side="right")
        return np.asarray(np.minimum(found, self.positions - 1))  # a point may be rounded up to the sum

    def samples_of(self, positions: NDArray[np.int64], *, root_value_share: float = 0.0) -> Samples:
        """Features and targets of these positions of the window (numbers 0 to positions - 1)."""
        games = self._all()
        moves = self._learned[positions]
        classes = 1 - self._results[moves]
        result = np.eye(3, dtype=np.float32)[classes]
        wdl = result
        if root_value_share > 0:
            wdl = (1 - root_value_share) * wdl + root_value_share * games.root_wdl[moves]
        if self.proven != "off":
            # What is proven is certain: no share of a search's estimate is mixed into it.
            is_proven = games.proven_targets[moves, None] > 0
            wdl = np.where(is_proven, result, wdl)
        features, legal = self._features(moves)
        extra = {name: values[moves] for name, values in self._columns.items()}
        if self.extra.reply > 0:
            extra["reply"] = self._replies(moves)
        if self._ends is not None:
            ends = self._ends.targets(games.game_of(moves), games.movers[moves])
            extra |= {name: ends[name] for name in self.extra.weights if name in ends}
        policy = self._policy(moves)
        wdl = wdl.astype(np.float32)
        if self._equal is not None:
            self._equal.put(positions, policy, wdl, root_value_share)
        return Samples(features, policy, wdl, legal, extra)

    def transformed(self, samples: Samples, symmetries: NDArray[np.int64]) -> Samples:
        """The samples seen through these symmetries (one number a row)."""
        features = self._turned(samples.features, symmetries)
        policy = self._turned(samples.policy, symmetries)
        legal = None
        if samples.legal is not None:
            legal = self._turned(samples.legal, symmetries)
        extra = {name: self._turned(values, symmetries) for name, values in samples.extra.items()}
        return Samples(features, policy, samples.wdl, legal, extra)

    def _turned(self, values: NDArray[Any], symmetries: NDArray[np.int64]) -> NDArray[Any]:
        """Rows through symmetries where they have a number an action, or planes of the board; others stay."""
        if values.shape[1:] == (self.game.num_actions,):
            actions = self._actions[symmetries]
            return np.take_along_axis(values, actions, axis=1)
        has_planes = values.ndim > 2 and values.shape[-2:] == self.game.feature_shape[1:]
        if not has_planes:
            return values
        flat = values.reshape(len(values), -1, self._squares.shape[1])
        squares = self._squares[symmetries]
        turned = np.take_along_axis(flat, squares[:, None], axis=2)
        return turned.reshape(values.shape)

    def _all(self) -> Games:
        """Return the games; ValueError where there are none."""
        if self.games is None:
            raise ValueError("the replay buffer holds no games")
        return self.games

    def _features(self, moves: NDArray[np.int64]) -> tuple[NDArray[np.float32], NDArray[np.uint8] | None]:
        """Return the features of the positions before these moves, and the legal actions where samples have them."""
        games = self._all()
        # Games are stored as moves and not as planes: the core plays them again up to each position, which costs less
        # than to read planes from memory, and symmetries can be applied when a position is drawn.
        starts = []
        lines = []
        for game in games.game_of(moves):
            begin = games.line_offsets[game]
            end = games.line_offsets[game + 1]
            starts.append(self._start(games.origin[game]))
            lines.append(games.lines[begin:end])
        features = np.empty((len(moves), *self.game.feature_shape), np.float32)
        legal = None
        if self.legal:
            legal = np.empty((len(moves), self.game.num_actions), np.uint8)
        numbers = np.arange(len(moves))
        _core.encode_games(starts, lines, numbers, games.plies[moves], features, legal=legal)
        return features, legal

    def _start(self, origin: str | None) -> _core.State:
        """The position that a game began from; never played on, so one is enough for all games."""
        if origin not in self._starts:
            game = self.game if origin is None else load_game(origin)
            self._starts[origin] = game.new_initial_state()
        return self._starts[origin]

    def _replies(self, moves: NDArray[np.int64]) -> NDArray[np.float32]:
        """Policies of the next moves of the same games, where the other player makes one; zeros where not."""
        games = self._all()
        ends = games.moves_before[games.game_of(moves) + 1]
        later = np.minimum(moves + 1, ends - 1)
        # Where a side moves twice in a row, its first move was not answered: the next one is not a reply.
        answered = games.movers[later] != games.movers[moves]
        return np.asarray(self._policy(later) * answered[:, None], np.float32)

    def _policy(self, moves: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the policy targets of moves, [moves, A]: shares of the recorded counts."""
        games = self._all()
        edges = places_of(games.edge_offsets, moves)
        lengths = games.policy_lengths[moves]
        rows = np.repeat(np.arange(len(moves)), lengths)
        policy = np.zeros((len(moves), self.game.num_actions), np.float32)
        policy[rows, games.policy_actions[edges]] = games.policy_counts[edges]
        # A reply may have been played without counts: its row is then 0, which adds nothing to the loss, and not NaN.
        total = policy.sum(axis=1, keepdims=True)
        return np.asarray(policy / np.maximum(total, 1))
