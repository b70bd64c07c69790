"""Digests of the trees of a few searches, which every build of the core reproduces, on other processors too.

`python tests/support/tree_digests.py` prints them as JSON: without a net, and with nets that ship, in the evaluator's
plain form and in the form of this processor, float32.
"""

import json
from typing import Any

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
    ("nogo(size=9)", "", 4),  # in tiles of three
)
"""Game, FEN, and how many moves are played from there, each the middle one of the legal ones."""
NETS = {
    "chess": "chess",
    "connect4": "connect4",
    "nogo(size=7)": "nogo7",
    "nogo(size=9)": "nogo9",
    "gomoku": "gomoku15",
}


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


def evaluator(state: _core.State, game: str, instructions: str | None) -> CoreEvaluator:
    """The net of the game that ships; instructions: None for the best of this processor."""
    net = load(data_path(f"{NETS[game]}.safetensors"))
    return CoreEvaluator(state.game, net, threads=1, precision="float32", instructions=instructions)


def digest(
    state: _core.State, evaluator: Any, settings: dict[str, str], visits: int = VISITS, batch: int = BATCH
) -> str:
    """Digest of the wheel's tree."""
    params = assigned(SearchParams, settings.items(), "settings")
    with Analysis(evaluator, params, seed=SEED, batch_size=batch) as analysis:
        analysis.set_position(state.start, state.moves)
        analysis.search(Limits(visits=visits))
        return analysis.tree_facts().digest


def main() -> None:
    """Print all digests."""
    found = {}
    for number, (game, fen, plies) in enumerate(POSITIONS):
        state, _ = position(game, fen, plies)
        name = f"{number} {game}"
        found[f"{name}, no net"] = digest(state, UniformEvaluator(state.game), {})
        for form, instructions in (("plain form", "unfused"), ("fused form", None)):
            found[f"{name}, {form}"] = digest(state, evaluator(state, game, instructions), {})
    print(json.dumps(found))


if __name__ == "__main__":
    main()
