"""Sides of a game and their players: a net with its search, a player without a net, or a program."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hauteur import _core
from hauteur.engine.nets import NetChoice
from hauteur.engine.playing import FoundMove, PlayingSession, PlaySettings
from hauteur.games.played_game import PlayedGame
from hauteur.mcts.control import SearchControl, in_background
from hauteur.mcts.limits import SMART_PRUNING, Budget, Clock, Limits, fixed, plan
from hauteur.mcts.params import SearchParams
from hauteur.mcts.report import OnReport, RootReport
from hauteur.mcts.scores import score_text
from hauteur.networks.names import ADVICE, WITHOUT_FILE, default_net, resolve_net
from hauteur.players.baselines import move_function, parse_baseline
from hauteur.players.build import player_name
from hauteur.players.engines.settings import EngineSettings, clock_of
from hauteur.players.move_player import ChosenMove, MoveFunction, MoveRequest
from hauteur.players.settings import PlayerSettings
from hauteur.system.closing import Closing

if TYPE_CHECKING:
    from hauteur.players.engines.player import EnginePlayer


def player_of(
    game: _core.Game,
    settings: PlayerSettings,
    *,
    threads: int,
    advice: str = ADVICE,
) -> NetChoice | MoveFunction:
    """Return what plays: nets that are to be opened, or a function. ValueError or OSError for what cannot play.

    advice: how a net is named here. A program is no function; see EngineSide.
    """
    if settings.engine is not None:
        raise ValueError(f"the player is a net or one of hauteur's own, got the program {settings.engine.command!r}")
    if settings.baseline is not None:
        baseline = parse_baseline(settings.baseline)
        return move_function(game, baseline)
    net = resolve_net(settings.net, game, advice=advice).path
    large = resolve_net(settings.other_net).path if settings.other_net else ""
    for file in filter(None, (net, large)):
        if file not in WITHOUT_FILE:
            with Path(file).open("rb"):
                pass
    return NetChoice(net, large, precision=settings.precision, threads=threads)


OVERHEAD = 0.1
"""Seconds of a clock that a move may lose outside of its search."""
BATCH = 8
"""Rows of a batch in a search by visits: one tree gains little from more, and few cost hardly more than one."""
MAIA = re.compile(r"maia-?[0-9]+")
WITHOUT_NET = "net=rollout"
"""The player of a game for which no net ships: its values are those of random games."""


SettingsAt = Callable[[float], PlayerSettings]
"""Settings of a player with a net after a search of its own that found this value, -1 to 1."""


@dataclass(frozen=True)
class GameSide:
    """One side of a game. At most one of `seconds` and `clock`; ValueError for both, or seconds out of range."""

    player: PlayerSettings | None = None
    """Who moves; None: a person."""
    seconds: float | None = None
    """Seconds of every move of a player with a net, 0.01 to 3600, in place of its visits."""
    clock: str | None = None
    """Time for the whole game, `MINUTES:SECONDS+INCREMENT` or `SECONDS+INCREMENT`: who has none left has lost."""
    odds: str = ""
    """What odds mode has changed in the player's settings, in one line; empty: nothing."""
    at: SettingsAt | None = None
    """Gives the settings of the next search by the value of the last one; None: they stay."""

    def __post_init__(self) -> None:
        """Check that the limits fit each other and the player."""
        if self.seconds is not None and not 0.01 <= self.seconds <= 3600.0:
            raise ValueError(f"seconds a move must be 0.01 to 3600, got {self.seconds}")
        if self.seconds is not None and (self.clock is not None or not self.searches):
            raise ValueError("seconds a move are for a player with a net, and exclude a clock for the game")
        if self.clock is not None:
            clock_of(self.clock)

    @property
    def searches(self) -> bool:
        """Return whether a net with its search moves."""
        return self.player is not None and self.player.has_net


def default_player(game: _core.Game) -> str:
    """Return the text of the player of a game for whoever names none: its own net, else WITHOUT_NET."""
    return "" if default_net(game) is not None else WITHOUT_NET


def with_usual_visits(player: PlayerSettings, visits: int | None = None) -> PlayerSettings:
    """Return the player with its visits; one that has been given none gets `visits`, None: as by default.

    A net of the Maia project plays at one: it predicts moves of people, and is stronger than they are with more.
    """
    if "visits" in player.model_fields_set:
        return player
    found = 1 if player.net is not None and is_maia(player.net) else visits
    if found is None:
        return player
    return player.model_copy(update={"visits": found})


def is_maia(net: str) -> bool:
    """Return whether a net, by its name or file, is one of the Maia project."""
    return MAIA.fullmatch(Path(net).name.split(".")[0]) is not None


@dataclass(frozen=True)
class EngineOptions:
    """seed: of all random draws, None = any; threads: of a net, 0 = all; tree_bytes: of a search tree, 0 = no limit."""

    seed: int | None = None
    threads: int = 0
    tree_bytes: int = 0

    def bounded(self, search: SearchParams) -> SearchParams:
        """Return settings of a search with the limit for its tree, where they have no smaller one."""
        limits = [limit for limit in (search.max_tree_bytes, self.tree_bytes) if limit]
        if not limits:
            return search
        return search.model_copy(update={"max_tree_bytes": min(limits)})


