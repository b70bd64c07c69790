"""Recorded games of runs and shards as files for people: chess as PGN, NoGo as SGF."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from hauteur.games.game_line import BadGame, result_text
from hauteur.games.pgn import position_tags, written_pgn
from hauteur.games.sgf import result_of, written_sgf
from hauteur.learning.recorded_files import StoredGame, files_of, player_name, read_stored
from hauteur.system.files import write_bytes


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
    *,
    values: bool = False,
    generations: tuple[int, int | None] = (0, None),
    on_games: Callable[[int], None] | None = None,
) -> ExportFacts:
    """Write the games of these shards to a folder, a .pgn or .sgf file a shard, in the form that the game has.

    values: add search values as comments; generations: first and last to export (None: to the end). Raise ValueError if
    a game has neither form, a file already exists, or there is no game.
    """
    facts = ExportFacts()
    for shard in shards:
        texts = []
        for stored in _chosen(shard, generations, facts):
            texts.append(game_text(stored, values=values))
            facts.games += 1
            facts.positions += len(stored.record.actions)
            if on_games is not None:
                on_games(facts.games)
        if texts:
            path = folder / f"{shard.stem}.{stored.game.record_form}"
            if path.exists():
                raise ValueError(f"{path}: is there already; name a new folder")
            folder.mkdir(parents=True, exist_ok=True)
            write_bytes(path, "".join(texts).encode())
            facts.files += 1
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
            elif stored.game.record_form is None:
                raise ValueError(f"its game is {stored.game.spec}; chess is written as PGN and NoGo as SGF")
            elif first <= stored.generation and (last is None or stored.generation <= last):
                yield stored
    except ValueError as error:
        facts.skipped.append(f"{shard}: {str(error).removeprefix(f'{shard}: ')}")


def game_text(stored: StoredGame, *, values: bool = False) -> str:
    """A game as PGN or SGF; values: with the searches' value and visits as a comment behind each move."""
    record, state = stored.record, stored.start()
    begins = len(record.plan.start)
    comments = {
        begins + move: f"{win - loss:+.3f}, {record.visits[move]} visits"
        for move, (win, _, loss) in enumerate(record.root_wdl.tolist())
        if values and record.visits[move]
    }
    event, number = f"generation {stored.generation}", str(record.plan.index)
    first, second = map(player_name, stored.nets)
    actions = [*record.plan.start, *record.actions.tolist()]
    if stored.game.record_form == "sgf":
        result = result_of(record.outcome, record.end_reason)
        root = {"EV": event, "RO": number, "PB": first, "PW": second, "RE": result}
        return written_sgf(stored.game, root, actions, comments)
    tags = [
        ("Event", event),
        ("Site", "?"),
        ("Date", "????.??.??"),
        ("Round", number),
        ("White", first),
        ("Black", second),
        ("Result", result_text(record.outcome)),
        ("Termination", record.end_reason or "unknown"),
        *position_tags(stored.game, state, is_start_of_game=record.plan.origin is None),
    ]
    return written_pgn(tags, state, actions, result_text(record.outcome), comments)
