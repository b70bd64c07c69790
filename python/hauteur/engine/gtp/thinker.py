"""What finds the engine's moves: a net with the search of analysis, or a player without a net."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from concurrent.futures import Future
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hauteur import _core
from hauteur.engine.gtp.game_history import GameHistory
from hauteur.networks.bundled import net_or_shipped
from hauteur.players.baselines import MOVE_FUNCTIONS, parse_baseline
from hauteur.players.move_player import MoveFunction
from hauteur.players.settings import PlayerSettings
from hauteur.search.analysis import Analysis, OnReport, open_evaluator
from hauteur.search.driver import for_nets, nets_of
from hauteur.search.limits import Limits
from hauteur.search.move_choice import choose_move
from hauteur.search.params import Temperature
from hauteur.search.report import RootReport
from hauteur.search.time_manager import Budget

SMART_PRUNING = 1.33
"""On the clock a search ends early by this factor, as lc0's does; see Limits.smart_pruning."""


@dataclass(frozen=True)
class ThinkingResources:
    """How moves are computed. threads: of the net, 0 = all that the process may use; batch_size: None = the net's."""

    threads: int = 0
    batch_size: int | None = None


@dataclass(frozen=True)
class FoundMove:
    """A move. score: what the player expects to get, 0 a loss to 1 a win; None where it does not say."""

    action: int
    score: float | None = None
    note: str = ""
    report: RootReport | None = None


WITHOUT_FILE = ("uniform", "rollout")
"""Evaluators in the place of a net."""


class Thinker(ABC):
    """Finds moves of a board's game. What has a search or a memory of it says how they end; others have neither."""

    @abstractmethod
    def choose(
        self,
        board: GameHistory,
        budget: Budget | None,
        *,
        repeatable: bool = False,
        lines: int = 1,
        on_report: OnReport | None = None,
    ) -> FoundMove:
        """A move of the player whose turn it is, within the budget.

        repeatable: the same whenever it is asked. on_report sees the search, with so many lines of play.
        """

    def stop(self) -> None:  # noqa: B027  (nothing to stop)
        """Asks a search to end soon; any thread may ask."""

    def forget(self) -> None:  # noqa: B027  (nothing is kept)
        """Forgets what was found out about positions."""

    def close(self) -> None:  # noqa: B027  (nothing is open)
        """Ends it."""


def open_thinker(
    game: _core.Game, settings: PlayerSettings, resources: ThinkingResources, seed: int
) -> Future[Thinker]:
    """Begins to open the thinker that the settings describe: a net in a thread of its own, for that takes seconds.

    ValueError or OSError at once for a player that cannot be one; what else is wrong with a net comes with the result.
    """
    future: Future[Thinker] = Future()
    if settings.engine is not None:
        raise ValueError(f"the player is a net or one of hauteur's own, got the program {settings.engine.command!r}")
    if settings.baseline is not None:
        baseline = parse_baseline(settings.baseline)
        future.set_result(BaselineThinker(MOVE_FUNCTIONS[baseline.kind](game, baseline.number), seed))
        return future
    nets = _existing_nets(game, settings)

    def work() -> None:
        try:
            future.set_result(NetThinker(game, nets, settings, resources, seed))
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=work, name="net", daemon=True).start()
    return future


def _existing_nets(game: _core.Game, settings: PlayerSettings) -> tuple[str, str | None]:
    """The net of the player and its large one; OSError for a file that cannot be read."""
    small = net_or_shipped(settings.net, spec=game.spec, game_name=game.name)
    for net in filter(None, (small, settings.large_net)):
        if net not in WITHOUT_FILE:
            with Path(net).open("rb"):
                pass
    return small, settings.large_net


class NetThinker(Thinker):
    """A net, or two, with a tree that follows the game."""

    def __init__(
        self,
        game: _core.Game,
        nets: tuple[str, str | None],
        settings: PlayerSettings,
        resources: ThinkingResources,
        seed: int,
    ) -> None:
        self._settings = settings
        self._rng = np.random.default_rng(seed)
        with ExitStack() as stack:
            small, large = (
                stack.enter_context(
                    closing(open_evaluator(game, file, threads=resources.threads, precision=settings.precision))
                )
                if file
                else None
                for file in nets
            )
            assert small is not None
            params = for_nets(settings.search, large)
            nets_of(_core.Forest(game, params), small, large)
            self.session = Analysis(small, params, large=large, seed=seed, batch_size=resources.batch_size)
            self._open = stack.pop_all()

    def choose(
        self,
        board: GameHistory,
        budget: Budget | None,
        *,
        repeatable: bool = False,
        lines: int = 1,
        on_report: OnReport | None = None,
    ) -> FoundMove:
        """Searches until the visits of the player or the budget are used up."""
        if repeatable:
            self.session.clear()
        self.follow(board)
        report = self.session.search(self._limits(budget), lines=lines, on_report=on_report)
        temperature = Temperature() if repeatable else self._settings.temperature
        move = choose_move(report, temperature, board.state.ply, self._rng)
        if move is None:
            raise ValueError("the search found no move")
        win, draw, _ = report.wdl
        return FoundMove(move.action, win + 0.5 * draw, report=report)

    def follow(self, board: GameHistory) -> None:
        """Brings the tree to the position of the board."""
        self.session.set_position(board.start, board.actions)

    def stop(self) -> None:
        """Ends the search after its present batch."""
        self.session.stop()

    def forget(self) -> None:
        """Drops the tree and the cache of evaluations."""
        self.session.clear()

    def close(self) -> None:
        """Closes the nets."""
        self._open.close()

    def _limits(self, budget: Budget | None) -> Limits:
        if budget is None:
            return Limits(visits=self._settings.visits)
        visits = self._settings.visits if "visits" in self._settings.model_fields_set else None
        return Limits(visits=visits, budget=budget, smart_pruning=SMART_PRUNING)


class BaselineThinker(Thinker):
    """A player without a net, which knows no clock and cannot be interrupted."""

    def __init__(self, rule: MoveFunction, seed: int) -> None:
        self._rule = rule
        self._seed = seed
        self._rng = np.random.default_rng(seed)

    def choose(
        self,
        board: GameHistory,
        budget: Budget | None,
        *,
        repeatable: bool = False,
        **_: object,
    ) -> FoundMove:
        """Asks the player."""
        del budget
        seed = self._seed if repeatable else int(self._rng.integers(2**63))
        chosen = self._rule(board.state.copy(), seed)
        return FoundMove(chosen.action, note=chosen.note)
