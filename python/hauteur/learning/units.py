"""Units of games of a generation, a probe or a gate match: what describes them, and the games of those that a worker
has at a time, played side by side.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hauteur import _core
from hauteur.cluster.unit import TakeUnit, Unit, UnitResult
from hauteur.games.game_line import NO_NET
from hauteur.games.registry import load_game
from hauteur.learning.exact_targets import with_exact_ends
from hauteur.learning.planned import PlannedGames, n_scl_of
from hauteur.learning.recipe import OpponentSettings, Recipe, SelfPlaySettings
from hauteur.learning.shards import shard_bytes
from hauteur.matches.arena import ArenaFacts, GameRules, Layout, play_games
from hauteur.matches.openings import read_openings
from hauteur.matches.record import GamePlan, GameRecord
from hauteur.mcts.params import SearchParams, Temperature
from hauteur.networks.evaluators.base import Evaluator
from hauteur.networks.evaluators.factory import make_evaluator
from hauteur.networks.names import resolve_net
from hauteur.players.build import Evaluators, Resources, build_player, is_builtin, resolved_net
from hauteur.players.move_player import MovePlayer
from hauteur.players.search_player import SearchPlayer
from hauteur.players.settings import NETS
from hauteur.system.files import sha256_of

EVALUATIONS = ("evaluations", "evaluations_large")
"""Facts of a unit: evaluations of the run's own net, and of the large one beside it."""
OF_GAMES = ("visits", "cache_hits", "cache_lookups")
OF_SEARCH = ("rows", "batches", "network", "search", "capacity", "total")
"""Counts of ArenaFacts and of its SearchFacts that units report."""


MODEL = "opponent_net"
"""Name of the net that models the opponent among the files of a unit."""


def plan_to_json(plan: GamePlan) -> dict[str, Any]:
    """Return a plan as JSON; its origin must be the start of a game's spec."""
    start = {"start": plan.start, "origin": plan.origin_spec}
    return {"index": plan.index, "sides": plan.sides, **start, "seed": plan.seed}


def plan_from_json(fields: Mapping[str, Any]) -> GamePlan:
    """Return the plan that `plan_to_json` wrote."""
    spec = fields["origin"]
    first, second = fields["sides"]
    origin = None if spec is None else load_game(spec).new_initial_state()
    return GamePlan(int(fields["index"]), (int(first), int(second)), tuple(fields["start"]), origin, fields["seed"])


def units_of(
    recipe: Recipe, planned: PlannedGames, nets: Mapping[int, Sequence[Path]], numbers: Sequence[int]
) -> tuple[list[Unit], dict[str, Path]]:
    """Return the units of these numbers, in order, and the files of their nets by sha256.

    nets: the files of each generation's net that plays.
    """
    places = {str(net): list(nets[net]) for net in dict.fromkeys(planned.nets) if net != NO_NET}
    if planned.kind == "self-play" and recipe.opponent is not None:
        places |= opponent_files(planned.game, recipe.opponent)
    if planned.kind != "gate" and recipe.selfplay.opponent_net is not None:
        places[MODEL] = [Path(resolve_net(recipe.selfplay.opponent_net))]
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


def check_players(game: _core.Game, recipe: Recipe) -> None:
    """ValueError or OSError when the opponent, its model or the opening book does not fit the game or is not there."""
    model = recipe.selfplay.opponent_net
    if model is not None:
        make_evaluator(game, Path(resolve_net(model)), backend=recipe.run.backend, batch_size=1).close()
    if recipe.selfplay.opening_book is not None:
        read_openings(Path(recipe.selfplay.opening_book), game)
    if recipe.opponent is not None:
        resources = Resources(threads=1, batch_size=1, backend=recipe.run.backend)
        with Evaluators(game, resources) as evaluators:
            build_player(game, recipe.opponent, evaluators, "opponent")


def opponent_files(game: _core.Game, opponent: OpponentSettings) -> dict[str, list[Path]]:
    """Return the files of the fixed opponent's nets, by the settings that name them."""
    if not opponent.has_net:
        return {}
    names = {"net": resolved_net(game, opponent)}
    names |= {key: resolve_net(net) for key in NETS[1:] if (net := getattr(opponent, key))}
    return {setting: [Path(name)] for setting, name in names.items() if name and not is_builtin(name)}


