"""Games of shards one at a time, with all that was recorded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hauteur import _core
from hauteur.games.game_line import NO_NET, BadGame
from hauteur.learning.recorded_games import STORED, make_cached
from hauteur.matches.record import GamePlan, GameRecord


@dataclass(frozen=True)
class StoredGame:
    """A game of a shard; nets: generation of the nets that moved as first and as second."""

    game: _core.Game
    record: GameRecord
    generation: int
    nets: tuple[int, int]

    def start(self) -> _core.State:
        """Return the position that the game began from."""
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
    """Yield the games of a shard, in order; ValueError also for a game that cannot be as it is recorded."""
    for stored in read_stored(path):
        if isinstance(stored, BadGame):
            raise ValueError(str(stored))
        yield stored


def player_name(net: int) -> str:
    """Return how a player is called whose net has this generation."""
    return "recorded" if net == NO_NET else f"net of generation {net}"


def _record(row: dict[str, Any]) -> GameRecord:
    origin = None if row["origin"] is None else make_cached(row["origin"]).new_initial_state()
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
