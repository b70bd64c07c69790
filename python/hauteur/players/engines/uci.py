"""Engines that speak UCI: a client that believes nothing. Lines that are not as UCI has them are ignored."""

import math
import re
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Self

from hauteur import _core
from hauteur.games.registry import load_game, with_fen
from hauteur.mcts.scores import mate_score
from hauteur.players.engines.process import (
    BAD_OUTPUT,
    ILLEGAL_MOVE,
    START_FAILED,
    EngineClock,
    EngineConnection,
    Process,
    move_limit,
    no_answer,
    within,
)
from hauteur.players.engines.settings import EngineSettings
from hauteur.players.move_player import ChosenMove, EngineFailure, MoveRequest
from hauteur.system.formatting import did_you_mean, quoted

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
LAST_LINES = 100
"""Lines before its move among which an engine's last score is looked for: with many lines (MultiPV) and bounds."""
NO_MOVE = ("0000", "(none)", "NULL", "null")
"""Moves that engines give where they see none."""
CHESS960 = "UCI_Chess960"
VARIANTS = {"minichess": "gardner"}
"""Games by their names among the values of UCI_Variant."""
Kind = Literal["check", "spin", "combo", "button", "string"]
KINDS: tuple[Kind, ...] = ("check", "spin", "combo", "button", "string")
OPTION = re.compile(r"option\s+name\s+(?P<name>\S.*?)\s+type\s+(?P<kind>[a-z]+)(?P<rest>(?:\s.*)?)", re.ASCII)
PART = re.compile(r"\s(default|min|max|var)(?=\s|$)", re.ASCII)
NUMBER = re.compile(r"-?[0-9]{1,9}")
MOVE = re.compile(r"[a-h][1-8][a-h][1-8][qrbnQRBN]?", re.ASCII)


@dataclass(frozen=True)
class EngineOption:
    """An option of an engine."""

    name: str
    """Name of the option."""
    kind: Kind
    """Type of the option in UCI."""
    least: int | None = None
    """Minimum of a spin; None where the engine gave none."""
    most: int | None = None
    """Maximum of a spin; None where the engine gave none."""
    values: tuple[str, ...] = ()
    """Values of a combo."""

    def problem(self, value: str) -> str | None:
        """Return what is wrong with a value, as the end of a sentence; None where nothing is."""
        if self.kind == "spin":
            least = -math.inf if self.least is None else self.least
            most = math.inf if self.most is None else self.most
            if NUMBER.fullmatch(value) and least <= int(value) <= most:
                return None
            return f"must be a whole number from {least} to {most}, got {quoted(value)}"
        if self.kind == "check" and value not in ("true", "false"):
            return f"must be true or false, got {quoted(value)}"
        if self.kind == "combo" and value.lower() not in map(str.lower, self.values):
            return f"must be one of {', '.join(self.values)}; got {quoted(value)}"
        return None

    def command(self, value: str) -> str:
        """Return the command that sets the option."""
        return f"setoption name {self.name}" + ("" if self.kind == "button" else f" value {value}")


@dataclass(frozen=True)
class EngineReport:
    """An engine's report of a search. score: in pawns from the mover's view; depth: in plies, 0 unknown."""

    score: float | None
    depth: int


def parse_option(line: str) -> EngineOption | None:
    """Read `option name Hash type spin default 16 min 1 max 1024`."""
    found = OPTION.fullmatch(line.strip())
    if found is None:
        return None
    kind = next((kind for kind in KINDS if kind == found["kind"]), None)
    if kind is None:
        return None
    _, *parts = PART.split(found["rest"])
    values: dict[str, list[str]] = {"min": [], "max": [], "var": []}
    for key, value in zip(parts[::2], parts[1::2], strict=True):
        values.setdefault(key, []).append(value.strip())
    least = _bound(values["min"])
    most = _bound(values["max"])
    return EngineOption(found["name"], kind, least, most, tuple(values["var"]))


def parse_info(line: str) -> EngineReport | None:
    """Read depth and score of `info depth 12 score cp 25 ... pv e2e4`; None where it has no score of the best move.

    A bound (lowerbound, upperbound) is not a score.
    """
    words = line.split(" string ")[0].split()
    if not words or words[0] != "info" or "score" not in words:
        return None
    if _after(words, "multipv") not in (None, 1) or "lowerbound" in words or "upperbound" in words:
        return None
    cp = _after(words, "cp")
    mate = _after(words, "mate")
    if cp is None and mate is None:
        return None
    score = mate_score(mate) if mate is not None else (cp or 0) / 100
    return EngineReport(score, min(max(_after(words, "depth") or 0, 0), 65_535))


def parse_bestmove(line: str) -> str | None:
    """The move of `bestmove e2e4 ponder e7e5`, as the engine wrote it; None where there is no move."""
    words = line.split()
    if len(words) > 1 and words[0] == "bestmove":
        return words[1]
    return None


def _after(words: list[str], name: str) -> int | None:
    """The number after the first word of this name."""
    if name not in words[:-1]:
        return None
    word = words[words.index(name) + 1]
    return int(word) if NUMBER.fullmatch(word) else None


