"""Games in the arena: complete, legal, recorded as they were played, the same for the same seed."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np
import pytest
from learning_toys import ToyEvaluator
from selfplay_toys import games_of, plans_of

from hauteur import _core
from hauteur.matches.arena import ArenaFacts, Layout, play_games
from hauteur.matches.record import GamePlan, GameRecord
from hauteur.mcts.params import Dirichlet, SearchParams, Temperature
from hauteur.networks.evaluators.base import UniformEvaluator
from hauteur.players.search_player import SearchPlayer

pytestmark = pytest.mark.quick

GAME = _core.Game("connect4")


def player(salt: int = 0, *, visits: int = 12, temperature: float = 1.0, noise: bool = True) -> SearchPlayer:
    search = SearchParams(dirichlet=Dirichlet() if noise else None)
    return SearchPlayer(f"toy {salt}", ToyEvaluator(GAME, salt=salt), search, visits, Temperature(initial=temperature))


def lines(games: list[GameRecord]) -> list[list[int]]:
    return [game.actions.tolist() for game in games]


def test_the_same_seed_gives_the_same_games_for_any_number_of_parallel_games() -> None:
    expected = lines(games_of([player()], 20))
    ways: list[dict[str, Any]] = [
        {"parallel": 1},
        {"parallel": 20, "batch_size": 64},
        {"in_flight": 1, "batch_size": 3},
        {"threads": 2},
    ]
    for options in ways:
        assert lines(games_of([player()], 20, **options)) == expected
    assert lines(games_of([player()], 20, seed=2)) != expected


def test_players_with_one_evaluator_share_its_batches() -> None:
    alone = games_of([player(1, visits=10), player(1, visits=25)], 8)
    shared = ToyEvaluator(GAME, salt=1)
    players = [replace(player(1, visits=visits), evaluator=shared) for visits in (10, 25)]
    facts = ArenaFacts()
    assert lines(games_of(players, 8, in_flight=1, facts=facts)) == lines(alone)
    assert facts.search.rows == sum(shared.rows)
    assert facts.search.fill > 0.5
    assert max(shared.rows) == 8


@pytest.mark.parametrize("batch_size", [1, 2, 3, 5])
def test_a_batch_smaller_than_the_forests_want_starves_none(batch_size: int) -> None:
    shared = ToyEvaluator(GAME, salt=1)
    players = [replace(player(1, visits=visits), evaluator=shared) for visits in (10, 25)]
    expected = lines(games_of([player(1, visits=10), player(1, visits=25)], 8))
    assert lines(games_of(players, 8, batch_size=batch_size)) == expected
    assert max(shared.rows) <= batch_size


def test_a_player_against_itself_is_self_play_when_no_tree_is_kept() -> None:
    """Two players with the same net and cleared trees move as one player does, but for their own noise."""
    search = SearchParams(reuse_tree=False)
    alone = SearchPlayer("a", ToyEvaluator(GAME), search, 20, Temperature(initial=0))
    twins = [SearchPlayer("b", ToyEvaluator(GAME), search, 20, Temperature(initial=0)) for _ in range(2)]
    plans = [GamePlan(0), GamePlan(1, start=(3, 3)), GamePlan(2, start=(0, 6, 1))]
    by_side = [GamePlan(plan.index, (0, 1), plan.start) for plan in plans]
    assert lines(games_of([alone], plans)) == lines(games_of(twins, by_side))


def test_an_opening_that_ends_the_game_gives_a_game_without_searches() -> None:
    (game,) = games_of([player()], [GamePlan(0, start=(0, 1, 0, 1, 0, 1, 0))])
    assert (len(game.actions), game.outcome) == (0, 1)


def test_facts_count_everything() -> None:
    facts = ArenaFacts()
    me = player()
    games = list(
        play_games(GAME, [me], plans_of(1, 6), seed=1, purpose="t", layout=Layout(3, 4, in_flight=2), facts=facts)
    )
    assert facts.games == 6
    assert facts.moves == sum(len(game.actions) for game in games)
    assert isinstance(me.evaluator, ToyEvaluator)
    assert facts.search.rows == sum(me.evaluator.rows)
    assert 0 < facts.search.fill <= 1
    assert 0 <= facts.cache_hit_rate < 1
    assert facts.search.total >= facts.search.search + facts.search.network > 0


def test_no_parallel_games_are_refused() -> None:
    with pytest.raises(ValueError, match="parallel games must be >= 1, got 0"):
        games_of([player()], 1, parallel=0)


def test_games_that_are_given_up_end_at_once() -> None:
    me = player(visits=200)
    asked: list[int] = []

    def plans() -> Iterator[GamePlan]:
        for index in count():
            asked.append(index)
            yield GamePlan(index)

    games = play_games(GAME, [me], plans(), seed=1, purpose="t", layout=Layout(4, 4))
    first = next(games)
    games.close()
    assert first.plan.index in asked
    assert len(asked) <= 12  # as many as fit, and those that follow what has ended
    rows = sum(me.evaluator.rows) if isinstance(me.evaluator, ToyEvaluator) else 0
    assert next(games, None) is None
    assert isinstance(me.evaluator, ToyEvaluator)
    assert sum(me.evaluator.rows) == rows


def test_what_an_evaluator_raises_comes_out_as_it_was() -> None:
    class Broken(ToyEvaluator):
        def submit(self, features: np.ndarray) -> Any:
            if len(self.rows) > 5:
                raise KeyError("the device is gone")
            return super().submit(features)

    me = replace(player(), evaluator=Broken(GAME))
    with pytest.raises(KeyError, match="the device is gone"):
        games_of([me], 5)


def test_what_the_plans_raise_comes_out_as_it_was() -> None:
    def plans() -> Iterator[GamePlan]:
        yield GamePlan(0)
        raise LookupError("no more openings")

    with pytest.raises(LookupError, match="no more openings"):
        list(play_games(GAME, [player()], plans(), seed=1, purpose="t", layout=Layout(4, 4)))


def test_evaluators_of_the_core_play_the_same_games_in_any_number_of_threads() -> None:
    def lines_of(threads: int) -> list[tuple[list[int], list[int]]]:
        me = replace(player(), evaluator=UniformEvaluator(GAME))
        return [(game.actions.tolist(), game.policy_counts.tolist()) for game in games_of([me], 9, threads=threads)]

    assert lines_of(1) == lines_of(3)


def test_more_threads_do_not_cut_the_batches_of_a_net_that_python_computes() -> None:
    evaluator = ToyEvaluator(GAME)
    games_of([replace(player(), evaluator=evaluator)], 256, parallel=64, batch_size=16, threads=16)
    assert np.median(evaluator.rows) > 8
