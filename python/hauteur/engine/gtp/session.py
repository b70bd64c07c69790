"""The Go Text Protocol, version 2, and the state that its commands share: board, player, clocks, the engine's settings.

Lines into requests, results into answers, arguments into values; what a command is. Source: G. Farnebäck,
*Specification of the Go Text Protocol, version 2, draft 2* (2002). The messages that it fixes stand at the beginning of
ours; what follows the colon says what was given and what is allowed.

Time in GTP: main time, then periods of a number of seconds for a number of moves. All times are in seconds.
"""

from __future__ import annotations

import math
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hauteur import _core
from hauteur.engine.gtp.specs import sized, with_parameters, without_position
from hauteur.engine.nets import OpenNets
from hauteur.engine.playing import FoundMove, PlayingSession, PlaySettings
from hauteur.engine.sides import player_of, shared_time
from hauteur.games.played_game import PlayedGame, gtp_colours, gtp_moves, texts_of
from hauteur.games.registry import load_game, parse_spec
from hauteur.mcts.limits import SMART_PRUNING, Budget, Clock, Limits, plan
from hauteur.networks.names import WITHOUT_FILE
from hauteur.players.settings import PlayerSettings

if TYPE_CHECKING:
    from hauteur.engine.playing import OpenPlayer

VERSION = 2
LARGEST_INTEGER = 2**31 - 1
LONGEST_QUOTE = 40
CONTROL = bytes(set(range(32)) - {9}) + b"\x7f"
"""Characters that are not read: all control characters but the tab, which is a space."""


Arguments = tuple[str, ...]
Result = str | Iterator[str]
"""The answer of a command: text, or lines that come one after another until the next command."""


@dataclass(frozen=True)
class Request:
    """One command: its id as it was written (empty without one), its name and its arguments."""

    id: str
    name: str
    arguments: Arguments


@dataclass(frozen=True)
class GtpCommand:
    """One command. usage: its arguments by name, [OPTIONAL] ones in brackets, `...` for any number more."""

    usage: str
    help: str
    run: Callable[[Arguments], Result]

    def check(self, name: str, arguments: Arguments) -> None:
        """Raise ValueError unless this number of arguments is allowed."""
        words = self.usage.split()
        least = sum(not word.startswith("[") for word in words)
        most = len(arguments) if "..." in self.usage else len(words)
        if not least <= len(arguments) <= most:
            form = f"{name} {self.usage}".strip()
            raise ValueError(f"syntax error: expected {form}, got {len(arguments)} arguments")


Commands = dict[str, GtpCommand]
"""Commands by their names."""


def read_request(raw: bytes) -> Request | None:
    """Return the request of a line; None for a line that holds none (empty, or a comment)."""
    command, _, _ = raw.translate(None, CONTROL).partition(b"#")
    text = command.replace(b"\t", b" ").decode("utf-8", errors="replace")
    words = text.split(" ")
    words = [word for word in words if word]
    if not words:
        return None
    number = words.pop(0) if re.fullmatch(r"[0-9]+", words[0]) else ""
    return Request(number, words[0] if words else "", tuple(words[1:]))


def success(request: Request, result: str = "") -> tuple[str, ...]:
    """Return the lines that answer a request with its result."""
    return _answer(f"={request.id}", result)


def failure(request: Request, message: str) -> tuple[str, ...]:
    """Return the lines that report why a request failed."""
    return _answer(f"?{request.id}", " ".join(message.split()))


def quoted(text: str) -> str:
    """Return what was given, as messages show it."""
    return repr(text[:LONGEST_QUOTE])


def read_colour(text: str, colours: Sequence[str]) -> int:
    """The player of a colour, 0 or 1: its name or the first letter of that, in any case. colours: of both players."""
    word = text.lower()
    for player, name in enumerate(colours):
        if word in (name, name[0]):
            return player
    raise ValueError(f"syntax error: expected a colour (b, black, w, white), got {quoted(text)}")


