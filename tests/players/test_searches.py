"""Searches of players with one and two nets: limits hold, both are asked, nothing is left in flight."""

import numpy as np
import pytest
from learning_toys import ToyEvaluator
from selfplay_toys import games_of

from hauteur import _core
from hauteur.mcts.analysis import Analysis
from hauteur.mcts.driver import SearchDriver
from hauteur.mcts.limits import Limits
from hauteur.mcts.params import SearchParams, SecondNet, Temperature
from hauteur.players.search_player import SearchPlayer

pytestmark = pytest.mark.quick

GAME = _core.Game("connect4")
RULE = SecondNet(small_visits=40, large_visits=10)


def two_nets(**settings: object) -> SearchParams:
    return SearchParams(second_net=SecondNet.model_validate(RULE.model_dump() | settings), cache_size=0)


def forest_of(trees: int, visits: int, params: SearchParams) -> tuple[_core.Forest, np.ndarray]:
    forest = _core.Forest(GAME, params, 1)
    ids = np.array([forest.add(GAME.new_initial_state()) for _ in range(trees)], np.int64)
    forest.set_visit_limits(ids, np.full(trees, visits, np.uint32))
    return forest, ids


def test_searches_reach_their_limits_and_facts_add_up() -> None:
    forest, ids = forest_of(20, 50, SearchParams(cache_size=0))  # with a cache equal positions of a batch share a row
    evaluator = ToyEvaluator(GAME)
    facts = SearchDriver(forest, evaluator, batch_size=16).run()
    assert forest.root_node_visits(ids).tolist() == [50] * 20
    assert facts.rows == sum(evaluator.rows) == forest.stats()["rows"]
    assert facts.batches == len(evaluator.rows)
    assert facts.fill == pytest.approx(facts.rows / (16 * facts.batches))
    assert facts.total == pytest.approx(facts.search + facts.network + facts.python)


def test_a_stop_leaves_nothing_in_flight() -> None:
    forest, ids = forest_of(1, 0, SearchParams())
    seen = iter(range(1, 6))
    facts = SearchDriver(forest, ToyEvaluator(GAME), batch_size=8, in_flight=3).run(lambda: next(seen) == 5)
    assert facts.batches >= 5
    assert all(edge["in_flight"] == 0 for edge in forest.root_edges(int(ids[0])))
    forest.check_invariants(int(ids[0]))
    assert forest.root_node_visits(ids)[0] > 1


def test_an_evaluator_that_fails_leaves_nothing_in_flight() -> None:
    forest, ids = forest_of(1, 0, SearchParams())
    with pytest.raises(RuntimeError, match="the network is gone"):
        SearchDriver(forest, ToyEvaluator(GAME, fail_at=4), batch_size=8, in_flight=3).run()
    forest.check_invariants(int(ids[0]))
    assert all(edge["in_flight"] == 0 for edge in forest.root_edges(int(ids[0])))


def test_batches_in_flight_do_not_change_sequential_trees() -> None:
    digests = []
    for in_flight, batch_size in ((1, 64), (2, 7), (3, 16)):
        forest, ids = forest_of(20, 40, two_nets().model_copy(update={"max_in_flight": 1}))
        small = ToyEvaluator(GAME, salt=1)
        large = ToyEvaluator(GAME, salt=2)
        SearchDriver(forest, small, large=large, batch_size=batch_size, in_flight=in_flight).run()
        digests.append([forest.digest(tree) for tree in ids.tolist()])
    assert digests[0] == digests[1] == digests[2]


@pytest.mark.parametrize("shared", [True, False])
def test_games_between_two_nets_and_one(shared: bool) -> None:
    """Also where the large net of one player is the net of the other; games do not depend on those beside them."""
    small = ToyEvaluator(GAME, salt=1)
    large = ToyEvaluator(GAME, salt=2)
    other = large if shared else ToyEvaluator(GAME, salt=2)
    players = [
        SearchPlayer("two", small, two_nets(), 20, Temperature(initial=1.0), large=large),
        SearchPlayer("one", other, SearchParams(cache_size=0), 10, Temperature(initial=1.0)),
    ]
    games = games_of(players, 6, game=GAME, parallel=4, in_flight=2)
    again = games_of(players, 6, game=GAME, parallel=2, in_flight=1)
    assert [game.actions.tolist() for game in games] == [game.actions.tolist() for game in again]
    for game in games:
        by_two = game.movers == (0 if game.plan.sides[0] == 0 else 1)
        assert all(game.visits[by_two] >= 20)
    assert sum(large.rows) > 0


def test_games_of_three_nets_do_not_depend_on_those_beside_them() -> None:
    nets = [ToyEvaluator(GAME, salt=salt) for salt in (1, 2, 3)]
    search = two_nets(more="5:0.2:0.5")
    warm = Temperature(initial=1.0)
    players = [
        SearchPlayer("three", nets[0], search, 20, warm, large=nets[1], more=(nets[2],)),
        SearchPlayer("one", nets[2], SearchParams(cache_size=0), 10, warm),
    ]
    games = games_of(players, 6, game=GAME, parallel=4, in_flight=2)
    again = games_of(players, 6, game=GAME, parallel=2, in_flight=1)
    assert [game.actions.tolist() for game in games] == [game.actions.tolist() for game in again]
    assert all(sum(net.rows) > 0 for net in nets)


@pytest.mark.parametrize("more", [(), (1, 2)])
def test_the_nets_of_a_search_are_as_many_as_its_settings_have(more: tuple[int, ...]) -> None:
    small = ToyEvaluator(GAME, salt=1)
    large = ToyEvaluator(GAME, salt=2)
    forest, _ = forest_of(1, 20, two_nets(more="5"))
    with pytest.raises(ValueError, match=rf"^nets after the second one: {len(more)} given, 1 in second_net.more, "):
        SearchDriver(forest, small, large=large, more=[large for _ in more])


def test_analysis_ends_when_both_nets_have_done_their_part() -> None:
    small = ToyEvaluator(GAME, salt=1)
    large = ToyEvaluator(GAME, salt=2)
    session = Analysis(small, two_nets(), large=large, batch_size=1)
    for moves in ((), (3,), (3, 2)):
        session.set_position(GAME.new_initial_state(), moves)
        report = session.search(Limits(visits=80))
        assert (report.visits, report.reason) == (80, "visits")
        forest = session._tree.forest
        assert forest is not None
        assert sum(edge["large_visits"] for edge in forest.root_edges(session._tree.number)) >= 19
    report = session.search(Limits(new_visits=20))
    assert report.pace.new_visits == 20
