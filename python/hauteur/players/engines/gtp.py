"""Engines that speak GTP, version 2: a client that believes nothing.

Responses are `=ID text` or `?ID message`, then an empty line."""

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass

from hauteur import _core
from hauteur.games.played_game import gtp_colours, gtp_moves, score_text
from hauteur.games.registry import parse_spec
from hauteur.games.sgf import DEFAULT_KOMI
from hauteur.players.engines.process import (
    BAD_OUTPUT,
    ILLEGAL_MOVE,
    EngineClock,
    EngineConnection,
    Process,
    move_limit,
    no_answer,
    within,
)
from hauteur.players.engines.settings import EngineSettings
from hauteur.players.move_player import ChosenMove, EngineFailure, EngineResignation, MoveRequest
from hauteur.system.formatting import quoted

POINT = re.compile(r"[A-Za-z][0-9]{1,2}", re.ASCII)
"""A point: a column and a row."""
FIRST = re.compile(r"([=?])([0-9]{0,9})(?:\s+(.*))?", re.ASCII)


SCORE = re.compile(r"([BW])\+[0-9.]{1,8}|0|Draw", re.ASCII)
"""An answer to `final_score`."""
COUNTING_SECONDS = 60.0
"""How long a program may count a finished game."""


@dataclass(frozen=True)
class Response:
    """The response to the command with this number; text: without the number, lines apart by line ends."""

    is_good: bool
    number: int | None
    text: str


def parse_response(lines: Sequence[str]) -> Response | None:
    """Read the lines of a response, the empty one that ends it left out; None where they are none."""
    found = FIRST.fullmatch(lines[0]) if lines else None
    if found is None:
        return None
    number = int(found[2]) if found[2] else None
    text = "\n".join([found[3] or "", *lines[1:]])
    return Response(found[1] == "=", number, text)


def named_winner(text: str, letters: Sequence[str]) -> int | None:
    """Return the outcome that an answer to `final_score` names (`B+3.5`, `W+12`, `0`); None where it names none.

    letters: of both players, b or w.
    """
    found = SCORE.fullmatch(text.strip())
    if found is None:
        return None
    if found[1] is None:
        return 0
    return 1 if found[1].lower() == letters[0] else -1


NEEDED = ("clear_board", "play", "genmove")


def board_size(game: _core.Game) -> int | None:
    """Points of a side; None for games that are not played on the points of a square board.

    ValueError for those with a move that is no argument of a command.
    """
    _, rows, columns = game.feature_shape
    texts = gtp_moves(game.new_initial_state())
    are_points = all(text.lower() == "pass" or POINT.fullmatch(text) for text in texts)
    return rows if are_points and rows == columns else None


def komi_of(game: _core.Game) -> str | None:
    """Return the points that White is given in Go; None for games that count none."""
    if game.name != "go":
        return None
    _, parameters = parse_spec(game.spec)
    return str(parameters.get("komi", DEFAULT_KOMI))


