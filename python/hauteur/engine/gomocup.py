"""The Gomocup engine: five in a row for managers of the Gomocup's protocol, such as Piskvork.

Source: M. Petricek and P. Lastovicka, *Gomoku AI protocol* (https://plastovicka.github.io/protocl2en.htm). A command is
a line; BOARD alone is followed by more, up to DONE. A point is `x,y` with 0,0 at the top left. Lines that begin with
MESSAGE are for people. Whatever goes wrong with a command is its answer, `ERROR` and why, and the engine goes on; `END`
and the end of the input end it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from hauteur import __version__
from hauteur.engine.gtp.engine import message_of
from hauteur.engine.gtp.session import GtpSession, report_note
from hauteur.engine.playing import FoundMove
from hauteur.engine.sides import shared_time
from hauteur.engine.streams import LineReader, Output
from hauteur.mcts.limits import Budget, fixed
from hauteur.system.formatting import quoted

END = "END"
LONGEST_LINE = 4096
"""Bytes of a command; longer ones are not read."""
UNLIMITED = 2**31 - 1
"""What managers send as the time left where there is no limit for the game."""
FREESTYLE = 0
"""The rule that is played, as INFO numbers rules: five or more in a row win."""
OWN, OPPONENT = 1, 2
"""Whose stone a line of BOARD sets."""
POINT = re.compile(r"([0-9]{1,3}),([0-9]{1,3})", re.ASCII)
STONE = re.compile(r"([0-9]{1,3}),([0-9]{1,3}),([12])", re.ASCII)
SIZE = re.compile(r"[0-9]{1,3}", re.ASCII)
NUMBER = re.compile(r"[0-9]{1,12}", re.ASCII)


@dataclass
class Times:
    """What a manager has said of time, in seconds; None: nothing, or no limit."""

    turn: float | None = None
    """For each move; 0: as fast as possible."""
    left: float | None = None
    """For the rest of the game."""


class GomocupEngine:
    """An engine for one session that reads lines of bytes and writes to an Output."""

    def __init__(self, session: GtpSession, output: Output) -> None:
        self._session = session
        self._output = output
        self._times = Times()
        self._rule = FREESTYLE
        self._stones: list[tuple[int, int, int]] | None = None
        """Column, row and owner of the lines after BOARD; None outside of it."""
        self._wrong_stone = ""
        """The first line after BOARD that could not be read."""
        self._over = False

    def run(self, source: Iterable[bytes]) -> None:
        """Answer commands until END or the end of the input."""
        feed = LineReader(source, self._accept)
        while not self._over and (line := feed.next()) is not None:
            self.hear(line)
        self._session.close()

    def _accept(self, line: bytes | None) -> bytes | None:
        """Keep a line for its turn, in the reading thread; END ends a search at once."""
        if line is not None and line.strip().upper() == END.encode():
            self._session.stop()
        return line

    def hear(self, line: bytes) -> None:
        """Answer one line, if it asks for an answer."""
        text = line.decode("utf-8", errors="replace").strip()
        if not text:
            return
        self._output.heard(text)
        try:
            if len(line) > LONGEST_LINE:
                raise ValueError(f"a line has at most {LONGEST_LINE} bytes, got {len(line)}")
            answer = self._answer(text)
        except Exception as error:
            answer = f"ERROR {message_of(error)}"
        if answer is not None:
            self._output.lines(answer)

    def _answer(self, text: str) -> str | None:
        """Return the answer to a line; None where it has none. Every error becomes ERROR."""
        if self._stones is not None and text.upper() != END:
            return self._in_board(text)
        word, _, rest = text.partition(" ")
        command = self._commands().get(word.upper())
        if command is None:
            return f"UNKNOWN {quoted(word)} is no command of this engine"
        return command(rest.strip())

    def _commands(self) -> dict[str, Callable[[str], str | None]]:
        return {
            "START": self._start,
            "RECTSTART": self._rectangle,
            "RESTART": self._restart,
            "BEGIN": self._begin,
            "TURN": self._turn,
            "BOARD": self._board,
            "TAKEBACK": self._take_back,
            "INFO": self._info,
            "ABOUT": self._about,
            END: self._end,
        }

    # The board.

    def _start(self, text: str) -> str:
        """START SIZE: a new game on a square board. The player is open then, so that no move pays for it."""
        if not SIZE.fullmatch(text):
            raise ValueError(f"START takes the size of the board, such as START 15, got {quoted(text)}")
        self._session.resize(int(text))
        self._session.playing.prepare()
        return "OK"

    def _rectangle(self, text: str) -> str:
        """RECTSTART WIDTH,HEIGHT: the same, and the board must be a square."""
        found = POINT.fullmatch(text)
        if found is None or int(found[1]) != int(found[2]):
            raise ValueError(f"only square boards are played, such as RECTSTART 15,15, got {quoted(text)}")
        return self._start(found[1])

    def _restart(self, _: str) -> str:
        self._session.clear()
        return "OK"

    def _begin(self, _: str) -> str:
        """BEGIN: make the first move of the game."""
        if self._session.board.actions:
            raise ValueError("BEGIN opens a game, and this one has moves; RESTART goes before it")
        return self._move()

    def _turn(self, text: str) -> str:
        """TURN X,Y: the opponent's move, which is answered by a move."""
        self._require_rule()
        self._place(*self._column_and_row(text, "TURN"))
        return self._move()

    def _take_back(self, text: str) -> str:
        """TAKEBACK X,Y: take the last stone away."""
        board = self._session.board
        action = self._action_at(*self._column_and_row(text, "TAKEBACK"))
        if not board.actions or board.actions[-1] != action:
            raise ValueError(f"{text} is not the last move")
        board.take_back()
        return "OK"

    def _board(self, _: str) -> None:
        """BOARD: a position, a line a stone, up to DONE, which is answered by a move."""
        self._stones = []
        self._wrong_stone = ""

    def _in_board(self, text: str) -> str | None:
        """Take a line after BOARD. Nothing is answered before DONE, since managers do not wait for it."""
        stones = self._stones
        assert stones is not None
        if text.upper() == "DONE":
            self._stones = None
            return self._placed(stones)
        found = STONE.fullmatch(text)
        if found is not None:
            stones.append((int(found[1]), int(found[2]), int(found[3])))
        elif not self._wrong_stone:
            self._wrong_stone = text
        return None

    def _placed(self, stones: list[tuple[int, int, int]]) -> str:
        """Play the stones of BOARD from an empty board and return a move; the engine is to move then.

        The players' stones take turns whatever the order of the lines, since the position alone matters.
        """
        if self._wrong_stone:
            wrong = quoted(self._wrong_stone)
            raise ValueError(f"BOARD takes lines X,Y,1 (own stones) and X,Y,2 (the opponent's), got {wrong}")
        own = [(x, y) for x, y, owner in stones if owner == OWN]
        others = [(x, y) for x, y, owner in stones if owner == OPPONENT]
        if len(others) - len(own) not in (0, 1):
            counts = f"{len(own)} own and {len(others)} of the opponent's stones"
            raise ValueError(f"with {counts} it is not this engine's turn")
        first, second = (others, own) if len(others) > len(own) else (own, others)
        session = self._session
        session.clear()
        for ply in range(len(stones)):
            x, y = (first, second)[ply % 2][ply // 2]
            self._place(x, y)
        return self._move()

    def _column_and_row(self, text: str, command: str) -> tuple[int, int]:
        """Return the numbers of a point `x,y`."""
        found = POINT.fullmatch(text)
        if found is None:
            raise ValueError(f"{command} takes a point X,Y, such as {command} 7,7, got {quoted(text)}")
        return int(found[1]), int(found[2])

    def _action_at(self, x: int, y: int) -> int:
        """Return the action of a column and a row, both from 0; ValueError outside of the board."""
        size = self._session.board.size
        if x >= size or y >= size:
            raise ValueError(f"{x},{y} is outside of the board, whose points go from 0,0 to {size - 1},{size - 1}")
        return y * size + x

    def _place(self, x: int, y: int) -> None:
        """Put the stone of the player to move; ValueError where the point is not free or the game is over."""
        action = self._action_at(x, y)
        board = self._session.board
        if not board.is_over and action not in board.state.legal_actions():
            raise ValueError(f"{x},{y} is not free")
        board.play(action)

    def _point(self, action: int) -> str:
        row, column = divmod(action, self._session.board.size)
        return f"{column},{row}"

    # Moves.

    def _move(self) -> str:
        """Think, play the move and return its point."""
        self._require_rule()
        session = self._session
        if session.board.is_over:
            raise ValueError(f"the game is over ({session.board.state.end_reason() or 'no reason given'})")
        found = session.playing.think(session.limits(self.budget()))
        report_note(found)
        if found.action is None:
            raise ValueError("the search found no move")
        self._tell(found)
        session.board.play(found.action)
        return self._point(found.action)

    def _tell(self, found: FoundMove) -> None:
        """Write what a person may want to know of a search."""
        if found.move is None or found.report is None or found.score is None:
            return
        line = " ".join(map(self._point, found.move.line))
        self._output.lines(f"MESSAGE {found.score:.1%} after {found.report.visits} visits: {line}")

    def _require_rule(self) -> None:
        """Raise ValueError where the manager asked for rules that are not played; INFO itself has no answer."""
        if self._rule != FREESTYLE:
            raise ValueError(f"rule {self._rule} is not played; allowed is 0, five or more in a row")

    # Time and other facts.

    def budget(self) -> Budget | None:
        """Return the seconds for a move: what the move is given, and at most a share of what the game has left."""
        times = self._times
        overhead = self._session.settings.move_overhead
        for_move = None if times.turn is None else fixed(times.turn, overhead=overhead)
        if times.left is None:
            return for_move
        board = self._session.board
        plies = board.game.max_plies
        share = shared_time(times.left, 0.0, ply=board.state.ply, max_plies=plies, overhead=overhead)
        if for_move is None:
            return share
        return Budget(min(share.target, for_move.target), min(share.maximum, for_move.maximum))

    def _info(self, text: str) -> None:
        """INFO KEY VALUE: has no answer, and keys that do not matter here are passed over, as the protocol says."""
        key, _, value = text.partition(" ")
        if NUMBER.fullmatch(value.strip()) is None:
            return
        number = int(value)
        match key.lower():
            case "rule":
                self._rule = number
            case "timeout_turn":
                self._times.turn = number / 1000
            case "timeout_match":
                self._times.left = number / 1000 if number else None
            case "time_left":
                self._times.left = number / 1000 if number < UNLIMITED else None

    def _about(self, _: str) -> str:
        name = self._session.player.name or "hauteur"
        return f'name="{name}", version="{__version__}", author="the hauteur authors", country="-"'

    def _end(self, _: str) -> None:
        self._over = True
