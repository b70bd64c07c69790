"""Self-play of a toy player, game by game."""

from typing import Any

import numpy as np
from learning_toys import ToyEvaluator

from hauteur import _core
from hauteur.matches.arena import play_games
from hauteur.matches.record import GamePlan, GameRecord
from hauteur.matches.resignation import Resignation
from hauteur.mcts.params import Dirichlet, SearchParams, Temperature
from hauteur.players.playout_cap import PlayoutCap
from hauteur.players.search_player import SearchPlayer

GAME = _core.Game("connect4")


CAP = PlayoutCap(full_share=0.25, fast_visits=5)


def player(
    salt: int = 0, *, visits: int = 24, cap: PlayoutCap | None = None, search: SearchParams | None = None
) -> SearchPlayer:
    search = search or SearchParams(dirichlet=Dirichlet())
    return SearchPlayer(
        f"toy {salt}", ToyEvaluator(GAME, salt=salt), search, visits, Temperature(initial=1.0), playout_cap=cap
    )


def games_of(players: list[SearchPlayer], plans: int | list[GamePlan] = 20, **options: Any) -> list[GameRecord]:
    begun = [GamePlan(index) for index in range(plans)] if isinstance(plans, int) else plans
    defaults: dict[str, Any] = {"seed": 1, "purpose": "test", "parallel": 8, "batch_size": 8}
    return sorted(play_games(GAME, players, begun, **(defaults | options)), key=lambda game: game.plan.index)


def same(first: list[GameRecord], second: list[GameRecord]) -> bool:
    """Whether both are the same games, with the same searches."""
    return all(
        a.actions.tolist() == b.actions.tolist()
        and np.array_equal(a.policy_counts, b.policy_counts)
        and np.array_equal(a.learn, b.learn)
        and (a.outcome, a.end_reason, a.resigned) == (b.outcome, b.end_reason, b.resigned)
        for a, b in zip(first, second, strict=True)
    )


RESIGNS = Resignation(threshold=-0.25, moves=2, earliest_ply=6, play_through=0.3)
