"""Recipes: all settings of a learning run, read from TOML, changed by `key=value` on the command line, written back."""

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

import tomli_w
from pydantic import Field, field_validator, model_validator

from hauteur.games.registry import load_game
from hauteur.learning.exact_targets import with_exact_ends
from hauteur.matches.record import Resignation
from hauteur.mcts.params import Cpuct, Dirichlet, Fpu, SearchParams, Temperature
from hauteur.networks.architecture import NetworkName, NetworkSetting, ResNet
from hauteur.networks.evaluators.base import Precision
from hauteur.players.search_player import PlayoutCap
from hauteur.players.settings import Colours, PlayerSettings, with_model_of_opponent
from hauteur.system.settings import Section, assign, flat_settings, read_toml, validated

Count = Annotated[int, Field(ge=1, le=1_000_000_000)]
Episodes = Literal["best-versus-best", "candidate-versus-best", "best-versus-opponent", "candidate-versus-opponent"]
Share = Annotated[float, Field(ge=0, le=1)]
ProvenTargets = Literal["off", "position", "earlier"]
Weight = Annotated[float, Field(ge=0, le=1000)]
Horizon = Annotated[float, Field(ge=1, le=10_000)]


class LearningCpuct(Cpuct):
    """c_puct with the defaults of self-play: constant."""

    init: Annotated[float, Field(ge=0, le=100)] = 1.2
    factor: Annotated[float, Field(ge=0, le=1000)] = 0.0


class LearningFpu(Fpu):
    """First-play urgency with the default of self-play: the parent's Q."""

    value: Annotated[float, Field(ge=-100, le=100)] = 0.0


class SelfPlayTemperature(Temperature):
    """Temperature with the default of self-play: moves are drawn by their visits."""

    initial: Annotated[float, Field(ge=0, le=100)] = 1.0


class GateTemperature(Temperature):
    """Temperature with the defaults of the gate: falling to 0 within six moves."""

    initial: Annotated[float, Field(ge=0, le=100)] = 1.0
    decay_moves: Annotated[int, Field(ge=0, le=10_000)] = 6


class LearningSearch(SearchParams):
    """Search settings with the defaults of self-play: noise at the root, no factor of c_puct, FPU reduction 0."""

    cpuct: LearningCpuct = LearningCpuct()
    fpu: LearningFpu = LearningFpu()
    policy_temperature: Annotated[float, Field(ge=1e-3, le=100)] = 1.0
    dirichlet: Dirichlet | None = Dirichlet()


class NetworkSettings(ResNet):
    """Network to train: a residual tower, or with another `kind` a registered network (`ht.register_network`).

    settings: of the registered network, by name; those that are not given have the defaults of what builds it.
    """

    kind: NetworkName = "resnet"
    settings: dict[str, NetworkSetting] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _from_tower(cls, values: Any) -> Any:
        return values.model_dump(exclude_unset=True) if type(values) is ResNet else values

    @model_validator(mode="after")
    def _settings_are_of_the_kind(self) -> Self:
        tower = sorted(self.model_dump(exclude_defaults=True, exclude={"kind", "settings"}))
        if self.kind == "resnet" and self.settings:
            raise ValueError(f"settings are of registered networks; kind 'resnet' has {', '.join(ResNet.model_fields)}")
        if self.kind != "resnet" and tower:
            raise ValueError(f"{tower[0]} is of kind 'resnet'; what {self.kind!r} is built with stands in settings")
        return self

    @property
    def summary(self) -> str:
        """In a few words, as `64 filters, 5 blocks`."""
        if self.kind == "resnet":
            return f"{self.filters} filters, {self.blocks} blocks"
        return f"{self.kind}({', '.join(f'{key}={value}' for key, value in self.settings.items())})"


class ArchiveSettings(Section):
    """Games of self-play that begin in positions of the run's earlier games (hauteur.learning.archive).

    share: of a generation's games; weight, power: a position is drawn with its weight to this power; window_games:
    the most recent games that positions are drawn from.
    """

    share: Share = 0.5
    weight: Literal["uniform", "regret", "surprise", "change"] = "uniform"
    power: Annotated[float, Field(gt=0, le=100)] = 1.0
    window_games: Count = 20_000


