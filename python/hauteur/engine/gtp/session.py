"""What the commands of the engine share: the board, the player, the clocks, and the engine's own settings."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field, replace

from hauteur import _core
from hauteur.engine.gtp.clocks import PlayerClock, TimeSettings, after_move, budget_of, full_clock
from hauteur.engine.gtp.game_history import GameHistory
from hauteur.engine.gtp.points import board_size, vertices_of
from hauteur.engine.gtp.thinker import FoundMove, NetThinker, Thinker, ThinkingResources, open_thinker
from hauteur.games.registry import make
from hauteur.players.settings import PlayerSettings
from hauteur.search.analysis import OnReport
from hauteur.search.report import RootReport
from hauteur.search.time_manager import Budget

RESIGN, PASS = "resign", "pass"


@dataclass(frozen=True)
class DeskSettings:
    """The engine's own settings.

    resign_below: expected score, 0 to 1, under which a player with a net resigns; 0: never. move_overhead: seconds that
    a move may lose between clock and engine. seed: of all random draws.
    """

    resign_below: float = 0.0
    move_overhead: float = 0.1
    seed: int = 0
    resources: ThinkingResources = field(default_factory=ThinkingResources)

    def __post_init__(self) -> None:
        if not 0.0 <= self.resign_below < 1.0:
            raise ValueError(f"--resign-below must be at least 0 and below 1, got {self.resign_below}")
        if not 0.0 <= self.move_overhead <= 3600.0:
            raise ValueError(f"--move-overhead must be 0 to 3600 seconds, got {self.move_overhead}")
        if self.seed < 0:
            raise ValueError(f"--seed must be at least 0, got {self.seed}")
        if not 0 <= self.resources.threads <= 1024:
            raise ValueError(f"--threads must be 0 to 1024, got {self.resources.threads}")


@dataclass(frozen=True)
class LastSearch:
    """What the last search has found. visits: of the moves that have some; line: player and vertex."""

    report: RootReport
    visits: tuple[tuple[str, int], ...]
    line: tuple[tuple[int, str], ...]


class GtpSession:
    """One engine's board, player and clocks. ValueError where the player does not fit the game."""

    def __init__(
        self,
        game: _core.Game,
        player: PlayerSettings,
        settings: DeskSettings,
        *,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        vertices_of(game)  # before a net is opened in vain
        self.board = GameHistory(game)
        self.player = player
        self.settings = settings
        self.time = TimeSettings()
        self.clocks = [full_clock(self.time)] * 2
        self.last: LastSearch | None = None
        self._now = now
        self._opening = self._open(game, player)

    # The board.

    def clear(self) -> None:
        """Begins a new game on this board."""
        self.board.clear()
        self.clocks = [full_clock(self.time)] * 2
        self.last = None
        if self.is_open:
            self.thinker.forget()

    def resize(self, size: int) -> None:
        """A board of this size, cleared; ValueError where the game or the player has none."""
        try:
            game = sized(self.board.game, size)
            if game.spec != self.board.game.spec:
                self._replace(game, self.player)
        except (ValueError, OSError) as error:
            raise ValueError(f"unacceptable size: {error}") from None
        self.clear()

    # The player.

    def change_player(self, player: PlayerSettings) -> None:
        """Another player goes on with this game; ValueError, and everything stays, where it cannot."""
        self._replace(self.board.game, player)

    @property
    def thinker(self) -> Thinker:
        """What finds moves; waits until it is open. ValueError or OSError where it could not be opened."""
        return self._opening.result()

    @property
    def net_thinker(self) -> NetThinker:
        """The search of a player with a net; ValueError for another one."""
        thinker = self.thinker
        if not isinstance(thinker, NetThinker):
            raise ValueError(f"{self.player.baseline} is a player without a net: it has no analysis")
        return thinker

    @property
    def is_opening(self) -> bool:
        """Whether a net is still being opened; that cannot be interrupted."""
        return not self._opening.done()

    @property
    def is_open(self) -> bool:
        """Whether the player can be asked at once."""
        return self._opening.done() and self._opening.exception() is None

    def stop(self) -> None:
        """Ends a search early; any thread may ask."""
        if self.is_open:
            self.thinker.stop()

    def close(self) -> None:
        """Ends the player, if it is open."""
        if self.is_open:
            self.thinker.close()

    # Moves.

    def think(self, colour: int, *, lines: int = 1, on_report: OnReport | None = None) -> FoundMove:
        """A move for this player, whose turn it must be, within its clock, which runs meanwhile."""
        self.board.require_turn(colour)
        began = self._now()
        thinker = self.thinker  # which may have to be waited for
        budget = self.budget(colour, gone=self._now() - began)
        found = thinker.choose(self.board, budget, lines=lines, on_report=on_report)
        self.clocks[colour] = after_move(self.clocks[colour], self.time, self._now() - began)
        self._note_found(found)
        return found

    def think_repeatably(self, colour: int) -> FoundMove:
        """A move for this player by a new search, without the clock and without random choice of the move."""
        self.board.require_turn(colour)
        found = self.thinker.choose(self.board, None, repeatable=True)
        self._note_found(found)
        return found

    def answer(self, found: FoundMove) -> str:
        """What genmove says: the vertex, which is then played, or `resign`."""
        if found.score is not None and found.score < self.settings.resign_below:
            return RESIGN
        vertex = self.board.vertex(found.action)
        self.board.play(found.action)
        return vertex

    def answer_at_end(self, colour: int) -> str:
        """What genmove says where the game is over: who has lost resigns, others pass."""
        outcome = self.board.state.outcome() or 0
        return RESIGN if outcome == (-1 if colour == 0 else 1) else PASS

    def note(self, report: RootReport) -> None:
        """Keeps the report of a search of the board's position for the commands that show it."""
        board, best = self.board, report.best
        visits = tuple((board.vertex(move.action), move.visits) for move in report.moves if move.visits)
        self.last = LastSearch(report, visits, tuple(board.line(best.line)) if best else ())

    # Time.

    def set_time(self, settings: TimeSettings) -> None:
        """New time settings; both clocks are full."""
        self.time = settings
        self.clocks = [full_clock(settings)] * 2

    def set_clock(self, colour: int, clock: PlayerClock) -> None:
        """What the controller's clock shows; without time settings it is the time for the rest of the game."""
        if self.time.is_unlimited:
            in_period = clock.stones > 0
            self.set_time(TimeSettings(clock.left * (not in_period), clock.left * in_period, clock.stones))
        self.clocks[colour] = clock

    def budget(self, colour: int, *, gone: float = 0.0) -> Budget | None:
        """Seconds for this player's next move, of which so many are gone."""
        clock = self.clocks[colour]
        return budget_of(
            replace(clock, left=max(0.0, clock.left - gone)),
            self.time,
            ply=self.board.state.ply,
            max_plies=self.board.game.max_plies,
            overhead=self.settings.move_overhead,
        )

    # Private.

    def _note_found(self, found: FoundMove) -> None:
        """Keeps what a search has found; tells the log what a user should know of the move."""
        if found.report is not None:
            self.note(found.report)
        if found.note:
            print(f"hauteur: {found.note}", file=sys.stderr, flush=True)

    def _open(self, game: _core.Game, player: PlayerSettings) -> Future[Thinker]:
        opening = open_thinker(game, player, self.settings.resources, self.settings.seed)
        opening.add_done_callback(_tell_failure)
        return opening

    def _replace(self, game: _core.Game, player: PlayerSettings) -> None:
        """Opens the new player before the old one is closed, so that a failure changes nothing."""
        board = self.board if game.spec == self.board.game.spec else GameHistory(game)
        opening = self._open(game, player)
        opening.result()
        self._opening.add_done_callback(_close)
        self.board, self.player, self._opening, self.last = board, player, opening, None


def _tell_failure(opening: Future[Thinker]) -> None:
    """Tells the log why a player could not be opened; nobody may have asked it yet."""
    if error := opening.exception():
        print(f"hauteur: the player cannot be used: {error}", file=sys.stderr, flush=True)


def _close(opening: Future[Thinker]) -> None:
    if opening.exception() is None:
        opening.result().close()


def sized(game: _core.Game, size: int) -> _core.Game:
    """The same game on a square board of this size; a game that has none is on the smallest that holds its own."""
    _, rows, columns = game.feature_shape
    if rows == columns == size:
        return game
    try:
        return make(f"{game.name}(size={size})")
    except ValueError:
        if size == board_size(game):
            return game
        raise