def with_opponent_files(recipe: Recipe, files: Mapping[str, Sequence[Path]]) -> Recipe:
    """Return the recipe with the opponent's nets in these files, where `opponent_files` has found some."""
    if recipe.opponent is None:
        return recipe
    places = {setting: str(files[setting][0]) for setting in NETS if setting in files}
    return recipe.model_copy(update={"opponent": recipe.opponent.model_copy(update=places)})


class _UnitPlans:
    """The plans of units, as far as there are any now; `ended` sorts the games by unit."""

    def __init__(self, take: TakeUnit) -> None:
        self._take = take
        self._plans: list[GamePlan] = []
        self._running: dict[int, tuple[Unit, list[GameRecord]]] = {}

    def __iter__(self) -> Iterator[GamePlan]:
        return self

    def __next__(self) -> GamePlan:
        if not self._plans:
            if (unit := self._take()) is None:
                raise StopIteration
            self._plans = [plan_from_json(fields) for fields in reversed(unit.own["plans"])]
            running = unit, list[GameRecord]()
            self._running |= {plan.index: running for plan in self._plans}
        return self._plans.pop()

    def ended(self, record: GameRecord) -> tuple[Unit, list[GameRecord]] | None:
        """Take a game; return its unit with all games, by number, once it is the last of them."""
        unit, records = self._running.pop(record.plan.index)
        records.append(record)
        return (unit, sorted(records, key=lambda one: one.plan.index)) if len(records) == unit.games else None


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
        self.max_moves = 1 if unit.kind == "reanalyse" else None
        self._marks_proven = self.recipe.train.proven_targets != "off"
        self.players: Sequence[SearchPlayer | MovePlayer]
        self._places, self._threads, self._stack = places, threads, ExitStack()
        try:
            if unit.kind != "gate":
                self.n_scl = n_scl_of(self.settings.search)
                self.players = self._players_of_selfplay()
            else:
                self.players = [self._player_of_gate(net) for net in self.nets]
        except BaseException:
            self._stack.close()
            raise

    def _players_of_selfplay(self) -> list[SearchPlayer | MovePlayer]:
        settings = self.settings
        players: list[SearchPlayer | MovePlayer] = []
        for net in self.nets:
            if net == NO_NET:
                players.append(self._opponent())
            else:
                player = self._player(net, settings.search, settings.visits, settings.temperature)
                players.append(replace(player, playout_cap=settings.playout_cap))
        best = players[-1]
        if len(players) > 1 and isinstance(best, SearchPlayer) and not settings.learn_from_best:
            players[-1] = replace(best, learns=False)
        return players

    def _player_of_gate(self, net: int) -> SearchPlayer:
        """Like in self-play, without what makes games vary, and with the gate's temperature.

        Noise and forced playouts are off, and search-contempt and the model of the opponent, which assume another
        opponent than a gate match has.
        """
        quiet = {"dirichlet": None, "forced_playouts": None, "search_contempt": None, "opponent_net": None}
        search, gate = self.recipe.selfplay.search.model_copy(update=quiet), self.recipe.gate
        return self._player(net, search, gate.visits or self.settings.visits, gate.temperature)

    def _opponent(self) -> SearchPlayer | MovePlayer:
        """The fixed opponent, whose moves are not learned from."""
        settings, run, rows = self.recipe.opponent, self.recipe.run, self.recipe.selfplay.batch_size
        if settings is None:
            raise RuntimeError("a recipe without [opponent] has no opponent")
        resources = Resources(threads=self._threads, batch_size=rows, backend=run.backend)
        evaluators = self._stack.enter_context(Evaluators(self.game, resources, exact=run.exact))
        player = build_player(self.game, settings, evaluators, "opponent")
        return replace(player, learns=False) if isinstance(player, SearchPlayer) else player

    def _player(self, net: int, search: SearchParams, visits: int, temperature: Temperature) -> SearchPlayer:
        """A player with the net, or the two nets, of a generation, and in self-play the model of its opponent."""
        model = self._places[MODEL] if search.opponent_net is not None else []
        evaluator, *large = [self._evaluator(path) for path in (*self._places[str(net)], *model)]
        return SearchPlayer(f"gen-{net}", evaluator, search, visits, temperature, large[0] if large else None)

    def _evaluator(self, path: Path) -> Evaluator:
        """The evaluator of a net; with run.exact its answers do not depend on the batch, bit for bit."""
        run = self.recipe.run
        evaluator = make_evaluator(
            self.game,
            path,
            backend=run.backend,
            precision=run.precision,
            threads=self._threads,
            batch_size=min(self.recipe.selfplay.batch_size, 65536),
            exact=run.exact,
        )
        return self._stack.enter_context(closing(evaluator))

    def play(self, take: TakeUnit, on_game: Callable[[], object] = lambda: None) -> Generator[UnitResult]:
        """Play units side by side until there are none; yield each, as its file has it, once its last game has ended.

        on_game: called after every game. What a unit has cost is what came between the ends of two units.
        """
        game, settings, seed = self.game, self.settings, self.recipe.run.seed
        plans, facts, before = _UnitPlans(take), ArenaFacts(), dict[str, float]()
        purpose, most = self.purpose, self.max_moves
        games = episodes(game, self.players, settings, plans, seed=seed, purpose=purpose, facts=facts, max_moves=most)
        with closing(games) as played:
            for record in played:
                on_game()
                if (ended := plans.ended(record)) is not None:
                    now, (unit, records) = self._counts(facts), ended
                    spent = {name: now[name] - before.get(name, 0.0) for name in now}
                    own = {"games": len(records), "moves": sum(len(one.actions) for one in records)}
                    if nodes := 0 if unit.kind == "gate" else self.recipe.train.exact_nodes:
                        records = with_exact_ends(records, game, nodes)
                    found = [replace(one, n_scl=self.n_scl, learn=self._learn(one)) for one in records]
                    content = shard_bytes(game.spec, found, generation=self.generation, nets=self.nets)
                    yield UnitResult(unit.key, content, {**own, **spent})
                    before = now

    def _learn(self, record: GameRecord) -> NDArray[np.uint8]:
        """Return the column that says which moves are learned from, with what is proven where that is a target."""
        return np.asarray(record.learn | record.proven << 1) if self._marks_proven else record.learn

    def close(self) -> None:
        self._stack.close()

    def _counts(self, facts: ArenaFacts) -> dict[str, float]:
        games, search = ({name: getattr(one, name) for name in names} for one, names in _counted(facts))
        done = {id(evaluator): network.rows for evaluator, network in facts.networks}
        own = [
            player
            for player, net in zip(self.players, self.nets, strict=True)
            if isinstance(player, SearchPlayer) and net != NO_NET
        ]
        nets = {id(player.evaluator) for player in own}, {id(player.large) for player in own}
        evaluations = {
            name: sum(done.get(one, 0) for one in some) for name, some in zip(EVALUATIONS, nets, strict=True)
        }
        return {**games, **search, **evaluations, "tree_bytes": facts.tree_bytes}


