"""A game in the terminal: a human on any of the sides, engines on the others."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path

from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from hauteur import _core
from hauteur.engine.playing import FoundMove
from hauteur.engine.sides import GameSide
from hauteur.engine.two_sided import HINT_LINES, TwoSidedGame
from hauteur.games.game_texts import forms_of, written_game
from hauteur.games.pictures import Board, board_of, sees_second_side
from hauteur.games.played_game import SIDE_NAMES, PlayedGame, line_texts, move_text
from hauteur.mcts.report import RootReport
from hauteur.players.settings import PlayerSettings
from hauteur.system.errors import explain
from hauteur.system.files import write_bytes

COMMANDS = {
    "moves": "list the legal moves",
    "hint": "let the engine look at your position",
    "undo": "take back your last move and the answer to it",
    "save": "write the game so far to a file: save NAME",
    "help": "show this list",
    "quit": "leave (also Ctrl-D)",
}
ENDS = {"pgn": ".pgn", "sgf": ".sgf"}
"""File suffixes of the forms of games; others are text."""


class TerminalGame:
    """One game, from its start until its end or until the human leaves.

    engines: of the sides, where there is no human; humans: sides (0, 1) of the human; ask: shows a prompt and returns a
    line, EOFError ends the game. save: file that gets the game at its end, and when the human leaves. note: said at the
    beginning.
    """

    def __init__(
        self,
        game: _core.Game,
        engines: tuple[PlayerSettings, PlayerSettings],
        humans: Sequence[int],
        *,
        seed: int = 0,
        console: Console | None = None,
        ask: Callable[[str], str] = input,
        save: Path | None = None,
        note: str = "",
    ) -> None:
        if save is not None:
            check_save(save, game)
        self._save_to, self._note = save, note
        self._game, self._engines, self._humans = game, engines, set(humans)
        self._console = console or Console(highlight=False)
        self._ask = ask
        self._played = PlayedGame(game)
        self._shown = 0
        """Plies whose positions are on the screen."""
        self._news = threading.Event()
        sides = [GameSide() if side in self._humans else GameSide(engines[side]) for side in (0, 1)]
        self._table = TwoSidedGame(
            self._played, sides, seed=seed, on_change=self._news.set, hints=engines[self._engine_side]
        )

    @property
    def _engine_side(self) -> int:
        """The first side that an engine has, 0 without one."""
        return next((side for side in (0, 1) if side not in self._humans), 0)

    def run(self) -> None:
        """Play until the game is over or the human leaves; then save it, where that is requested."""
        player = self._engines[self._engine_side]
        visits = f"{player.visits} visit{'s' * (player.visits > 1)} a move"
        self._say(f"{self._game.spec} against {player.name}, {visits}; help lists commands")
        if self._note:
            self._say(self._note)
        self._show(self.state)
        with self._table:
            self._table.go_on()
            try:
                while self._wait():
                    if not self._human_turn():
                        return
                self._say(self._verdict())
            finally:
                if self._save_to is not None and self._played.actions:
                    self._save(self._save_to)

    def _wait(self) -> bool:
        """Show moves until a human is to move or the game is over; return whether it goes on. ValueError: an engine
        cannot move."""
        with self._console.status("thinking"):
            while True:
                self._news.clear()
                with self._table.lock:
                    self._show_moves()
                    over = self._played.ending is not None
                    if over or self.state.to_move in self._humans:
                        return not over
                    if self._table.problem:
                        raise ValueError(self._table.problem)
                self._news.wait()

    def _show_moves(self) -> None:
        """Show the positions after the moves that came since."""
        last = len(self._played.actions)
        for ply in range(self._shown, last):
            mover = self._played.movers[ply]
            if mover not in self._humans:
                chances = self._chances(mover) if ply + 1 == last else ""
                self._say(f"{self._engines[mover].name} plays {self._played.texts[ply]}{chances}")
            self._show(self._played.after(ply + 1))
        self._shown = last

    def _chances(self, mover: int) -> str:
        """The chances that the engine gave itself with its last move."""
        if self._table.value is None:
            return ""
        win, draw, loss = self._table.value if mover == 0 else self._table.value[::-1]
        return f"   (win {win:.0%}, draw {draw:.0%}, loss {loss:.0%})"

    @property
    def state(self) -> _core.State:
        """The position of the game."""
        return self._played.state

    def _human_turn(self) -> bool:
        """Read one line and obey it; return False when the human leaves."""
        try:
            line = self._ask(f"{SIDE_NAMES[self.state.to_move]}, your move: ").strip()
        except EOFError:
            self._console.print()
            return False
        word = line.lower()
        if word == "quit":
            return False
        if word.partition(" ")[0] == "save":
            self._save_as(line[len("save") :].strip())
        elif word in COMMANDS:
            self._obey(word)
        elif line:
            self._try_move(line)
        return True

    def _obey(self, word: str) -> None:
        actions: dict[str, Callable[[], None]] = {
            "moves": lambda: self._say(
                " ".join(move_text(self.state, action) for action in self.state.legal_actions().tolist())
            ),
            "hint": self._hint,
            "undo": self._undo,
            "help": self._help,
        }
        actions[word]()

    def _try_move(self, text: str) -> None:
        """Play the move that the human typed, or show what is allowed."""
        try:
            action = self.state.parse(text)
        except ValueError as error:
            self._say(f"{error}; help lists commands")
            return
        self._table.play(action)

    def _hint(self) -> None:
        """Show a table of the moves that the engine visits most."""
        hint: Future[FoundMove | BaseException] = Future()
        with self._console.status("thinking"):
            self._table.hint(hint.set_result)
            found = hint.result()
        if isinstance(found, BaseException):
            self._say(str(found))
        elif found.report is not None:
            self._console.print(self._moves_table(found.report))

    def _moves_table(self, report: RootReport) -> Table:
        table = Table("move", "visits", "prior", "value", "line")
        for move in report.moves[:HINT_LINES]:
            value = f"{move.q:+.2f}" if move.visits else "-"
            line = line_texts(self.state, move.line)
            table.add_row(line[0], str(move.visits), f"{move.prior:.1%}", value, " ".join(line[1:]))
        return table

    def _undo(self) -> None:
        """Go back to the human's last turn."""
        if self._table.take_back():
            self._shown = len(self._played.actions)
            self._show(self.state)
        else:
            self._say("there is no move of yours to take back")

    def _save_as(self, name: str) -> None:
        """Write the game to the file that the human names."""
        try:
            if not name:
                raise ValueError("save needs the name of a file: save NAME")
            self._save(Path(name))
        except (ValueError, OSError) as error:
            self._say(explain(error) or str(error))

    def _save(self, path: Path) -> None:
        first, second = ("you" if side in self._humans else self._engines[side].name for side in (0, 1))
        save_game(path, self._played, (first, second))
        self._say(f"saved: {path}")

    def _help(self) -> None:
        self._say("type a move, or one of:")
        for word, text in COMMANDS.items():
            self._console.print(f"  {word:6} {text}", markup=False)

    def _show(self, state: _core.State) -> None:
        """Draw a position, from the human's side."""
        board = board_text(state, flip=sees_second_side(state, self._humans))
        self._console.print(Panel(board, title=f"ply {state.ply}", expand=False))

    def _say(self, message: str) -> None:
        self._console.print(message, markup=False)

    def _verdict(self) -> str:
        ending = self._played.ending
        assert ending is not None  # it is asked for at the end
        winner = ending.winner
        if winner is None:
            return f"draw ({ending.reason})"
        who = "you win" if winner in self._humans and len(self._humans) == 1 else f"{SIDE_NAMES[winner]} wins"
        return f"{who} ({ending.reason})"


