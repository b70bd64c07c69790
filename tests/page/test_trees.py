"""A search in the browser gives the tree of the wheel: without a net, and with nets in the evaluator's plain form."""

import pytest
from page_client import PageClient
from tree_digests import BATCH, NETS, POSITIONS, SEED, VISITS, digest, evaluator, position

from hauteur.networks.evaluators.base import UniformEvaluator

SETTINGS: tuple[dict[str, str], ...] = ({}, {"search_contempt.n_scl": "5"}, {"solver": "on", "cpuct.init": "2.5"})


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda settings: "-".join(settings) or "plain")
@pytest.mark.parametrize(("game", "fen", "plies"), POSITIONS)
def test_same_trees(client: PageClient, game: str, fen: str, plies: int, settings: dict[str, str]) -> None:
    state, moves = position(game, fen, plies)
    client.connect("explain")
    sides = {"a": {"net": "uniform", "settings": settings}, "b": {"net": NETS[game], "settings": settings}}
    question = {"visits": VISITS, "seed": SEED, "batch_size": BATCH, **sides}
    client.ask("start", game=game, fen=fen, moves=moves, **question)
    found = client.event("done")["sides"]
    assert found["a"]["digest"] == digest(state, UniformEvaluator(state.game), settings)
    assert found["b"]["digest"] == digest(state, evaluator(state, game, "unfused"), settings)
