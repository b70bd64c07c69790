"""The nets that ship: small, each for its game, found by the game, and with an idea of who is winning."""

from pathlib import Path

import pytest

from hauteur import networks
from hauteur.games.registry import load_game
from hauteur.networks.names import data_path, shipped_net

GAMES = ("tictactoe", "connect4", "minichess", "nogo(size=7)", "nogo(size=9)", "chess")
MAX_BYTES = 1_000_000


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