def read_integer(text: str, *, least: int = 0, most: int = LARGEST_INTEGER) -> int:
    """A whole number of the protocol."""
    if not re.fullmatch(r"[+-]?[0-9]{1,12}", text) or not least <= int(text) <= most:
        raise ValueError(f"syntax error: expected a whole number from {least} to {most}, got {quoted(text)}")
    return int(text)


def read_number(text: str, *, least: float = -math.inf) -> float:
    """A finite number."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or number < least:
        atleast = "" if least == -math.inf else f" >= {least:g}"
        raise ValueError(f"syntax error: expected a number{atleast}, got {quoted(text)}")
    return number


def text_lines(lines: Iterable[str]) -> str:
    """A result of several lines, without the empty ones, which would end the answer."""
    return "\n".join(line.rstrip() for line in lines if line.strip())


def _answer(head: str, text: str) -> tuple[str, ...]:
    """The lines of an answer; an empty one ends it."""
    first, *rest = text.split("\n")
    return (f"{head} {first}".rstrip(), *(line for line in rest if line), "")


@dataclass(frozen=True)
class TimeSettings:
    """`time_settings`: main time for the game, then `stones` moves in every `period` (0 stones: none)."""

    main: float = 0.0
    period: float = 0.0
    stones: int = 0

    @property
    def is_unlimited(self) -> bool:
        """A period without stones means no limit, and so does no time at all, with which no player could move."""
        return self.stones == 0 and (self.period > 0.0 or self.main == 0.0)

    @property
    def a_move(self) -> float:
        """Seconds for a move in the periods."""
        return self.period / self.stones if self.stones else 0.0


@dataclass(frozen=True)
class PlayerClock:
    """Time left to a player: the main time, or with `stones` > 0 the time for `stones` more moves."""

    left: float
    stones: int = 0


def full_clock(settings: TimeSettings) -> PlayerClock:
    """Return the clock at the start of a game."""
    if settings.main > 0.0:
        return PlayerClock(settings.main)
    return PlayerClock(settings.period, settings.stones)


def after_move(clock: PlayerClock, settings: TimeSettings, seconds: float) -> PlayerClock:
    """Return the clock after a move that took so long; who oversteps a period begins the next one."""
    left = clock.left - seconds
    stones = clock.stones
    if stones == 0:
        if left >= 0.0 or settings.stones == 0:
            return PlayerClock(max(left, 0.0))
        left = left + settings.period
        stones = settings.stones
    if stones <= 1 or left <= 0.0:
        return PlayerClock(settings.period, settings.stones)
    return PlayerClock(left, stones - 1)


def budget_of(
    clock: PlayerClock,
    settings: TimeSettings,
    *,
    ply: int,
    max_plies: int,
    overhead: float,
) -> Budget | None:
    """Return the seconds for the next move, at `ply` plies of a game of at most `max_plies`; None without a limit."""
    if settings.is_unlimited:
        return None
    if clock.stones > 0:
        return plan(Clock(clock.left, moves_to_go=clock.stones), move_number=ply // 2, overhead=overhead)
    return shared_time(clock.left + settings.a_move, settings.a_move, ply=ply, max_plies=max_plies, overhead=overhead)


RESIGN, PASS = "resign", "pass"
VERTEX = re.compile(r"PASS|[A-HJ-Z][1-9][0-9]?")
"""A vertex of a board of any size, or a pass."""
WITH_I = re.compile(r"PASS|[A-Z][1-9][0-9]?")
"""The same in games that name a column I, as Hex does."""
ADVICE = 'give --player "rave:1000", or name a net there (--player "net=FILE")'
"""Advice for a game without a net of its own."""


@dataclass(frozen=True)
class GtpSettings:
    """The engine's own settings."""

    resign_below: float = 0.0
    """Expected score, 0 to 1, under which a player with a net resigns; 0: never."""
    move_overhead: float = 0.1
    """Seconds that a move may lose between clock and engine."""
    seed: int = 0
    """Seed of all random draws."""
    threads: int = 0
    """Threads of the net on the processor; 0: all that the process may use."""
    batch_size: int | None = None
    """Maximum rows of a batch; None: what suits the net, 1: exactly sequential search."""


