"""A game in the terminal, with a human whose lines are given."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console

from hauteur import _core
from hauteur.engine.terminal import TerminalGame
from hauteur.games.registry import load_game
from hauteur.players.settings import PlayerSettings


def played(
    spec: str, lines: list[str], humans: tuple[int, ...] = (0,), *, save: Path | None = None
) -> tuple[str, _core.State]:
    """Return what is on the screen and the position after the human typed these lines."""
    game = load_game(spec)
    toy = PlayerSettings(name="toy", net="uniform", visits=20)
    screen = io.StringIO()
    answers: Iterator[str] = iter(lines)

    def ask(prompt: str) -> str:
        screen.write(prompt)
        try:
            return next(answers)
        except StopIteration:
            raise EOFError from None

    console = Console(file=screen, width=100, highlight=False, force_terminal=False, color_system=None)
    terminal = TerminalGame(game, (toy, toy), humans, seed=1, console=console, ask=ask, save=save)
    terminal.run()
    return screen.getvalue(), terminal.state