class SelfPlaySettings(Section):
    """Settings of the self-play games of a generation.

    episodes: who plays (best against itself, candidate against best with alternating colours, or one of them against
    the opponent of the recipe); learn_from_best: also train on the best net's moves against the candidate;
    opening_book: file of openings, one drawn at random per game; opening_plies: 0 to this many uniformly random plies
    after it; neither is used for training; opening_share: share of games with such an opening, the others begin at the
    start; max_plies: a longer game is a draw; tree_per_side: separate trees for each side when the best net plays
    itself; shard_games: games of a unit: one worker plays them, and they are one file; max_policy_lag: generation g is
    played with the net that is the best after generation g - 1 - max_policy_lag, so that workers play it beside the
    training and the gate of earlier ones; opponent_net: file or name of a net that models the other side in these
    searches (search.opponent_net), not in the gate's.
    """

    episodes: Episodes = "best-versus-best"
    learn_from_best: bool = True
    games: Count = 500
    visits: Count = 100
    opening_book: str | None = None
    opening_plies: Annotated[int, Field(ge=0, le=10_000)] = 0
    opening_share: Share = 1.0
    max_plies: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    tree_per_side: bool = False
    parallel_games: Annotated[int, Field(ge=1, le=100_000)] = 256
    batch_size: Annotated[int, Field(ge=1, le=100_000)] = 128
    in_flight: Annotated[int, Field(ge=1, le=64)] = 2
    shard_games: Count = 25
    max_policy_lag: Annotated[int, Field(ge=0, le=2)] = 0
    temperature: SelfPlayTemperature = SelfPlayTemperature()
    search: LearningSearch = LearningSearch()
    opponent_net: str | None = None
    archive: ArchiveSettings | None = None
    playout_cap: PlayoutCap | None = None
    resignation: Resignation | None = None

    @model_validator(mode="before")
    @classmethod
    def _model_is_used(cls, values: Any) -> Any:
        return with_model_of_opponent(values)


class OpponentSettings(PlayerSettings):
    """The fixed opponent of self-play: a player of a match, but no program. colours: the learner's side."""

    visits: Annotated[int, Field(ge=1, le=1_000_000_000)] = 1
    colours: Colours = "swap"
    engine: None = None

    @field_validator("engine", mode="before")
    @classmethod
    def _is_no_program(cls, engine: object) -> None:
        if engine is not None:
            raise ValueError(
                "a program cannot be the opponent of a learning run: its answers are not the same twice, and a crash "
                "would be learned from; programs play in matches"
            )


class WindowSettings(Section):
    """The growth of the window of games that the candidate learns from; see TrainSettings.window_at."""

    alpha: Annotated[float, Field(gt=0, le=1)] = 0.75
    beta: Share = 0.4


class ReanalyseSettings(Section):
    """Old positions of the window that are searched again before the training (hauteur.learning.planned).

    share: of the positions of earlier generations, in every generation; visits: of each search, 0 = as in self-play.
    """

    share: Annotated[float, Field(gt=0, le=1)] = 0.05
    visits: Annotated[int, Field(ge=0, le=1_000_000_000)] = 0


class ExtraTargets(Section):
    """Targets beside policy and value, learned by heads of the network that exist in training alone.

    reply: weight of the opponent's policy at the next move; soft_policy: of the policy target to the power 1 /
    soft_temperature, normalised; short_term: of the values of the next moves, averaged with these horizons in plies;
    value_error: of the squared error of the value. 0: no such head. (Wu 2019 and KataGo's methods since.)
    """

    reply: Weight = 0.0
    soft_policy: Weight = 0.0
    soft_temperature: Annotated[float, Field(ge=1, le=100)] = 4.0
    short_term: Weight = 0.0
    horizons: Annotated[tuple[Horizon, ...], Field(min_length=1, max_length=8)] = (6.0, 16.0)
    value_error: Weight = 0.0

    @property
    def weights(self) -> dict[str, float]:
        """The weights above 0, by the names of the heads."""
        heads = ("reply", "soft_policy", "short_term", "value_error")
        return {name: getattr(self, name) for name in heads if getattr(self, name) > 0}


