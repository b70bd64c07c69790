"""A search in the browser gives the tree of the wheel: without a net, and with nets in the evaluator's plain form."""

from typing import Any

import pytest
from page_client import PageClient

from hauteur import _core
from hauteur.games.registry import load_game
from hauteur.mcts.analysis import Analysis
from hauteur.mcts.limits import Limits
from hauteur.mcts.params import SearchParams
from hauteur.networks.evaluators.base import UniformEvaluator
from hauteur.networks.evaluators.core import CoreEvaluator
from hauteur.networks.names import data_path
from hauteur.networks.registry import load
from hauteur.system.settings import assigned

VISITS, BATCH, SEED = 400, 16, 7
POSITIONS = (
    ("chess", "", 0),
    ("chess", "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", 0),
    ("connect4", "", 6),
    ("nogo(size=7)", "", 0),
    ("nogo(size=7)", "", 8),
)
"""Game, FEN, and how many moves are played from there, each the middle one of the legal ones."""
NETS = {"chess": "chess", "connect4": "connect4", "nogo(size=7)": "nogo7"}
SETTINGS: tuple[dict[str, str], ...] = ({}, {"search_contempt.n_scl": "5"}, {"solver": "on", "cpuct.init": "2.5"})


def position(game: str, fen: str, plies: int) -> tuple[_core.State, list[str]]:
    """A position and the moves that lead to it."""
    state = load_game(f"{game}(fen={fen})" if fen else game).new_initial_state()
    moves = []
    for _ in range(plies):
        legal = state.legal_actions()
        action = int(legal[len(legal) // 2])
        moves.append(state.action_to_text(action))
        state.apply(action)
    return state, moves


def digest(state: _core.State, evaluator: Any, settings: dict[str, str]) -> str:
    """Digest of the wheel's tree."""
    params = assigned(SearchParams, settings.items(), "settings")
    with Analysis(evaluator, params, seed=SEED, batch_size=BATCH) as analysis:
        analysis.set_position(state.start, state.moves)
        analysis.search(Limits(visits=VISITS))
        return analysis.tree_facts().digest


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda settings: "-".join(settings) or "plain")
@pytest.mark.parametrize(("game", "fen", "plies"), POSITIONS)
def test_same_trees(client: PageClient, game: str, fen: str, plies: int, settings: dict[str, str]) -> None:
    state, moves = position(game, fen, plies)
    net = load(data_path(f"{NETS[game]}.safetensors"))
    plain = CoreEvaluator(state.game, net, threads=1, instructions="unfused")
    client.connect("explain")
    sides = {"a": {"net": "uniform", "settings": settings}, "b": {"net": NETS[game], "settings": settings}}
    question = {"visits": VISITS, "seed": SEED, "batch_size": BATCH, **sides}
    client.ask("start", game=game, fen=fen, moves=moves, **question)
    found = client.event("done")["sides"]
    assert found["a"]["digest"] == digest(state, UniformEvaluator(state.game), settings)
    assert found["b"]["digest"] == digest(state, plain, settings)
