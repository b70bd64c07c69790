"""hauteur games export: recorded games of runs as files for people."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter


def export(
    *sources: Path,
    to: Annotated[Path, Parameter(name="--to")],
    values: bool = False,
    first_generation: int = 0,
    last_generation: int | None = None,
) -> None:
    """Write recorded games as PGN (chess) or SGF (NoGo).

    Parameters
    ----------
    sources
        Folders of runs, folders of shards, or shards (.parquet).
    to
        Folder to write into: a .pgn or .sgf file a shard. Nothing is overwritten.
    values
        With the value and the visits of every search as a comment.
    first_generation
        Games of this generation and later ones.
    last_generation
        Games of this generation and earlier ones; default: to the end.
    """
    from hauteur.learning.recorded_files import export_games, shards_of

    if not sources:
        raise ValueError("name at least one run, folder or shard")
    with counting("games written") as count:
        facts = export_games(
            shards_of(sources),
            to,
            values=values,
            generations=(first_generation, last_generation),
            on_games=count,
        )
    for message in facts.skipped:
        print(f"hauteur: warning: skipped {message}", file=sys.stderr)
    print(f"{to}: {facts.games:,} games, {facts.positions:,} positions in {facts.files:,} files")


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