def save_game(path: Path, game: PlayedGame, names: tuple[str, str]) -> None:
    """Write a game, finished or not. names: of the first and the second player.

    The text of other games than chess and NoGo is one line of moves, as `--openings` and `hauteur analyse --moves` read
    it. Raises ValueError where the file has another end than the game's, OSError where it cannot be written.
    """
    check_save(path, game.game)
    form = forms_of(game.game)[0]
    write_bytes(path, written_game(game, form if form in ENDS else "moves", names).encode())


def check_save(path: Path, game: _core.Game) -> None:
    """Raise ValueError unless a game is saved under such a name."""
    end = ENDS.get(forms_of(game)[0], ".txt")
    if path.suffix.lower() != end:
        raise ValueError(f"{path}: games of {game.name} are saved as {end} files")
    if not path.parent.is_dir():
        raise ValueError(f"{path}: the folder {path.parent} is not there")


SIDE_STYLES = {"R": "bold red", "Y": "bold yellow", "X": "bold cyan", "O": "bold magenta"}
"""Styles of discs and stones; pieces have those of White, capital letters, and Black."""
FIRST, SECOND = "bold cyan", "bold magenta"
LAST, EMPTY = "bold green", "dim"


def board_text(state: _core.State, *, flip: bool = False) -> Text:
    """Return the position with the squares of the last move in brackets; colours show where there are any.

    flip: seen from the second player's side. A game without a board of cells shows its own text.
    """
    board = board_of(state)
    if board is None:
        return Text(state.text())
    width = max(map(len, board.row_labels))
    columns = range(board.columns)[:: -1 if flip else 1]
    text = Text()
    for row in range(board.rows)[:: -1 if flip else 1]:
        text.append(f"{board.row_labels[row]:>{width}} ", style=EMPTY)
        _append_row(text, board, [row * board.columns + column for column in columns])
    text.append(f"{'':{width}}  {' '.join(board.column_labels[column] for column in columns)}\n", style=EMPTY)
    text.append(board.caption)
    return text


def _append_row(text: Text, board: Board, squares: list[int]) -> None:
    """Append the squares of a row, with a bracket or a space before and behind each."""
    before = [square in board.last for square in squares]
    for place, square in enumerate(squares):
        closed = place > 0 and before[place - 1]
        text.append("(" if before[place] else ")" if closed else " ", style=LAST)
        sign = board.cells[square]
        side = FIRST if sign.isupper() else SECOND
        text.append(sign, style=EMPTY if sign == "." else side if board.look == "pieces" else SIDE_STYLES.get(sign, ""))
    text.append(")\n" if before[-1] else "\n", style=LAST)
