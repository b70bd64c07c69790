"""The sample variance of a move's values: kept by the rules that need it, in reports, and shown by UCI."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from search_toys import hash_evaluator
from uci_client import engine

from hauteur._core import Forest, Game
from hauteur.mcts.params import SearchParams

KEEPS: dict[str, dict[str, Any]] = {"variance": {"variance": {"scale": 0.3}}, "lower_bound": {"lower_bound": {}}}


@pytest.mark.parametrize("rule", KEEPS.values(), ids=KEEPS)
def test_it_is_the_variance_of_the_values_that_were_backed_up(rule: dict[str, Any]) -> None:
    """Each value is n Q_n - (n - 1) Q_(n-1), as the mean moves by one visit after another."""
    game = Game("connect4")
    evaluator = hash_evaluator(game.num_actions)
    features = np.zeros((1, *game.feature_shape), np.float32)
    forest = Forest(game, SearchParams.model_validate({"cache_size": 0} | rule))
    tree = forest.add(game.new_initial_state(), seed=3)
    values: dict[int, list[float]] = {}
    sums: dict[int, float] = {}
    for _ in range(300):
        batch = forest.gather(features, 0)
        forest.apply(batch, *evaluator(features[: len(batch)]))
        for edge in forest.root_edges(tree):
            action = edge["action"]
            visits = edge["visits"]
            if visits > len(values.setdefault(action, [])):
                total = visits * (edge["wdl"][0] - edge["wdl"][2])
                values[action].append(total - sums.get(action, 0.0))
                sums[action] = total
            few = visits < 2
            assert (edge["variance"] is None) is few
            if not few:
                assert edge["variance"] == pytest.approx(np.var(values[action], ddof=1), abs=2e-3)
    assert max(map(len, values.values())) > 30


def test_a_search_that_keeps_none_has_none() -> None:
    game = Game("connect4")
    forest = Forest(game, SearchParams())
    tree = forest.add(game.new_initial_state())
    features = np.zeros((8, *game.feature_shape), np.float32)
    for _ in range(20):
        batch = forest.gather(features, 0)
        forest.apply(batch, *hash_evaluator(game.num_actions)(features[: len(batch)]))
    assert all(edge["variance"] is None for edge in forest.root_edges(tree))


@pytest.mark.parametrize("kept", [True, False])
def test_verbose_move_stats_show_it_where_it_is_kept(kept: bool) -> None:
    with engine("--weights", "uniform", "--seed", "5") as client:
        client.send(
            "setoption name VerboseMoveStats value true", f"setoption name LowerBound value {str(kept).lower()}"
        )
        client.send("position startpos", "go nodes 400")
        lines = [
            line for line in client.until("bestmove") if "(WL:" in line and not line.startswith("info string node")
        ]
    assert len(lines) == 20
    assert any("(Var: 0." in line for line in lines) is kept
