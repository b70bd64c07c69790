"""One player in one game: its nets or its function, the tree that follows the game, and the choice of moves.

Every front-end is a translation of its own language to a `PlayingSession` and back:

    with PlayingSession(game) as session:
        session.open(NetChoice("net.safetensors"))        # in the background
        session.set_position(game.new_initial_state(), moves)  # keeps the tree where the game goes on
        found = session.think(Limits(visits=800))          # waits for the net
        found.action, found.score, found.report

`open`, `set_position`, `think` and `start` belong to one thread; a `SearchControl` ends a search or starts its clock
from any other.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar, Unpack

from hauteur import _core
from hauteur.engine.draws import Draws
from hauteur.engine.nets import NetChoice, Opener, OpenNets, open_evaluator, open_nets
from hauteur.games.played_game import position_after
from hauteur.mcts.analysis import Analysis
from hauteur.mcts.control import SearchControl, in_background
from hauteur.mcts.driver import for_nets, nets_of
from hauteur.mcts.limits import Limits, remember_lateness
from hauteur.mcts.net_search import search_of_net
from hauteur.mcts.plain_settings import DEFAULTS, SearchSettings, TemperatureSettings, draws_moves
from hauteur.mcts.report import AnalysisOptions, RootMove, RootReport, choose_move
from hauteur.networks.names import ResolvedNet
from hauteur.system.closing import Closing

if TYPE_CHECKING:
    from hauteur.mcts.search_tree import SearchTree
    from hauteur.players.move_player import MoveFunction

    OpenPlayer = OpenNets | MoveFunction

Answer = TypeVar("Answer")


class PlayerNotReadyError(ValueError):
    """The player cannot think: it is not open yet, or there is none."""


@dataclass(frozen=True)
class PlaySettings:
    """Settings of a player with nets."""

    search: SearchSettings = DEFAULTS
    """Settings of the search."""
    temperature: TemperatureSettings = DEFAULTS
    """Randomness of the moves played, which changes no tree."""
    batch_size: int | None = None
    """Maximum rows of a batch; None: what suits the evaluator, 1: exactly sequential search."""
    tablebase: _core.Tablebase | None = None
    """Exact results of positions with few pieces (chess); None: none."""
    fast_play: bool = False
    """Whether of the wins that the tablebase knows only the shortest are played."""


@dataclass(frozen=True)
class FoundMove:
    """The result of thinking.

    action: None where the game is over, or a search ended before it found a move. report, move: of a player with nets,
    the search and the chosen one of its moves. note: what a user should know of this move.
    """

    action: int | None
    report: RootReport | None = None
    move: RootMove | None = None
    note: str = ""

    @property
    def score(self) -> float | None:
        """Expected result for the mover, 0 a loss to 1 a win; None for a player that does not say."""
        if self.report is None:
            return None
        win, draw, _ = self.report.wdl
        return win + 0.5 * draw


class PlayingSession(Closing):
    """A player that follows one game at a time. game: which nets fit; seed: of all random draws, None = any."""

    def __init__(
        self,
        game: _core.Game,
        settings: PlaySettings | None = None,
        *,
        seed: int | None = None,
        opener: Opener = open_evaluator,
    ) -> None:
        self.settings = settings or PlaySettings()
        self.lateness = 0.0
        """By how many seconds moves came too late; see hauteur.mcts.limits."""
        self._game = game
        self._opener = opener
        # 63 bits, as seeds have everywhere.
        self._seed = int.from_bytes(os.urandom(8)) >> 1 if seed is None else seed
        self._draws = Draws(self._seed)
        self._choice: object = None
        self._player: Future[OpenPlayer] | None = None
        self._row_seconds = 0.0
        self._analysis: Analysis | None = None
        self._analysis_of: tuple[OpenNets, PlaySettings] | None = None
        self._start = game.new_initial_state()
        self._actions: tuple[int, ...] = ()
        self._control: SearchControl | None = None

    # The player.

    def open(self, player: NetChoice | OpenPlayer) -> bool:
        """Take this player from now on; return whether it is another one. Nets are opened in the background.

        A choice of nets that could not be opened is tried again after `forget_failure`. Nets of the session before are
        closed as soon as they can be.
        """
        if self._player is not None and player == self._choice:
            return False
        self.close()
        self._choice = player
        if isinstance(player, NetChoice):
            self._player = in_background(lambda: open_nets(self._game, player, self._opener), "net")
        else:
            self._player = Future()
            self._player.set_result(player)
        return True

    @property
    def error(self) -> BaseException | None:
        """The error that kept the player from opening; None where it is open or being opened."""
        if self._player is not None and self._player.done():
            return self._player.exception()
        return None

    def wait(self, control: SearchControl | None = None) -> OpenPlayer:
        """Wait until the player is open, or the control is stopped; return the player.

        Raises PlayerNotReadyError where it is not open then, and the error that kept it from being opened.
        """
        if self._player is None:
            raise PlayerNotReadyError("there is no player")
        if control is not None:
            control.wait(self._player)
            if not self._player.done():
                raise PlayerNotReadyError("the net is not open yet")
        return self._player.result()

    def when_open(self, report: Callable[[OpenPlayer | BaseException], None]) -> None:
        """Call `report` with the player, or the error, once it is open or cannot be opened, in any thread."""
        if self._player is not None:

            def tell(player: Future[OpenPlayer]) -> None:
                report(player.exception() or player.result())

            self._player.add_done_callback(tell)

    def forget_failure(self) -> None:
        """Let the same player be opened again if it could not be opened."""
        if self.error is not None:
            self._player = None

    def close(self) -> None:
        """Close the player, once it is open; another one may be opened then."""
        self._analysis = None
        self._row_seconds = 0.0
        if self._player is not None:
            # Nobody waits here: nets that are still being opened are closed once they are open.
            self._player.add_done_callback(_close)
        self._player = None

    # The game.

    def set_position(self, start: _core.State, actions: Sequence[int] = ()) -> None:
        """Follow the game to the position after `actions`, which must be legal, from `start`."""
        # A copy, since `apply` works in place and the caller may play on.
        self._start = start.copy()
        self._actions = tuple(actions)

    def clear(self) -> None:
        """Forget the tree and the evaluations of the game before; the player stays open."""
        if self._analysis is not None:
            self._analysis.clear()

    # Thinking.

    @property
    def is_searching(self) -> bool:
        """Whether a search runs; False while its net is still being opened."""
        return self._analysis is not None and self._analysis.searching

    def use(self, settings: PlaySettings) -> bool:
        """Think with these settings from now on; return whether they change the search."""
        changed = _of_search(settings) != _of_search(self.settings)
        self.settings = settings
        return changed

    def ask(self, function: Callable[[SearchTree], Answer]) -> Future[Answer]:
        """Call a function with the tree, in the searching thread between two batches while a search runs; see
        `Analysis.ask`. Raise ValueError where there is no tree yet.
        """
        if self._analysis is None:
            raise ValueError("nothing was searched yet")
        return self._analysis.ask(function)

    def expect(self, row_seconds: float) -> None:
        """Take this as the seconds of a row of the open nets, until a search has measured it."""
        self._row_seconds = row_seconds
        if self._analysis is not None and self._analysis.row_seconds <= 0.0:
            self._analysis.row_seconds = row_seconds

    def prepare(self) -> None:
        """Wait for the player. Raises ValueError where it cannot think with the settings, and as `wait` does."""
        player = self.wait()
        if isinstance(player, OpenNets):
            self._analysis_with(player)

    def think(
        self,
        limits: Limits,
        *,
        control: SearchControl | None = None,
        ply: int | None = None,
        **options: Unpack[AnalysisOptions],
    ) -> FoundMove:
        """Wait for the player, let it think about the position within the limits, and choose a move.

        control: new; ends the search. ply: of the game, for the temperature; default: of the position. options: of the
        search. Players without nets know no limits and no reports. Raises as `wait` does, and the errors of the
        evaluator.
        """
        control = self._control = control or SearchControl()
        player = self.wait(control)
        if not isinstance(player, OpenNets):
            state = position_after(self._start, self._actions)
            chosen = player(state, self._draws.whole())
            return FoundMove(chosen.action, note=chosen.note)
        analysis = self._analysis_with(player)
        analysis.set_position(self._start, self._actions)
        report = analysis.search(limits, control=control, **options)
        if limits.budget is not None and control.began is not None:
            late = time.monotonic() - control.began - limits.budget.maximum
            self.lateness = remember_lateness(self.lateness, late)
        if not report.moves:
            return FoundMove(None, report)
        moment = report.state.ply if ply is None else ply
        move = choose_move(report.moves, self.settings.temperature, moment, self._uniform())
        return FoundMove(move.action, report, move)

    def _uniform(self) -> float:
        """Return the random number by which a move is drawn, in [0, 1); 0 where the best one is played."""
        if draws_moves(self.settings.temperature):
            return self._draws.uniform()
        self._draws.pass_over()
        return 0.0

    def start(
        self,
        limits: Limits,
        *,
        control: SearchControl | None = None,
        **options: Unpack[AnalysisOptions],
    ) -> Future[FoundMove]:
        """Think in a thread of its own; the future gets the move or the error."""
        control = self._control = control or SearchControl()
        return in_background(lambda: self.think(limits, control=control, **options), "search")

    def stop(self) -> None:
        """Ask the thinking that has begun last to end; any thread may call it."""
        if self._control is not None:
            self._control.stop()

    def _analysis_with(self, nets: OpenNets) -> Analysis:
        """The analysis of these nets and the settings; a new one where they have changed."""
        search = self._search()
        requested = nets, _of_search(replace(self.settings, search=search))
        if self._analysis is None or requested != self._analysis_of:
            if self._analysis is not None:  # of the same nets, as `close` forgets it
                self._row_seconds = self._analysis.row_seconds
            params = for_nets(search, nets.large)
            # Made to be thrown away: settings that do not fit the nets are refused now, and not by the first search.
            nets_of(_core.Forest(self._game, params), nets.small, nets.large)
            self._analysis = Analysis(
                nets.small,
                params,
                large=nets.large,
                seed=self._seed,
                batch_size=self.settings.batch_size,
                tablebase=self.settings.tablebase,
                fast_play=self.settings.fast_play,
            )
            self._analysis.row_seconds = self._row_seconds
            self._analysis_of = requested
        return self._analysis

    def _search(self) -> SearchSettings:
        """The settings of the search, over those that the net carries for play."""
        choice = self._choice
        if not isinstance(choice, NetChoice):
            return self.settings.search
        return search_of_net(self.settings.search, ResolvedNet(choice.net), choice.large)


def _of_search(settings: PlaySettings) -> PlaySettings:
    """The settings without those of the choice of the move, which keep the tree."""
    return replace(settings, temperature=DEFAULTS)


def _close(player: Future[OpenPlayer]) -> None:
    """Close the nets of a player that was opened; a function, and a failure, have nothing to close."""
    if player.exception() is not None:
        return
    nets = player.result()
    if isinstance(nets, OpenNets):
        nets.close()