class GtpEngineConnection(EngineConnection):
    """A running engine."""

    def __init__(self, process: Process, settings: EngineSettings, game: _core.Game) -> None:
        super().__init__(process, settings, game)
        self._size = board_size(game)
        self._letters = tuple(name[0] for name in gtp_colours(game))
        """Of the first and of the second player: b and w, or w and b."""
        self._number = 0
        self._known: list[int] = []
        self._has_score = True
        """Whether it knows `final_score`, as far as it was asked."""

    async def probe(self) -> str:
        words = [(await self._query(command)).text.strip() for command in ("name", "version")]
        name = " ".join(filter(None, words))
        commands = (await self._query("list_commands")).text.split()
        needed = list(NEEDED)
        # Games whose moves are no points of a square board are played without it.
        if self._size is not None:
            needed.append("boardsize")
        if self.settings.movetime is not None or self.settings.tc is not None:
            needed.append("time_settings")
        missing = next((word for word in needed if commands and word not in commands), None)
        if missing is not None:
            raise ValueError(f"{name or self.settings.command} does not know the GTP command {missing}")
        await self._check_that_it_plays(name or self.settings.command)
        return name

    async def _check_that_it_plays(self, name: str) -> None:
        """Raise ValueError where it refuses the board, or a first move of a game whose moves are no points.

        No command names a game, so a program of Go would otherwise begin a game of chess and lose it.
        """
        command = f"boardsize {self._size}"
        if self._size is None:
            await self._query("clear_board")
            start = self.game.new_initial_state()
            action = int(start.legal_actions()[0])
            command = f"play {self._letters[start.to_move]} {start.action_to_text(action)}"
        response = await self._query(command)
        if not response.is_good:
            raise ValueError(f"{name} does not play this game: {command} was refused: {quoted(response.text)}")

    async def open(self) -> None:
        await self._query("protocol_version")

    async def new_game(self) -> None:
        self._known = []
        if self._size is not None:
            await self.done(f"boardsize {self._size}")
        await self.done("clear_board")
        if (komi := komi_of(self.game)) is not None:
            await self.done(f"komi {komi}")
        if self.settings.movetime is not None:
            await self.done(f"time_settings 0 {self.settings.movetime // 1000} 1")
        elif (clock := self.clocks[0]) is not None:
            await self.done(f"time_settings {max(1, int(clock.left))} 0 0")

    async def choose(self, request: MoveRequest) -> ChosenMove:
        """Return the engine's move, after sending it the moves made since its last one."""
        await self._follow(request)
        side = request.state.to_move
        clock = self.clocks[side]
        if clock is not None:
            await self._query(f"time_left {self._letters[side]} {int(clock.left)} 0")
        started = time.monotonic()
        text = await self._generated(self._letters[side], clock)
        seconds = time.monotonic() - started
        if clock is not None:
            clock.spend(seconds)
        action = self._action(request.state, text)
        self._known.append(action)
        return ChosenMove(action, seconds=seconds)

    async def dispute(self, over: MoveRequest) -> str:
        """Return what it says where its `final_score` names another winner; empty where it has no such answer."""
        if not self._has_score:
            return ""
        await self._follow(over)
        late = no_answer("answer to 'final_score'", COUNTING_SECONDS)
        response = await self._query("final_score", (COUNTING_SECONDS, late))
        self._has_score = response.is_good
        outcome = over.state.outcome()
        named = named_winner(response.text, self._letters) if response.is_good else None
        if named is None or named == outcome:
            return ""
        return f"scores {response.text.strip()} where the rules say {score_text(over.state)}"

    async def done(self, command: str) -> None:
        response = await self._query(command)
        if not response.is_good:
            raise EngineFailure(BAD_OUTPUT, f"{command!r} was refused: {quoted(response.text)}")

    async def _follow(self, request: MoveRequest) -> None:
        """Play on the engine's board what was played in the game; from the beginning where it does not go on there."""
        actions = list(request.actions)
        if actions[: len(self._known)] != self._known:
            await self.done("clear_board")
            self._known = []
        state = request.state.game.new_initial_state()
        for number, action in enumerate(actions):
            if number >= len(self._known):
                await self._play(state, action)
            state.apply(action)
        self._known = actions

    async def _play(self, state: _core.State, action: int) -> None:
        """Play a move on the engine's board.

        The only legal move may be a pass that the engine refuses: GRhino and others make it by themselves in Othello.
        """
        command = f"play {self._letters[state.to_move]} {state.action_to_text(action)}"
        is_forced_pass = command.endswith(" pass") and len(state.legal_actions()) == 1
        if is_forced_pass:
            await self._query(command)
        else:
            await self.done(command)

    async def _generated(self, colour: str, clock: EngineClock | None) -> str:
        response = await self._query(f"genmove {colour}", move_limit(self.settings, clock))
        if not response.is_good:
            raise EngineFailure(BAD_OUTPUT, f"genmove was refused: {quoted(response.text)}")
        return response.text.strip()

    async def _query(self, command: str, limit: tuple[float, EngineFailure] | None = None) -> Response:
        """Give a command and read the response to it. limit: how long that may take, and what it is otherwise."""
        self._number += 1
        seconds = self.settings.start_timeout
        async with within(*(limit or (seconds, no_answer(f"answer to {command!r}", seconds)))):
            self.process.send(f"{self._number} {command}")
            lines = [await self._beginning()]
            while line := await self.process.line():
                lines.append(line)
        return self._read(lines, command)

    async def _beginning(self) -> str:
        """Return the first line of a response; lines between responses are ignored."""
        while not (line := await self.process.line()).startswith(("=", "?")):
            pass
        return line

    def _read(self, lines: list[str], command: str) -> Response:
        response = parse_response(lines)
        if response is None or response.number != self._number:
            raise EngineFailure(BAD_OUTPUT, f"{quoted(lines[0])} does not answer '{self._number} {command}'")
        return response

    def _action(self, state: _core.State, text: str) -> int:
        """Return the legal move; raise EngineResignation where the game was resigned."""
        if text.lower() == "resign":
            raise EngineResignation
        if self._size is not None and text.lower() != "pass" and not POINT.fullmatch(text):
            raise EngineFailure(BAD_OUTPUT, f"genmove was answered by {quoted(text)}, which is no point")
        try:
            return state.parse(text)
        except ValueError:
            shown = text if self._size is not None else quoted(text)
            raise EngineFailure(ILLEGAL_MOVE, f"genmove was answered by {shown}") from None
