"""The plain loop of games and the core play the same games: every column, every number."""

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from learning_toys import ToyEvaluator
from selfplay_toys import arena_options

from hauteur import _core
from hauteur.games.game_line import PLY_LIMIT
from hauteur.matches.arena import play_games
from hauteur.matches.record import GamePlan, GameRecord, Resignation
from hauteur.mcts.params import (
    Dirichlet,
    ForcedPlayouts,
    Gumbel,
    LowerBound,
    SearchContempt,
    SearchParams,
    SecondNet,
    Solver,
    Temperature,
)
from hauteur.players.baselines import Baseline, make_baseline
from hauteur.players.search_player import SearchPlayer
from hauteur.players.settings import PlayoutCap
from reference.games import play_plainly

pytestmark = pytest.mark.quick

RESIGNS = Resignation(threshold=-0.25, moves=2, earliest_ply=6, play_through=0.3)
FALLING = Temperature(initial=1.3, decay_moves=6, decay_delay_moves=2, endgame=0.2, value_cutoff=6.0, visit_offset=-0.8)


def player(game: _core.Game, salt: int = 0, **options: Any) -> SearchPlayer:
    search = options.pop("search", SearchParams(dirichlet=Dirichlet()))
    defaults: dict[str, Any] = {"visits": 16, "temperature": Temperature(initial=1.0)}
    return SearchPlayer(f"toy {salt}", ToyEvaluator(game, salt=salt), search, **(defaults | options))


def assert_same(one: GameRecord, other: GameRecord) -> None:
    """Everything but the time that moves took is the same, to the last bit."""
    for field in fields(GameRecord):
        first = getattr(one, field.name)
        second = getattr(other, field.name)
        if isinstance(first, np.ndarray) and field.name != "seconds":
            assert first.dtype == second.dtype, field.name
            np.testing.assert_array_equal(first, second, err_msg=field.name)
        elif not isinstance(first, np.ndarray):
            assert first == second, field.name


def compare(spec: str, players: list[Any], plans: list[GamePlan], **rules: Any) -> list[GameRecord]:
    game = _core.Game(spec)
    options: dict[str, Any] = {"seed": 5, "purpose": "test", **rules}
    plain = list(play_plainly(game, players, plans, **options))
    games = play_games(game, players, plans, **arena_options(parallel=5, batch_size=4, **options))
    core = sorted(games, key=lambda one: one.plan.index)
    assert len(plain) == len(core) == len(plans)
    for one, other in zip(plain, core, strict=True):
        assert_same(one, other)
    return core


CONNECT4 = _core.Game("connect4")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"temperature": FALLING},
        {"temperature": Temperature(initial=1.0, cutoff_move=5)},
        {"temperature": Temperature()},
        {"playout_cap": PlayoutCap(full_share=0.3, fast_visits=4)},
        {"search": SearchParams(gumbel=Gumbel())},
        {"search": SearchParams(solver=Solver())},
        {"search": SearchParams(lower_bound=LowerBound())},
        {"search": SearchParams(search_contempt=SearchContempt(n_scl=4))},
        {"search": SearchParams(dirichlet=Dirichlet(), reuse_tree=False)},
        {"search": SearchParams(dirichlet=Dirichlet(), forced_playouts=ForcedPlayouts())},
        {"learns": False, "visits": 1},
    ],
)
def test_self_play(options: dict[str, Any]) -> None:
    plans = [GamePlan(index, start=(3,) * (index % 3)) for index in range(7)]
    compare("connect4", [player(CONNECT4, **options)], plans, resignation=RESIGNS, max_plies=30)


def test_trees_of_both_sides() -> None:
    plans = [GamePlan(index) for index in range(5)]
    compare("connect4", [player(CONNECT4)], plans, tree_per_side=True)


def test_two_nets_and_two_players() -> None:
    small_and_large = SearchParams(dirichlet=Dirichlet(), second_net=SecondNet(small_visits=4, large_visits=1))
    first = replace(player(CONNECT4, search=small_and_large), large=ToyEvaluator(CONNECT4, salt=9))
    plans = [GamePlan(index, (0, 1) if index % 2 else (1, 0)) for index in range(6)]
    compare("connect4", [first, player(CONNECT4, 1, visits=25)], plans, max_plies=20)


def test_players_who_are_asked() -> None:
    from concurrent.futures import ThreadPoolExecutor

    game = _core.Game("nogo(size=5)")
    with ThreadPoolExecutor(2) as workers:
        rave = make_baseline(game, Baseline("rave", 30), workers)
        plans = [GamePlan(index, (0, 1) if index % 2 else (1, 0), seed=index) for index in range(4)]
        compare("nogo(size=5)", [player(game), rave], plans)


def test_a_limit_of_moves() -> None:
    plans = [GamePlan(index, start=(3,) * index) for index in range(5)]
    games = compare("connect4", [player(CONNECT4)], plans, max_moves=2)
    assert [len(game.actions) for game in games] == [2] * 5
    assert {(game.outcome, game.end_reason) for game in games} == {(0, PLY_LIMIT)}


def test_origins_and_a_limit_of_plies() -> None:
    game = _core.Game("chess")
    origin = _core.Game("chess(fen=4k3/8/8/8/8/8/4P3/4K3 w - - 0 1)").new_initial_state()
    plans = [GamePlan(0, origin=origin), GamePlan(1, start=(origin.legal_actions()[0],), origin=origin)]
    compare("chess", [player(game, visits=8)], plans, max_plies=6)
