"""A game between two sides, each a person or an engine, with clocks, hints, taking back, resignation and draws.

    with TwoSidedGame(PlayedGame(game), (GameSide(), GameSide(player)), on_change=show) as table:
        table.go_on()            # engines move by themselves, in threads of their own
        table.play(action)       # a person's move
        table.take_back()

Any thread may call it. Whatever changes calls `on_change`, in the thread that changed it and with `lock` held.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future

from hauteur.engine.playing import FoundMove
from hauteur.engine.sides import EngineOptions, EngineSide, GameSide, default_player
from hauteur.games.game_line import AGREEMENT, RESIGNATION, TIME
from hauteur.games.played_game import SIDE_NAMES, PlayedGame, loss_of
from hauteur.mcts.report import RootReport, Wdl, flipped
from hauteur.players.engines.settings import clock_of
from hauteur.players.move_player import GameLost
from hauteur.players.settings import PlayerSettings, changed_player, parse_player
from hauteur.system.closing import Closing
from hauteur.system.errors import explain

HINT_VISITS = 400
"""Visits of the search for a hint."""
HINT_LINES = 5
"""Moves of a hint that have a line of play."""
LINES = 1
"""Moves that have a line of play while an engine thinks."""

OnSearch = Callable[[int, RootReport], None]
"""Gets the side that thinks and its search."""


class TwoSidedGame(Closing):
    """One game with its two sides. `go_on` sets it going.

    left: seconds on the clocks, where the game goes on from before; default: full clocks. threads: of each net on the
    processor, 0 = all. tree_bytes: of each search tree, 0 = no limit. seed: of all random draws, None = any. on_change:
    see above; on_search: gets the searches of the engines many times a second; hints: the player that gives them,
    default the game's own. Raise ValueError or OSError for a player that cannot play this game.
    """

    def __init__(
        self,
        played: PlayedGame,
        sides: Sequence[GameSide],
        *,
        left: Sequence[float | None] = (None, None),
        threads: int = 0,
        tree_bytes: int = 0,
        seed: int | None = None,
        on_change: Callable[[], None] = lambda: None,
        on_search: OnSearch | None = None,
        hints: PlayerSettings | None = None,
    ) -> None:
        self.played = played
        self.sides = tuple(sides)
        self.paused = False
        """Engines wait: they were stopped, or one has failed."""
        self.problem = ""
        """Why an engine could not move; empty where none failed."""
        self.value: Wdl | None = None
        """Chances of the first player to win, draw and lose, by the last search; None before there was one."""
        self.note = ""
        """A note on the last move or offer."""
        self._engine_options = EngineOptions(seed, threads, tree_bytes)
        self._on_change = on_change
        self._on_search = on_search
        self.lock = threading.RLock()
        """Held while anything changes; who reads more than one thing holds it."""
        self._clocks = [_SideClock.of(given, seconds) for given, seconds in zip(self.sides, left, strict=True)]
        self._turn = 0
        self._thinking = False
        self._flag: threading.Timer | None = None
        self._hints: EngineSide | None = None
        self._hint_player = hints
        self._scores: list[float | None] = [None, None]
        self._engines: list[EngineSide | None] = [None, None]
        try:
            for side, given in enumerate(self.sides):
                self._engines[side] = None if given.player is None else self._engine(given)
        except BaseException:
            self.close()
            raise

    # What there is to see.

    @property
    def persons(self) -> set[int]:
        """The sides (0, 1) without a player, which wait for `play`."""
        return {side for side, given in enumerate(self.sides) if given.player is None}

    @property
    def thinking(self) -> bool:
        """Whether an engine looks for its move; False while it is paused, and during a hint."""
        return self._thinking

    @property
    def names(self) -> tuple[str, str]:
        """The names of the first and second side; a person is called `person`."""
        first, second = ("person" if engine is None else engine.name for engine in self._engines)
        return first, second

    def progress(self, side: int, report: RootReport) -> tuple[int | None, float | None]:
        """Return visits and seconds left of a search of this side, as `EngineSide.progress`."""
        engine = self._engines[side]
        if engine is None:
            return (None, None)
        return engine.progress(report)

    @property
    def left(self) -> list[float | None]:
        """Seconds on the clocks, None without one."""
        return [None if clock is None else clock.left for clock in self._clocks]

    @property
    def running(self) -> int | None:
        """The side whose clock runs; None where none does."""
        side = self.played.state.to_move
        clock = self._clocks[side]
        if clock is not None and clock.began is not None:
            return side
        return None

    # What persons do.

    def go_on(self) -> None:
        """Let the side to move think, or wait for the person; also after `pause` and after a problem."""
        with self.lock:
            self.paused = False
            self.problem = ""
            self._next()
            self._on_change()

    def pause(self) -> None:
        """Stop the engines and the clocks where they are."""
        with self.lock:
            self._halt()
            self.paused = True
            self._on_change()

    def move_now(self) -> None:
        """Let the engine that thinks play the best move that it has found. Raise ValueError where none can."""
        with self.lock:
            engine = self._engines[self.played.state.to_move]
            if not self._thinking or engine is None or not engine.given.searches:
                raise ValueError("no engine that could be hurried is thinking")
            engine.stop()

    def play(self, action: int) -> None:
        """Play a person's move. Raise ValueError where it is not a person's turn, or the move is not legal."""
        with self.lock:
            if self.played.ending is None and self.played.state.to_move not in self.persons:
                raise ValueError(f"it is not your turn: {self.names[self.played.state.to_move]} is to move")
            self._move(action)
            self._on_change()

    def take_back(self) -> int:
        """Go back to the last turn of a person, or by one ply where there is none; return the plies taken back."""
        with self.lock:
            plies = self.played.take_back(self.persons or (0, 1))
            if plies:
                self._halt()
                self.value = None
                self.note = ""
                self._scores = [None, None]
                self.paused = not self.persons
                if not self.paused:
                    self._next()
            self._on_change()
        return plies

    def resign(self, side: int) -> None:
        """End the game as a loss of a person's side. Raise ValueError for a side that is none."""
        self._require_person(side)
        with self.lock:
            self._end(loss_of(side), RESIGNATION)
            self._on_change()

    def offer_draw(self, side: int) -> bool:
        """Offer a draw from a person's side to the other side; return whether it is agreed.

        Two persons agree at once. An engine accepts where its last search expected no more than a draw.
        """
        self._require_person(side)
        with self.lock:
            other = 1 - side
            score = self._scores[other]
            agreed = other in self.persons or (score is not None and score <= 0.5)
            if agreed:
                self._end(0, AGREEMENT)
            else:
                self.note = f"{self.names[other]} declines the draw"
            self._on_change()
        return agreed

    def hint(self, on_found: Callable[[FoundMove | BaseException], None]) -> None:
        """Let the player of hints look at the position; `on_found` gets what it has found."""
        with self.lock:
            if self.played.ending is not None:
                raise ValueError(f"the game is over: {self.played.ending.text}")
            if self._hints is None:
                player = self._hint_player or parse_player(default_player(self.played.game))
                player = changed_player(player, f"visits={HINT_VISITS}", "hint")
                self._hints = self._engine(GameSide(player))
            turn = self._turn
            found = self._hints.start(self.played, lines=HINT_LINES)
        found.add_done_callback(lambda done: self._hinted(turn, done, on_found))

    def close(self) -> None:
        """End all searches and clocks, and close the engines; an answer that still comes is ignored."""
        with self.lock:
            self._halt()
        for engine in (*self._engines, self._hints):
            if engine is not None:
                engine.close()

    # The course of the game; the lock is held.

    def _engine(self, given: GameSide) -> EngineSide:
        return EngineSide(self.played.game, given, self._engine_options)

    def _next(self) -> None:
        """Let the side to move think, or start the clock of the person."""
        # What comes from other threads later, answers and flags, has this number: an old one is known by it.
        self._turn += 1
        turn = self._turn
        side = self.played.state.to_move
        if self.played.ending is not None or self.paused:
            return
        engine = self._engines[side]
        if engine is None:
            self._start_clock(turn)
            return
        self._thinking = True
        left = self.left[side]
        found = engine.start(
            self.played,
            left=left,
            lines=LINES,
            on_begin=lambda: self._start_clock(turn),
            on_report=lambda report: self._report(turn, side, report),
        )
        found.add_done_callback(lambda done: self._found(turn, done))

    def _halt(self) -> None:
        """Stop the search and the clock of the side to move; its answer comes too late."""
        self._turn += 1
        self._thinking = False
        if self._flag is not None:
            self._flag.cancel()
        for clock in self._clocks:
            if clock is not None:
                clock.stop()
        for engine in (*self._engines, self._hints):
            if engine is not None:
                engine.stop()

    def _move(self, action: int) -> None:
        """Play a move of the side to move and go on."""
        side = self.played.state.to_move
        self.played.play(action)
        self.note = ""
        if self._hints is not None:
            self._hints.stop()
        clock = self._clocks[side]
        if self._flag is not None:
            self._flag.cancel()
        if clock is not None:
            clock.stop(moved=True)
        self._thinking = False
        self._next()

    def _end(self, outcome: int, reason: str) -> None:
        """Stop everything and end the game off the board; one that has ended stays as it is."""
        self._halt()
        self.played.end(outcome, reason)

    def _require_person(self, side: int) -> None:
        """Raise ValueError where the game is over, or the side is an engine, which decides for itself."""
        if self.played.ending is not None:
            raise ValueError(f"the game is over: {self.played.ending.text}")
        if side not in self.persons:
            raise ValueError(f"the {SIDE_NAMES[side]} is {self.names[side]}, no person")

    # What comes from other threads.

    def _start_clock(self, turn: int) -> None:
        """Start the clock of the side to move, if it is still that turn."""
        with self.lock:
            clock = self._clocks[self.played.state.to_move]
            if turn != self._turn or clock is None:
                return
            clock.start()
            self._flag = threading.Timer(clock.left, self._out_of_time, (turn,))
            # The process must not wait for a clock to run out.
            self._flag.daemon = True
            self._flag.start()
            self._on_change()

    def _out_of_time(self, turn: int) -> None:
        """End the game as a loss of the side whose flag has fallen, if it is still that turn."""
        with self.lock:
            if turn != self._turn:
                return
            self._end(loss_of(self.played.state.to_move), TIME)
            self._on_change()

    def _report(self, turn: int, side: int, report: RootReport) -> None:
        """Note and pass on what a search has found; a report of an earlier turn is dropped."""
        if turn == self._turn:
            self.value = first_players(report)
            if self._on_search is not None:
                self._on_search(side, report)

    def _found(self, turn: int, done: Future[FoundMove]) -> None:
        """Play what an engine has found, or note why it has not moved."""
        with self.lock:
            if turn != self._turn:
                return
            self._thinking = False
            side = self.played.state.to_move
            error = done.exception()
            if isinstance(error, GameLost):
                self._end(loss_of(side), error.reason)
                self.note = error.detail
            elif error is not None or done.result().action is None:
                self._halt()
                self.paused = True
                self.problem = _problem(self.names[side], error)
            else:
                self._play_found(side, done.result())
            self._on_change()

    def _play_found(self, side: int, found: FoundMove) -> None:
        """Play the move of an engine, and keep its judgement and its note."""
        if found.action is None:
            raise ValueError("a move that was not found cannot be played")
        if found.report is not None:
            self.value = first_players(found.report)
            self._scores[side] = found.score
        self._move(found.action)
        self.note = found.note

    def _hinted(
        self,
        turn: int,
        done: Future[FoundMove],
        on_found: Callable[[FoundMove | BaseException], None],
    ) -> None:
        """Pass a hint on, if it is still of that turn."""
        with self.lock:
            if turn != self._turn:
                return
            error = done.exception()
            if error is not None:
                on_found(error)
                return
            found = done.result()
            if found.report is not None:
                self.value = first_players(found.report)
            on_found(found)