class TrainSettings(Section):
    """Settings of the candidate's training.

    window_games: replay window in games; window: growth of the window over the run; extra: targets beside policy and
    value; samples_per_position: mean number of draws of a new position, which sets the steps of a generation (positions
    * samples_per_position / batch_size);
    root_value_share: share of the search's root value in the value target, the rest is the outcome; mask_illegal:
    restrict the policy loss to legal actions; surprise_weight: share of a game's weight distributed over its
    positions by policy surprise; average_equal: positions that are in the window several times have the means of
    their policy and value targets; schedule: the learning rate falls over the run (cosine, to final_learning_rate),
    stays, or rises and falls in every generation (one_cycle); proven_targets: whether results that the solver has
    proven are value targets: of the positions in which they are proven, or also of those before in the game;
    exact_nodes: positions that alpha-beta searches at most to solve a position of a game, from the last one back to
    the first that takes more, which makes value and policy targets exact (hauteur.learning.exact_targets), 0 = off;
    max_gradient_norm: 0 = no clipping; weight_average: decay of the running mean of the weights over the steps,
    which is the net that plays (0 = the weights themselves); device: of the training; mixed_precision: activations
    and gradients in 16 bits, auto: where the processor multiplies them; workers: threads that draw and encode
    batches; shard_rows: rows of a batch that one thread computes at a time on the processor; with fewer more
    threads are busy, tiny nets are faster with more.

    >>> import hauteur as ht
    >>> ht.TrainSettings(batch_size=256, optimiser="sgd").momentum
    0.9
    """

    window_games: Count = 20_000
    window: WindowSettings | None = None
    reanalyse: ReanalyseSettings | None = None
    extra: ExtraTargets | None = None
    batch_size: Annotated[int, Field(ge=1, le=1_000_000)] = 512
    samples_per_position: Annotated[float, Field(gt=0, le=10_000)] = 4.0
    optimiser: Literal["adamw", "sgd"] = "adamw"
    learning_rate: Annotated[float, Field(gt=0, le=10)] = 1e-3
    schedule: Literal["constant", "cosine", "one_cycle"] = "cosine"
    final_learning_rate: Annotated[float, Field(ge=0, le=10)] = 1e-4
    warmup_steps: Annotated[int, Field(ge=0, le=1_000_000)] = 100
    momentum: Annotated[float, Field(ge=0, lt=1)] = 0.9
    weight_decay: Annotated[float, Field(ge=0, le=1)] = 1e-4
    value_weight: Weight = 1.0
    root_value_share: Share = 0.0
    proven_targets: ProvenTargets = "off"
    exact_nodes: Annotated[int, Field(ge=0, le=1_000_000_000)] = 0
    surprise_weight: Share = 0.0
    average_equal: bool = False
    mask_illegal: bool = False
    symmetries: bool = True
    max_gradient_norm: Annotated[float, Field(ge=0, le=1e6)] = 0.0
    weight_average: Annotated[float, Field(ge=0, lt=1)] = 0.0
    device: Literal["cpu", "cuda"] = "cpu"
    mixed_precision: Literal["off", "bfloat16", "auto"] = "off"
    workers: Annotated[int, Field(ge=1, le=256)] = 1
    shard_rows: Annotated[int, Field(ge=1, le=1_000_000)] = 128

    def steps_for(self, new_positions: int) -> int:
        """Return the training steps of a generation that brought this number of new positions, at least one."""
        return max(1, round(new_positions * self.samples_per_position / self.batch_size))

    def window_at(self, total_games: int) -> int:
        """Return the window in games after `total_games` (N_total).

        Wu 2019, "Accelerating Self-Play Learning in Go": N_window = c (1 + beta ((N_total / c)^alpha - 1) / alpha),
        here in games (there in positions), with c = window_games, and at least c.
        """
        if self.window is None or total_games <= self.window_games:
            return self.window_games
        c, alpha, beta = self.window_games, self.window.alpha, self.window.beta
        return round(c * (1 + beta * (math.pow(total_games / c, alpha) - 1) / alpha))


class SprtSettings(Section):
    """Sequential probability ratio test of the pairs' results: elo1 (better by so much) against elo0.

    model: logistic Elo, or normalised (in units of the pairs' deviation); alpha, beta: chances of taking elo1 where
    elo0 is true, and the reverse.
    """

    elo0: Annotated[float, Field(ge=-1000, le=1000)] = 0.0
    elo1: Annotated[float, Field(ge=-1000, le=1000)] = 35.0
    alpha: Annotated[float, Field(gt=0, lt=0.5)] = 0.05
    beta: Annotated[float, Field(gt=0, lt=0.5)] = 0.05
    model: Literal["logistic", "normalised"] = "logistic"


