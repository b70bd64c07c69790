"""A game in the terminal: a human on any of the seats, a player (evaluator and search) on the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from hauteur import _core
from hauteur.players.player import Player
from hauteur.search.driver import run_searches
from hauteur.system.seeds import stream

COMMANDS = {
    "moves": "list the legal moves",
    "hint": "let the engine look at your position",
    "undo": "take back your last move and the answer to it",
    "flip": "change seats with the engine",
    "help": "show this list",
    "quit": "leave (also Ctrl-D)",
}
COLOURS = {"X": "bold cyan", "O": "bold magenta"}
CONNECT4_COLOURS = {"Y": "bold yellow", "R": "bold red"}
HINT_MOVES = 5
BATCH = 8
"""Rows of a batch: one tree gains little from more, and a few rows cost an evaluator hardly more than one."""
SEAT_NAMES = ("first player", "second player")


class TerminalGame:
    """One game, from its start until its end or until the human leaves."""

    def __init__(
        self,
        player: Player,
        game: _core.Game,
        humans: Sequence[int],
        *,
        seed: int = 0,
        console: Console | None = None,
        ask: Callable[[str], str] = input,
    ) -> None:
        """humans: seats (0, 1) of the human; ask: shows a prompt and returns a line, EOFError ends the game."""
        self._player = player
        self._game = game
        self._humans = set(humans)
        self._console = console or Console(highlight=False)
        self._ask = ask
        self._moves: list[int] = []
        self._state = game.initial_state()
        self._forest = player.forest(game, seed=seed)
        self._rng = stream(seed, "terminal")

    def run(self) -> None:
        """Plays until the game is over or the human leaves."""
        self._say(
            f"{self._game.spec} against {self._player.name}, {self._player.visits} visits a move; help lists commands"
        )
        self._show()
        while self._state.outcome() is None:
            if self._state.to_move not in self._humans:
                self._engine_move()
            elif not self._human_turn():
                return
        self._say(self._verdict())

    @property
    def state(self) -> _core.State:
        """The position on the screen."""
        return self._state

    def _human_turn(self) -> bool:
        """Reads one line and obeys it; False when the human leaves."""
        try:
            line = self._ask(f"{SEAT_NAMES[self._state.to_move]}, your move: ").strip()
        except EOFError:
            self._console.print()
            return False
        word = line.lower()
        if word == "quit":
            return False
        if word in COMMANDS:
            self._obey(word)
        elif line:
            self._try_move(line)
        return True

    def _obey(self, word: str) -> None:
        actions: dict[str, Callable[[], None]] = {
            "moves": lambda: self._say(
                " ".join(self._text(self._state, a) for a in self._state.legal_actions().tolist())
            ),
            "hint": self._hint,
            "undo": self._undo,
            "flip": self._flip,
            "help": self._help,
        }
        actions[word]()

    def _try_move(self, text: str) -> None:
        """Plays the move that the human typed, or says what is allowed."""
        try:
            action = self._state.action_from_text(text)
        except ValueError as error:
            self._say(f"{error}; help lists commands")
            return
        self._play(action)

    def _engine_move(self) -> None:
        """Searches, says the move and what the engine thinks of it, plays it."""
        tree = self._search()
        ids = np.array([tree], np.int64)
        plies = np.array([self._state.ply], np.int64)
        action = int(self._player.choose(self._forest, ids, plies, self._rng.random(1)).actions[0])
        win, draw, loss = self._forest.root_values(ids)[0]
        text = self._text(self._state, action)
        self._forest.remove(ids)
        self._say(f"{self._player.name} plays {text}   (win {win:.0%}, draw {draw:.0%}, loss {loss:.0%})")
        self._play(action)

    def _search(self) -> int:
        """A finished search of the position; its tree's number."""
        tree = self._forest.add(self._state)
        self._forest.set_visit_limits(np.array([tree], np.int64), np.array([self._player.visits], np.uint32))
        with self._console.status("thinking"):
            player = self._player
            rows = min(BATCH, player.evaluator.batch_size)
            run_searches(self._forest, player.evaluator, large=player.large, batch_size=rows)
        return tree

    def _hint(self) -> None:
        """A table of the moves that the engine visits most."""
        tree = self._search()
        table = Table("move", "visits", "prior", "value", "line")
        for edge in self._forest.root_edges(tree)[:HINT_MOVES]:
            value = f"{edge['q']:+.2f}" if edge["visits"] else "-"
            line = self._line_text(self._forest.principal_variation(tree, edge["action"], 6))
            table.add_row(line[0], str(edge["visits"]), f"{edge['prior']:.1%}", value, " ".join(line[1:]))
        self._forest.remove(np.array([tree], np.int64))
        self._console.print(table)

    def _line_text(self, actions: Sequence[int]) -> list[str]:
        """The moves of a line from here in the game's notation."""
        state, texts = self._state.copy(), []
        for action in actions:
            texts.append(self._text(state, action))
            state.play(action)
        return texts

    def _text(self, state: _core.State, action: int) -> str:
        """The move as people write it."""
        return state.action_to_text(action, "san" if self._game.name == "chess" else None)

    def _undo(self) -> None:
        """Goes back to the human's last turn."""
        back = len(self._moves)
        while back > 0:
            back -= 1
            if self._after(self._moves[:back]).to_move in self._humans:
                break
        else:
            self._say("there is no move of yours to take back")
            return
        self._moves = self._moves[:back]
        self._state = self._after(self._moves)
        self._show()

    def _after(self, moves: Sequence[int]) -> _core.State:
        state = self._game.initial_state()
        for action in moves:
            state.play(action)
        return state

    def _flip(self) -> None:
        self._humans = {1 - seat for seat in self._humans} if len(self._humans) == 1 else self._humans
        self._say(f"you are {' and '.join(SEAT_NAMES[seat] for seat in sorted(self._humans))}")

    def _help(self) -> None:
        self._say("type a move, or one of:")
        for word, text in COMMANDS.items():
            self._console.print(f"  {word:6} {text}", markup=False)

    def _play(self, action: int) -> None:
        self._moves.append(action)
        self._state.play(action)
        self._show()

    def _show(self) -> None:
        """Draws the position, the signs of the players coloured."""
        text = Text(self._state.text())
        colours = CONNECT4_COLOURS if self._game.name == "connect4" else COLOURS
        for sign, colour in colours.items():
            text.highlight_regex(rf"(?<![^\s]){sign}(?=\s)", colour)
        title = f"ply {self._state.ply}"
        self._console.print(Panel(text, title=title, expand=False))

    def _say(self, message: str) -> None:
        self._console.print(message, markup=False)

    def _verdict(self) -> str:
        outcome, reason = self._state.outcome(), self._state.end_reason()
        if outcome == 0:
            return f"draw ({reason})"
        winner = 0 if outcome == 1 else 1
        who = "you win" if winner in self._humans and len(self._humans) == 1 else f"{SEAT_NAMES[winner]} wins"
        return f"{who} ({reason})"
