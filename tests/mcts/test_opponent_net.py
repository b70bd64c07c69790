"""A model of the opponent: the core and the reference agree, and the laws of the method hold."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from forests import search_one_by_one
from hypothesis import given, settings
from hypothesis import strategies as st
from output_differences import legal_policy
from search_pairs import (
    Pair,
    agree_after_each,
    calls,
    games,
    random_state,
    search_contempts,
    search_params,
    wanderers,
)
from search_toys import Evaluator, hash_evaluator

from hauteur._core import Forest, Game, State
from hauteur.games.played_game import position_after
from hauteur.mcts.params import Cpuct, OpponentNet, SearchContempt, SearchParams
from reference.opponent_net import ModelledSearch


@dataclass
class ModelPair(Pair):
    """One tree with a model of the opponent in the core, and the same tree in the reference."""

    model: Evaluator = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.search = self.modelled = ModelledSearch(self.state, self.params, self.seed)

    def gather(self, rows: int) -> int:
        """Gathers in both for the own net, then for the model."""
        return super().gather(rows) + self.gather_for(1, rows, self.modelled.gather_for_model)

    def apply(self, index: int) -> None:
        pending = self.pending.pop(index)
        answers = (self.evaluator, self.model)[pending.net](pending.features)
        self.forest.apply(pending.batch, *answers)
        if pending.net == 0:
            self.search.apply(pending.leaves, *answers)
        else:
            self.modelled.apply_model(pending.leaves, answers[0])

    def run(self, visits: int, rows: int = 1) -> None:
        self.set_limit(visits)
        while self.search.wants_visit() or self.modelled.for_model:
            self.gather(rows)
            while self.pending:
                self.apply(0)

    def advance(self, move: int) -> None:
        while self.pending:
            self.apply(0)
        self.modelled.cancel_for_model()
        super().advance(move)


@st.composite
def model_params(draw: st.DrawFn) -> SearchParams:
    """Random settings that go with a model of the opponent."""
    plain = draw(search_params).model_dump()
    model = draw(st.builds(OpponentNet, temperature=st.sampled_from([1e-3, 0.5, 1.0, 20.0]), share=st.floats(0, 1)))
    drawn = draw(st.none() | search_contempts)
    rule: dict[str, Any] | None = None
    if drawn is not None:
        n_scl = draw(st.sampled_from([0, abs(drawn.n_scl)]))
        rule = drawn.model_dump() | {"n_scl": n_scl, "proofs_respect_contempt": False}
    plies = draw(st.none() | st.integers(1, 3)) if plain["cache_key"] == "exact" else None
    section = model.model_dump() | {"plies": plies}
    return SearchParams.model_validate(plain | {"opponent_net": section, "search_contempt": rule})


@st.composite
def model_pairs(draw: st.DrawFn) -> ModelPair:
    """A random position of a random game with random settings and random answers of both nets."""
    game = draw(games | wanderers)
    state = random_state(game, draw(st.lists(st.integers(0, 1000), max_size=10)))
    sharpness = draw(st.sampled_from([0.0, 1.0, 6.0]))
    salts = draw(st.tuples(st.integers(0, 3), st.integers(0, 3)))
    own, model = (hash_evaluator(game.num_actions, salt=salt, sharpness=sharpness) for salt in salts)
    return ModelPair(state, draw(model_params()), own, seed=draw(st.integers(0, 2**64 - 1)), model=model)


@given(model_pairs(), calls)
@settings(max_examples=100)
def test_any_sequence_of_calls_agrees(pair: ModelPair, calls: list[tuple[str, int]]) -> None:
    agree_after_each(pair, calls)


def searched(state: State, params: SearchParams, own: Evaluator, model: Evaluator, visits: int) -> tuple[Forest, Any]:
    """A tree searched to `visits` visits, one evaluation at a time; the forest and the ids of its one tree."""
    forest = Forest(state.game, params)
    ids = np.array([forest.add(state, seed=7)])
    forest.set_visit_limits(ids, np.array([visits], np.uint32))
    search_one_by_one(forest, own, model)
    forest.check_invariants(int(ids[0]))
    return forest, ids


@pytest.mark.parametrize("spec", ["tictactoe", "connect4", "chess"])
def test_the_own_net_as_the_model_is_plain_puct(spec: str) -> None:
    """M = own net, T_M = its policy temperature and no search-contempt: the visits and values of PUCT, bit for bit."""
    game = Game(spec)
    net = hash_evaluator(game.num_actions, salt=1, sharpness=2.0)
    plain = SearchParams(policy_temperature=1.2)
    model = plain.model_copy(update={"opponent_net": OpponentNet(temperature=1.2)})
    state = game.new_initial_state()
    (one, ids), (other, _) = (searched(state, params, net, net, 400) for params in (plain, model))
    np.testing.assert_array_equal(one.root_visits(ids), other.root_visits(ids))
    np.testing.assert_array_equal(one.root_q(ids), other.root_q(ids))


def expectation(state: State, viewer: int, model: Evaluator, temperature: float) -> float:
    """Exact expectimax: `viewer` plays the best action, the other player draws from the model's policy."""
    outcome = state.outcome()
    if outcome is not None:
        return outcome if viewer == 0 else -outcome
    actions = [int(action) for action in state.legal_actions()]
    values = np.array([expectation(state.child(action), viewer, model, temperature) for action in actions])
    if state.to_move == viewer:
        return float(values.max())
    return float(legal_policy(state, model(state.features()[None])[0][0] / temperature) @ values)


