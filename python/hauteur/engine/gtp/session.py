"""The state that the commands of the engine share: the board, the player, the clocks, and the engine's own settings."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from hauteur import _core
from hauteur.engine.chosen_player import player_of
from hauteur.engine.gtp.clocks import PlayerClock, TimeSettings, after_move, budget_of, full_clock
from hauteur.engine.gtp.game_history import GameHistory
from hauteur.engine.gtp.points import board_size, vertices_of
from hauteur.engine.nets import OpenNets
from hauteur.engine.playing import FoundMove, OpenPlayer, PlayingSession, PlaySettings
from hauteur.games.registry import load_game
from hauteur.mcts.limits import SMART_PRUNING, Limits
from hauteur.mcts.report import RootReport
from hauteur.mcts.search_run import OnReport
from hauteur.mcts.time_manager import Budget
from hauteur.networks.names import WITHOUT_FILE
from hauteur.players.settings import PlayerSettings

RESIGN, PASS = "resign", "pass"
ADVICE = 'give --player "rave:1000", or name a net there (--player "net=FILE")'
"""What a user can do for a game without a net of its own."""


@dataclass(frozen=True)
class GtpSettings:
    """The engine's own settings.

    resign_below: expected score, 0 to 1, under which a player with a net resigns; 0: never. move_overhead: seconds that
    a move may lose between clock and engine. seed: of all random draws. threads: of the net on the processor, 0 = all
    that the process may use. batch_size: most rows of a batch, None = what suits the net.
    """

    resign_below: float = 0.0
    move_overhead: float = 0.1
    seed: int = 0
    threads: int = 0
    batch_size: int | None = None

    def __post_init__(self) -> None:
        if not 0.0 <= self.resign_below < 1.0:
            raise ValueError(f"--resign-below must be at least 0 and below 1, got {self.resign_below}")
        if not 0.0 <= self.move_overhead <= 3600.0:
            raise ValueError(f"--move-overhead must be 0 to 3600 seconds, got {self.move_overhead}")
        if self.seed < 0:
            raise ValueError(f"--seed must be at least 0, got {self.seed}")
        if not 0 <= self.threads <= 1024:
            raise ValueError(f"--threads must be 0 to 1024, got {self.threads}")
        if self.batch_size is not None and self.batch_size < 1:
            raise ValueError(f"--batch-size must be >= 1, got {self.batch_size}")


@dataclass(frozen=True)
class LastSearch:
    """Findings of the last search. visits: of the moves that have some; line: player and vertex."""

    report: RootReport
    visits: tuple[tuple[str, int], ...]
    line: tuple[tuple[int, str], ...]


class GtpSession:
    """One engine's board, player and clocks. ValueError where the player does not fit the game."""

    def __init__(
        self,
        game: _core.Game,
        player: PlayerSettings,
        settings: GtpSettings,
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
        self._playing = self._open(game, player)

    # The board.

    def clear(self) -> None:
        """Begin a new game on this board."""
        self.board.clear()
        self.clocks = [full_clock(self.time)] * 2
        self.last = None
        self._playing.clear()

    def resize(self, size: int) -> None:
        """Change to a board of this size, cleared; ValueError where the game or the player has none."""
        try:
            game = sized(self.board.game, size)
            if game.spec != self.board.game.spec:
                self._replace(game, self.player)
        except (ValueError, OSError) as error:
            raise ValueError(f"unacceptable size: {error}") from None
        self.clear()

    # The player.

    def change_player(self, player: PlayerSettings) -> None:
        """Let another player go on with this game; ValueError, and everything stays, where it cannot."""
        self._replace(self.board.game, player)

    @property
    def playing(self) -> PlayingSession:
        """The player at the position of the board, once it is open; ValueError or OSError where it cannot be opened."""
        self._playing.wait()
        self._playing.set_position(self.board.start, self.board.actions)
        return self._playing

    @property
    def analysing(self) -> PlayingSession:
        """The same of a player with a net; ValueError for another one."""
        if not self.player.has_net:
            raise ValueError(f"{self.player.baseline} is a player without a net: it has no analysis")
        return self.playing

    def stop(self) -> None:
        """End a search early; any thread may call it."""
        if self._playing.is_searching:
            self._playing.stop()

    def close(self) -> None:
        """End the player."""
        self._playing.close()

    # Moves.

    def think(self, colour: int, *, lines: int = 1, on_report: OnReport | None = None) -> FoundMove:
        """Return a move for this player, whose turn it must be, within its clock, which runs meanwhile."""
        self.board.require_turn(colour)
        began = self._now()
        playing = self.playing  # which may have to be waited for
        limits = self._limits(self.budget(colour, gone=self._now() - began))
        found = playing.think(limits, lines=lines, on_report=on_report)
        self.clocks[colour] = after_move(self.clocks[colour], self.time, self._now() - began)
        self.note_found(found)
        return found

    def think_repeatably(self, colour: int) -> FoundMove:
        """Return a move for this player by a new search, without the clock and without random choice of the move."""
        self.board.require_turn(colour)
        found = self.playing.think(self._limits(None), repeatable=True)
        self.note_found(found)
        return found

    def answer(self, found: FoundMove) -> str:
        """Return the answer of genmove: the vertex, which is then played, or `resign`."""
        if found.score is not None and found.score < self.settings.resign_below:
            return RESIGN
        if found.action is None:
            raise ValueError("the search found no move")
        vertex = self.board.vertex(found.action)
        self.board.play(found.action)
        return vertex

    def answer_at_end(self, colour: int) -> str:
        """Return the answer of genmove where the game is over: the loser resigns, others pass."""
        outcome = self.board.state.outcome() or 0
        return RESIGN if outcome == (-1 if colour == 0 else 1) else PASS

    def note(self, report: RootReport) -> None:
        """Keep the report of a search of the board's position for the commands that show it."""
        board, best = self.board, report.best
        visits = tuple((board.vertex(move.action), move.visits) for move in report.moves if move.visits)
        self.last = LastSearch(report, visits, tuple(board.line(best.line)) if best else ())

    def note_found(self, found: FoundMove) -> None:
        """Keep what a search has found; write to stderr what a user should know of the move."""
        if found.report is not None:
            self.note(found.report)
        if found.note:
            print(f"hauteur: {found.note}", file=sys.stderr, flush=True)

    # Time.

    def set_time(self, settings: TimeSettings) -> None:
        """Change the time settings; both clocks are full then."""
        self.time = settings
        self.clocks = [full_clock(settings)] * 2

    def set_clock(self, colour: int, clock: PlayerClock) -> None:
        """Set a clock as the controller shows it; without time settings it is the time for the rest of the game."""
        if self.time.is_unlimited:
            in_period = clock.stones > 0
            self.set_time(TimeSettings(clock.left * (not in_period), clock.left * in_period, clock.stones))
        self.clocks[colour] = clock

    def budget(self, colour: int, *, gone: float = 0.0) -> Budget | None:
        """Return the seconds for this player's next move, of which `gone` are over."""
        clock = self.clocks[colour]
        return budget_of(
            replace(clock, left=max(0.0, clock.left - gone)),
            self.time,
            ply=self.board.state.ply,
            max_plies=self.board.game.max_plies,
            overhead=self.settings.move_overhead,
        )

    # Private.

    def _limits(self, budget: Budget | None) -> Limits:
        """Return the limits of the search of a move."""
        if budget is None:
            return Limits(visits=self.player.visits)
        visits = self.player.visits if "visits" in self.player.model_fields_set else None
        return Limits(visits=visits, budget=budget, smart_pruning=SMART_PRUNING)

    def _open(self, game: _core.Game, player: PlayerSettings) -> PlayingSession:
        """Begin to open the player. ValueError or OSError for one that cannot be."""
        found = player_of(game, player, threads=self.settings.threads, advice=ADVICE)
        settings = PlaySettings(player.search, player.temperature, self.settings.batch_size)
        playing = PlayingSession(game, settings, seed=self.settings.seed)
        playing.open(found)
        playing.when_open(_report_opened)
        return playing

    def _replace(self, game: _core.Game, player: PlayerSettings) -> None:
        """Open the new player before the old one is closed, so that a failure changes nothing."""
        board = self.board if game.spec == self.board.game.spec else GameHistory(game)
        playing = self._open(game, player)
        try:
            playing.prepare()
        except BaseException:
            playing.close()
            raise
        self._playing.close()
        self.board, self.player, self._playing, self.last = board, player, playing, None


def _report_opened(player: OpenPlayer | BaseException) -> None:
    """Write to stderr what computes the net, or why it could not be opened; no command may have asked for it yet."""
    if isinstance(player, BaseException):
        print(f"hauteur: the player cannot be used: {player}", file=sys.stderr, flush=True)
    elif isinstance(player, OpenNets) and player.name not in WITHOUT_FILE:
        print(f"hauteur: evaluator: {player.name}", file=sys.stderr, flush=True)


def sized(game: _core.Game, size: int) -> _core.Game:
    """Return the same game on a square board of this size; one without sizes is on the smallest that holds it."""
    _, rows, columns = game.feature_shape
    if rows == columns == size:
        return game
    try:
        return load_game(f"{game.name}(size={size})")
    except ValueError:
        if size == board_size(game):
            return game
        raise
