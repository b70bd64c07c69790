"""The self-play step: the games of one generation, written as shards while they are played.

Games are numbered; a killed step resumes with the numbers missing from the shards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from hauteur import _core
from hauteur.learning.recipe import SelfPlaySettings
from hauteur.learning.recorded_games import Games
from hauteur.learning.shards import read_shard, write_shard
from hauteur.matches.arena import ArenaFacts, play_games
from hauteur.matches.openings import Opening, first_of_two, random_opening, read_openings
from hauteur.matches.ratings.elo import MatchScore
from hauteur.matches.record import GamePlan, GameRecord
from hauteur.players.move_player import MovePlayer
from hauteur.players.search_player import SearchPlayer
from hauteur.players.settings import Colours
from hauteur.system.seeds import derived_seed, stream


def shard_paths(folder: Path, generation: int) -> list[Path]:
    """The shards of a generation, in order of writing."""
    return sorted(folder.glob(f"gen-{generation:05d}-*.parquet"))


def shard_path(folder: Path, generation: int, number: int) -> Path:
    """The shard of a unit."""
    return folder / f"gen-{generation:05d}-{number:04d}.parquet"


def play_generation(
    game: _core.Game,
    players: Sequence[SearchPlayer | MovePlayer],
    settings: SelfPlaySettings,
    *,
    folder: Path,
    generation: int,
    nets: Sequence[int],
    seed: int,
    colours: Colours = "swap",
    threads: int = 1,
    on_games: Callable[[int], None] | None = None,
) -> ArenaFacts:
    """Play the games of a generation missing on disk; nets: generation of each player's net.

    colours: seat of player 0, where the second player is the fixed opponent. `on_games` receives the number of finished
    games of the generation.
    """
    played = played_numbers(game, folder, generation)
    facts = ArenaFacts()
    plans = game_plans(game, settings, generation=generation, seed=seed, without=played, colours=colours)
    purpose = f"self-play {generation}"
    records = episodes(game, players, settings, plans, seed=seed, purpose=purpose, facts=facts, threads=threads)
    finished: list[GameRecord] = []
    for record in records:
        finished.append(replace(record, n_scl=n_scl_of(players[0])))
        if on_games is not None:
            on_games(len(played) + facts.games)
        if len(finished) >= settings.shard_games:
            _flush(folder, game.spec, finished, generation, nets)
    _flush(folder, game.spec, finished, generation, nets)
    return facts


def play_probe(
    game: _core.Game,
    players: Sequence[SearchPlayer | MovePlayer],
    settings: SelfPlaySettings,
    *,
    generation: int,
    number: int,
    games: int,
    seed: int,
    colours: Colours = "swap",
    on_games: Callable[[int], None] | None = None,
) -> tuple[list[GameRecord], ArenaFacts]:
    """Play probe games as in the generation, for observation only; number: of the probe."""
    facts, records = ArenaFacts(), []
    few = settings.model_copy(update={"games": games})
    opening_seed, purpose = derived_seed(seed, "probe", number), f"probe {generation} {number}"
    plans = game_plans(game, few, generation=generation, seed=opening_seed, without=set(), colours=colours)
    for record in episodes(game, players, few, plans, seed=seed, purpose=purpose, facts=facts):
        records.append(record)
        if on_games is not None:
            on_games(len(records))
    return records, facts


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


def n_scl_of(player: SearchPlayer | MovePlayer) -> int | None:
    """N_scl of search-contempt in the player's search; None where it is off."""
    if not isinstance(player, SearchPlayer):
        return None
    rule = player.search.search_contempt
    return None if rule is None or rule.is_neutral else rule.n_scl


def played_numbers(game: _core.Game, folder: Path, generation: int) -> set[int]:
    """Numbers of the generation's games that whole shards hold."""
    numbers: set[int] = set()
    for path in shard_paths(folder, generation):
        try:
            numbers.update(read_shard(path, game.spec).index.tolist())
        except ValueError:
            continue  # the replay buffer names it; its games are played again
    return numbers


def game_plans(
    game: _core.Game,
    settings: SelfPlaySettings,
    *,
    generation: int,
    seed: int,
    without: set[int],
    colours: Colours = "swap",
) -> Iterator[GamePlan]:
    """The generation's games: who sits where, and how each begins."""
    book = read_openings(Path(settings.opening_book), game) if settings.opening_book else []
    for index in range(settings.games):
        if index in without:
            continue
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


def _flush(folder: Path, game_spec: str, finished: list[GameRecord], generation: int, nets: Sequence[int]) -> None:
    """Write the finished games as the generation's next shard and empty the list."""
    if not finished:
        return
    number = 0
    while (path := folder / f"gen-{generation:05d}-{number:04d}.parquet").exists():
        number += 1
    write_shard(path, game_spec, finished, generation=generation, nets=nets)
    finished.clear()


def candidate_record(games: Games) -> MatchScore:
    """Results of the candidate in candidate-versus-best episodes: it moves first in the games with even numbers."""
    results = np.where(games.index % 2 == 0, games.outcome, -games.outcome)
    wins, draws, losses = (int((results == result).sum()) for result in (1, 0, -1))
    return MatchScore(wins=wins, draws=draws, losses=losses)
