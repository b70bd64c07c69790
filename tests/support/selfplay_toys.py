"""Self-play of a toy player, game by game."""

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from learning_toys import ToyEvaluator

from hauteur import _core
from hauteur.learning.gate import GateResults
from hauteur.learning.planned import CANDIDATE, PlannedGames, unit_path
from hauteur.learning.shards import shard_bytes
from hauteur.learning.units import episodes
from hauteur.matches.arena import ArenaFacts, GameRules, Layout, play_games
from hauteur.matches.ratings.different import line_digest
from hauteur.matches.ratings.elo import Sprt
from hauteur.matches.record import GamePlan, GameRecord, Resignation
from hauteur.mcts.params import Dirichlet, SearchParams, Temperature
from hauteur.players.search_player import SearchPlayer
from hauteur.players.settings import PlayoutCap

GAME = _core.Game("connect4")


CAP = PlayoutCap(full_share=0.25, fast_visits=5)


def player(
    salt: int = 0, *, visits: int = 24, cap: PlayoutCap | None = None, search: SearchParams | None = None
) -> SearchPlayer:
    search = search or SearchParams(dirichlet=Dirichlet())
    return SearchPlayer(
        f"toy {salt}", ToyEvaluator(GAME, salt=salt), search, visits, Temperature(initial=1.0), playout_cap=cap
    )


def plans_of(players: int, games: int) -> list[GamePlan]:
    """Games of one player with itself, or of two who change sides."""
    sides = [(0, 1), (1, 0)] if players > 1 else [(0, 0)]
    return [GamePlan(index, sides[index % len(sides)]) for index in range(games)]


def games_of(
    players: list[Any], plans: int | list[GamePlan] = 20, *, game: _core.Game = GAME, **options: Any
) -> list[GameRecord]:
    """The games of these plans, or that many of two sides in turn, in order."""
    begun = plans_of(len(players), plans) if isinstance(plans, int) else plans
    defaults: dict[str, Any] = {"seed": 1, "purpose": "test", "parallel": 8, "batch_size": 8}
    found = play_games(game, players, begun, **arena_options(**(defaults | options)))
    return sorted(found, key=lambda game: game.plan.index)


def arena_options(**options: Any) -> dict[str, Any]:
    """Options of `play_games`, with the fields of a layout and of rules among them."""
    layout = {one.name: options.pop(one.name) for one in fields(Layout) if one.name in options}
    rules = {one.name: options.pop(one.name) for one in fields(GameRules) if one.name in options}
    return {**options, "layout": Layout(**layout), "rules": GameRules(**rules)}


def play_generation(players: list[SearchPlayer], planned: PlannedGames, folder: Path) -> list[Path]:
    """Play the games of a generation by these players; return the files of its units."""
    plans = iter(planned.plans)
    facts = ArenaFacts()
    games = episodes(
        planned.game, players, planned.settings, plans, seed=planned.seed, purpose=planned.purpose, facts=facts
    )
    records = sorted((replace(game, n_scl=planned.n_scl) for game in games), key=lambda game: game.plan.index)
    paths = []
    for number, some in planned.units.items():
        content = [record for record in records if record.plan.index in {plan.index for plan in some}]
        path = unit_path(folder, planned.generation, number)
        path.write_bytes(
            shard_bytes(planned.game.spec, content, generation=planned.generation, nets=list(planned.nets))
        )
        paths.append(path)
    return paths


def gate_match(players: list[SearchPlayer], planned: PlannedGames, sprt: Sprt | None = None) -> GateResults:
    """Play the match of the candidate against the best net, with a sequential test until it ends."""
    results = GateResults(sprt)
    plans = iter(planned.plans)
    seed = planned.seed
    purpose = planned.purpose
    for game in episodes(
        planned.game, players, planned.settings, plans, seed=seed, purpose=purpose, facts=ArenaFacts()
    ):
        line = line_digest(f"{game.plan.start} {game.actions.tolist()}")
        results.add(game.plan.index, game.score_of(CANDIDATE), line)
        if results.over:
            break
    return results


def same(first: list[GameRecord], second: list[GameRecord]) -> bool:
    """Return whether both are the same games, with the same searches."""
    return all(
        a.actions.tolist() == b.actions.tolist()
        and np.array_equal(a.policy_counts, b.policy_counts)
        and np.array_equal(a.learn, b.learn)
        and (a.outcome, a.end_reason, a.resigned) == (b.outcome, b.end_reason, b.resigned)
        for a, b in zip(first, second, strict=True)
    )


RESIGNS = Resignation(threshold=-0.25, moves=2, earliest_ply=6, play_through=0.3)