def episodes(
    game: _core.Game,
    players: Sequence[SearchPlayer | MovePlayer],
    settings: SelfPlaySettings,
    plans: Iterator[GamePlan],
    *,
    seed: int,
    purpose: str,
    facts: ArenaFacts,
    max_moves: int | None = None,
) -> Generator[GameRecord]:
    """Play the planned games by the rules of these settings."""
    layout = Layout(settings.parallel_games, settings.batch_size, settings.in_flight)
    rules = GameRules(settings.max_plies, max_moves, settings.resignation, settings.tree_per_side)
    return play_games(game, players, plans, seed=seed, purpose=purpose, layout=layout, rules=rules, facts=facts)


def summed_facts(costs: Sequence[Mapping[str, float]]) -> ArenaFacts:
    """Return what units have cost together; seconds are those of all workers."""
    facts = ArenaFacts()
    for one, names in ((facts, ("games", "moves", "tree_bytes")), *_counted(facts)):
        for name in names:
            kind = type(getattr(one, name))
            setattr(one, name, sum((kind(cost.get(name, 0)) for cost in costs), kind()))
    return facts


def _counted(facts: ArenaFacts) -> tuple[tuple[object, tuple[str, ...]], ...]:
    """Return where the counts of units are, with their names."""
    return (facts, OF_GAMES), (facts.search, OF_SEARCH)
