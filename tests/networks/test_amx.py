"""bfloat16 by AMX: plain Rust with its bits everywhere, and the processor's own tiles where there are some."""

import numpy as np
import pytest
from forests import make_forest, search
from lc0_toys import random_tensors
from outside_games import Features, Occupied

import hauteur as ht
import precision_error
from hauteur import _core, networks
from hauteur.networks.evaluators.core import CoreEvaluator
from hauteur.networks.layers import core_layers, resnet_shapes
from hauteur.networks.resnet_architecture import ResNetArchitecture

HERE = ["emulated-amx", *(["amx"] if _core.Network.why_not_amx() is None else [])]
"""Instructions that give these bits on this machine."""

TREES = {
    "tictactoe": (200, "49b9beafb9f83366"),
    "connect4": (300, "e47242476191d3a2"),
    "chess": (60, "a568432a89636b3e"),
}
"""Visits from the start position with the net that ships, and the digest of the tree."""


def random_network(game: _core.Game, instructions: str = "emulated-amx") -> _core.Network:
    """A random network of two blocks for a game, in bfloat16."""
    architecture = ResNetArchitecture(
        feature_shape=game.feature_shape, num_actions=game.num_actions, filters=12, blocks=2, se_channels=4
    )
    tensors = random_tensors(resnet_shapes(architecture), 1)
    return _core.Network(core_layers(architecture, tensors), "bfloat16", 2, 8, instructions)


@pytest.mark.parametrize("instructions", HERE)
@pytest.mark.parametrize("game", TREES)
def test_trees_are_those_that_were_stored(game: str, instructions: str) -> None:
    visits, digest = TREES[game]
    net = networks.load(ht.load_network(game).path)
    analysis = ht.Analysis(CoreEvaluator(ht.load_game(game), net, precision="bfloat16", instructions=instructions))
    analysis.go(ht.load_game(game).new_initial_state(), visits=visits)
    assert analysis.tree_facts().digest == digest


@pytest.mark.parametrize("spec", ["tictactoe", "connect4", "nogo(size=5)", "othello(size=6)", "minichess", "chess"])
def test_searches_in_the_core_read_bit_planes_and_find_the_same(spec: str) -> None:
    """The core's step gives packed rows to such a network; what it finds is what rows of features give."""
    game = _core.Game(spec)
    network = random_network(game)
    packed = make_forest(game, trees=3)
    plain = make_forest(game, trees=3)
    ids = packed.active()
    packed.set_visit_limits(ids, np.full(3, 60, np.uint32))
    while len(packed.active()):
        packed.step(network, 8)
    search(plain, network.evaluate, visits=60, rows=8)
    np.testing.assert_array_equal(packed.root_visits(ids), plain.root_visits(ids))
    np.testing.assert_array_equal(packed.root_q(ids), plain.root_q(ids))


class Counting(Occupied):
    """Tic-tac-toe whose planes hold several values: no bit planes."""

    def features(self) -> Features:
        squares = np.array(self.board, np.float32).reshape(3, 3) * (1 - 2 * self.to_move)
        return np.stack([squares, squares / (1 + self.plies)])


def test_games_in_python_may_have_planes_of_several_values() -> None:
    game = _core.Game.from_python(Counting(), "counting")
    network = random_network(game)
    stepped = make_forest(game)
    plain = make_forest(game)
    stepped.set_visit_limits(stepped.active(), np.full(1, 80, np.uint32))
    while len(stepped.active()):
        stepped.step(network, 4)
    search(plain, network.evaluate, visits=80, rows=4)
    ids = plain.finished()
    np.testing.assert_array_equal(stepped.root_visits(ids), plain.root_visits(ids))


def test_emulated_instructions_are_not_offered() -> None:
    offered = [name for name, _ in _core.Network.available()]
    assert not any(name.startswith("emulated") for name in offered)
    assert ("amx" in offered) == (_core.Network.why_not_amx() is None)
    with pytest.raises(ValueError, match="emulated-amx does not multiply float32; bfloat16 alone"):
        CoreEvaluator(
            ht.load_game("tictactoe"),
            networks.load(ht.load_network("tictactoe").path),
            precision="float32",
            instructions="emulated-amx",
        )


def test_the_error_on_a_real_net_is_smaller_than_with_vectors() -> None:
    """The net of Connect Four that ships, on positions of its games."""
    game = ht.load_game("connect4")
    net = networks.load(ht.load_network("connect4").path)
    exact = CoreEvaluator(game, net)
    states = precision_error.played_positions(game, exact, 60)
    _, expected = precision_error.answers(exact, game, states)
    errors = {}
    for name in ("emulated-amx", "emulated-avx512"):
        _, found = precision_error.answers(precision_error.opened(game, net, name), game, states)
        errors[name] = float(np.abs(found - expected).mean())
    assert 0 < errors["emulated-amx"] < errors["emulated-avx512"] < 0.02
