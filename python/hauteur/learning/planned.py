"""Planned games: those of a generation, a probe or a gate match, in units, and the check of what was made of them."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa

from hauteur import _core
from hauteur.learning.recipe import GateSettings, SelfPlaySettings
from hauteur.learning.recorded_games import Games
from hauteur.learning.shards import MOST_UNPACKED, checked_games, read_table
from hauteur.matches.arena import ArenaFacts, play_games
from hauteur.matches.openings import Opening, first_of_two, random_opening, read_openings
from hauteur.matches.record import GamePlan, GameRecord
from hauteur.mcts.params import SearchParams
from hauteur.players.move_player import MovePlayer
from hauteur.players.search_player import SearchPlayer
from hauteur.players.settings import Colours
from hauteur.system.seeds import derived_seed, stream

CANDIDATE, BEST = 0, 1
"""Players of a gate match."""
MOST_RESULT = 2**30
"""Bytes of memory that the columns of a worker's result may take."""


@dataclass(frozen=True)
class PlannedGames:
    """Games that are all decided before they are played.

    kind: of their units; settings: of self-play in this generation; nets: generation of each player's net; seed: of the
    run; purpose: names their random numbers; unit_games: games of a unit, unit u has u * unit_games and those after it.
    """

    kind: Literal["self-play", "gate"]
    game: _core.Game
    settings: SelfPlaySettings
    generation: int
    nets: tuple[int, ...]
    seed: int
    purpose: str
    plans: tuple[GamePlan, ...]
    unit_games: int

    @cached_property
    def units(self) -> dict[int, tuple[GamePlan, ...]]:
        """The plans of each unit, by its number."""
        size = self.unit_games
        return {at // size: self.plans[at : at + size] for at in range(0, len(self.plans), size)}

    @property
    def n_scl(self) -> int | None:
        """N_scl of search-contempt in these games; None where it is off."""
        return n_scl_of(self.settings.search) if self.kind == "self-play" else None

    def checked(self, source: Path | pa.BufferReader, number: int, name: str) -> Games:
        """Return the games of a unit's file or content.

        ValueError, naming it, where it is damaged, or has other games than were planned for this unit.
        """
        most = MOST_UNPACKED if isinstance(source, Path) else MOST_RESULT
        table = read_table(source, name, most=most)
        games = checked_games(table, name, self.game.spec)
        for column, wanted in self._expected(self.units[number]).items():
            if table[column].to_pylist() != wanted:
                raise ValueError(f"{name}: its {column} is not that of unit {number} of generation {self.generation}")
        return games

    def _expected(self, plans: Sequence[GamePlan]) -> dict[str, list[object]]:
        """Return the columns of a unit's file that follow from the plans."""
        n_scl = None if self.n_scl is None else float(np.float32(self.n_scl))
        return {
            "index": [plan.index for plan in plans],
            "generation": [self.generation] * len(plans),
            "seed": [
                derived_seed(self.seed, self.purpose, plan.index) if plan.seed is None else plan.seed for plan in plans
            ],
            "net_first": [self.nets[plan.seats[0]] for plan in plans],
            "net_second": [self.nets[plan.seats[1]] for plan in plans],
            "start": [list(plan.start) for plan in plans],
            "origin": [plan.origin_spec for plan in plans],
            "n_scl": [n_scl] * len(plans),
        }


def planned_selfplay(
    game: _core.Game,
    settings: SelfPlaySettings,
    *,
    generation: int,
    nets: Sequence[int],
    seed: int,
    colours: Colours = "swap",
) -> PlannedGames:
    """Plan the games of a generation. colours: seat of player 0, where the second player is the fixed opponent."""
    plans = tuple(game_plans(game, settings, generation=generation, seed=seed, colours=colours))
    purpose = f"self-play {generation}"
    return PlannedGames(
        "self-play", game, settings, generation, tuple(nets), seed, purpose, plans, settings.shard_games
    )


def planned_probe(
    game: _core.Game,
    settings: SelfPlaySettings,
    *,
    generation: int,
    number: int,
    games: int,
    nets: Sequence[int],
    seed: int,
    colours: Colours = "swap",
    unit_games: int,
) -> PlannedGames:
    """Plan games as in the generation, for observation only; number: of the probe."""
    few = settings.model_copy(update={"games": games})
    opening_seed, purpose = derived_seed(seed, "probe", number), f"probe {generation} {number}"
    plans = tuple(game_plans(game, few, generation=generation, seed=opening_seed, colours=colours))
    return PlannedGames("self-play", game, few, generation, tuple(nets), seed, purpose, plans, unit_games)


def planned_gate(
    game: _core.Game,
    settings: SelfPlaySettings,
    gate: GateSettings,
    *,
    generation: int,
    best: int,
    seed: int,
    unit_games: int,
) -> PlannedGames:
    """Plan the match of the net of a generation against the best one: pairs of games; unit_games must be even."""
    plans = pair_plans(game, gate.games, gate.opening_plies, purpose=f"gate opening {generation}", seed=seed)
    purpose = f"gate {generation}"
    return PlannedGames("gate", game, settings, generation, (generation, best), seed, purpose, tuple(plans), unit_games)


def game_plans(
    game: _core.Game, settings: SelfPlaySettings, *, generation: int, seed: int, colours: Colours = "swap"
) -> Iterator[GamePlan]:
    """The generation's games: who sits where, and how each begins."""
    book = read_openings(Path(settings.opening_book), game) if settings.opening_book else []
    for index in range(settings.games):
        plan = opening_plan(game, settings, book, index, stream(seed, f"opening {generation}", index))
        alone = settings.episodes == "best-versus-best"
        yield plan if alone else replace(plan, seats=first_of_two(game, colours, plan))


def opening_plan(
    game: _core.Game, settings: SelfPlaySettings, book: Sequence[Opening], index: int, random: np.random.Generator
) -> GamePlan:
    """Plan the start of a game: the initial position, or an opening of the book, if any, and random plies."""
    if random.random() >= settings.opening_share:
        return GamePlan(index)
    plies = int(random.integers(settings.opening_plies + 1))
    plan = book[int(random.integers(len(book)))].plan(game, index) if book else GamePlan(index)
    return replace(plan, start=plan.start + random_opening(game, plies, random, after=plan))


def pair_plans(game: _core.Game, games: int, opening_plies: int, *, purpose: str, seed: int) -> Iterator[GamePlan]:
    """Games 2k and 2k + 1 begin with the same random plies, with seats swapped."""
    for index in range(games):
        start = random_opening(game, opening_plies, stream(seed, purpose, index // 2))
        yield GamePlan(index, (CANDIDATE, BEST) if index % 2 == 0 else (BEST, CANDIDATE), start)


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
) -> Generator[GameRecord]:
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


def n_scl_of(search: SearchParams) -> int | None:
    """N_scl of search-contempt in a search; None where it is off."""
    rule = search.search_contempt
    return None if rule is None or rule.is_neutral else rule.n_scl
