"""Learning's units: what a worker needs to play games of a generation, a probe or a gate match, and what it makes."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from hauteur import _core
from hauteur.cluster.unit import Unit, UnitResult
from hauteur.games.game_line import NO_NET
from hauteur.games.registry import load_game
from hauteur.learning.planned import PlannedGames, n_scl_of
from hauteur.learning.recipe import Recipe, SelfPlaySettings
from hauteur.learning.run_players import RunPlayers, evaluations_of_nets, opponent_files, with_opponent_files
from hauteur.learning.shards import shard_bytes
from hauteur.matches.arena import ArenaFacts, play_games
from hauteur.matches.record import GamePlan, GameRecord
from hauteur.matches.unit_games import UnitRecords, add_counts, plan_to_json, play_units
from hauteur.players.move_player import MovePlayer
from hauteur.players.search_player import SearchPlayer
from hauteur.system.files import sha256_of

EVALUATIONS = ("evaluations", "evaluations_large")
"""Facts of a unit: evaluations of the run's own net, and of the large one beside it."""


def units_of(
    recipe: Recipe, planned: PlannedGames, nets: Mapping[int, Sequence[Path]], numbers: Sequence[int]
) -> tuple[list[Unit], dict[str, Path]]:
    """Return the units of these numbers, in order, and the files of their nets by sha256.

    nets: the files of each generation's net that plays.
    """
    places = {str(net): list(nets[net]) for net in dict.fromkeys(planned.nets) if net != NO_NET}
    if planned.kind == "self-play" and recipe.opponent is not None:
        places |= opponent_files(planned.game, recipe.opponent)
    hashes = {name: [sha256_of(path) for path in paths] for name, paths in places.items()}
    sources = {hashes[name][at]: path for name, paths in places.items() for at, path in enumerate(paths)}
    files = {sha256: path.name for sha256, path in sources.items()}
    shared = {
        "recipe": recipe.model_dump(mode="json", exclude_unset=True, exclude={"start"}),
        "selfplay": planned.settings.model_dump(mode="json"),
        "generation": planned.generation,
        "purpose": planned.purpose,
        "nets": list(planned.nets),
        "files": hashes,
    }
    units = []
    for number in numbers:
        plans = planned.units[number]
        own = {"number": number, "plans": [plan_to_json(plan) for plan in plans]}
        name = f"{planned.purpose}, unit {number}"
        units.append(Unit(planned.kind, name, shared, own, files, games=len(plans)))
    return units, sources


class LearningJob:
    """Games of a run, played by a worker. files: of the nets, by sha256; threads: of each net on the processor."""

    def __init__(self, unit: Unit, files: Mapping[str, Path], threads: int) -> None:
        shared = unit.shared
        places = {name: [files[sha256] for sha256 in found] for name, found in shared["files"].items()}
        self.recipe = with_opponent_files(Recipe.model_validate(shared["recipe"]), places)
        self.settings = SelfPlaySettings.model_validate(shared["selfplay"])
        self.generation, self.nets = int(shared["generation"]), [int(net) for net in shared["nets"]]
        self.purpose = str(shared["purpose"])
        self.game = load_game(self.recipe.game)
        self.n_scl: int | None = None
        self.players: Sequence[SearchPlayer | MovePlayer]
        self._stack = ExitStack()
        exact = self.recipe.run.exact
        run_players = RunPlayers(self.recipe, lambda net: places[str(net)], self.game, exact=exact, threads=threads)
        try:
            if unit.kind == "self-play":
                self.n_scl = n_scl_of(self.settings.search)
                self.players = run_players.of_selfplay(self.nets, self.settings, self._stack)
            else:
                visits = self.settings.visits
                self.players = [run_players.of_gate(net, visits, self._stack) for net in self.nets]
        except BaseException:
            self._stack.close()
            raise

    def games(self, plans: Iterator[GamePlan], facts: ArenaFacts) -> Generator[GameRecord]:
        """Play games by the settings."""
        game, settings, seed = self.game, self.settings, self.recipe.run.seed
        return episodes(game, self.players, settings, plans, seed=seed, purpose=self.purpose, facts=facts)

    def play(self, units: Iterator[Unit]) -> Iterator[UnitResult]:
        """Play units."""
        for unit, records, facts in self.played(units):
            yield UnitResult(unit.key, self.content(records), facts)

    def played(self, units: Iterator[Unit], on_game: Callable[[], object] = lambda: None) -> Generator[UnitRecords]:
        """Play units; yield the games of each. on_game: called after every game."""
        return play_units(units, self.games, self._evaluations, on_game)

    def content(self, records: Sequence[GameRecord]) -> bytes:
        """Return the games of a unit as its file has them."""
        games = [replace(record, n_scl=self.n_scl) for record in records]
        return shard_bytes(self.game.spec, games, generation=self.generation, nets=self.nets)

    def close(self) -> None:
        """Close the nets."""
        self._stack.close()

    def _evaluations(self, facts: ArenaFacts) -> dict[str, float]:
        counts = evaluations_of_nets(facts, self.players, self.nets)
        return {**dict(zip(EVALUATIONS, counts, strict=True)), "tree_bytes": facts.tree_bytes}


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


def summed_facts(costs: Sequence[Mapping[str, float]]) -> ArenaFacts:
    """Return what units have cost together; seconds are those of all workers."""
    facts = ArenaFacts()
    for cost in costs:
        add_counts(facts, cost)
    return facts
