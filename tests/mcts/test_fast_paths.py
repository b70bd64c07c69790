"""Selection has loops of its own where few rules change scores: each agrees with the reference.

Random settings seldom leave a rule alone, so these paths are taken here on purpose.
"""

import itertools
from typing import Any

import pytest
from search_pairs import Pair, agree_after_each
from search_toys import hash_evaluator

from hauteur._core import Game
from hauteur.mcts.params import Cpuct, EarlyVisits, Fpu, InitialTrust, PriorMixing, SearchParams, TreeBalance, Variance

RULES: dict[str, dict[str, Any]] = {
    "half-normal": {"variance": Variance(mode="half_normal", scale=0.3)},
    "half-normal, strong": {"variance": Variance(mode="half_normal", scale=1.0)},
    "half-normal, weak": {"variance": Variance(mode="half_normal", scale=0.01)},
    "half-normal with a prior": {"variance": Variance(mode="half_normal", scale=0.3, prior_weight=2.0)},
    "half-normal of shares": {"variance": Variance(mode="half_normal", scale=0.3, source="wdl")},
    "deviation": {"variance": Variance(mode="std_bonus", scale=0.3)},
    "deviation, subtracted": {"variance": Variance(mode="std_bonus", scale=-0.3)},
    "error": {"variance": Variance(mode="stderr_bonus", scale=0.5)},
    "error with a prior": {"variance": Variance(mode="stderr_bonus", scale=0.5, prior_weight=2.0)},
    "UCB1-tuned": {"variance": Variance(mode="ucb1_tuned", scale=0.3)},
    "UCB1-tuned, weak": {"variance": Variance(mode="ucb1_tuned", scale=0.01)},
    "UCB1-tuned of shares": {"variance": Variance(mode="ucb1_tuned", scale=0.3, source="wdl")},
    "tree balance": {"tree_balance": TreeBalance()},
    "tree balance, not normalised": {"tree_balance": TreeBalance(normalise=False)},
    "tree balance, capped": {"tree_balance": TreeBalance(mode="capped")},
    "tree balance, legacy": {"tree_balance": TreeBalance(mode="legacy")},
    "early visits": {"early_visits": EarlyVisits()},
    "initial trust": {"initial_trust": InitialTrust()},
    "prior mixing": {"prior_mixing": PriorMixing()},
}
TOGETHER = [*RULES, *itertools.combinations(["tree balance", "early visits", "initial trust", "prior mixing"], 2)]


@pytest.mark.parametrize("cpuct", [0.0, 1.5], ids=["without U", "with U"])
@pytest.mark.parametrize("names", TOGETHER, ids=str)
def test_a_rule_alone_agrees_with_the_reference(names: str | tuple[str, ...], cpuct: float) -> None:
    rules = {
        key: value for name in ([names] if isinstance(names, str) else names) for key, value in RULES[name].items()
    }
    settings = {
        "cpuct": Cpuct(init=cpuct, factor=0.0),
        "fpu": Fpu(value=0.2),
        "policy_temperature": 0.7,
        "cache_size": 0,
    }
    params = SearchParams.model_validate({**settings, **rules})
    for game, salt in ((Game("tictactoe"), 1), (Game("connect4"), 2)):
        pair = Pair(game.new_initial_state(), params, hash_evaluator(game.num_actions, salt=salt), seed=salt)
        pair.set_limit(60)  # without U the search comes back to one end of the game again and again
        for rows in (1,) * 12 + (4,) * 3:
            agree_after_each(pair, [("gather", rows), ("apply", 0)])
        assert pair.search.root.visits > 12
