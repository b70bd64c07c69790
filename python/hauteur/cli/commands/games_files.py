"""hauteur games: recorded games from other programs into shards, and shards into files for people and for lc0."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from hauteur.cli.commands.options import GameSpec

SHOWN = 10
"""Bad games that are named one by one."""


def export(
    *sources: Path,
    to: Annotated[Path, Parameter(name="--to")],
    format: Literal["lc0-v6", "pgn", "sgf"],  # noqa: A002
    values: bool = False,
    first_generation: int = 0,
    last_generation: int | None = None,
) -> None:
    """Write recorded games as lc0's training chunks, PGN or SGF.

    Parameters
    ----------
    sources
        Folders of runs, folders of shards, or shards (.parquet).
    to
        Folder to write into: a chunk a game (lc0-v6), or a .pgn or .sgf file a shard. Nothing is overwritten.
    format
        lc0-v6 and pgn hold chess, sgf NoGo.
    values
        PGN and SGF: with the value and the visits of every search as a comment.
    first_generation
        Games of this generation and later ones.
    last_generation
        Games of this generation and earlier ones; default: to the end.
    """
    from hauteur.learning.game_files.exporting import export_games, shards_of

    if not sources:
        raise ValueError("name at least one run, folder or shard")
    with counting("games written") as count:
        facts = export_games(
            shards_of(sources),
            to,
            format,
            values=values,
            generations=(first_generation, last_generation),
            on_games=count,
        )
    for message in facts.skipped:
        print(f"hauteur: warning: skipped {message}", file=sys.stderr)
    print(f"{to}: {facts.games:,} games, {facts.positions:,} positions in {facts.files:,} files ({format})")


def import_(
    *sources: str,
    game: GameSpec,
    to: Annotated[Path, Parameter(name="--to")],
) -> None:
    """Read games from PGN (chess), SGF (NoGo) or shards and write them as shards that training reads.

    Games that cannot be used (an illegal move, no result, another game or board) are named and left out; it is an error
    when none is left. lc0's training chunks hold positions, not games: name them in `start.games` of a recipe.

    Parameters
    ----------
    sources
        Files, folders, or patterns in quotes such as "games/*.pgn".
    game
        The game as a spec, e.g. `chess`, `nogo(size=7)`.
    to
        New folder for the shards.
    """
    from hauteur.games.registry import load_game
    from hauteur.learning.game_files.importing import GAME_SUFFIXES, files_of, import_games

    if not sources:
        raise ValueError("name at least one file or folder of games")
    with counting("games read") as count:
        facts = import_games(files_of(sources, GAME_SUFFIXES), load_game(game), to, on_games=count)
    for bad in facts.bad[:SHOWN]:
        print(f"hauteur: warning: left out {bad}", file=sys.stderr)
    if len(facts.bad) > SHOWN:
        print(f"hauteur: warning: left out {len(facts.bad) - SHOWN:,} more", file=sys.stderr)
    results = f"{facts.first_wins:,} won by the first player, {facts.draws:,} drawn, {facts.second_wins:,} lost"
    print(f"{to}: {facts.games:,} games ({results}), {facts.positions:,} positions; left out: {len(facts.bad):,}")


@contextmanager
def counting(what: str) -> Iterator[Callable[[int], None]]:
    """Show a counter on stderr where it is a terminal; yield the function that takes the count so far."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _: None
        return
    with console.status(what) as status:
        yield lambda done: status.update(f"{what}: {done:,}") if done % 100 == 0 else None
