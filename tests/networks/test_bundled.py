"""The nets that ship: small, each for its game, found by the game, and with an idea of who is winning."""

from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from hauteur import networks
from hauteur.games.registry import load_game
from hauteur.networks.bundled import shipped_net
from hauteur.networks.evaluators.factory import make_evaluator
from hauteur.networks.names import data_path

GAMES = ("tictactoe", "connect4", "minichess", "nogo(size=7)", "nogo(size=9)", "chess")
MAX_BYTES = 1_000_000

WON = {
    "chess": "chess(fen=4k3/pppp4/8/8/8/8/PPPP4/3QK3 w - - 0 1)",
    "minichess": "minichess(fen=k4/p4/5/P3Q/K4 w - - 0 1)",
}
"""Positions in which the player to move is a queen up."""


def net_of(spec: str) -> Path:
    path = shipped_net(load_game(spec))
    assert path is not None
    return path


@pytest.mark.parametrize("spec", GAMES)
def test_a_net_ships_for_the_game(spec: str) -> None:
    path, game = net_of(spec), load_game(spec)
    net = networks.describe(path)
    assert path.stat().st_size <= MAX_BYTES
    assert load_game(net.game).spec == game.spec
    assert net.training, "the file records what it was trained on"


def test_no_other_nets_ship() -> None:
    assert {net_of(spec) for spec in GAMES} == set(data_path("").glob("*.safetensors"))


@pytest.mark.parametrize("spec", WON)
def test_a_queen_more_is_worth_more_than_a_queen_less(spec: str) -> None:
    position = WON[spec]
    won = load_game(position).new_initial_state()
    lost = load_game(position.replace(" w ", " b ")).new_initial_state()
    with closing(make_evaluator(load_game(spec), str(net_of(spec)), threads=1)) as evaluator:
        _, wdl = evaluator(np.stack([won.features(), lost.features()]))
    assert wdl[0, 0] - wdl[0, 2] > 0.4
    assert wdl[1, 0] - wdl[1, 2] < -0.4


def test_the_chess_net_opens_like_people() -> None:
    game = load_game("chess")
    state = game.new_initial_state()
    with closing(make_evaluator(game, str(net_of("chess")), threads=1)) as evaluator:
        logits, _ = evaluator(state.features()[None])
    legal = state.legal_actions()
    assert state.action_to_text(int(legal[np.argmax(logits[0, legal])])) in ("e2e4", "d2d4", "c2c4", "g1f3")
