"""Shards of games read back whole, one game at a time, with all that was recorded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from hauteur import _core
from hauteur.games.game_line import NO_NET
from hauteur.games.registry import make
from hauteur.learning.replay import read_table
from hauteur.matches.record import GamePlan, GameRecord

_make = lru_cache(64)(make)


@dataclass(frozen=True)
class StoredGame:
    """A game of a shard; nets: generation of the nets that moved as first and as second."""

    game: _core.Game
    record: GameRecord
    generation: int
    nets: tuple[int, int]

    def start(self) -> _core.State:
        """The position that the game began from."""
        return (self.record.plan.origin or self.game.initial_state()).copy()


def read_stored(path: Path) -> Iterator[StoredGame]:
    """The games of a shard, in order; ValueError naming the file when it is torn or foreign."""
    for number, row in enumerate(read_table(path).to_pylist(), 1):
        try:
            game, record = _make(row["game_spec"]), _record(row)
        except ValueError as error:
            raise ValueError(f"{path}: game {number}: {error}") from error
        yield StoredGame(game, record, row["generation"], (row["net_first"], row["net_second"]))


def wrong_with(stored: StoredGame) -> str | None:
    """Why the game cannot be as it is recorded, or None."""
    record, actions = stored.record, stored.game.num_actions
    columns = (record.movers, record.root_wdl, record.net_value, record.visits, record.temperatures, record.surprise)
    lengths = {len(column) for column in (*columns, record.policy_lengths, record.learn)}
    edges = record.policy_lengths.sum(dtype=int)
    if lengths != {len(record.actions)} or {len(record.policy_actions), len(record.policy_counts)} != {edges}:
        return "has columns that do not fit each other"
    if record.outcome not in (-1, 0, 1) or (record.policy_actions >= actions).any():
        return "has an outcome or an action that the game does not have"
    moves = np.repeat(np.arange(len(record.actions)), record.policy_lengths)
    counts = np.bincount(moves, record.policy_counts, len(record.actions))
    if not np.isfinite(record.root_wdl).all() or not (counts[record.learn != 0] > 0).all():
        return "has a position without a policy target or a value"
    return _wrong_with_moves(stored)


def _wrong_with_moves(stored: StoredGame) -> str | None:
    """The first illegal move, or that the movers are not those of the game; None when all is well."""
    record, state, movers = stored.record, stored.start(), []
    if state.game.num_actions != stored.game.num_actions:
        return f"begins from a position of {state.game.spec}, but is a game of {stored.game.spec}"
    try:
        for action in [*record.plan.start, *record.actions.tolist()]:
            movers.append(state.to_move)
            state.play(action)
    except ValueError as error:
        return str(error)
    told = record.movers.tolist()
    return None if movers[len(record.plan.start) :] == told else "does not say rightly who made each move"


def player_name(net: int) -> str:
    """How a player is called whose net has this generation."""
    return "recorded" if net == NO_NET else f"net of generation {net}"


def _record(row: dict[str, Any]) -> GameRecord:
    origin = None if row["origin"] is None else _make(row["origin"]).initial_state()
    return GameRecord(
        plan=GamePlan(row["index"], (0, 1), tuple(row["start"]), origin),
        seed=row["seed"],
        actions=np.array(row["actions"], np.uint16),
        movers=np.array(row["movers"], np.uint8),
        policy_actions=np.array(row["policy_actions"], np.uint16),
        policy_counts=np.array(row["policy_counts"], np.uint32),
        policy_lengths=np.array(row["policy_lengths"], np.uint16),
        root_wdl=np.array(row["root_wdl"], np.float32).reshape(-1, 3),
        net_value=np.array(row["net_value"], np.float32),
        visits=np.array(row["visits"], np.uint32),
        temperatures=np.array(row["temperatures"], np.float32),
        surprise=np.array(row["surprise"], np.float32),
        learn=np.array(row["learn"], np.uint8),
        outcome=row["outcome"],
        end_reason=row["end_reason"],
        n_scl=row["n_scl"],
        resigned=row["resigned"],
    )