def _bound(values: list[str]) -> int | None:
    """Engines write bounds beyond 32 bits too."""
    if values and re.fullmatch(r"-?[0-9]{1,20}", values[0]):
        return int(values[0])
    return None


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
        """Return the line of a game before its first move."""
        spec = with_fen(request.state.game.spec, request.origin)
        return cls(request.origin, load_game(spec).new_initial_state())

    def follow(self, actions: Sequence[int]) -> None:
        """Add the actions that were played since."""
        for action in actions[len(self.actions) :]:
            self.texts.append(self.state.action_to_text(action))
            self.state.apply(action)
            self.actions.append(action)

    def command(self) -> str:
        """Return the `position` line, with the moves that repetitions depend on."""
        origin = "startpos" if self.origin == START else f"fen {self.origin}"
        if self.texts:
            return f"position {origin} moves {' '.join(self.texts)}"
        return f"position {origin}"


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
    """Options without which the engine would play another game."""
    needed = {}
    if _is_chess960(game):
        needed[CHESS960] = "true"
    if game.name in VARIANTS:
        needed["UCI_Variant"] = VARIANTS[game.name]
    return needed


def _is_chess960(game: _core.Game) -> bool:
    return "chess960=true" in game.spec


def _unknown_option(name: str, settings: EngineSettings, about: Introduction) -> str:
    """Return the message for an option that the program does not have."""
    names = [option.name for option in about.options.values()]
    unknown = f"{about.name or settings.command} has no option {name!r}{did_you_mean(name, names)}"
    return f"{unknown}; it has: {', '.join(names) or 'none'}"


class UciSession(EngineConnection):
    """A running engine."""

    _line: _Line | None = None
    _about = Introduction()
    _castles_as_960 = False

    async def probe(self) -> str:
        """Return the name of the program; ValueError where it does not have the options of the settings."""
        about = await introduced(self.process, self.settings.start_timeout)
        setup_lines(self.game, self.settings, about)
        return about.name

    async def open(self) -> None:
        """Begin the conversation and set the options."""
        about = await introduced(self.process, self.settings.start_timeout)
        self._about = about
        self._castles_as_960 = _is_chess960(self.game)
        await self._ready(*setup_lines(self.game, self.settings, about))

    async def new_game(self) -> None:
        """Announce a new game and wait until the program is ready."""
        self._line = None
        await self._ready("ucinewgame")

    async def choose(self, request: MoveRequest) -> ChosenMove:
        """Send the position, let the program think, and return its move with score and depth."""
        if self._line is None:
            self._line = _Line.begin(request)
            await self._set_castling(self._line.state.game)
        line = self._line
        line.follow(request.actions)
        await self._ready(line.command())  # whatever it still says of the last search comes before that
        clock = self.clocks[request.state.to_move]
        started = time.monotonic()
        text, found = await self._search(self._go(clock), clock)
        seconds = time.monotonic() - started
        if clock is not None:
            clock.spend(seconds)
        return ChosenMove(_action(request.state, text), score=found.score, depth=found.depth, seconds=seconds)

    async def _set_castling(self, game: _core.Game) -> None:
        """Tell the engine by which rules it castles in this game: one of chess may begin from a book of Chess960."""
        wanted = _is_chess960(game)
        if wanted == self._castles_as_960:
            return
        option = self._about.options.get(CHESS960.lower())
        if option is None:
            reason = f"the game begins from a position of Chess960, and {self._about.name} has no option {CHESS960}"
            raise EngineFailure(START_FAILED, reason)
        await self._ready(option.command(str(wanted).lower()))
        self._castles_as_960 = wanted

    async def _ready(self, *lines: str) -> None:
        """Send the lines and wait until the engine has read them."""
        seconds = self.settings.start_timeout
        async with within(seconds, no_answer("readyok", seconds)):
            self.process.send(*lines, "isready")
            while await self.process.line() != "readyok":
                pass

    def _go(self, clock: EngineClock | None) -> str:
        """Return the `go` command. There is one clock: the opponent is given the same time."""
        words = ["go"]
        for name in ("nodes", "depth", "movetime"):
            value = getattr(self.settings, name)
            if value is not None:
                words += [name, str(value)]
        if clock is not None:
            left = max(1, round(clock.left * 1000))
            increment = round(clock.increment * 1000)
            words += f"wtime {left} btime {left} winc {increment} binc {increment}".split()
        return " ".join(words)

    async def _search(self, go: str, clock: EngineClock | None) -> tuple[str, EngineReport]:
        """Return the move as the engine wrote it, and its last search report."""
        reports: deque[str] = deque(maxlen=LAST_LINES)
        async with within(*move_limit(self.settings, clock)):
            self.process.send(go)
            while not (line := await self.process.line()).startswith("bestmove"):
                if " score " in line:
                    reports.append(line)
        text = parse_bestmove(line)
        if text is None:
            raise EngineFailure(BAD_OUTPUT, f"{quoted(line)} has no move")
        newest_first = map(parse_info, reversed(reports))
        return text, next(filter(None, newest_first), EngineReport(None, 0))


def _action(state: _core.State, text: str) -> int:
    """Return the action of a `bestmove`; EngineFailure where it is not legal."""
    if text in NO_MOVE:
        raise EngineFailure(ILLEGAL_MOVE, f"bestmove {text} where there are legal moves")
    if not MOVE.fullmatch(text):
        raise EngineFailure(BAD_OUTPUT, f"bestmove {quoted(text)} is not a move in UCI's notation")
    try:
        return state.parse(text)
    except ValueError:
        raise EngineFailure(ILLEGAL_MOVE, f"bestmove {text}") from None
