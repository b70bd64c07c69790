"""Writes tests/mcts/golden/puct.json: searches of the reference with their exact root visits. Run from the checkout:

PYTHONPATH=python:tests/support python tests/support/make_golden.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from search_pairs import random_state
from search_toys import hash_evaluator

from hauteur._core import Game
from hauteur.mcts.params import Cpuct, Dirichlet, Fpu, SearchParams
from reference import Search

FILE = Path(__file__).parents[1] / "mcts" / "golden" / "puct.json"

PLAIN = SearchParams()
ALPHAZERO = SearchParams(
    cpuct=Cpuct(init=2.5, base=19652, factor=2), fpu=Fpu(kind="absolute", value=0), policy_temperature=1
)
SELF_PLAY = SearchParams(
    cpuct=Cpuct(init=1.2, factor=0), fpu=Fpu(value=0), root_policy_temperature=1.1, dirichlet=Dirichlet(), cache_size=0
)
ODDS = SearchParams(draw_score=-0.4, root_fpu=Fpu(kind="absolute", value=1), root_cpuct=Cpuct(init=3, factor=0))

SEARCHES: list[tuple[str, list[int], SearchParams, int, int]] = [
    ("tictactoe", [], PLAIN, 200, 1),
    ("tictactoe", [4, 0], SELF_PLAY, 200, 1),
    ("tictactoe", [0], ALPHAZERO, 300, 7),
    ("connect4", [], PLAIN, 400, 1),
    ("connect4", [3, 3, 2], ALPHAZERO, 400, 1),
    ("connect4", [1, 5, 3], SELF_PLAY, 400, 16),
    ("nogo(size=4)", [5], ODDS, 300, 1),
    ("nogo(size=9)", [40, 7], PLAIN, 200, 8),
    ("chess", [], PLAIN, 200, 1),
    ("chess", [9, 3, 12, 7], ODDS, 200, 1),
    ("chess", [9, 3, 12, 7, 20, 1], SELF_PLAY, 200, 32),
]


def run(spec: str, moves: list[int], params: SearchParams, visits: int, rows: int) -> dict[str, Any]:
    """One search of the reference; its seed and the salt of its answers are the number of visits."""
    game = Game(spec)
    search = Search(random_state(game, moves), params, seed=visits)
    evaluate = hash_evaluator(game.num_actions, salt=visits)
    search.visit_limit = visits
    while search.wants_visit():
        leaves = search.gather(rows)
        features = np.zeros((len(leaves), *game.feature_shape), np.float32)
        for row, leaf in zip(features, leaves, strict=True):
            row[:] = leaf.node.state.features()
        search.apply(leaves, *evaluate(features))
    return {
        "game": spec,
        "moves": moves,
        "params": json.loads(params.model_dump_json(exclude_defaults=True)),
        "visits": visits,
        "rows": rows,
        "root_visits": {str(action): n for action, n in sorted(search.root_visits().items()) if n},
        "root_value": list(search.root.value),
    }


if __name__ == "__main__":
    FILE.parent.mkdir(exist_ok=True)
    lines = ",\n".join(json.dumps(run(*search)) for search in SEARCHES)
    FILE.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
