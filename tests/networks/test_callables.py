"""Callables and torch modules as evaluators: checked once, wrong shapes named, their own errors kept."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from hauteur import _core
from hauteur.networks.evaluators.callables import features_of, random_positions
from hauteur.networks.evaluators.factory import evaluator

pytestmark = pytest.mark.quick

GAME = _core.Game("tictactoe")
ACTIONS = GAME.num_actions
FEATURES = features_of(GAME, random_positions(GAME, 7))
Function = Callable[[NDArray[np.float32]], Any]


def even(features: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    return np.zeros((len(features), ACTIONS), np.float32), np.full((len(features), 3), 1 / 3, np.float32)


class Net(nn.Module):
    """A linear network with dropout and batch normalisation, whose outputs depend on its mode."""

    def __init__(self, width: int = 3, actions: int = ACTIONS) -> None:
        super().__init__()
        cells = int(np.prod(GAME.feature_shape))
        self.norm = nn.BatchNorm1d(cells)
        self.drop = nn.Dropout(0.5)
        self.policy = nn.Linear(cells, actions)
        self.value = nn.Linear(cells, width)

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        x = self.drop(self.norm(features.view(len(features), -1)))
        value = self.value(x)
        return self.policy(x), torch.tanh(value) if value.shape[1] == 1 else value


def test_a_function_is_an_evaluator() -> None:
    with evaluator(GAME, even, batch_size=5) as wrapped:
        assert (wrapped.name, wrapped.game_spec, wrapped.batch_size) == ("even", "tictactoe", 5)
        np.testing.assert_array_equal(wrapped.submit(FEATURES).result()[0], even(FEATURES)[0])


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda f: None, r"returned nothing \(None\); allowed: \(policy_logits float32 \[2, 9\], wdl float32 \[2, 3\]"),
        (lambda f: even(f)[0], r"returned float32 \[2, 9\]; allowed"),
        (lambda f: (*even(f), 0), "returned a tuple of 3"),
        (lambda f: (even(f)[0][:, :8], even(f)[1]), r"policy_logits must be float32 \[2, 9\] .*, got float32 \[2, 8\]"),
        (lambda f: (even(f)[0], even(f)[1][:, 0]), r"wdl must be float32 \[2, 3\] .*, got float32 \[2\]"),
        (lambda f: (even(f)[0].astype(int), even(f)[1]), r"got int64 \[2, 9\]"),
        (lambda f: (even(f)[0] + np.nan, even(f)[1]), "policy_logits must be finite, got nan"),
        (
            lambda f: (even(f)[0], even(f)[1] * 2),
            r"probabilities of win, draw and loss .* got \[0.6667, 0.6667, 0.6667\]",
        ),
        (lambda f: (torch.zeros(len(f), ACTIONS, requires_grad=True), even(f)[1]), "requires grad"),
    ],
)
def test_what_does_not_fit_is_named_in_one_line(function: Function, message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        evaluator(GAME, function)
    assert "\n" not in str(caught.value)


def test_a_wrong_batch_later_is_named_too() -> None:
    def forgets_rows(features: NDArray[np.float32]) -> Any:
        return even(features[:2])

    with evaluator(GAME, forgets_rows) as wrapped, pytest.raises(ValueError, match=r"\[7, 9\] for 7 rows"):
        wrapped(FEATURES)


@pytest.mark.parametrize("width", [1, 3])
def test_a_module_is_an_evaluator(width: int) -> None:
    torch.manual_seed(1)
    module = Net(width)
    with evaluator(GAME, module, threads=1) as wrapped:
        first = wrapped(FEATURES)
        again = wrapped(FEATURES)
        assert module.training
        np.testing.assert_array_equal(first[0], again[0])
        np.testing.assert_allclose(first[1].sum(axis=1), 1, atol=1e-6)
        with torch.no_grad():
            module.policy.bias.add_(1)
        np.testing.assert_array_equal(wrapped(FEATURES)[0], first[0])
    policy, value = module.eval()(torch.from_numpy(FEATURES))
    np.testing.assert_allclose(first[0] + 1, policy.detach().numpy(), atol=1e-5)
    if width == 1:
        np.testing.assert_allclose(first[1][:, 0] - first[1][:, 2], value.detach().numpy()[:, 0], atol=1e-6)
