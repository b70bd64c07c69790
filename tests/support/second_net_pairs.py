"""Two nets or more in the core and in the reference, side by side."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st
from search_pairs import Pair, floats, games, random_state, repetitions, search_params, wanderers
from search_toys import Evaluator, hash_evaluator

from hauteur.mcts.params import (
    EarlyVisits,
    Fpu,
    InitialTrust,
    PriorMixing,
    SearchContempt,
    SearchParams,
    SecondNet,
    TreeBalance,
)
from reference import Node
from reference.second_net import TwoNetSearch
from reference.second_net_weights import further_nets as further_nets_of


@dataclass
class TwoPair(Pair):
    """One tree of several nets in the core and the same tree in the reference."""

    larger: tuple[Evaluator, ...] = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.search = self.two = TwoNetSearch(self.state, self.params, self.seed)
        self.asked: set[tuple[Node, int]] = set()

    def gather(self, rows: int) -> int:
        """Gathers in both for the net whose turn it is, and nothing for the other one."""
        net = self.two.next_net()
        if net is None:
            return 0
        for other in set(self.two.nets) - {net}:
            nothing = self.forest.gather(rows, other)
            assert len(nothing) == 0
            self.forest.cancel(nothing)
        return self.gather_for(net, rows, lambda rows: self.two.gather(rows, net))

    def apply(self, index: int) -> None:
        pending = self.pending.pop(index)
        for leaf in pending.leaves:
            assert (leaf.node, pending.net) not in self.asked, "a second forward pass of the same net"
            self.asked.add((leaf.node, pending.net))
        answers = (self.evaluator, *self.larger)[pending.net](pending.features)
        self.forest.apply(pending.batch, *answers)
        self.search.apply(pending.leaves, *answers)

    def priors(self) -> dict[int, float]:
        """The mixed priors, as the core keeps them."""
        return {action: float(np.float32(prior)) for action, prior in self.two.root_mixed_priors().items()}

    def check_more(self, root: Node, core: dict[int, dict[str, Any]]) -> None:
        """The visits of each net agree too."""
        tree = int(self.ids[0])
        order = [edge["action"] for edge in self.forest.root_edges(tree)]
        total = dict.fromkeys(order, 0)
        for net in self.two.nets:
            visits = self.two.root_visits_of(net)
            found = dict(zip(order, self.forest.root_visits_of(tree, net).tolist(), strict=True))
            assert found == {action: visits[action] for action in order}
            for action in order if net else []:
                total[action] += visits[action]
        assert {action: core[action]["large_visits"] for action in order} == total


weights = st.sampled_from([0.0, 0.5, 1.0]) | floats(0, 1)

shares = st.sampled_from(["0", "0.5", "1"]) | st.integers(0, 1000).map(lambda part: str(part / 1000))

further_nets = st.builds(
    lambda visits, *rest: ":".join([str(visits), *rest]),
    st.integers(1, 40),
    shares,
    shares,
    st.sampled_from(["visits", "visits", "own_puct", "parent_bonus"]),
)

more_nets = st.just("") | st.lists(further_nets | st.just("7"), max_size=3).map(",".join)

second_nets = st.builds(
    SecondNet,
    small_visits=st.integers(1, 40),
    large_visits=st.integers(1, 40),
    alpha=weights,
    beta=weights,
    order=st.sampled_from(["random", "round_robin", "large_first"]),
    large_first=st.integers(0, 20),
    priority=st.sampled_from(["visits", "visits", "own_puct", "parent_bonus"]),
    parent_bonus=floats(0, 3),
    values=st.sampled_from(["means", "means", "states"]),
    large_batch=st.sampled_from([1, 1, 2, 5]),
    more=more_nets,
)

company = st.fixed_dictionaries(
    {},
    optional={
        "fpu": st.builds(Fpu, kind=st.just("parent_value"), value=floats(-1, 1)),
        "tree_balance": st.builds(TreeBalance),
        "prior_mixing": st.builds(PriorMixing),
        "early_visits": st.builds(EarlyVisits),
        "initial_trust": st.builds(InitialTrust),
        "repetition": repetitions,
        "search_contempt": st.builds(
            SearchContempt,
            n_scl=st.sampled_from([-4, 1, 5, 12]),
            temperature=st.sampled_from([0.5, 1.0, 3.0]),
            sampling_ratio=st.sampled_from([0.5, 1.0]),
        ),
    },
)


@st.composite
def two_net_params(draw: st.DrawFn) -> SearchParams:
    """Random settings with a second net, and now and then with the rules that go with it."""
    params = draw(search_params)
    keep = {name: getattr(params, name) for name in PLAIN}
    return SearchParams(**(keep | {"second_net": draw(second_nets)} | draw(company)))


PLAIN = {
    *("cpuct", "root_cpuct", "fpu", "root_fpu", "policy_temperature", "arithmetic", "root_policy_temperature"),
    *("dirichlet", "draw_score", "reuse_tree", "max_collisions", "cache_size"),
}


@st.composite
def two_net_pairs(draw: st.DrawFn) -> TwoPair:
    """A random position of a random game with random parameters and random answers of two to five nets."""
    game = draw(games | wanderers)
    state = random_state(game, draw(st.lists(st.integers(0, 1000), max_size=10)))
    sharpness = draw(st.sampled_from([0.0, 1.0, 6.0]))
    params = draw(two_net_params())
    assert params.second_net
    nets = 2 + len(further_nets_of(params.second_net))
    salts = draw(st.lists(st.integers(0, 3), min_size=nets, max_size=nets))
    small, *larger = (hash_evaluator(game.num_actions, salt=salt, sharpness=sharpness) for salt in salts)
    return TwoPair(state, params, small, seed=draw(st.integers(0, 2**64 - 1)), larger=tuple(larger))
