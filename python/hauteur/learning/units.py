"""Self-play in units: what a worker needs to play games of a generation, and what it makes of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from hauteur.cluster.kinds import Feed
from hauteur.cluster.unit import Unit
from hauteur.games.registry import make
from hauteur.learning.recipe import Recipe, SelfPlaySettings
from hauteur.learning.run_players import RunPlayers
from hauteur.learning.selfplay import episodes, n_scl_of
from hauteur.learning.shards import shard_bytes
from hauteur.matches.arena import ArenaFacts
from hauteur.matches.record import GamePlan, GameRecord
from hauteur.matches.unit_games import plan_to_json, play_units
from hauteur.networks.evaluators.batch_invariant import Exact
from hauteur.search.driver import SearchFacts
from hauteur.system.files import sha256_of


def selfplay_units(
    recipe: Recipe,
    settings: SelfPlaySettings,
    plans: Sequence[GamePlan],
    nets: Sequence[int],
    files: Mapping[int, Sequence[Path]],
    *,
    generation: int,
) -> tuple[list[Unit], dict[str, Path]]:
    """Return the units that play these games, and the files of their nets by sha256.

    settings: of self-play in this generation; nets: generation of each player's net; files: of each such generation.
    """
    hashes = {net: [sha256_of(path) for path in paths] for net, paths in files.items()}
    shared = {
        "recipe": recipe.model_dump(mode="json", exclude_unset=True),
        "selfplay": settings.model_dump(mode="json"),
        "generation": generation,
        "nets": list(nets),
        "files": {str(net): found for net, found in hashes.items()},
    }
    sources = {sha256: path for net, paths in files.items() for sha256, path in zip(hashes[net], paths, strict=True)}
    names = {sha256: path.name for sha256, path in sources.items()}
    by_unit: dict[int, list[GamePlan]] = {}
    for plan in plans:
        by_unit.setdefault(plan.index // settings.shard_games, []).append(plan)
    units = [
        Unit(
            "self-play",
            f"generation {generation}, unit {number}",
            shared,
            {"number": number, "plans": [plan_to_json(plan) for plan in of_unit]},
            names,
            games=len(of_unit),
        )
        for number, of_unit in sorted(by_unit.items())
    ]
    return units, sources


class SelfPlayJob:
    """Self-play games of a generation, played by a worker. files: of the nets, by sha256; threads: of each net."""

    def __init__(self, unit: Unit, files: Mapping[str, Path], threads: int) -> None:
        shared = unit.shared
        self._recipe = Recipe.model_validate(shared["recipe"])
        self._settings = SelfPlaySettings.model_validate(shared["selfplay"])
        self._generation, self._nets = int(shared["generation"]), list(map(int, shared["nets"]))
        self._game = make(self._recipe.game)
        places = {int(net): [files[sha256] for sha256 in found] for net, found in shared["files"].items()}
        exact = Exact(self._settings.batch_size) if self._recipe.run.exact else None
        self._stack = ExitStack()
        players = RunPlayers(self._recipe, places.__getitem__, self._game, exact, threads)
        self._players = players.of_selfplay(self._nets, self._settings, self._stack)

    def play(self, feed: Feed) -> None:
        """Play the units of the feed."""
        play_units(feed, self._play, self._encode)

    def close(self) -> None:
        """Close the nets."""
        self._stack.close()

    def _play(self, plans: Iterator[GamePlan], facts: ArenaFacts) -> Iterator[GameRecord]:
        purpose, seed = f"self-play {self._generation}", self._recipe.run.seed
        return episodes(self._game, self._players, self._settings, plans, seed=seed, purpose=purpose, facts=facts)

    def _encode(self, records: Sequence[GameRecord]) -> bytes:
        games = [replace(record, n_scl=n_scl_of(self._players[0])) for record in records]
        return shard_bytes(self._game.spec, games, generation=self._generation, nets=self._nets)


def summed_facts(costs: Sequence[Mapping[str, float]]) -> ArenaFacts:
    """Return what units have cost together; seconds are those of all workers."""
    total = {name: sum(one.get(name, 0.0) for one in costs) for name in {name for one in costs for name in one}}
    search = SearchFacts(
        search=total.get("search", 0.0),
        network=total.get("network", 0.0),
        total=total.get("total", 0.0),
        rows=int(total.get("rows", 0)),
        batches=int(total.get("batches", 0)),
        capacity=int(total.get("capacity", 0)),
    )
    return ArenaFacts(
        games=int(total.get("games", 0)),
        moves=int(total.get("moves", 0)),
        visits=total.get("visits", 0.0),
        cache_hits=total.get("cache_hits", 0.0),
        cache_lookups=total.get("cache_lookups", 0.0),
        search=search,
    )
