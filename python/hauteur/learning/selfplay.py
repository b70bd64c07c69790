"""The self-play step: the games of one generation, written as files of units while they are played."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from hauteur import _core
from hauteur.learning.planned import PlannedGames
from hauteur.learning.recipe import SelfPlaySettings
from hauteur.learning.shards import shard_bytes
from hauteur.learning.unit_files import write_unit
from hauteur.matches.arena import ArenaFacts, play_games
from hauteur.matches.record import GamePlan, GameRecord
from hauteur.players.move_player import MovePlayer
from hauteur.players.search_player import SearchPlayer


def play_generation(
    players: Sequence[SearchPlayer | MovePlayer],
    planned: PlannedGames,
    folder: Path,
    *,
    missing: Iterable[int] | None = None,
    facts: ArenaFacts | None = None,
    on_games: Callable[[int], None] | None = None,
) -> Iterator[int]:
    """Play all games of these units (default: of all) side by side; yield the number of a unit when its file is there.

    on_games: receives the number of finished games.
    """
    units = {number: planned.units[number] for number in (planned.units if missing is None else missing)}
    facts = ArenaFacts() if facts is None else facts
    ended: dict[int, list[GameRecord]] = {number: [] for number in units}
    for record in played(players, planned, (plan for plans in units.values() for plan in plans), facts):
        number = record.plan.index // planned.unit_games
        ended[number].append(record)
        if on_games is not None:
            on_games(facts.games)
        if len(ended[number]) == len(units[number]):
            write_unit(planned, folder, number, unit_content(planned, ended.pop(number)))
            yield number


def played(
    players: Sequence[SearchPlayer | MovePlayer], planned: PlannedGames, plans: Iterator[GamePlan], facts: ArenaFacts
) -> Iterator[GameRecord]:
    """Play some of the planned games of self-play."""
    game, settings = planned.game, planned.settings
    return episodes(game, players, settings, plans, seed=planned.seed, purpose=planned.purpose, facts=facts)


def unit_content(planned: PlannedGames, records: Iterable[GameRecord]) -> bytes:
    """Return the content of a unit's file."""
    games = sorted((replace(record, n_scl=planned.n_scl) for record in records), key=lambda one: one.plan.index)
    return shard_bytes(planned.game.spec, games, generation=planned.generation, nets=planned.nets)


def episodes(
    game: _core.Game,
    players: Sequence[SearchPlayer | MovePlayer],
    settings: SelfPlaySettings,
    plans: Iterator[GamePlan],
    *,
    seed: int,
    purpose: str,
    facts: ArenaFacts,
    threads: int = 1,
) -> Iterator[GameRecord]:
    """Play the planned games by the rules of these settings."""
    return play_games(
        game,
        players,
        plans,
        seed=seed,
        purpose=purpose,
        parallel=settings.parallel_games,
        batch_size=settings.batch_size,
        in_flight=settings.in_flight,
        threads=threads,
        max_plies=settings.max_plies,
        resignation=settings.resignation,
        tree_per_side=settings.tree_per_side,
        facts=facts,
    )