@pytest.mark.parametrize(
    ("spec", "moves"),
    [("tictactoe", [4, 0, 2]), ("tictactoe", [1, 4, 2, 0]), ("connect4(columns=4,rows=4)", [0, 1, 2, 3, 0, 1, 2, 3])],
)
def test_draws_at_once_converge_to_expectimax(spec: str, moves: list[int]) -> None:
    """Within 0.01 at 20,000 visits: a small c_puct, since the means hold what exploration of own moves costs."""
    game = Game(spec)
    state = position_after(game.new_initial_state(), moves)
    own, model = (hash_evaluator(game.num_actions, salt=salt, sharpness=0.5) for salt in (1, 2))
    params = SearchParams(
        cpuct=Cpuct(init=0.3, factor=0.0),
        policy_temperature=3.0,
        opponent_net=OpponentNet(),
        search_contempt=SearchContempt(n_scl=0),
    )
    forest, ids = searched(state, params, own, model, 20_000)
    best = int(forest.best_actions(ids)[0])
    exact = expectation(state, state.to_move, model, 1.0)
    assert abs(exact) < 1, "a position whose value rests on the model"
    assert float(forest.root_q(ids)[0][best]) == pytest.approx(exact, abs=0.01)


def test_what_a_model_does_not_go_with_is_refused() -> None:
    """One line each, which names both settings."""
    model: dict[str, Any] = {"opponent_net": {}}
    others: tuple[tuple[dict[str, Any], str], ...] = (
        ({"second_net": {}}, "second_net and opponent_net"),
        ({"search_contempt": {"n_scl": -3}}, "n_scl below 0"),
        ({"search_contempt": {"n_scl": 3, "proofs_respect_contempt": True}}, "proofs_respect_contempt"),
        ({"graph": True, "opponent_net": {"plies": 2}}, "graph"),
    )
    for other, named in others:
        with pytest.raises(ValueError, match=f"{named} .*cannot be used together"):
            SearchParams(**(model | other))
    with pytest.raises(ValueError, match="n_scl must not be 0 without opponent_net"):
        SearchParams(search_contempt=SearchContempt(n_scl=0))
    with pytest.raises(ValueError, match="share must be a number from 0 to 1, got 2"):
        OpponentNet(share=2)
