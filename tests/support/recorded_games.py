"""Recorded games for tests: random games of any game with made-up searches, and files of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from hauteur import _core
from hauteur.games.played_game import position_after
from hauteur.learning.shards import write_shard
from hauteur.matches.record import GamePlan, GameRecord


def random_record(
    game: _core.Game, index: int, *, plies: int = 40, origin: _core.State | None = None, start: Sequence[int] = ()
) -> GameRecord:
    """A random game of at most `moves` moves with made-up searches: every number is another one."""
    random = np.random.default_rng(index)
    state = position_after(origin or game.new_initial_state(), start)
    actions: list[int] = []
    movers = []
    edges = []
    counts = []
    while state.outcome() is None and len(actions) < plies:
        legal = state.legal_actions()
        visited = random.permutation(legal)[: random.integers(1, len(legal) + 1)]
        movers.append(state.to_move)
        edges.append(visited)
        counts.append(random.integers(1, 100, len(visited)))
        actions.append(int(visited[0]))
        state.apply(actions[-1])
    outcome = state.outcome()
    wdl = random.dirichlet([1, 1, 1], len(actions))
    return GameRecord(
        plan=GamePlan(index, start=tuple(start), origin=origin),
        seed=index,
        actions=np.array(actions, np.uint16),
        movers=np.array(movers, np.uint8),
        policy_actions=np.concatenate(edges).astype(np.uint16),
        policy_counts=np.concatenate(counts).astype(np.uint32),
        policy_lengths=np.array([len(part) for part in edges], np.uint16),
        root_wdl=wdl.astype(np.float32),
        net_value=random.uniform(-1, 1, len(actions)).astype(np.float32),
        visits=random.integers(1, 1000, len(actions)).astype(np.uint32),
        temperatures=np.ones(len(actions), np.float32),
        surprise=np.zeros(len(actions), np.float32),
        learn=np.ones(len(actions), np.uint8),
        outcome=int(random.integers(-1, 2)) if outcome is None else outcome,
        end_reason="ply limit" if outcome is None else (state.end_reason() or ""),
    )


def shard_of(
    path: Path, game: _core.Game, records: Sequence[GameRecord], *, generation: int = 1, nets: Sequence[int] = (0,)
) -> Path:
    """A shard of these games."""
    write_shard(path, game.spec, records, generation=generation, nets=nets)
    return path
