"""Writes tests/mcts/golden/puct.json again: its searches by the reference, with exact root visits.

Run from the checkout: PYTHONPATH=.:python:tests/support python tests/support/make_golden.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from search_pairs import random_state
from search_toys import hash_evaluator

from hauteur._core import Game
from hauteur.mcts.params import SearchParams
from reference import Search

FILE = Path(__file__).parents[1] / "mcts" / "golden" / "puct.json"


def searched(golden: dict[str, Any]) -> dict[str, Any]:
    """One search with its result; its seed and the salt of its answers are the number of visits."""
    visits, params = golden["visits"], SearchParams.model_validate(golden["params"])
    game = Game(golden["game"])
    search = Search(random_state(game, golden["moves"]), params, seed=visits)
    evaluate = hash_evaluator(game.num_actions, salt=visits)
    search.visit_limit = visits
    while search.wants_visit():
        leaves = search.gather(golden["rows"])
        features = np.zeros((len(leaves), *game.feature_shape), np.float32)
        for row, leaf in zip(features, leaves, strict=True):
            row[:] = leaf.node.state.features()
        search.apply(leaves, *evaluate(features))
    return golden | {
        "root_visits": {str(action): n for action, n in sorted(search.root_visits().items()) if n},
        "root_value": list(search.root.value),
    }


if __name__ == "__main__":
    searches = json.loads(FILE.read_text(encoding="utf-8"))
    lines = ",\n".join(json.dumps(searched(search)) for search in searches)
    FILE.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