class GateSettings(Section):
    """Conditions under which the candidate becomes the best net.

    by: a match of `games` games, the same match ended early by a sequential test (sprt), the episodes that the
    candidate played anyway (selfplay.episodes must be candidate-versus-best), or off (always the newest); threshold:
    the score it must reach, draws count half, also where the sequential test has not ended after `games` games;
    visits: 0 = as in self-play; opening_plies: both games of a pair begin with the same random plies.
    """

    by: Literal["match", "sprt", "episodes", "off"] = "match"
    games: Annotated[int, Field(ge=2, le=1_000_000)] = 100
    threshold: Share = 0.55
    sprt: SprtSettings = SprtSettings()
    visits: Annotated[int, Field(ge=0, le=1_000_000_000)] = 0
    opening_plies: Annotated[int, Field(ge=0, le=10_000)] = 0
    temperature: GateTemperature = GateTemperature()


class ControllerSettings(Section):
    """Controller of (w + l)/d of self-play, applied after every generation (hauteur.learning.controller)."""

    by: Literal["n_scl", "temperature"] = "n_scl"
    """What it chooses: N_scl of search-contempt, or a factor of both temperatures of the recipe."""
    target: Annotated[float, Field(ge=0.01, le=100)] = 1.0
    """Target (w + l)/d of all generations."""
    targets: tuple[Annotated[float, Field(ge=0.01, le=100)], ...] = ()
    """Target of each generation, from the first on, in the place of `target`; generations beyond have the last."""
    initial_n_scl: Count = 5
    """N_scl of the first games. The first factor of the temperatures is 1."""
    low: Count = 1
    """Least N_scl."""
    high: Count = 1_000_000
    """Greatest N_scl; it is never above the visits."""
    low_warmth: Annotated[float, Field(gt=0, le=1)] = 0.1
    """Least factor of the temperatures."""
    high_warmth: Annotated[float, Field(ge=1, le=100)] = 10.0
    """Greatest factor of the temperatures."""
    settle_factor: Annotated[float, Field(ge=1, le=100)] = 1.25
    """N_scl has settled once it stays within this factor ..."""
    settle_generations: Annotated[int, Field(ge=1, le=10_000)] = 3
    """... for this many generations."""
    double_visits: bool = True
    """Whether selfplay.visits are then doubled."""
    max_visits: Count = 10_000
    """Limit of the doubled visits."""
    probe_games: Count = 50
    """Games of a probe, which are not trained on; played where no games near a lever were seen."""
    probe_always: bool = False
    """Whether a probe precedes every generation."""
    long_game: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    """For games without draws: games of this many plies or more count as drawn. 0: draws count."""


class StartSettings(Section):
    """Start of a run before its first generation: weights of a net, training on games, or both.

    net, large_net: files or names of the initial networks, trained here (.safetensors) or lc0's (.pb.gz); they keep
    their shape, which [network] and [large] must not contradict; of a net for another size of the board the dense
    layers over all squares begin anew; games: files, folders and patterns of PGN, SGF,
    shards; epochs: mean number of draws of a position; hold_out: share of games used for
    validation only; distil_from: file or name of a net whose policy and values are the targets instead of moves and
    results.
    """

    net: str | None = None
    large_net: str | None = None
    games: tuple[str, ...] = ()
    epochs: Annotated[float, Field(gt=0, le=10_000)] = 1.0
    hold_out: Annotated[float, Field(ge=0, lt=1)] = 0.05
    distil_from: str | None = None


class RunSettings(Section):
    """Folder and resources of the run.

    The run's folder is <directory>/<game>/<tag>; threads: CPU threads, 0 = one per core; exact: a run killed and
    resumed is bit-identical to an uninterrupted one (see hauteur.networks.evaluators.fixed_rows); backend and
    precision: the evaluator of self-play and gate; generations: 0 = only [start]; budget_flops: the run ends with
    the generation in which its nets have taken this many operations (hauteur.learning.compute), 0 = none;
    solved_positions: positions by which the report measures each best net, in games that can be solved (see
    hauteur.learning.exact_curve), 0 = none; a tenth of them in games written in Python.
    """

    directory: str = "runs"
    tag: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")] = "default"
    generations: Annotated[int, Field(ge=0, le=1_000_000_000)] = 10
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 1
    threads: Annotated[int, Field(ge=0, le=4096)] = 0
    exact: bool = True
    backend: Literal["core", "torch"] = "core"
    precision: Precision = "float32"
    budget_flops: Annotated[float, Field(ge=0, le=1e30)] = 0.0
    solved_positions: Annotated[int, Field(ge=0, le=100_000)] = 1000


