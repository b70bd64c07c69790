"""From shards to files for people and for lc0: PGN, SGF, training chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from hauteur import _core
from hauteur.games.game_line import BadGame, result_text
from hauteur.games.pgn import position_tags, written_pgn
from hauteur.games.sgf import result_of, written_sgf
from hauteur.learning.game_files.importing import files_of
from hauteur.learning.game_files.lc0_chunks import chunk_of, write_chunk
from hauteur.learning.game_files.stored_games import StoredGame, player_name, read_stored
from hauteur.system.files import write_bytes

Format = Literal["lc0-v6", "pgn", "sgf"]

RECORDS = {"lc0-v6": "pgn", "pgn": "pgn", "sgf": "sgf"}
"""The form of record of the games that each format can hold."""


@dataclass
class ExportFacts:
    """The result of an export; skipped: shards that could not be read, with the reason."""

    games: int = 0
    positions: int = 0
    files: int = 0
    skipped: list[str] = field(default_factory=list)


def shards_of(sources: Iterable[str | Path]) -> list[Path]:
    """The shards of runs (their folder games), folders, files and patterns."""
    paths = [Path(source) for source in sources]
    return files_of([path / "games" if (path / "config.toml").exists() else path for path in paths], (".parquet",))


def export_games(
    shards: Iterable[Path],
    folder: Path,
    form: Format,
    *,
    values: bool = False,
    generations: tuple[int, int | None] = (0, None),
    on_games: Callable[[int], None] | None = None,
) -> ExportFacts:
    """Write the games of these shards to a folder: one chunk per game, or one .pgn or .sgf per shard.

    values: add search values to PGN and SGF as comments; generations: first and last to export (None: to the end).
    Raise ValueError if a game is of the wrong kind, a file already exists, or there is no game.
    """
    facts = ExportFacts()
    for shard in shards:
        games = []
        for stored in _chosen(shard, generations, facts):
            _check_game(shard, stored, form)
            games.append(stored)
            facts.games += 1
            facts.positions += len(stored.record.actions)
            if on_games is not None:
                on_games(facts.games)
        facts.files += _write(folder, shard, games, form, values)
    if not facts.games:
        raise ValueError(f"no game to write: {facts.skipped[0] if facts.skipped else 'the shards are empty'}")
    return facts


def _chosen(shard: Path, generations: tuple[int, int | None], facts: ExportFacts) -> Iterator[StoredGame]:
    """The games of these generations; what cannot be true is skipped."""
    first, last = generations
    try:
        for stored in read_stored(shard):
            if isinstance(stored, BadGame):
                facts.skipped.append(str(stored))
            elif first <= stored.generation and (last is None or stored.generation <= last):
                yield stored
    except ValueError as error:
        facts.skipped.append(str(error))


def _check_game(shard: Path, stored: StoredGame, form: Format) -> None:
    if stored.game.record_form != RECORDS[form]:
        raise ValueError(f"{shard}: its game is {stored.game.spec}, whose games {form} does not hold")


def _write(folder: Path, shard: Path, games: list[StoredGame], form: Format, values: bool) -> int:
    """Write the games of a shard; the number of files."""
    if games:
        folder.mkdir(parents=True, exist_ok=True)
    if form == "lc0-v6":
        for stored in games:
            name = f"game-{stored.generation:05d}-{stored.record.plan.index:06d}.gz"
            write_chunk(_new(folder / name), chunk_of(stored))
        return len(games)
    if not games:
        return 0
    text = pgn_text if form == "pgn" else sgf_text
    content = "".join(text(stored, values=values) for stored in games)
    write_bytes(_new(folder / f"{shard.stem}.{form}"), content.encode())
    return 1


def _new(path: Path) -> Path:
    """The path, if there is nothing yet."""
    if path.exists():
        raise ValueError(f"{path}: is there already; name a new folder")
    return path


def pgn_text(stored: StoredGame, *, values: bool = False) -> str:
    """A game as PGN; values: with the searches' value and visits as a comment behind each move."""
    record = stored.record
    state, begins = stored.start(), len(record.plan.start)
    comments = {
        begins + move: f"{win - loss:+.3f}, {record.visits[move]} visits"
        for move, (win, _, loss) in enumerate(record.root_wdl.tolist())
        if values and record.visits[move]
    }
    actions = [*record.plan.start, *record.actions.tolist()]
    return written_pgn(_tags(stored, state), state, actions, result_text(record.outcome), comments)


def _tags(stored: StoredGame, start: _core.State) -> list[tuple[str, str]]:
    record = stored.record
    tags = [
        ("Event", f"generation {stored.generation}"),
        ("Site", "?"),
        ("Date", "????.??.??"),
        ("Round", str(record.plan.index)),
        ("White", player_name(stored.nets[0])),
        ("Black", player_name(stored.nets[1])),
        ("Result", result_text(record.outcome)),
        ("Termination", record.end_reason or "unknown"),
    ]
    return tags + position_tags(stored.game, start, is_start_of_game=record.plan.origin is None)


def sgf_text(stored: StoredGame, *, values: bool = False) -> str:
    """A game as SGF; values: with the searches' value and visits as a comment of each move."""
    record = stored.record
    root = {
        "EV": f"generation {stored.generation}",
        "RO": str(record.plan.index),
        "PB": player_name(stored.nets[0]),
        "PW": player_name(stored.nets[1]),
        "RE": result_of(record.outcome, record.end_reason),
    }
    begins = len(record.plan.start)
    comments = {begins + move: _comment(stored, move) for move in range(len(record.actions))} if values else {}
    return written_sgf(stored.game, root, [*record.plan.start, *record.actions.tolist()], comments)


def _comment(stored: StoredGame, move: int) -> str:
    """Return value and visits of the search of a move; empty without one."""
    record = stored.record
    if move < 0 or not record.visits[move]:
        return ""
    win, _, loss = record.root_wdl[move].tolist()
    return f"{win - loss:+.3f}, {record.visits[move]} visits"
