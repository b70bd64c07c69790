"""Units of games of a generation, a probe or a gate match: what describes them, and the games of those that a worker
has at a time, played side by side.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hauteur import _core
from hauteur.cluster.scheduler import Played
from hauteur.cluster.unit import TakeUnit, Unit, UnitResult
from hauteur.games.game_line import NO_NET
from hauteur.games.registry import load_game
from hauteur.learning.exact_ends import with_exact_ends
from hauteur.learning.planned import PlannedGames, n_scl_of
from hauteur.learning.recipe import Recipe
from hauteur.learning.sections import OpponentSettings, SelfPlaySettings
from hauteur.learning.shards import shard_bytes
from hauteur.matches.arena import ArenaFacts, GameRules, Layout, play_games
from hauteur.matches.openings import read_openings
from hauteur.matches.record import GamePlan, GameRecord
from hauteur.matches.units import OF_GAMES, OF_SEARCH, UnitPlans, counts_of, ended_units, plan_to_json
from hauteur.mcts.params import SearchParams, Temperature
from hauteur.networks.evaluators.base import MOST_BATCH_ROWS, Evaluator
from hauteur.networks.evaluators.factory import make_evaluator
from hauteur.networks.names import WITHOUT_FILE, ResolvedNet, resolve_net
from hauteur.players.build import Evaluators, Resources, build_player, player_nets
from hauteur.players.move_player import MovePlayer
from hauteur.players.search_player import SearchPlayer
from hauteur.players.settings import NETS
from hauteur.system.stopping import stop

EVALUATIONS = ("evaluations", "evaluations_large")
"""Facts of a unit: evaluations of the run's net, and of the large one."""

MODEL = "model"
"""Name of the net that models the opponent among the files of a unit."""


@dataclass(frozen=True)
class OtherNets:
    """The nets of a run's games that the run does not train: each is looked up when it is first needed."""

    game: _core.Game
    """The game that they play."""
    recipe: Recipe
    """The recipe that names them."""

    @cached_property
    def opponent(self) -> dict[str, ResolvedNet]:
        """Those of the fixed opponent, by the settings that name them; none without such an opponent."""
        opponent = self.recipe.opponent
        if opponent is None:
            return {}
        return player_nets(self.game, opponent)

    @cached_property
    def model(self) -> ResolvedNet | None:
        """The model of the other side in the searches of self-play; None without one."""
        name = self.recipe.selfplay.opponent_net
        return None if name is None else resolve_net(name)

    def of(self, planned: PlannedGames) -> dict[str, ResolvedNet]:
        """Return those that take part in these games and are files, by the names that units give them."""
        found: dict[str, ResolvedNet] = {}
        if planned.kind == "self-play":
            found |= {setting: net for setting, net in self.opponent.items() if net.has_file}
        if planned.kind != "gate" and self.model is not None:
            found[MODEL] = self.model
        return found


def units_of(
    recipe: Recipe,
    planned: PlannedGames,
    nets: Mapping[int, Sequence[Path]],
    others: OtherNets,
    numbers: Sequence[int],
) -> tuple[list[Unit], dict[str, Path]]:
    """Return the units of these numbers, in order, and the files of their nets by sha256.

    nets: the files of each generation's net that plays.
    """
    playing: dict[str, list[ResolvedNet]] = {}
    for net in dict.fromkeys(planned.nets):
        if net != NO_NET:
            playing[str(net)] = [ResolvedNet(str(path)) for path in nets[net]]
    for name, other in others.of(planned).items():
        playing[name] = [other]
    # Nets by the hash of their content: a worker that keeps another run's net of the same name must not play with it.
    hashes: dict[str, list[str]] = {}
    sources: dict[str, Path] = {}
    for name, found in playing.items():
        hashes[name] = [resolved.sha256 for resolved in found]
        for resolved in found:
            sources[resolved.sha256] = Path(resolved.path)
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


def check_players(game: _core.Game, recipe: Recipe, others: OtherNets) -> None:
    """ValueError or OSError when the opponent, its model or the opening book does not fit the game or is not there."""
    if others.model is not None:
        make_evaluator(game, others.model, backend=recipe.run.backend, batch_size=1).close()
    if recipe.selfplay.opening_book is not None:
        read_openings(Path(recipe.selfplay.opening_book), game)
    if recipe.opponent is not None:
        resources = Resources(threads=1, batch_size=1, backend=recipe.run.backend)
        with Evaluators(game, resources) as evaluators:
            build_player(game, _as_in_recipe(recipe.opponent), evaluators, "opponent", others.opponent)


