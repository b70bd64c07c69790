"""A game in the terminal: a human on any of the seats, a player (evaluator and search) on the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console
from rich.panel import Panel
from rich.table import Table

from hauteur import _core
from hauteur.engine.nets import OpenNets
from hauteur.engine.playing import FoundMove, PlayingSession, PlaySettings
from hauteur.engine.saved_game import check_save, save_game
from hauteur.engine.terminal_board import board_text, draws_figures, sees_second_side
from hauteur.games.played_game import SEAT_NAMES, PlayedGame, line_texts, move_text
from hauteur.mcts.limits import Limits
from hauteur.mcts.report import RootReport
from hauteur.players.search_player import SearchPlayer
from hauteur.system.errors import explain

COMMANDS = {
    "moves": "list the legal moves",
    "hint": "let the engine look at your position",
    "undo": "take back your last move and the answer to it",
    "flip": "change seats with the engine",
    "turn": "look at the board from the other side",
    "save": "write the game so far to a file: save NAME",
    "help": "show this list",
    "quit": "leave (also Ctrl-D)",
}
HINT_MOVES = 5
BATCH = 8
"""Rows of a batch: one tree gains little from more, and a few rows cost an evaluator hardly more than one."""


class TerminalGame:
    """One game, from its start until its end or until the human leaves."""

    def __init__(
        self,
        player: SearchPlayer,
        game: _core.Game,
        humans: Sequence[int],
        *,
        seed: int = 0,
        console: Console | None = None,
        ask: Callable[[str], str] = input,
        save: Path | None = None,
        note: str = "",
        letters: bool = False,
        giver: tuple[int, SearchPlayer] | None = None,
    ) -> None:
        """humans: seats (0, 1) of the human; ask: shows a prompt and returns a line, EOFError ends the game.

        save: file that gets the game at its end, and when the human leaves. note: said at the beginning. letters: in
        place of figures of chess, also where the terminal can show them. giver: a seat, and the player, with the same
        nets, that has it in the place of `player`.
        """
        if save is not None:
            check_save(save, game)
        self._save_to, self._note, self._is_turned = save, note, False
        self._player = player
        self._game = game
        self._humans = set(humans)
        self._console = console or Console(highlight=False)
        self._figures = not letters and draws_figures(self._console)
        self._ask = ask
        self._played = PlayedGame(game)
        self._giver = giver
        self._session = PlayingSession(game, seed=seed)
        self._session.open(OpenNets(player.evaluator, player.large))

    def run(self) -> None:
        """Play until the game is over or the human leaves; then save it, where that is requested."""
        player = self._player_at(next((seat for seat in (0, 1) if seat not in self._humans), 0))
        visits = f"{player.visits} visit{'s' * (player.visits > 1)} a move"
        self._say(f"{self._game.spec} against {player.name}, {visits}; help lists commands")
        if self._note:
            self._say(self._note)
        self._show()
        try:
            self._play_on()
        finally:
            if self._save_to is not None and self._played.actions:
                self._save(self._save_to)

    def _play_on(self) -> None:
        while self._played.ending is None:
            if self.state.to_move not in self._humans:
                self._engine_move()
            elif not self._human_turn():
                return
        self._say(self._verdict())

    def _player_at(self, seat: int) -> SearchPlayer:
        """The player that has a seat where the human does not."""
        return self._giver[1] if self._giver is not None and self._giver[0] == seat else self._player

    @property
    def state(self) -> _core.State:
        """The position on the screen."""
        return self._played.state

    def _human_turn(self) -> bool:
        """Read one line and obey it; return False when the human leaves."""
        try:
            line = self._ask(f"{SEAT_NAMES[self.state.to_move]}, your move: ").strip()
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
            "flip": self._flip,
            "turn": self._turn,
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
        self._play(action)

    def _engine_move(self) -> None:
        """Search, say the move and what the engine expects of it, play it."""
        found, report = self._think(1)
        assert found.action is not None  # the game is not over
        win, draw, loss = report.wdl
        text = move_text(self.state, found.action)
        self._say(f"{self._player.name} plays {text}   (win {win:.0%}, draw {draw:.0%}, loss {loss:.0%})")
        self._play(found.action)

    def _think(self, lines: int) -> tuple[FoundMove, RootReport]:
        """Let the player think about the position; its tree follows the game."""
        self._session.set_position(self._played.start, self._played.actions)
        with self._console.status("thinking"):
            player = self._player_at(self.state.to_move)
            batch = min(BATCH, player.evaluator.batch_size)
            self._session.use(PlaySettings(player.search, player.temperature, batch))
            found = self._session.think(Limits(visits=player.visits), lines=lines)
        assert found.report is not None  # a player with nets always reports
        return found, found.report

    def _hint(self) -> None:
        """Show a table of the moves that the engine visits most."""
        _, report = self._think(HINT_MOVES)
        table = Table("move", "visits", "prior", "value", "line")
        for move in report.moves[:HINT_MOVES]:
            value = f"{move.q:+.2f}" if move.visits else "-"
            line = line_texts(self.state, move.line)
            table.add_row(line[0], str(move.visits), f"{move.prior:.1%}", value, " ".join(line[1:]))
        self._console.print(table)

    def _undo(self) -> None:
        """Go back to the human's last turn."""
        if self._played.take_back(self._humans):
            self._show()
        else:
            self._say("there is no move of yours to take back")

    def _flip(self) -> None:
        self._humans = {1 - seat for seat in self._humans} if len(self._humans) == 1 else self._humans
        self._say(f"you are {' and '.join(SEAT_NAMES[seat] for seat in sorted(self._humans))}")

    def _turn(self) -> None:
        self._is_turned = not self._is_turned
        self._show()

    def _save_as(self, name: str) -> None:
        """Write the game to the file that the human names."""
        try:
            if not name:
                raise ValueError("save needs the name of a file: save NAME")
            self._save(Path(name))
        except (ValueError, OSError) as error:
            self._say(explain(error) or str(error))

    def _save(self, path: Path) -> None:
        first, second = ("you" if seat in self._humans else self._player.name for seat in (0, 1))
        save_game(path, self._played, (first, second))
        self._say(f"saved: {path}")

    def _help(self) -> None:
        self._say("type a move, or one of:")
        for word, text in COMMANDS.items():
            self._console.print(f"  {word:6} {text}", markup=False)

    def _play(self, action: int) -> None:
        self._played.play(action)
        self._show()

    def _show(self) -> None:
        """Draw the position, from the human's side."""
        flip = sees_second_side(self.state, self._humans) != self._is_turned
        board = board_text(self.state, flip=flip, figures=self._figures)
        self._console.print(Panel(board, title=f"ply {self.state.ply}", expand=False))

    def _say(self, message: str) -> None:
        self._console.print(message, markup=False)

    def _verdict(self) -> str:
        ending = self._played.ending
        assert ending is not None  # it is asked for at the end
        winner = ending.winner
        if winner is None:
            return f"draw ({ending.reason})"
        who = "you win" if winner in self._humans and len(self._humans) == 1 else f"{SEAT_NAMES[winner]} wins"
        return f"{who} ({ending.reason})"
