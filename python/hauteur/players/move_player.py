"""Players without a forest: each is asked for a move in one position and answers later, from another thread.

The arena seats them beside the players with networks and goes on with the other games until an answer is there. A move
of those here depends on the position and the seed that the arena names it by, not on the thread that found it or on
when. Programs that run elsewhere (hauteur.players.engines) fit the same protocol.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from hauteur import _core
from hauteur.players.baselines import Baseline
from hauteur.players.chosen_move import ChosenMove, GameLost, Rule, most_visited
from hauteur.players.solver import solver_rule


@dataclass(frozen=True)
class Question:
    """A game in which a player is to move.

    game: the number of the game; state: the position, the player's own copy, in which the game is not over; origin:
    where the game began, in the game's notation (chess: FEN); actions: all that were played since, of the opening too;
    seed: of all random draws for this move.
    """

    game: int
    state: _core.State
    origin: str
    actions: tuple[int, ...]
    seed: int


class MovePlayer(Protocol):
    """A player that is asked for one move at a time."""

    @property
    def name(self) -> str:
        """What results call it."""

    def choose(self, question: Question) -> Future[ChosenMove]:
        """Begins to look for a move. GameLost in the future: the player has lost this game, the others go on.

        Any other exception stops all games and names the player.
        """

    def end(self, game: int) -> None:
        """The game with this number is over; nothing will be asked about it any more."""

    def close(self) -> None:
        """No game goes on any more: ends what runs for the player. It may be asked again later, in other games."""


Answer = ChosenMove | GameLost
Game = TypeVar("Game")


@dataclass
class Asked(Generic[Game]):
    """The games in which a player was asked for a move that is not there yet."""

    waiting: dict[Future[ChosenMove], tuple[Game, MovePlayer]] = field(default_factory=dict)

    def ask(self, game: Game, player: MovePlayer, question: Question) -> None:
        """Asks the player for its move in a game."""
        self.waiting[player.choose(question)] = (game, player)

    def answers(self) -> list[tuple[Game, Answer]]:
        """The answers that have come since; RuntimeError names a player that has failed otherwise than by GameLost."""
        done = [future for future in self.waiting if future.done()]
        return [_answer(future, *self.waiting.pop(future)) for future in done]

    def wait(self) -> bool:
        """Waits until there is an answer; False when none is awaited."""
        wait(self.waiting, return_when=FIRST_COMPLETED)
        return bool(self.waiting)

    def cancel(self) -> None:
        """Forgets all questions; those that a player has begun with run to their end."""
        for future in self.waiting:
            future.cancel()
        self.waiting.clear()


def _answer(future: Future[ChosenMove], game: Game, player: MovePlayer) -> tuple[Game, Answer]:
    try:
        return game, future.result()
    except GameLost as lost:
        return game, lost
    except Exception as error:
        raise RuntimeError(f"player {player.name} has failed: {error}") from error


@dataclass(frozen=True)
class BaselinePlayer:
    """A player without a network; `workers` compute its moves."""

    name: str
    rule: Rule
    workers: Executor

    def choose(self, question: Question) -> Future[ChosenMove]:
        """Begins to look for a move."""
        return self.workers.submit(self.rule, question.state, question.seed)

    def end(self, game: int) -> None:
        """Nothing is kept of a game."""

    def close(self) -> None:
        """Nothing runs; the workers are their owner's."""


def make_baseline(game: _core.Game, baseline: Baseline, workers: Executor, name: str = "") -> BaselinePlayer:
    """The player of this kind for this game; ValueError where the game has none."""
    return BaselinePlayer(name or str(baseline), RULES[baseline.kind](game, baseline.number), workers)


def _random(game: _core.Game, number: int | None) -> Rule:
    """Uniformly random legal moves."""
    del game, number

    def choose(state: _core.State, seed: int) -> ChosenMove:
        actions = state.legal_actions()
        return ChosenMove(int(actions[_core.random_u64(seed, 0) * len(actions) >> 64]))

    return choose


def _mcts(game: _core.Game, number: int | None) -> Rule:
    """The most visited move of UCT by random games."""
    del game
    return lambda state, seed: _by_visits(state, _core.mcts_search(state, number or 0, seed))


def _rave(game: _core.Game, number: int | None) -> Rule:
    """The most visited move of a search with all-moves-as-first values."""
    if game.name != "nogo":
        raise ValueError(f"rave plays nogo alone, got {game.spec}; mcts:{number} plays every game")
    return lambda state, seed: _by_visits(state, _core.rave_search(state, number or 0, seed))


def _by_visits(state: _core.State, found: NDArray[np.uint32]) -> ChosenMove:
    return ChosenMove(most_visited(found, state.legal_actions().tolist()))


RULES: dict[str, Callable[[_core.Game, int | None], Rule]] = {
    "random": _random,
    "mcts": _mcts,
    "rave": _rave,
    "solver": solver_rule,
}
