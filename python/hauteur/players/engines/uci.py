"""Engines that speak UCI: a client that believes nothing."""

from __future__ import annotations

import difflib
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

from hauteur import _core
from hauteur.games.registry import load_game, with_fen
from hauteur.players.engines.failures import BAD_OUTPUT, ILLEGAL_MOVE, EngineClock, move_limit, no_answer, within
from hauteur.players.engines.process import Process
from hauteur.players.engines.settings import EngineSettings
from hauteur.players.engines.uci_lines import MOVE, EngineOption, EngineReport, parse_bestmove, parse_info, parse_option
from hauteur.players.move_player import ChosenMove, EngineFailure, MoveRequest
from hauteur.system.formatting import quoted

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
LAST_LINES = 100
"""Lines before its move among which an engine's last score is looked for: with many lines (MultiPV) and bounds."""
NO_MOVE = ("0000", "(none)", "NULL", "null")
"""What engines play where they see no move."""
VARIANTS = {"minichess": "gardner"}
"""Games by their names among the values of UCI_Variant."""


@dataclass
class Introduction:
    """An engine's description of itself; options by their lower-case names."""

    name: str = ""
    options: dict[str, EngineOption] = field(default_factory=dict)


@dataclass
class _Line:
    """The moves of a game as text, and the position after them."""

    origin: str
    state: _core.State
    actions: list[int] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    @classmethod
    def begin(cls, request: MoveRequest) -> Self:
        return cls(request.origin, load_game(with_fen(request.state.game.spec, request.origin)).new_initial_state())

    def follow(self, actions: Sequence[int]) -> None:
        for action in actions[len(self.actions) :]:
            self.texts.append(self.state.action_to_text(action))
            self.state.apply(action)
            self.actions.append(action)

    def command(self) -> str:
        """Return the `position` line, with the moves that repetitions depend on."""
        origin = "startpos" if self.origin == START else f"fen {self.origin}"
        return f"position {origin} moves {' '.join(self.texts)}" if self.texts else f"position {origin}"


async def introduced(process: Process, seconds: float) -> Introduction:
    """Perform the handshake and return the engine's description of itself."""
    about = Introduction()
    async with within(seconds, no_answer("uciok", seconds)):
        process.send("uci")
        while (line := await process.line()) != "uciok":
            if line.startswith("id name "):
                about.name = line.removeprefix("id name ").strip()
            elif (option := parse_option(line)) is not None:
                about.options[option.name.lower()] = option
    return about


def setup_lines(game: _core.Game, settings: EngineSettings, about: Introduction) -> tuple[str, ...]:
    """The lines that set the options; ValueError names one that the engine does not have or a value that it refuses."""
    lines = []
    for name, value in {**settings.options, **_needed_options(game)}.items():
        option = about.options.get(name.lower())
        if option is None:
            raise ValueError(_unknown_option(name, settings, about))
        problem = option.problem(value)
        if problem is not None:
            raise ValueError(f"{about.name}: option {option.name} {problem}")
        lines.append(option.command(value))
    return tuple(lines)


def _needed_options(game: _core.Game) -> dict[str, str]:
    """Options that the game decides."""
    needed = {"UCI_Chess960": "true"} if "chess960=true" in game.spec else {}
    return needed | ({"UCI_Variant": VARIANTS[game.name]} if game.name in VARIANTS else {})


def _unknown_option(name: str, settings: EngineSettings, about: Introduction) -> str:
    names = [option.name for option in about.options.values()]
    close = difflib.get_close_matches(name, names, 1)
    hint = f" (did you mean {close[0]}?)" if close else ""
    return f"{about.name or settings.command} has no option {name!r}{hint}; it has: {', '.join(names) or 'none'}"


class UciSession:
    """A running engine."""

    def __init__(self, process: Process, settings: EngineSettings, game: _core.Game) -> None:
        self._process = process
        self._settings = settings
        self._game = game
        self._line: _Line | None = None
        self._clocks: dict[int, EngineClock | None] = {}

    async def open(self) -> None:
        """Perform the handshake and set the options."""
        about = await introduced(self._process, self._settings.start_timeout)
        await self._ready(*setup_lines(self._game, self._settings, about))

    async def begin(self) -> None:
        """A new game: the engine forgets the last one."""
        self._line = None
        self._clocks = {seat: EngineClock.of(self._settings) for seat in (0, 1)}
        await self._ready("ucinewgame")

    async def choose(self, request: MoveRequest) -> ChosenMove:
        """Return the engine's move, with its score and depth."""
        line = self._line = self._line or _Line.begin(request)
        line.follow(request.actions)
        await self._ready(line.command())  # whatever it still says of the last search comes before that
        clock = self._clocks[request.state.to_move]
        started = time.monotonic()
        text, found = await self._search(self._go(clock), clock)
        seconds = time.monotonic() - started
        if clock is not None:
            clock.spend(seconds)
        return ChosenMove(_action(request.state, text), score=found.score, depth=found.depth, seconds=seconds)

    async def quit(self) -> None:
        """Request it to exit, and kill it if it does not."""
        await self._process.quit("quit")

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()

    async def _ready(self, *lines: str) -> None:
        """Send the lines and wait until the engine has read them."""
        seconds = self._settings.start_timeout
        async with within(seconds, no_answer("readyok", seconds)):
            self._process.send(*lines, "isready")
            while await self._process.line() != "readyok":
                pass

    def _go(self, clock: EngineClock | None) -> str:
        """Return the `go` command. There is one clock: the opponent is given the same time."""
        words = ["go"]
        for name in ("nodes", "depth", "movetime"):
            value = getattr(self._settings, name)
            words += [] if value is None else [name, str(value)]
        if clock is not None:
            left, increment = max(1, round(clock.left * 1000)), round(clock.increment * 1000)
            words += f"wtime {left} btime {left} winc {increment} binc {increment}".split()
        return " ".join(words)

    async def _search(self, go: str, clock: EngineClock | None) -> tuple[str, EngineReport]:
        """Return the move as the engine wrote it, and its last search report."""
        reports: deque[str] = deque(maxlen=LAST_LINES)
        async with within(*move_limit(self._settings, clock)):
            self._process.send(go)
            while not (line := await self._process.line()).startswith("bestmove"):
                if " score " in line:
                    reports.append(line)
        text = parse_bestmove(line)
        if text is None:
            raise EngineFailure(BAD_OUTPUT, f"{quoted(line)} has no move")
        return text, next(filter(None, map(parse_info, reversed(reports))), EngineReport(None, 0))


def _action(state: _core.State, text: str) -> int:
    """Return the move, which must be legal."""
    if text in NO_MOVE:
        raise EngineFailure(ILLEGAL_MOVE, f"bestmove {text} where there are legal moves")
    if not MOVE.fullmatch(text):
        raise EngineFailure(BAD_OUTPUT, f"bestmove {quoted(text)} is not a move in UCI's notation")
    try:
        return state.parse(text)
    except ValueError:
        raise EngineFailure(ILLEGAL_MOVE, f"bestmove {text}") from None