def _as_in_recipe(opponent: OpponentSettings) -> OpponentSettings:
    """Return the opponent with every setting of its search given: the games of a run follow from its recipe alone."""
    search = SearchParams.model_validate(opponent.search.model_dump())
    return opponent.model_copy(update={"search": search})


class LearningJob:
    """Games of a run, played by a worker. files: of the nets, by sha256; threads: of each net on the processor."""

    def __init__(self, unit: Unit, files: Mapping[str, Path], threads: int) -> None:
        shared = unit.shared
        self.recipe = Recipe.model_validate(shared["recipe"])
        self.settings = SelfPlaySettings.model_validate(shared["selfplay"])
        self.generation = int(shared["generation"])
        self.nets = [int(net) for net in shared["nets"]]
        self.purpose = str(shared["purpose"])
        self.game = load_game(self.recipe.game)
        self.n_scl: int | None = None
        self.max_moves = 1 if unit.kind == "reanalyse" else None
        self._marks_proven = self.recipe.train.proven_targets != "off"
        self.players: Sequence[SearchPlayer | MovePlayer]
        self._playing: dict[str, list[ResolvedNet]] = {}
        for name, hashes in shared["files"].items():
            self._playing[name] = [ResolvedNet(str(files[sha256])) for sha256 in hashes]
        self._threads = threads
        self._stack = ExitStack()
        try:
            if unit.kind != "gate":
                self.n_scl = n_scl_of(self.settings.search)
                self.players = self._players_of_selfplay()
            else:
                self.players = [self._player_of_gate(net) for net in self.nets]
        except BaseException:
            # There is no job yet that anybody else could close.
            self._stack.close()
            raise

    def _players_of_selfplay(self) -> list[SearchPlayer | MovePlayer]:
        """Open the players of self-play: one that plays itself, or two."""
        settings = self.settings
        players: list[SearchPlayer | MovePlayer] = []
        for net in self.nets:
            if net == NO_NET:
                players.append(self._opponent())
            else:
                player = self._player(net, settings.search, settings.visits, settings.temperature)
                players.append(replace(player, playout_cap=settings.playout_cap))
        # With two players the best net is the last one; the candidate's moves are always learned from.
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
        search = self.recipe.selfplay.search.model_copy(update=quiet)
        gate = self.recipe.gate
        return self._player(net, search, gate.visits or self.settings.visits, gate.temperature)

    def _opponent(self) -> SearchPlayer | MovePlayer:
        """The fixed opponent, whose moves are not learned from."""
        settings = self.recipe.opponent
        run = self.recipe.run
        # A recipe may name more rows than an evaluator takes.
        rows = min(self.recipe.selfplay.batch_size, MOST_BATCH_ROWS)
        if settings is None:
            raise RuntimeError("a recipe without [opponent] has no opponent")
        resources = Resources(threads=self._threads, batch_size=rows, backend=run.backend)
        evaluators = self._stack.enter_context(Evaluators(self.game, resources, exact=run.exact))
        nets = self._opponent_nets(settings)
        player = build_player(self.game, _as_in_recipe(settings), evaluators, "opponent", nets)
        if not isinstance(player, SearchPlayer):
            return player
        return replace(player, learns=False)

    def _opponent_nets(self, settings: OpponentSettings) -> dict[str, ResolvedNet]:
        """Return the opponent's nets: the files that came with the unit, and evaluators without a file by name."""
        nets = {}
        for setting in NETS:
            name = getattr(settings, setting)
            if name in WITHOUT_FILE:
                nets[setting] = ResolvedNet(name)
            elif setting in self._playing:
                nets[setting] = self._playing[setting][0]
        return nets

    def _player(self, net: int, search: SearchParams, visits: int, temperature: Temperature) -> SearchPlayer:
        """A player with the net, or the two nets, of a generation, and in self-play the model of its opponent."""
        nets = [*self._playing[str(net)]]
        if search.opponent_net is not None:
            nets += self._playing[MODEL]
        evaluator, *large = [self._evaluator(one) for one in nets]
        of_large = large[0] if large else None
        return SearchPlayer(f"gen-{net}", evaluator, search, visits, temperature, of_large)

    def _evaluator(self, net: ResolvedNet) -> Evaluator:
        """The evaluator of a net; with run.exact its answers do not depend on the batch, bit for bit."""
        run = self.recipe.run
        evaluator = make_evaluator(
            self.game,
            net,
            backend=run.backend,
            precision=run.precision,
            threads=self._threads,
            batch_size=min(self.recipe.selfplay.batch_size, MOST_BATCH_ROWS),
            exact=run.exact,
        )
        return self._stack.enter_context(closing(evaluator))

    def play(self, take: TakeUnit, on_game: Callable[[], object] = lambda: None) -> Generator[UnitResult]:
        """Play units side by side until there are none; yield each, as its file has it, once its last game has ended.

        on_game: called after every game.
        """
        plans = UnitPlans(take)
        facts = ArenaFacts()
        games = episodes(
            self.game,
            self.players,
            self.settings,
            plans,
            seed=self.recipe.run.seed,
            purpose=self.purpose,
            facts=facts,
            max_moves=self.max_moves,
        )

        def counts() -> dict[str, float]:
            return counts_of(facts) | self._evaluations(facts)

        with closing(ended_units(games, plans, counts, on_game)) as ended:
            for unit, records, spent in ended:
                yield self._result(unit, records, spent)

    def _result(self, unit: Unit, records: list[GameRecord], spent: Mapping[str, float]) -> UnitResult:
        """Return a unit's games as its file has them, with what they took."""
        moves = sum(len(record.actions) for record in records)
        facts = {"games": len(records), "moves": moves, **spent}
        nodes = self.recipe.train.exact_nodes
        if nodes and unit.kind != "gate":
            # Solved by who has played them: the driver, one process for all workers, would be their limit.
            records = with_exact_ends(records, self.game, nodes)
        stored = []
        for record in records:
            stored.append(replace(record, n_scl=self.n_scl, learn=self._learn(record)))
        content = shard_bytes(self.game.spec, stored, generation=self.generation, nets=self.nets)
        return UnitResult(unit.key, content, facts)

    def _learn(self, record: GameRecord) -> NDArray[np.uint8]:
        """Return the column that says which moves are learned from, with what is proven where that is a target."""
        if self._marks_proven:
            return np.asarray(record.learn | record.proven << 1)
        return record.learn

    def close(self) -> None:
        """Close the nets."""
        self._stack.close()

    def _evaluations(self, facts: ArenaFacts) -> dict[str, float]:
        """Return the positions that the run's nets have evaluated until now: the first ones, and the large ones."""
        rows = {id(evaluator): network.rows for evaluator, network in facts.networks}
        first = set[int]()
        large = set[int]()
        for player, net in zip(self.players, self.nets, strict=True):
            if isinstance(player, SearchPlayer) and net != NO_NET:
                first.add(id(player.evaluator))
                large.add(id(player.large))
        of_first, of_large = EVALUATIONS
        return {
            of_first: sum(rows.get(evaluator, 0) for evaluator in first),
            of_large: sum(rows.get(evaluator, 0) for evaluator in large),
        }


