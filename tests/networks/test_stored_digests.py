"""Trees and games that networks of the core decide are the same on every processor with a fused multiply-add."""

import pyarrow as pa
import pytest
from pyarrow import parquet

import hauteur as ht
from hauteur import _core, networks
from hauteur.learning.shards import shard_bytes
from hauteur.matches.arena import Layout, play_games
from hauteur.matches.record import GamePlan
from hauteur.mcts.params import SearchParams, Temperature
from hauteur.networks.evaluators.core import CoreEvaluator
from hauteur.players.search_player import SearchPlayer

FUSED = [
    name
    for name, precisions in _core.Network.available()
    if "float32" in precisions and name not in ("unfused", "simd128")
]

TREES = {
    "tictactoe": (200, "3de7531da24ecdc8"),
    "connect4": (300, "f34f9d664e9ea0c7"),
    "chess": (60, "a5305b49aaf4d1ed"),
}
"""Visits from the start position with the net that ships, and the digest of the tree."""

GAMES = "219b69f06cc3ded4b4d1cabbb6e34d23a29a27cceae2e0a886ae7d01b4f64e8c"
"""SHA-256 of sixty games of tic-tac-toe, as self-play records them."""


def evaluator(game: str, instructions: str) -> CoreEvaluator:
    """The net that ships, computed with these instructions."""
    return CoreEvaluator(ht.load_game(game), networks.load(ht.load_network(game).path), instructions=instructions)


@pytest.mark.parametrize("instructions", FUSED)
@pytest.mark.parametrize("game", TREES)
def test_trees_are_those_that_were_stored(game: str, instructions: str) -> None:
    visits, digest = TREES[game]
    analysis = ht.Analysis(evaluator(game, instructions))
    analysis.go(ht.load_game(game).new_initial_state(), visits=visits)
    assert analysis.tree_facts().digest == digest


@pytest.mark.parametrize("parallel", [1, 16])
@pytest.mark.parametrize("instructions", FUSED)
def test_games_are_those_that_were_stored(instructions: str, parallel: int) -> None:
    game = ht.load_game("tictactoe")
    search = SearchParams.model_validate({"dirichlet": {}})
    player = SearchPlayer("net", evaluator("tictactoe", instructions), search, 30, Temperature(initial=1.0))
    plans = (GamePlan(index, (0, 0)) for index in range(60))
    games = play_games(game, [player], plans, seed=1, purpose="test", layout=Layout(parallel, 8))
    ended = sorted(games, key=lambda record: record.plan.index)
    content = shard_bytes(game.spec, ended, generation=1, nets=[1, 1])
    table = parquet.read_table(pa.BufferReader(content))
    assert table.schema.metadata[b"sha256"].decode() == GAMES
