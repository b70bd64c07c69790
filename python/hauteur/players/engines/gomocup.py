"""Engines that speak the Gomocup's protocol: a client that believes nothing.

Source: M. Petricek and P. Lastovicka, *Gomoku AI protocol* (https://plastovicka.github.io/protocl2en.htm). Moves are
`x,y` with 0,0 at the top left; lines that begin with MESSAGE or DEBUG are for people.
"""

import re
import time
from collections.abc import Sequence

from hauteur import _core
from hauteur.players.engines.process import (
    BAD_OUTPUT,
    ILLEGAL_MOVE,
    EngineConnection,
    Process,
    move_limit,
    no_answer,
    within,
)
from hauteur.players.engines.settings import EngineSettings
from hauteur.players.move_player import ChosenMove, EngineFailure, MoveRequest
from hauteur.system.formatting import quoted

POINT = re.compile(r"([0-9]{1,3}),([0-9]{1,3})", re.ASCII)
NAME = re.compile(r'name\s*=\s*"([^"]{1,200})"', re.ASCII)
VERSION = re.compile(r'version\s*=\s*"([^"]{1,100})"', re.ASCII)
FOR_PEOPLE = ("MESSAGE", "DEBUG")
REFUSALS = ("UNKNOWN", "ERROR")
OWN, OPPONENT = 1, 2
"""Whose stone a line of BOARD sets."""
FREESTYLE = 0
"""The rule of this game, as INFO numbers rules: five or more in a row win."""


class GomocupConnection(EngineConnection):
    """A running engine."""

    def __init__(self, process: Process, settings: EngineSettings, game: _core.Game) -> None:
        super().__init__(process, settings, game)
        self._size = game.feature_shape[1]
        self._known: list[int] | None = None
        """The moves on the engine's board; None before its first game."""
        self._name = ""

    async def probe(self) -> str:
        """Return its name; ValueError where it refuses the board or an option."""
        start = f"START {self._size}"
        answer = await self._asked(start)
        if answer != "OK":
            command = self.settings.command
            raise ValueError(f"{command} does not play this game: {start} was answered by {quoted(answer)}")
        refused = await self._inform()
        for key, value in self.settings.options.items():
            about_it = [line for line in refused if key.lower() in line.lower()]
            if about_it:
                raise ValueError(f"{self._name} refuses INFO {key} {value}: {quoted(about_it[0])}")
        return self._name

    async def open(self) -> None:
        """There is nothing to say before a game."""

    async def new_game(self) -> None:
        await self._done("RESTART" if self._known is not None else f"START {self._size}")
        self._known = []
        await self._inform()

    async def choose(self, request: MoveRequest) -> ChosenMove:
        """Return the engine's move, after telling it those made since its last one."""
        actions = list(request.actions)
        clock = self.clocks[request.state.to_move]
        if clock is not None:
            self.process.send(f"INFO time_left {int(1000 * clock.left)}")
        lines = await self._lines_for(actions)
        started = time.monotonic()
        text = await self._asked(*lines, limit=move_limit(self.settings, clock))
        seconds = time.monotonic() - started
        if clock is not None:
            clock.spend(seconds)
        action = self._action(request.state, text)
        self._known = [*actions, action]
        return ChosenMove(action, seconds=seconds)

    async def quit(self) -> None:
        """Request it to exit, and kill it if it does not."""
        await self.process.quit("END")

    async def _lines_for(self, actions: Sequence[int]) -> list[str]:
        """Return the lines that ask for a move after these moves.

        The opponent's one more move is a TURN; another position is set up by BOARD on an empty board.
        """
        if actions and self._known == actions[:-1]:
            return [f"TURN {self._point(actions[-1])}"]
        if self._known:
            await self._done("RESTART")
        if not actions:
            return ["BEGIN"]
        stones = []
        for ply, action in enumerate(actions):
            owner = OWN if (len(actions) - ply) % 2 == 0 else OPPONENT
            stones.append(f"{self._point(action)},{owner}")
        return ["BOARD", *stones, "DONE"]

    async def _inform(self) -> list[str]:
        """Tell it the rule, the time and the options; return the lines that refuse something.

        INFO has no answer; that to ABOUT, which gives the name, says that all of them were read.
        """
        lines = [f"INFO rule {FREESTYLE}"]
        if self.settings.movetime is not None:
            lines += [f"INFO timeout_turn {self.settings.movetime}", "INFO timeout_match 0"]
        clock = self.clocks[0]
        if clock is not None:
            lines.append(f"INFO timeout_match {int(1000 * clock.left)}")
        lines += [f"INFO {key} {value}" for key, value in self.settings.options.items()]
        self.process.send(*lines, "ABOUT")
        refused = []
        seconds = self.settings.start_timeout
        async with within(seconds, no_answer("answer to 'ABOUT'", seconds)):
            line = await self.process.line()
            while NAME.search(line) is None:
                if line.startswith(REFUSALS):
                    refused.append(line)
                line = await self.process.line()
        self._name = _name_of(line)
        return refused

    async def _done(self, command: str) -> None:
        answer = await self._asked(command)
        if answer != "OK":
            raise EngineFailure(BAD_OUTPUT, f"{command!r} was answered by {quoted(answer)}")

    async def _asked(self, *lines: str, limit: tuple[float, EngineFailure] | None = None) -> str:
        """Say lines and return the answer to the last one. limit: how long it may take, and what it is otherwise."""
        seconds = self.settings.start_timeout
        async with within(*(limit or (seconds, no_answer(f"answer to {lines[-1]!r}", seconds)))):
            self.process.send(*lines)
            line = await self.process.line()
            while not line or line.startswith(FOR_PEOPLE):
                line = await self.process.line()
        return line

    def _point(self, action: int) -> str:
        """Return the column and the row of an action, which counts the points row by row from the top."""
        row, column = divmod(action, self._size)
        return f"{column},{row}"

    def _action(self, state: _core.State, text: str) -> int:
        """Return the legal action of an answer."""
        found = POINT.fullmatch(text.replace(" ", ""))
        if found is None:
            raise EngineFailure(BAD_OUTPUT, f"a move was asked for, and answered by {quoted(text)}")
        column = int(found[1])
        row = int(found[2])
        action = row * self._size + column
        if max(column, row) >= self._size or action not in state.legal_actions():
            raise EngineFailure(ILLEGAL_MOVE, f"it played {text}")
        return action


def _name_of(about: str) -> str:
    """Return name and version of an answer to ABOUT."""
    found = [pattern.search(about) for pattern in (NAME, VERSION)]
    return " ".join(one[1] for one in found if one is not None)
