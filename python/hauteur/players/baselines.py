"""Players without a network as text: `random`, `mcts:N`, `rave:N`, `solver` and `solver:NODES`."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hauteur import _core
from hauteur.players.move_player import ChosenMove, MoveFunction, MoveRequest, most_simulated
from hauteur.players.solver import solver_rule

MOST_SIMULATIONS = 10_000_000
MOST_NODES = 10_000_000_000


@dataclass(frozen=True)
class Baseline:
    """A player without a network: its kind, and the number behind the colon where it has one.

    number: simulations a move (mcts, rave), most positions searched a move (solver).
    """

    kind: str
    number: int | None = None

    def __str__(self) -> str:
        return self.kind if self.number is None else f"{self.kind}:{self.number}"


@dataclass(frozen=True)
class _Form:
    """Syntax of a kind. number: the name of the value after the colon, None = no value."""

    number: str | None
    is_needed: bool
    most: int


FORMS = {
    "random": _Form(None, False, 0),
    "mcts": _Form("N", True, MOST_SIMULATIONS),
    "rave": _Form("N", True, MOST_SIMULATIONS),
    "solver": _Form("NODES", False, MOST_NODES),
}


def is_baseline(word: str) -> bool:
    """Return whether the word begins like a player without a network."""
    return word.partition(":")[0] in FORMS


def parse_baseline(text: str) -> Baseline:
    """Parse a player without a network; raise ValueError with the allowed forms."""
    kind, colon, number = text.partition(":")
    if kind not in FORMS:
        raise ValueError(f"no player {text!r} without a network; there are {', '.join(map(_usage, FORMS))}")
    form = FORMS[kind]
    if not colon and not form.is_needed:
        return Baseline(kind)
    if form.number is None or not number.isdecimal() or not 1 <= int(number) <= form.most:
        allowed = "" if form.number is None else f", {form.number} from 1 to {form.most:,}"
        raise ValueError(f"{text!r} is no player: write {_usage(kind)}{allowed}")
    return Baseline(kind, int(number))


def _usage(kind: str) -> str:
    form = FORMS[kind]
    if form.number is None:
        return kind
    return f"{kind}:{form.number}" if form.is_needed else f"{kind}[:{form.number}]"


@dataclass(frozen=True)
class BaselinePlayer:
    """A player without a network; `workers` compute its moves."""

    name: str
    rule: MoveFunction
    workers: Executor

    def choose(self, request: MoveRequest) -> Future[ChosenMove]:
        """Begin to look for a move."""
        return self.workers.submit(self.rule, request.state, request.seed)

    def end(self, game: int) -> None:
        """Do nothing: no state is kept per game."""

    def close(self) -> None:
        """Do nothing: the workers belong to their owner."""


def make_baseline(game: _core.Game, baseline: Baseline, workers: Executor, name: str = "") -> BaselinePlayer:
    """The player of this kind for this game; ValueError where the game has none."""
    return BaselinePlayer(name or str(baseline), MOVE_FUNCTIONS[baseline.kind](game, baseline.number), workers)


def _random(game: _core.Game, number: int | None) -> MoveFunction:
    """Uniformly random legal moves."""
    del game, number

    def choose(state: _core.State, seed: int) -> ChosenMove:
        actions = state.legal_actions()
        return ChosenMove(int(actions[_core.random_u64(seed, 0) * len(actions) >> 64]))

    return choose


def _mcts(game: _core.Game, number: int | None) -> MoveFunction:
    """The most visited move of UCT by random games."""
    del game
    return lambda state, seed: _by_visits(state, _core.mcts_search(state, number or 0, seed))


def _rave(game: _core.Game, number: int | None) -> MoveFunction:
    """The most visited move of a search with all-moves-as-first values."""
    if game.name != "nogo":
        raise ValueError(f"rave plays nogo alone, got {game.spec}; mcts:{number} plays every game")
    return lambda state, seed: _by_visits(state, _core.rave_search(state, number or 0, seed))


def _by_visits(state: _core.State, found: NDArray[np.uint32]) -> ChosenMove:
    return ChosenMove(most_simulated(found, state.legal_actions().tolist()))


MOVE_FUNCTIONS: dict[str, Callable[[_core.Game, int | None], MoveFunction]] = {
    "random": _random,
    "mcts": _mcts,
    "rave": _rave,
    "solver": solver_rule,
}