class Recipe(Section):
    """A whole learning run.

    large: a second net, trained on the same games, which corrects the first in every search (MPV-MCTS). Its share of
    the work is that of selfplay.search.second_net, and selfplay.visits are then the first net's.

    >>> import hauteur as ht
    >>> recipe = ht.Recipe(game="connect4", train=ht.TrainSettings(batch_size=256), run={"generations": 3})
    >>> recipe.selfplay.visits, recipe.run.generations
    (100, 3)
    """

    if TYPE_CHECKING:

        def __init__(self, **settings: Any) -> None: ...

    game: str
    network: NetworkSettings = NetworkSettings()
    large: NetworkSettings | None = None
    selfplay: SelfPlaySettings = SelfPlaySettings()
    train: TrainSettings = TrainSettings()
    gate: GateSettings = GateSettings()
    run: RunSettings = RunSettings()
    controller: ControllerSettings | None = None
    start: StartSettings | None = None
    opponent: OpponentSettings | None = None

    @model_validator(mode="after")
    def _sections_fit_each_other(self) -> Self:
        of_targets, of_decisions = self._misfits_of_targets(), self._misfits_of_decisions()
        for misfit in chain(self._misfits_of_start(), self._misfits_of_selfplay(), of_targets, of_decisions):
            raise ValueError(misfit)
        return self

    def _misfits_of_start(self) -> Iterator[str]:
        start = self.start or StartSettings()
        for network in (self.network, self.large):
            if network is None or network.kind == "resnet":
                continue
            if self.run.backend == "core":
                yield f"run.backend core computes residual networks; {network.kind!r} needs torch"
            if self.train.extra is not None:
                yield f"train.extra: its heads are of residual towers, got {network.kind!r}, which has its own outputs"
        if self.run.generations == 0 and not start.games:
            yield "run.generations = 0 (no self-play) needs start.games to learn from"
        if start.distil_from is not None and not start.games:
            yield "start.distil_from needs start.games, whose positions the net is asked about"
        if self.start is not None and not (start.net or start.large_net or start.games):
            yield "start needs net (weights) or games (to learn from)"
        if start.large_net is not None and self.large is None:
            yield "start.large_net needs the section [large]"

    def _misfits_of_selfplay(self) -> Iterator[str]:
        play, cap, two = self.selfplay, self.selfplay.playout_cap, self.selfplay.search.second_net
        if play.max_plies is not None and play.max_plies <= play.opening_plies:
            yield f"selfplay.max_plies must be more than opening_plies, got {play.max_plies} and {play.opening_plies}"
        if cap is not None and cap.fast_visits >= play.visits:
            yield f"selfplay.playout_cap.fast_visits must be less than visits, got {cap.fast_visits} of {play.visits}"
        if (self.large is None) != (two is None or two.is_neutral):
            need = "[large] (the net) and [selfplay.search.second_net] (its turns, large_visits > 0)"
            yield f"two nets need both sections, {need}; one is missing"
        if (play.opponent_net is None) != (play.search.opponent_net is None):
            need = "selfplay.opponent_net (the net) and [selfplay.search.opponent_net]"
            yield f"a model of the opponent needs both, {need}; one is missing"
        if play.opponent_net is not None and self.large is not None:
            yield "selfplay.opponent_net and [large] exclude each other: both are a second net"
        if play.episodes.endswith("opponent") and self.opponent is None:
            yield f'selfplay.episodes = "{play.episodes}" needs a section [opponent]'
        if self.opponent is not None and not play.episodes.endswith("opponent"):
            need = '"best-versus-opponent" or "candidate-versus-opponent"'
            yield f"the section [opponent] needs selfplay.episodes = {need}"

    def _misfits_of_targets(self) -> Iterator[str]:
        search, nodes, proves = self.selfplay.search, self.train.exact_nodes, self.train.proven_targets != "off"
        if proves and search.solver is None and not nodes:
            yield "train.proven_targets needs [selfplay.search.solver], whose proofs are targets, or train.exact_nodes"
        if proves and search.search_contempt is not None and search.search_contempt.proofs_respect_contempt:
            yield "train.proven_targets needs exact proofs: search_contempt.proofs_respect_contempt must be false"
        if nodes and not proves:
            yield 'train.exact_nodes needs train.proven_targets = "position" or "earlier"'
        if nodes:
            try:  # whose solver refuses games in which the past matters
                with_exact_ends([], load_game(self.game), nodes)
            except ValueError as error:
                yield f"train.exact_nodes: {error}"

    def _misfits_of_decisions(self) -> Iterator[str]:
        test, steers, lag = self.gate.sprt, self.controller, self.selfplay.max_policy_lag
        contempt = self.selfplay.search.search_contempt
        if test.elo1 <= test.elo0:
            yield f"gate.sprt.elo1 must be greater than elo0, got {test.elo1} and {test.elo0}"
        if self.gate.by == "episodes" and self.selfplay.episodes != "candidate-versus-best":
            yield 'gate.by = "episodes" needs selfplay.episodes = "candidate-versus-best"'
        if self.gate.by == "episodes" and lag:
            yield f'selfplay.max_policy_lag must be 0 with gate.by = "episodes", got {lag}'
        if steers is None:
            return
        if steers.low > steers.high:
            yield f"controller.low must not be above high, got {steers.low} and {steers.high}"
        if not steers.long_game and not load_game(self.game).has_draws:
            long = "with controller.long_game = PLIES games of this number of plies or more count in their place"
            yield f"controller: {self.game} knows no draws, so there is no (w + l)/d; {long}"
        if steers.by == "n_scl" and contempt is not None and not contempt.is_neutral:
            yield "selfplay.search.search_contempt.n_scl is chosen by the controller; leave it out"
        if steers.by == "temperature" and steers.double_visits:
            yield 'controller.double_visits must be false with controller.by = "temperature": visits stay as they are'
        if steers.by == "temperature" and self.selfplay.temperature.initial == 0:
            yield 'controller.by = "temperature" multiplies selfplay.temperature.initial, which must be above 0'
        if lag:
            yield f"selfplay.max_policy_lag must be 0 with a section [controller], got {lag}"

    @property
    def folder(self) -> Path:
        name = "".join(c if c.isalnum() or c in "._" else "-" for c in self.game).strip("-")
        return Path(self.run.directory) / name / self.run.tag


