"""Games in files: PGN, SGF and shards are read to learn from, shards are written again as PGN or SGF.

Good games are kept, bad ones reported.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from glob import glob, has_magic
from pathlib import Path
from typing import Any

import numpy as np

from hauteur import _core
from hauteur.games.game_line import NO_NET, RESIGNATION, BadGame, TaggedGame, end_text, result_text
from hauteur.games.game_texts import games_of_file
from hauteur.games.pgn import position_tags, written_pgn
from hauteur.games.played_game import movers_of, position_after
from hauteur.games.sgf import result_of, written_sgf
from hauteur.learning.recorded_games import STORED, make_cached
from hauteur.matches.record import GamePlan, GameRecord
from hauteur.system.files import write_bytes
from hauteur.system.packed import content_suffix, plain_file

GAME_SUFFIXES = (".pgn", ".sgf", ".parquet")


@dataclass(frozen=True)
class StoredGame:
    """A game of a shard; nets: generation of the nets that moved as first and as second."""

    game: _core.Game
    record: GameRecord
    generation: int
    nets: tuple[int, int]

    def start(self) -> _core.State:
        return (self.record.plan.origin or self.game.new_initial_state()).copy()


def read_stored(path: Path) -> Iterator[StoredGame | BadGame]:
    """Yield the games of a shard, in order; ValueError naming the file when it is damaged or foreign."""
    from hauteur.learning.shards import bad_games, read_table  # here: other files of games need no pyarrow

    table = read_table(path)
    bad = bad_games(table)
    for number, row in enumerate(table.to_pylist()):
        if (reason := bad.get(number)) is not None:
            yield BadGame(f"{path}, game {number + 1}", reason)
        else:
            nets = (row["net_first"], row["net_second"])
            yield StoredGame(make_cached(row["game_spec"]), _record(row), row["generation"], nets)


def good_games(path: Path) -> Iterator[StoredGame]:
    """Yield the games of a shard, in order; ValueError also for a game that cannot be as recorded."""
    for stored in read_stored(path):
        if isinstance(stored, BadGame):
            raise ValueError(str(stored))
        yield stored


def player_name(net: int) -> str:
    """Return the name of a player whose net has this generation."""
    return "recorded" if net == NO_NET else f"net of generation {net}"


def _record(row: dict[str, Any]) -> GameRecord:
    origin = None
    if row["origin"] is not None:
        origin = make_cached(row["origin"]).new_initial_state()
    columns: dict[str, Any] = {column.name: column.array(row[column.name]) for column in STORED}
    return GameRecord(
        plan=GamePlan(row["index"], (0, 1), tuple(row["start"]), origin),
        seed=row["seed"],
        outcome=row["outcome"],
        end_reason=row["end_reason"],
        n_scl=row["n_scl"],
        resigned=row["resigned"],
        **columns,
    )


def files_of(sources: Iterable[str | Path], suffixes: Sequence[str]) -> list[Path]:
    """The files that the sources name: files, folders (searched through) and patterns such as games/*.pgn, in order.

    ValueError for a source that names nothing, or a file of another kind.
    """
    found: list[Path] = []
    for source in map(str, sources):
        # Sorted, since games are numbered in this order and the held-out ones are drawn by their numbers.
        names = sorted(glob(source, recursive=True)) if has_magic(source) else [source]  # noqa: PTH207
        files = [file for name in names for file in _files_below(Path(name), suffixes)]
        if not files:
            raise ValueError(f"{source}: no file of games there (read are {', '.join(suffixes)})")
        found += files
    wrong = next((path for path in found if content_suffix(path) not in suffixes), None)
    if wrong is not None:
        raise ValueError(f"{wrong}: files of this kind are not read here; read are {', '.join(suffixes)}")
    return list(dict.fromkeys(found))


def _files_below(path: Path, suffixes: Sequence[str]) -> list[Path]:
    """The file itself, or those with one of the suffixes in the folder."""
    if path.is_dir():
        return sorted(file for file in path.rglob("*") if file.is_file() and _is_of(file, suffixes))
    if not path.exists():
        raise ValueError(f"{path}: there is no such file or folder")
    return [path]


def _is_of(file: Path, suffixes: Sequence[str]) -> bool:
    """Whether a file in a folder is of these kinds; other zips may lie there too."""
    try:
        return content_suffix(file) in suffixes
    except ValueError:
        return False


def read_games(
    paths: Iterable[Path], game: _core.Game, on_note: Callable[[str], None] = lambda _: None
) -> Iterator[GameRecord | BadGame]:
    """The games of PGN, SGF and Parquet files, each checked by playing it, numbered from 0 in this order.

    on_note: gets what was changed to read a game, a line each: a FEN that was cleaned, a null move that ends it.
    """
    number = 0
    for path in paths:
        for found in _read_file(path, game, on_note):
            good = found
            if isinstance(found, GameRecord):
                plan = replace(found.plan, index=number, sides=(0, 0))
                good = replace(found, plan=plan)
                number += 1
            yield good


def _read_file(path: Path, game: _core.Game, on_note: Callable[[str], None]) -> Iterator[GameRecord | BadGame]:
    if content_suffix(path) == ".parquet":
        yield from _read_shard(plain_file(path), game)
        return
    for number, line in enumerate(games_of_file(path, game), 1):
        if isinstance(line, BadGame):
            yield line
            continue
        for note in line.said:
            on_note(note)
        try:
            yield record_of(game, line)
        except ValueError as error:
            yield BadGame(f"{path}, game {number}", str(error))


def _read_shard(path: Path, game: _core.Game) -> Iterator[GameRecord | BadGame]:
    try:
        for number, stored in enumerate(read_stored(path), 1):
            if isinstance(stored, BadGame):
                yield stored
            elif stored.game.spec != game.spec:
                yield BadGame(f"{path}, game {number}", f"is a game of {stored.game.spec}, not of {game.spec}")
            elif not stored.record.learned.any():
                yield BadGame(f"{path}, game {number}", "has no positions to learn from")
            else:
                yield stored.record
    except ValueError as error:
        yield BadGame(str(path), str(error).removeprefix(f"{path}: "))


def record_of(game: _core.Game, line: TaggedGame) -> GameRecord:
    """Return the line as a game to learn from.

    ValueError for an illegal move, and for no result or one that contradicts the last position. No search stands behind
    it: the policy target is the move that was played, the root's value is the outcome, the root has no visits.
    """
    if line.outcome is None:
        result = line.tags.get("Result", line.tags.get("RE", "none"))
        raise ValueError(f"it has no result: {result}")
    movers = _movers(game, line, line.outcome)
    moves = len(movers)
    results = np.where(movers == 0, line.outcome, -line.outcome)
    resigned = -1
    if line.end_reason == RESIGNATION:
        resigned = 1 if line.outcome > 0 else 0
    return GameRecord(
        plan=GamePlan(0, origin=line.origin),
        seed=0,
        actions=np.array(line.actions, np.uint16),
        movers=movers,
        policy_actions=np.array(line.actions, np.uint16),
        policy_counts=np.ones(moves, np.uint32),
        policy_lengths=np.ones(moves, np.uint16),
        root_wdl=np.eye(3, dtype=np.float32)[1 - results],
        outcome=line.outcome,
        end_reason=line.end_reason,
        resigned=resigned,
    )


def _movers(game: _core.Game, line: TaggedGame, outcome: int) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    """Return the side that made each move, by replaying the game."""
    if not line.actions:
        raise ValueError("it has no moves")
    start = line.origin or game.new_initial_state()
    movers = movers_of(start, line.actions)
    state = position_after(start, line.actions)
    # Only an end by the rules can contradict the result: people resign, run out of time and agree to draws before it.
    if not len(state.legal_actions()) and state.outcome() != outcome:
        raise ValueError(f"its result is {result_text(outcome)}, but the last position is {end_text(state)}")
    return np.array(movers, np.uint8)


def shards_of(sources: Iterable[str | Path]) -> list[Path]:
    """The shards of runs (their folder games), folders, files and patterns."""
    paths = []
    for source in sources:
        path = Path(source)
        is_run = (path / "config.toml").exists()
        paths.append(path / "games" if is_run else path)
    return files_of(paths, (".parquet",))


def export_games(shards: Iterable[Path], folder: Path, *, values: bool = False) -> tuple[int, list[str]]:
    """Write the games of these shards to a folder, a .pgn or .sgf file a shard, in the form that the game has.

    values: add search values as comments. Return the number of games, and what could not be read, with the reason.
    Raise ValueError if a game has neither form, a file already exists, or there is no game.
    """
    count = 0
    skipped = list[str]()
    for shard in shards:
        games = list(_writable(shard, skipped))
        if games:
            path = folder / f"{shard.stem}.{games[0].game.record_form}"
            if path.exists():
                raise ValueError(f"{path}: is there already; name a new folder")
            folder.mkdir(parents=True, exist_ok=True)
            text = "".join(game_text(game, values=values) for game in games)
            write_bytes(path, text.encode())
            count += len(games)
    if not count:
        raise ValueError(f"no game to write: {skipped[0] if skipped else 'the shards are empty'}")
    return count, skipped


def _writable(shard: Path, skipped: list[str]) -> Iterator[StoredGame]:
    """The games of a shard; what cannot be true is skipped."""
    try:
        for stored in read_stored(shard):
            if isinstance(stored, BadGame):
                skipped.append(str(stored))
            elif stored.game.record_form is None:
                raise ValueError(f"its game is {stored.game.spec}; chess is written as PGN and NoGo as SGF")
            else:
                yield stored
    except ValueError as error:
        reason = str(error).removeprefix(f"{shard}: ")
        skipped.append(f"{shard}: {reason}")


def game_text(stored: StoredGame, *, values: bool = False) -> str:
    """A game as PGN or SGF; values: with the searches' value and visits as a comment after each move."""
    record = stored.record
    state = stored.start()
    begins = len(record.plan.start)
    comments = {
        begins + move: f"{win - loss:+.3f}, {record.visits[move]} visits"
        for move, (win, _, loss) in enumerate(record.root_wdl.tolist())
        if values and record.visits[move]
    }
    event = f"generation {stored.generation}"
    number = str(record.plan.index)
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