class GtpBoard(PlayedGame):
    """One game from its start. Players alternate as the game says; they are 0, the first one, and 1.

    A vertex is the game's own name of a move. Where every move is a letter for the column and the number of the row, it
    is written in capitals, and there is a column I in games that name one; other moves, as e2e4 in chess, stand as they
    are. Raise ValueError for a game whose moves are more than a word.
    """

    def __init__(self, game: _core.Game) -> None:
        super().__init__(game)
        self._passes = 0
        self._implied: set[int] = set()
        """Plies that are passes which nobody said: the other player plays twice in a row."""
        self.colours = gtp_colours(game)
        """Names of the players, the first one first."""
        self._points = _points_of(self.start)
        """What every move looks like in a game on points; None in another game."""

    @property
    def is_over(self) -> bool:
        """Whether the game has ended by its rules; passes after that change nothing."""
        return self.state.outcome() is not None

    def pass_at_end(self) -> None:
        """Note a pass after the end of the game, which changes nothing but can be taken back."""
        self._passes += 1

    def undo(self) -> None:
        """Take back a pass after the end, else the last move, of whichever player; ValueError at the start."""
        if self._passes:
            self._passes -= 1
        elif not self.take_back():
            raise ValueError("cannot undo: no move has been played")
        else:
            self._drop_implied()

    def require_turn(self, colour: int) -> None:
        """Raise ValueError unless it is this player's turn."""
        if self.is_over:
            raise ValueError(f"the game is over ({self.state.end_reason() or 'no reason given'})")
        if self.state.to_move != colour:
            raise ValueError(f"it is the turn of {self.colours[self.state.to_move]}")

    @contextmanager
    def turn_of(self, colour: int) -> Iterator[None]:
        """Make it this player's turn for a block that plays a move.

        Where it is the other one's, that one passes if the game has a pass which does not end it, as in Go: programs
        set handicap stones and variations so. The pass is taken back where the block raises. ValueError where it is
        not this player's turn, and where the game is over.
        """
        if not self.is_over and self.state.to_move != colour:
            self._imply_pass()
        self.require_turn(colour)
        try:
            yield
        except BaseException:
            self._drop_implied()
            raise

    def put(self, colour: int, vertex: str) -> None:
        """Play the move of a vertex for this player; ValueError with the reason where it is illegal."""
        if self._points is not None and not self._points.fullmatch(vertex.upper()):
            raise ValueError(f"syntax error: expected a vertex such as A1, got {quoted(vertex)}")
        try:
            with self.turn_of(colour):
                self.play(self._action(vertex))
        except ValueError as error:
            raise ValueError(f"illegal move: {error}") from None

    def repeat(self, other: GtpBoard) -> None:
        """Play the moves of another board, of the same game or with other parameters."""
        for action in other.actions:
            self.play(action)
        self._implied = set(other._implied)

    def _imply_pass(self) -> None:
        """Let the player to move pass; ValueError where the game has no pass, or ends with this one."""
        mover = self.state.to_move
        passes = [action for action in self.state.legal_actions().tolist() if self.vertex(action).lower() == PASS]
        if passes and self.state.child(passes[0]).is_terminal:
            raise ValueError(f"it is the turn of {self.colours[mover]}, whose pass would end the game")
        if not passes:
            raise ValueError(f"it is the turn of {self.colours[mover]}, who cannot pass in {self.game.name}")
        self._implied.add(len(self.actions))
        self.play(passes[0])

    def _drop_implied(self) -> None:
        """Take back a pass that nobody said, where it is the last ply now."""
        last = len(self.actions) - 1
        if last in self._implied:
            self._implied.remove(last)
            self.take_back()

    def _action(self, vertex: str) -> int:
        """Return the legal action of a vertex; ValueError where there is none. In chess SAN is read too."""
        if self._points is None:
            return self.state.parse(vertex)
        name = vertex.upper()
        actions: list[int] = self.state.legal_actions().tolist()
        legal = {self.vertex(action): action for action in actions}
        if name not in legal:
            raise ValueError(f"{name} is not a legal move of {self.colours[self.state.to_move]} here")
        return legal[name]

    def vertex(self, action: int) -> str:
        """Return the game's own name of a legal action, of a point in capitals, as controllers write vertices."""
        return self._written(self.state.action_to_text(action))

    def line(self, actions: tuple[int, ...]) -> list[str]:
        """Return the vertices of a line of play from here."""
        return [self._written(text) for text in texts_of(self.state, actions)]

    def _written(self, text: str) -> str:
        """Return a move of the game as this engine writes it."""
        return text if self._points is None else text.upper()

    @property
    def size(self) -> int:
        """Points of a side."""
        return self.game.feature_shape[1]

    @property
    def drawing(self) -> _core.Board:
        """The stones and the names of points; ValueError for a game without a board of stones."""
        board = _core.board_of(self.state)
        if board is None:
            raise ValueError(f"{self.game.spec} has no board of stones")
        return board

    def stones(self) -> list[str]:
        """Return the vertices of all stones, from the top left."""
        names = self.drawing.square_names
        cells = self.drawing.cells
        return [name.upper() for name, cell in zip(names, cells, strict=True) if cell != "."]

    def moves(self) -> list[tuple[int, str]]:
        """Return the moves from the start with their players, 0 or 1."""
        found = []
        texts = texts_of(self.start, self.actions)
        for ply, (player, text) in enumerate(zip(self.movers, texts, strict=True)):
            if ply not in self._implied:
                found.append((player, self._written(text)))
        return found