FREE_ON_RESUME = (
    "run.generations",
    "run.budget_flops",
    "run.threads",
    "run.directory",
    "run.solved_positions",
    "train.workers",
)
"""Settings that a resumed run may change."""


def load_recipe(path: Path, overrides: tuple[str, ...] = ()) -> Recipe:
    """Read a recipe and apply `section.key=value` overrides; ValueError names the wrong key and what is allowed."""
    return parse_recipe(read_toml(path), str(path), overrides)


def parse_recipe(values: dict[str, Any], source: str, overrides: Iterable[str] = ()) -> Recipe:
    """Return the recipe that `values` give after `section.key=value` overrides; `source` is named in messages."""
    for override in overrides:
        key, equals, text = override.partition("=")
        if not equals or not key.strip():
            raise ValueError(f"{override!r} is not of the form key=value, such as selfplay.games=200")
        assign(Recipe, values, tuple(key.strip().split(".")), text.strip())
    return validated(Recipe, values, source)


def settled_recipe(recipe: Recipe, begun: Recipe | None, *, fastest: Callable[[], Precision], bfloat16: bool) -> Recipe:
    """Return the recipe with what `auto` is here: a run's results depend on it, so it goes on as it has begun.

    begun: the run's stored recipe, if there is one; fastest: returns the precision in which this processor computes the
    run's nets fastest; bfloat16: whether it multiplies bfloat16.
    """
    run, train = recipe.run, recipe.train
    if run.precision == "auto" and run.backend == "core":
        precision = fastest() if begun is None else begun.run.precision
        run = run.model_copy(update={"precision": precision})
    if train.mixed_precision == "auto":
        mixed = "bfloat16" if bfloat16 and train.device == "cpu" else "off"
        train = train.model_copy(update={"mixed_precision": mixed if begun is None else begun.train.mixed_precision})
    return recipe.model_copy(update={"run": run, "train": train})


def changed_recipe(recipe: Recipe, overrides: Iterable[str]) -> Recipe:
    """Return the recipe after `section.key=value` overrides."""
    return parse_recipe(recipe.model_dump(exclude_unset=True), "recipe", overrides)


def recipe_toml(recipe: Recipe) -> str:
    """The recipe with every setting written out, as TOML."""
    return tomli_w.dumps(recipe.model_dump(exclude_none=True))


def deciding_settings(recipe: Recipe) -> dict[str, Any]:
    """Return the settings that a resumed run may not change, by their full keys, in order."""
    flat = flat_settings(recipe.model_dump())
    return {key: flat[key] for key in sorted(flat) if key not in FREE_ON_RESUME}