def first_players(report: RootReport) -> Wdl:
    """Return the chances of a search for the first player."""
    return report.wdl if report.state.to_move == 0 else flipped(report.wdl)


def _problem(name: str, error: BaseException | None) -> str:
    """Return in one line why an engine has not moved."""
    if error is None:
        return f"{name} has found no move"
    if isinstance(error, CancelledError):
        return f"{name} was stopped"
    return f"{name}: {(explain(error) if isinstance(error, Exception) else None) or error}"


class _SideClock:
    """The time of one side, in seconds; it runs from `start` to `stop`."""

    def __init__(self, left: float, increment: float) -> None:
        self._left = left
        self._increment = increment
        self.began: float | None = None

    @classmethod
    def of(cls, given: GameSide, left: float | None) -> _SideClock | None:
        """The clock of a side with so much left, None = full; None without a clock."""
        if given.clock is None:
            return None
        base, increment = clock_of(given.clock)
        return cls(base if left is None else max(left, 0.0), increment)

    @property
    def left(self) -> float:
        """Seconds that are left now, at least 0."""
        gone = 0.0 if self.began is None else time.monotonic() - self.began
        return max(0.0, self._left - gone)

    def start(self) -> None:
        """Let it run from now on; one that runs goes on."""
        self.began = time.monotonic() if self.began is None else self.began

    def stop(self, *, moved: bool = False) -> None:
        """Stop it; moved: by a move, which brings the increment."""
        self._left = self.left + (self._increment if moved else 0.0)
        self.began = None