def _points_of(start: _core.State) -> re.Pattern[str] | None:
    """Return what every move of a game on points looks like, in capitals; None for a game with other moves.

    ValueError where a move is more than a word.
    """
    names = [text.upper() for text in gtp_moves(start)]
    pattern = WITH_I if any(name.startswith("I") for name in names) else VERTEX
    return pattern if all(map(pattern.fullmatch, names)) else None


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
        self.board = GtpBoard(game)  # before a net is opened in vain
        self._own_position = parse_spec(game.spec)[1].get("position")
        self.player = player
        self.settings = settings
        self.time = TimeSettings()
        self.clocks = [full_clock(self.time)] * 2
        self._now = now
        self._playing = self._open(game)

    # The board.

    def clear(self) -> None:
        """Begin a new game of the same kind: full clocks, an empty tree, the net stays open.

        Stones that a file set up are taken away.
        """
        game = without_position(self.board.game, self._own_position)
        if game.spec != self.board.game.spec:
            self._replace(game)
        self.board = GtpBoard(game)
        self.clocks = [full_clock(self.time)] * 2
        self._playing.clear()

    def resize(self, size: int) -> None:
        """Change to a board of this size, cleared; ValueError where the game or the player has none."""
        try:
            game = sized(without_position(self.board.game, self._own_position), size)
            if game.spec != self.board.game.spec:
                self._replace(game)
        except (ValueError, OSError) as error:
            raise ValueError(f"unacceptable size: {error}") from None
        self.clear()

    def load(self, game: _core.Game, actions: Sequence[int]) -> None:
        """Play the moves of a file, of this game with the file's size, komi and first position; the clocks stay.

        ValueError where the player does not play on such a board; nothing has changed then.
        """
        board = GtpBoard(game)
        for action in actions:
            board.play(action)
        if game.spec != self.board.game.spec:
            self._replace(game)
        self.board = board

    def set_komi(self, komi: float) -> None:
        """Count with this komi from now on, in a game that has one; ValueError where game or player do not allow it."""
        game = self.board.game
        before = self.board
        if game.name != "go":
            return
        try:
            changed = load_game(with_parameters(game, komi=f"{komi:g}"))
            if changed.spec == game.spec:
                return
            self._replace(changed)
        except (ValueError, OSError) as error:
            raise ValueError(f"unacceptable komi: {error}") from None
        self.board.repeat(before)

    # The player.

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
        """Close the player, once it is open."""
        self._playing.close()

    # Moves.

    def think(self, colour: int) -> FoundMove:
        """Return a move for this player, whose turn it is, within its clock, which runs meanwhile."""
        began = self._now()
        playing = self.playing  # which may have to be waited for
        limits = self.limits(self.budget(colour, gone=self._now() - began))
        found = playing.think(limits)
        gone = self._now() - began
        self.clocks[colour] = after_move(self.clocks[colour], self.time, gone)
        report_note(found)
        return found

    def genmove(self, colour: int) -> str:
        """Return the vertex of a move for this player, which is then played, or `resign`; its clock runs meanwhile."""
        with self.board.turn_of(colour):
            return self._answer(self.think(colour))

    def _answer(self, found: FoundMove) -> str:
        """Return the answer of genmove: the vertex, which is then played, or `resign`."""
        if found.score is not None and found.score < self.settings.resign_below:
            return RESIGN
        if found.action is None:
            raise ValueError("the search found no move")
        vertex = self.board.vertex(found.action)
        self.board.play(found.action)
        return vertex

    # Time.

    def set_time(self, settings: TimeSettings) -> None:
        """Change the time settings; both clocks are full then."""
        self.time = settings
        self.clocks = [full_clock(settings)] * 2

    def set_clock(self, colour: int, clock: PlayerClock) -> None:
        """Set a clock as the controller shows it; without time settings it is the time for the rest of the game."""
        if self.time.is_unlimited:
            if clock.stones > 0:
                self.set_time(TimeSettings(period=clock.left, stones=clock.stones))
            else:
                self.set_time(TimeSettings(main=clock.left, stones=clock.stones))
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

    def limits(self, budget: Budget | None) -> Limits:
        """Return the limits of a search: the budget of the clock, and the visits that the player was given."""
        if budget is None:
            return Limits(visits=self.player.visits)
        visits = self.player.visits if "visits" in self.player.model_fields_set else None
        return Limits(visits=visits, budget=budget, smart_pruning=SMART_PRUNING)

    def _open(self, game: _core.Game) -> PlayingSession:
        """Begin to open the player for a game. ValueError or OSError where that cannot be."""
        found = player_of(game, self.player, threads=self.settings.threads, advice=ADVICE)
        settings = PlaySettings(self.player.search, self.player.temperature, self.settings.batch_size)
        playing = PlayingSession(game, settings, seed=self.settings.seed)
        playing.open(found)
        playing.when_open(_report_opened)
        return playing

    def _replace(self, game: _core.Game) -> None:
        """Open the player for another game before the old one is closed, so that a failure changes nothing."""
        board = GtpBoard(game)
        playing = self._open(game)
        try:
            playing.prepare()
        except BaseException:
            playing.close()
            raise
        self._playing.close()
        self.board = board
        self._playing = playing


def report_note(found: FoundMove) -> None:
    """Write to stderr what a user should know of a move."""
    if found.note:
        print(f"hauteur: {found.note}", file=sys.stderr, flush=True)


def _report_opened(player: OpenPlayer | BaseException) -> None:
    """Write to stderr what computes the net, or why it could not be opened; no command may have asked for it yet."""
    if isinstance(player, BaseException):
        print(f"hauteur: the player cannot be used: {player}", file=sys.stderr, flush=True)
    elif isinstance(player, OpenNets) and player.name not in WITHOUT_FILE:
        print(f"hauteur: evaluator: {player.name}", file=sys.stderr, flush=True)
