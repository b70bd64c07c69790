"""Protocols of evaluators, and evaluators that need no network file."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from hauteur import _core
from hauteur.system.closing import Closing

Floats = NDArray[np.float32]


Answers = tuple[Floats, Floats]
"""Policy logits float32 [B, num_actions] and win, draw, loss of the mover, float32 [B, 3], as probabilities."""


Backend = Literal["core", "torch", "onnxruntime"]


Precision = Literal["auto", "float32", "bfloat16", "float16"]
"""auto: what is fastest: float16 on a GPU; of the core bfloat16 or float32, which is measured."""


if TYPE_CHECKING:
    import chess

    Given = Floats | _core.State | chess.Board | str | Sequence[_core.State | chess.Board | str]
    """Input of an evaluator: features float32 [B, C, H, W], or positions: a State, a `chess.Board`, a FEN."""

PREFERRED_ROWS = 64

MOST_BATCH_ROWS = 65_536
"""Rows of a batch that an evaluator takes at most."""


class Pending(Protocol):
    """Answers that are being computed."""

    def result(self) -> Answers:
        """Wait for the answers; raise what the computation raised."""


@runtime_checkable
class BorrowedAnswers(Protocol):
    """Answers in memory that later batches will use again; the core copies them at once."""

    def borrowed(self) -> Answers:
        """Wait for the answers, which may change as soon as this object is gone."""


@runtime_checkable
class Evaluator(Protocol):
    """Interface that a search queries. Features are float32 [B, planes, rows, columns], any B from 1."""

    @property
    def name(self) -> str:
        """Display name: net, engine, precision, threads."""

    @property
    def game_spec(self) -> str: ...
    @property
    def feature_shape(self) -> tuple[int, int, int]: ...
    @property
    def num_actions(self) -> int: ...
    @property
    def batch_size(self) -> int:
        """Rows in a batch at which this evaluator is efficient."""

    def __call__(self, features: Floats, /) -> Answers: ...
    def submit(self, features: Floats) -> Pending:
        """Start the computation. The features must not change until the result is available."""

    def close(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


@runtime_checkable
class StateEvaluator(Protocol):
    """An evaluator that needs the positions themselves: rollouts play on from them."""

    def submit_states(self, states: Sequence[_core.State]) -> Pending:
        """Begin to evaluate these positions."""


@runtime_checkable
class PackedEvaluator(Protocol):
    """An evaluator that unpacks the features itself, so that a twentieth of the bytes goes to the device (chess)."""

    def submit_packed(self, masks: NDArray[np.uint64], values: Floats) -> Pending:
        """Begin to compute rows as bit planes [B, C]; they may change when this returns.

        Plane c has `values[b, c]` where bit row * W + column of `masks[b, c]` is set, and 0 elsewhere.
        """


@runtime_checkable
class ComputedByCore(Protocol):
    """An evaluator whose computation the core does itself, without Python, while it searches."""

    @property
    def core(self) -> _core.Network | _core.Uniform:
        """What searches in the core evaluate with."""


class GameEvaluator(Closing):
    """Base class of evaluators: the game's shapes, and one worker thread that computes submitted batches."""

    def __init__(self, game: _core.Game, name: str, batch_size: int) -> None:
        self.game_spec = game.spec
        self.feature_shape = game.feature_shape
        self.num_actions = game.num_actions
        self.name = name
        self.batch_size = batch_size
        # One thread: what computes need not bear two batches at a time, and answers come in the order of the requests.
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="evaluator")  # a thread only from the first submit

    def __call__(self, given: Given) -> Answers:
        """Return the answers to rows of features, or to one position or a list of positions."""
        if isinstance(given, np.ndarray):
            return self.compute(given)
        return self._answers_to(given)

    def compute(self, features: Floats) -> Answers:
        """Return the answers to rows of features."""
        raise NotImplementedError

    def _answers_to(self, given: Given) -> Answers:
        """Return the answers to positions. ValueError where one is of another game."""
        listed: Sequence[Any] = [given]
        if isinstance(given, Sequence) and not isinstance(given, str):
            listed = given
        states = [_core.position_of(one) for one in listed]
        for state in states:
            if state.game.feature_shape != self.feature_shape:
                raise ValueError(f"evaluator {self.name} is for {self.game_spec}, got a position of {state.game.spec}")
        if isinstance(self, StateEvaluator):
            return self.submit_states(states).result()
        return self.compute(np.stack([state.features() for state in states]))

    def submit(self, features: Floats) -> Pending:
        """Compute rows in the worker thread; the future gets logits and wdl."""
        future: Future[Answers] = self._worker.submit(self.compute, features)
        return future

    def close(self) -> None:
        """End the worker thread, and drop what has not begun."""
        self._worker.shutdown(wait=True, cancel_futures=True)


class UniformEvaluator(GameEvaluator):
    """Equal priors and an even value: a search without knowledge. core: the same for searches of the core."""

    core = _core.Uniform()

    def __init__(self, game: _core.Game, batch_size: int = 256) -> None:
        super().__init__(game, "uniform", batch_size)

    def compute(self, features: Floats) -> Answers:
        """Return logits of 0 and an even value for each row."""
        rows = len(features)
        logits = np.zeros((rows, self.num_actions), np.float32)
        even = np.array([0.5, 0, 0.5], np.float32)
        return logits, np.tile(even, (rows, 1))


ROLLOUT_ROWS = 16
"""Positions of a batch of random games."""


class RolloutEvaluator(GameEvaluator):
    """Equal priors; the value of a position is the result of one uniformly random game from it (classic MCTS).

    It needs the positions and cannot work from their features: the search passes them to `submit_states`. A position
    has the same value at every request.
    """

    def __init__(self, game: _core.Game, *, batch_size: int = ROLLOUT_ROWS) -> None:
        super().__init__(game, "rollout", batch_size)

    def compute(self, features: Floats) -> Answers:
        """Raise ValueError: not supported."""
        rows = len(features)
        raise ValueError(
            f"rollouts start from positions, got {rows} rows of features: this use needs a net, or `uniform`"
        )

    def submit_states(self, states: Sequence[_core.State]) -> Pending:
        """Play out positions in the worker thread; the future gets logits of 0 and wdl."""
        future: Future[Answers] = self._worker.submit(self._play, states)
        return future

    def _play(self, states: Sequence[_core.State]) -> Answers:
        """Play each position to the end once, with uniformly random moves."""
        return np.zeros((len(states), self.num_actions), np.float32), _core.rollout_values(states, 0, 1)
