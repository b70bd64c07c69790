"""A game in the terminal: a human on any of the sides, engines on the others."""

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path

from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from hauteur import _core
from hauteur.engine.playing import FoundMove
from hauteur.engine.sides import GameSide, SettingsAt
from hauteur.engine.two_sided import HINT_LINES, TwoSidedGame
from hauteur.games.game_texts import forms_of, moves_file, written_game
from hauteur.games.pictures import board_of, sees_second_side
from hauteur.games.played_game import PlayedGame, move_text
from hauteur.mcts.report import flipped
from hauteur.mcts.report_text import moves_table
from hauteur.players.settings import PlayerSettings
from hauteur.system.files import check_folder, write_bytes

COMMANDS = {
    "moves": "list the legal moves",
    "hint": "let the engine look at your position",
    "undo": "take back your last move and the answer to it",
    "help": "show this list",
    "quit": "leave (also Ctrl-D)",
}
ENDS = {"pgn": ".pgn", "sgf": ".sgf"}
"""File suffixes of the forms of games; others are text."""


class TerminalGame:
    """One game, from its start until its end or until the human leaves.

    engines: of the sides, where there is no human; humans: sides (0, 1) of the human; ask: shows a prompt and returns a
    line, EOFError ends the game. save: file that gets the game at its end, and when the human leaves. note: said at the
    beginning. at: of sides whose settings follow the value of their searches.
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
        at: Mapping[int, SettingsAt] = {},
    ) -> None:
        if save is not None:
            check_save(save, game)
        self._save_to = save
        self._note = note
        self._game = game
        self._engines = engines
        self._humans = set(humans)
        self._names = game.sides
        self._console = console or Console(highlight=False)
        self._ask = ask
        self._played = PlayedGame(game)
        self._obey = {"moves": self._moves, "hint": self._hint, "undo": self._undo, "help": self._help}
        self._shown = 0
        """Plies whose positions are on the screen."""
        self._news = threading.Event()
        sides = []
        for side, engine in enumerate(engines):
            own = GameSide() if side in self._humans else GameSide(engine, at=at.get(side))
            sides.append(own)
        self._player = engines[1 if self._humans == {0} else 0]
        """The engine: of the first side that has one; it gives the hints too."""
        self._table = TwoSidedGame(self._played, sides, seed=seed, on_change=self._news.set, hints=self._player)

    def run(self) -> None:
        """Play until the game is over or the human leaves; then save it, where that is requested."""
        player = self._player
        visits = f"{player.visits} visit{'s' * (player.visits > 1)} a move"
        self._say(f"{self._who()} the net {player.name}, {visits}; help lists commands")
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

    def _who(self) -> str:
        """Return the game and the side of the human, in the words of a player."""
        game = self._game.name
        if len(self._humans) == 1:
            (side,) = self._humans
            return f"{game}: you are {self._names[side]} against"
        return f"{game}: you play both sides, hints are of" if self._humans else f"{game}: both sides are played by"

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
        win, draw, loss = self._table.value if mover == 0 else flipped(self._table.value)
        return f"   (win {win:.0%}, draw {draw:.0%}, loss {loss:.0%})"

    @property
    def state(self) -> _core.State:
        return self._played.state

    def _human_turn(self) -> bool:
        """Read one line and obey it; return False when the human leaves."""
        try:
            name = self._names[self.state.to_move]
            line = self._ask(f"{name}, your move: ").strip()
        except EOFError:
            self._console.print()
            return False
        word = line.lower()
        if word == "quit":
            return False
        if word in COMMANDS:
            self._obey[word]()
        elif line:
            self._try_move(line)
        return True

    def _moves(self) -> None:
        actions = self.state.legal_actions().tolist()
        self._say(" ".join(move_text(self.state, action) for action in actions))

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
            self._console.print(moves_table(found.report, rows=HINT_LINES))

    def _undo(self) -> None:
        """Take back to the human's last turn, and show the board, or say that there is no such move."""
        if self._table.take_back():
            self._shown = len(self._played.actions)
            self._show(self.state)
        else:
            self._say("there is no move of yours to take back")

    def _save(self, path: Path) -> None:
        """Write the game in its fullest form, under the human's and the engines' names."""
        first, second = ("you" if side in self._humans else self._engines[side].name for side in (0, 1))
        fullest = forms_of(self._game)[0]
        form = fullest if fullest in ENDS else "moves"
        written = written_game(self._played, form, (first, second))
        if form == "moves":
            written = moves_file(self._game, written)
        try:
            write_bytes(path, written.encode())
        except (OSError, ValueError):
            self._say(written)  # or the game would be lost: a disk may have filled up meanwhile
            raise
        self._say(f"saved: {path}")

    def _help(self) -> None:
        self._say("type a move, or one of:")
        for word, text in COMMANDS.items():
            self._console.print(f"  {word:6} {text}", markup=False)

    def _show(self, state: _core.State) -> None:
        """Draw a position, from the human's side."""
        board = board_text(state, flip=sees_second_side(state, self._humans))
        self._console.print(Panel(Text(board), title=f"ply {state.ply}", expand=False))

    def _say(self, message: str) -> None:
        self._console.print(message, markup=False)

    def _verdict(self) -> str:
        """Return the result and the reason; `you win` only where one side is the human."""
        ending = self._played.ending
        assert ending is not None  # it is asked for at the end
        winner = ending.winner
        if winner is None:
            return f"draw ({ending.reason})"
        human_wins = self._humans == {winner}
        who = "you win" if human_wins else f"{self._names[winner]} wins"
        return f"{who} ({ending.reason})"


def check_save(path: Path, game: _core.Game) -> None:
    """Raise ValueError unless a game is saved under such a name: .pgn, .sgf, and .txt for a line of moves, which
    `hauteur review` and `--openings` read.
    """
    end = ENDS.get(forms_of(game)[0], ".txt")
    if path.suffix.lower() != end:
        raise ValueError(f"{path}: games of {game.name} are saved as {end} files")
    check_folder(path)


def _sign_between(left_is_last: bool, right_is_last: bool) -> str:
    """Return what stands between two squares, by whether they are of the last move."""
    if right_is_last:
        return "("
    return ")" if left_is_last else " "


def board_text(state: _core.State, *, flip: bool = False) -> str:
    """Return the position with the squares of the last move in brackets.

    flip: seen from the second player's side. A game without a board of cells shows its own text.
    """
    board = board_of(state)
    if board is None:
        return state.text()
    step = -1 if flip else 1
    rows = range(board.rows)[::step]
    columns = range(board.columns)[::step]
    width = max(len(label) for label in board.row_labels)
    lines = []
    for row in rows:
        text = f"{board.row_labels[row]:>{width}} "
        before_is_last = False
        for column in columns:
            square = row * board.columns + column
            is_last = square in board.last
            text += _sign_between(before_is_last, is_last) + board.cells[square]
            before_is_last = is_last
        lines.append(text + _sign_between(before_is_last, False))
    labels = " ".join(board.column_labels[::step])
    lines.append(f"{'':{width}}  {labels}")
    lines.append(board.caption)
    return "\n".join(lines)
