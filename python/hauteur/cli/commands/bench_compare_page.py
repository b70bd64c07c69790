"""The page of `hauteur bench compare`."""

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hauteur.plots.page import facts_html, page, provenance_html, table_html
from hauteur.system.files import write_bytes

if TYPE_CHECKING:
    from hauteur.players.engines.settings import EngineSettings

HOW = (
    "In every round each program searches every position once, as a new game, for the same number of nodes; median and "
    "range of the rounds are shown. Seconds are those of the processor, of all threads of a program."
)
"""What a reader must know of the table."""


def write_page(
    path: Path,
    facts: Mapping[str, Any],
    table: tuple[Sequence[str], Sequence[Sequence[str]]],
    matches: Mapping[str, str],
    engines: "Mapping[str, EngineSettings]",
    made: Mapping[str, Any],
) -> None:
    """Write the page whole: what was measured, the games, the commands of the programs, and with what it was made."""
    names, rows = table
    shown = [(str(value), name) for name, value in facts.items() if value != []]
    parts = ["<h1>Speed beside other programs</h1>", f"<p>{escape(HOW)}</p>", facts_html(shown)]
    parts += ["<h2>Speed</h2>", table_html(names, rows)]
    if matches:
        parts += ["<h2>Games</h2>", table_html(("against", "hauteur's result"), matches.items(), words=True)]
    commands = [(label, engine.command, option_text(engine)) for label, engine in engines.items()]
    parts += ["<h2>Programs</h2>", table_html(("program", "command", "options"), commands, words=True)]
    write_bytes(path, page("Speed beside other programs", [*parts, provenance_html(made)]).encode())


def option_text(engine: "EngineSettings") -> str:
    """Return the options of a program in one line."""
    return ", ".join(f"{name}={value}" for name, value in engine.options.items())