def played_here(
    units: Sequence[Unit],
    files: Mapping[str, Path],
    threads: int,
    on_games: Callable[[int], object],
) -> Generator[Played]:
    """Yield units of one job as this process plays them, side by side; none is begun after a request to end.

    files: of the nets, by sha256; threads: of each net on the processor; on_games: takes the count of ended games.
    """
    waiting = iter(units)
    by_key = {unit.key: unit for unit in units}
    games = count(1)
    job = LearningJob(units[0], files, threads)

    def next_unit() -> Unit | None:
        """Return the unit to begin, None for none."""
        return None if stop.requested else next(waiting, None)

    played = job.play(next_unit, lambda: on_games(next(games)))
    with closing(job), closing(played):
        for result in played:
            yield Played(by_key[result.key], result)


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
    for name in ("games", "moves", "tree_bytes", *OF_GAMES):
        setattr(facts, name, _total(costs, name, getattr(facts, name)))
    for name in OF_SEARCH:
        setattr(facts.search, name, _total(costs, name, getattr(facts.search, name)))
    return facts


def _total(costs: Sequence[Mapping[str, float]], name: str, zero: float) -> float:
    """Return the sum of one count, as a whole number or not as `zero` is."""
    kind = type(zero)
    return sum((kind(cost.get(name, 0)) for cost in costs), kind())