class EngineSide(Closing):
    """A side that is no person. Raise ValueError or OSError for a player that cannot play the game."""

    def __init__(self, game: _core.Game, given: GameSide, options: EngineOptions = EngineOptions()) -> None:
        if given.player is None:
            raise ValueError("a person has no engine")
        self.given = given
        self.name = _side_name(player_name(game, given.player), given)
        self._options = options
        self._player = given.player
        self._session = PlayingSession(game, self._settings(), seed=options.seed)
        self._program: _Program | None = None
        if given.player.engine is None:
            self._session.open(player_of(game, given.player, threads=options.threads))
        else:
            self._program = _Program(game, given.player.engine, self.name)
            self._session.open(self._program.choose)
        self._control = SearchControl()
        self._last: Future[FoundMove] | None = None

    @property
    def _by_visits(self) -> bool:
        """Whether its searches end by visits: neither seconds nor a clock limit them."""
        return self.given.seconds is None and self.given.clock is None

    def _settings(self) -> PlaySettings:
        """Return how it thinks, its tree bounded; batches are small where visits end a search, whose time is free."""
        search = self._options.bounded(self._player.search)
        return PlaySettings(search, self._player.temperature, BATCH if self._by_visits else None)

    def progress(self, report: RootReport) -> tuple[int | None, float | None]:
        """Return the visits at which a search ends, and how many seconds it will still take; None: unknown."""
        player = self._player
        pace = report.pace
        if self.given.seconds is not None:
            return None, max(0.0, self.given.seconds - pace.seconds)
        if not player.has_net or not self._by_visits:
            return None, None
        left = max(0, player.visits - report.visits)
        return player.visits, left / pace.visits_per_second if pace.visits_per_second else None

    def start(
        self,
        played: PlayedGame,
        *,
        left: float | None = None,
        lines: int = 1,
        on_begin: Callable[[], None] = lambda: None,
        on_report: OnReport | None = None,
    ) -> Future[FoundMove]:
        """Look for a move in the position, in another thread; the future gets it, or the error.

        left: seconds on the clock of this side. on_begin: called once the player is open and the clock should run. A
        search that still runs is stopped before. GameLost in the future: the player has lost instead of moving.
        """
        self.stop()
        before = self._last
        control = SearchControl()
        self._control = control
        start = played.start
        actions = tuple(played.actions)
        state = played.state
        limits = self._limits(state.ply, played.game.max_plies, left)

        def think() -> FoundMove:
            if before is not None:
                wait([before])
            self._session.prepare()
            on_begin()
            control.restart_clock(time.monotonic())
            self._session.set_position(start, actions)
            found = self._session.think(limits, lines=lines, on_report=on_report, control=control)
            if self.given.at is not None and found.report is not None:
                win, _, loss = found.report.wdl
                self._player = self.given.at(win - loss)
                self._session.use(self._settings())
            return found

        self._last = in_background(think, "side")
        return self._last

    def stop(self) -> None:
        """End the search early: its best move so far is the answer. A program breaks off without one."""
        self._control.stop()
        if self._program is not None:
            self._program.stop()

    def close(self) -> None:
        """End the search, close the nets and end the program."""
        self.stop()
        self._session.close()
        if self._program is not None:
            self._program.close()

    def _limits(self, ply: int, max_plies: int, left: float | None) -> Limits:
        """The limits of the search of a move, by the clock, the seconds or the visits of this side."""
        if self.given.clock is not None and left is not None:
            increment = clock_of(self.given.clock)[1]
            budget = shared_time(left, increment, ply=ply, max_plies=max_plies, overhead=OVERHEAD)
        elif self.given.seconds is not None:
            budget = fixed(self.given.seconds, overhead=0.0)
        else:
            return Limits(visits=self._player.visits)
        return Limits(budget=budget, smart_pruning=SMART_PRUNING)


def shared_time(left: float, increment: float, *, ply: int, max_plies: int, overhead: float) -> Budget:
    """Return the seconds for the next move of a clock; a game that is soon over by its rules has fewer moves to share.

    ply: plies played of a game of at most `max_plies`.
    """
    clock = Clock(left, increment, moves_to_go=_core.moves_to_go(ply, max_plies))
    return plan(clock, move_number=ply // 2, overhead=overhead)


def _side_name(name: str, given: GameSide) -> str:
    """The name of a player with what limits it here: its visits are left out where seconds or a clock limit it."""
    limit = f"{given.seconds:g}s" if given.seconds is not None else given.clock
    if limit is None or not given.searches or given.player is None:
        return name
    return f"{name.replace(f' visits={given.player.visits}', '')} {limit}"


class _Program:
    """A program as a function: asked from one thread, stopped from any. It is started by the first question."""

    def __init__(self, game: _core.Game, settings: EngineSettings, name: str) -> None:
        self._game = game
        self._settings = settings
        self._name = name
        from hauteur.players.engines.player import EngineHost  # here: few sides are programs

        self._host = EngineHost(1)
        self._player: EnginePlayer | None = None
        self._number = 0
        self._known: tuple[int, ...] = ()
        self._answer: Future[ChosenMove] | None = None

    def choose(self, state: _core.State, seed: int) -> ChosenMove:
        """Ask for a move. Moves that were taken back are a new game to the program."""
        if self._player is None:
            from hauteur.players.engines.player import make_engine

            self._player = make_engine(self._game, self._settings, self._host, self._name)
        actions = tuple(state.moves)
        if actions[: len(self._known)] != self._known:
            self._player.end(self._number)
            self._number += 1
        self._known = actions
        request = MoveRequest(self._number, state, state.start.notation(), actions, seed)
        self._answer = self._player.choose(request)
        chosen = self._answer.result()
        if chosen.score is None or chosen.note:
            return chosen
        return replace(chosen, note=f"Its score: {score_text(chosen.score)} at depth {chosen.depth}")

    def stop(self) -> None:
        """Break the search off, which ends the program; the next question starts it again."""
        if self._answer is not None:
            self._answer.cancel()

    def close(self) -> None:
        """End the program, whether it thinks or waits."""
        self._host.close()
