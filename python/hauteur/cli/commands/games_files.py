"""hauteur games export: recorded games of runs as files for people."""

from __future__ import annotations

import sys
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
    facts = export_games(shards_of(sources), to, values=values, generations=(first_generation, last_generation))
    for message in facts.skipped:
        print(f"hauteur: warning: skipped {message}", file=sys.stderr)
    print(f"{to}: {facts.games:,} games, {facts.positions:,} positions in {facts.files:,} files")
