"""Bytes that a recorded position takes on disk: self-play of chess, written as one shard.

python benchmarks/replay_bytes.py [NET] [GAMES] [VISITS] [MAX_PLIES]     (uniform 100 50 200)
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

from hauteur import _core
from hauteur.learning.recipe import LearningSearch
from hauteur.learning.shards import write_shard
from hauteur.matches.arena import play_games
from hauteur.matches.record import GamePlan, GameRecord
from hauteur.mcts.params import Temperature
from hauteur.networks.evaluators.factory import make_evaluator
from hauteur.players.search_player import SearchPlayer


def self_play(net: str, games: int, visits: int, max_plies: int) -> list[GameRecord]:
    """Games with the defaults of learning: noise at the root, temperature 1 that falls over 15 moves."""
    game = _core.Game("chess")
    evaluator = make_evaluator(game, net, threads=1)
    temperature = Temperature(initial=1.0, decay_moves=15)
    player = SearchPlayer("self", evaluator, LearningSearch(), visits, temperature)
    plans = [GamePlan(index) for index in range(games)]
    batch = max(16, games // 2)
    played = play_games(
        game, [player], plans, seed=1, purpose="bytes", parallel=games, batch_size=batch, max_plies=max_plies
    )
    return list(played)


def main(net: str = "uniform", games: str = "100", visits: str = "50", max_plies: str = "200") -> None:
    """Plays, writes, and prints bytes and visited moves a position."""
    records = self_play(net, int(games), int(visits), int(max_plies))
    positions = sum(len(record.actions) for record in records)
    edges = int(np.sum([record.policy_lengths.sum() for record in records]))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "games.parquet"
        write_shard(path, "chess", records, generation=1, nets=[0])
        size = path.stat().st_size
    print(
        f"{net}, {visits} visits: {positions:,} positions of {games} games, "
        f"{size / positions:.1f} bytes and {edges / positions:.1f} moves with a share each"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
