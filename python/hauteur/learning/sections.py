"""The sections of a recipe: settings of networks, self-play, training, gate and run, with what is allowed of each."""

import math
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, field_validator

from hauteur.matches.record import Resignation
from hauteur.mcts.params import Cpuct, Dirichlet, Fpu, SearchParams, Temperature
from hauteur.mcts.plain_settings import MOST_VISITS
from hauteur.networks.evaluators.base import Precision
from hauteur.players.settings import Colours, PlayerSettings, PlayoutCap, WithModelOfOpponent, parse_player
from hauteur.system.hardware import usable_cores
from hauteur.system.hints import MOST_THREADS
from hauteur.system.settings import Section

ANOTHER_RUN = "begin another run with run.tag=NAME (where --run, --out or out= names the folder, with another folder)"
"""Advice where a run cannot go on."""

Count = Annotated[int, Field(ge=1, le=1_000_000_000)]
Episodes = Literal["best-versus-best", "candidate-versus-best", "best-versus-opponent", "candidate-versus-opponent"]
Share = Annotated[float, Field(ge=0, le=1)]
ProvenTargets = Literal["off", "position", "earlier"]
Weight = Annotated[float, Field(ge=0, le=1000)]
Horizon = Annotated[float, Field(ge=1, le=10_000)]


def checked_opponent(text: str) -> str:
    """Return the text of a player; raise ValueError where it is none."""
    parse_player(text)
    return text


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


class ArchiveSettings(Section):
    """Games of self-play that begin in positions of the run's earlier games (hauteur.learning.options.archive)."""

    share: Share = 0.5
    """Probability that a game begins in an earlier position, once there are games."""
    weight: Literal["uniform", "regret", "surprise", "change"] = "uniform"
    """What draws a position: nothing; the difference between its root value and the result of its game; its policy
    surprise; the difference between its root value and that of four moves later, or the result."""
    power: Annotated[float, Field(gt=0, le=100)] = 1.0
    """Positions are drawn by the weight to this power."""
    window_games: Count = 20_000
    """Most recent games whose positions are drawn."""


class SelfPlaySettings(WithModelOfOpponent):
    """The self-play games of a generation."""

    episodes: Episodes = "best-versus-best"
    """Who plays: the best net against itself, the candidate against it alternating who begins, or one of them against
    the `[opponent]`."""
    learn_from_best: bool = True
    """Candidate against best: whether training also uses the best net's moves."""
    games: Count = 500
    """Games of a generation."""
    visits: Count = 100
    """Visits a move."""
    opening_book: str | None = None
    """Openings from which each game picks its start at random: chess as EPD, FEN or `.pgn` (whole games are openings),
    any game as lines of moves; paths are relative to the folder in which `hauteur train` runs."""
    opening_plies: Annotated[int, Field(ge=0, le=10_000)] = 0
    """A game begins, or continues after the book opening, with 0 to this many random plies, which are not trained
    on."""
    opening_share: Share = 1.0
    """Share of the games that begin with the book and random plies; the others begin at the start."""
    max_plies: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """A game of this many plies, including its opening, ends as a draw, in self-play and gate alike."""
    tree_per_side: bool = False
    """Best against best: a tree for each side, which keeps what remains of it after two plies; otherwise one tree
    serves both."""
    parallel_games: Annotated[int, Field(ge=0, le=1_000_000)] = 256
    """Games played at a time; more fill the batches better. 0: when the run begins it is measured with which number,
    `batch_size` and `in_flight` the device that computes the nets is kept busy."""
    batch_size: Annotated[int, Field(ge=1, le=100_000)] = 128
    """Maximum rows of a batch."""
    in_flight: Annotated[int, Field(ge=1, le=64)] = 2
    """Batches that wait for the network at a time."""
    shard_games: Count = 25
    """Games of a unit, which one worker plays and which is one file."""
    max_policy_lag: Annotated[int, Field(ge=0, le=2)] = 0
    """Generation g is played with the net that is the best after generation g - 1 - `max_policy_lag`, always: with
    workers, it is then played while earlier ones are trained and gated; 0 with `[controller]` and `gate.by =
    "episodes"`."""
    temperature: SelfPlayTemperature = SelfPlayTemperature()
    """How moves are sampled from the visits."""
    search: LearningSearch = LearningSearch()
    """The search of every move."""
    opponent_net: str | None = None
    """Models the other side in the learner's searches (`search.opponent_net`), not in the gate's."""
    archive: ArchiveSettings | None = None
    """Starts in positions of earlier games; absent: none."""
    playout_cap: PlayoutCap | None = None
    """Searches of most moves with few visits; absent: all have `visits`."""
    resignation: Resignation | None = None
    """When a side gives up a game; absent: never."""


class OpponentSettings(PlayerSettings):
    """The fixed opponent of self-play: a player of a match, but no program."""

    visits: Annotated[int, Field(ge=1, le=MOST_VISITS)] = 1
    """Visits a move; 1: the policy alone."""
    colours: Colours = "swap"
    """The learner's side: alternating, always one, or that of the side to move after the opening."""
    engine: None = None
    """Programs (`uci:`, `gtp:`, `gomocup:`) play in matches only: their answers are not reproducible."""

    @field_validator("engine", mode="before")
    @classmethod
    def _is_no_program(cls, engine: object) -> None:
        """Refuse programs, with the reason."""
        if engine is not None:
            raise ValueError(
                "a program cannot be the opponent of a learning run: its answers are not the same twice, and a crash "
                "would be learned from; programs play in matches"
            )


class WindowSettings(Section):
    """The growth of the window of games that the candidate learns from; see TrainSettings.window_at."""

    alpha: Annotated[float, Field(gt=0, le=1)] = 0.75
    """α: how the window grows in a long run."""
    beta: Share = 0.4
    """β: how it grows at first, in games a game."""


class ReanalyseSettings(Section):
    """Old positions of the window that are searched again before the training (hauteur.learning.options.reanalyse)."""

    share: Annotated[float, Field(gt=0, le=1)] = 0.05
    """Share of the window's positions of earlier generations, in every generation."""
    visits: Annotated[int, Field(ge=0, le=MOST_VISITS)] = 0
    """Visits of each search; 0: as in self-play."""


class ExtraTargets(Section):
    """Targets beside policy and value, learned by heads of the network that exist in training alone.

    Each has a weight; 0: no such head. (Wu 2019 and KataGo's methods since.)
    """

    reply: Weight = 0.0
    """Weight of the opponent's reply: the policy target of the next move, also of a fast search (Wu 2019: 0.15)."""
    soft_policy: Weight = 0.0
    """Weight of the policy target to the power 1 / `soft_temperature`, normalised (KataGo: 8)."""
    soft_temperature: Annotated[float, Field(ge=1, le=100)] = 4.0
    """Temperature of the soft policy."""
    short_term: Weight = 0.0
    """Weight of the short-term values, mean over the horizons."""
    horizons: Annotated[tuple[Horizon, ...], Field(min_length=1, max_length=8)] = (6.0, 16.0)
    """Plies h of the averages: s(t) = w(t) / h + (1 − 1 / h) s(t + 1), w the root's win, draw and loss, s after the
    last move the result."""
    value_error: Weight = 0.0
    """Weight of a prediction of the squared error of the value (its loss is Huber's; the value gets no gradient of
    it)."""
    ownership: Weight = 0.0
    """Weight of a prediction of whose point each square is at the end of the game, in games of points: Go, Othello (Wu
    2019: 1.5). Games that did not end by the rules have no such target."""
    score: Weight = 0.0
    """Weight of a prediction of the mover's lead at the end, in sides of the board, likewise (its loss is Huber's)."""

    @property
    def weights(self) -> dict[str, float]:
        """The weights above 0, by the names of the heads."""
        heads = ("reply", "soft_policy", "short_term", "value_error", "ownership", "score")
        return {name: getattr(self, name) for name in heads if getattr(self, name) > 0}


class TrainSettings(Section):
    """Training of the candidate.

    >>> import hauteur as ht
    >>> ht.TrainSettings(batch_size=256, optimiser="sgd").momentum
    0.9
    """

    window_games: Count = 20_000
    """Number of most recent games to train on."""
    window: WindowSettings | None = None
    """Growth of that number over the run; absent: it stays."""
    reanalyse: ReanalyseSettings | None = None
    """New searches of old positions; absent: none."""
    extra: ExtraTargets | None = None
    """Targets beside policy and value; absent: none."""
    batch_size: Annotated[int, Field(ge=1, le=1_000_000)] = 512
    """Positions of a step."""
    samples_per_position: Annotated[float, Field(gt=0, le=10_000)] = 4.0
    """Average number of times a new position is sampled; sets the steps of a generation (positions *
    samples_per_position / batch_size)."""
    optimiser: Literal["adamw", "sgd"] = "adamw"
    """AdamW, or SGD with momentum."""
    learning_rate: Annotated[float, Field(gt=0, le=10)] = 1e-3
    """Learning rate at the beginning of the run."""
    schedule: Literal["constant", "cosine", "one_cycle"] = "cosine"
    """The rate is constant, falls over the run as half a cosine, or rises and falls in every generation."""
    final_learning_rate: Annotated[float, Field(ge=0, le=10)] = 1e-4
    """Learning rate at the end of a cosine, and at both ends of a cycle."""
    warmup_steps: Annotated[int, Field(ge=0, le=1_000_000)] = 100
    """Steps over which the rate initially rises."""
    momentum: Annotated[float, Field(ge=0, lt=1)] = 0.9
    """Momentum of SGD."""
    weight_decay: Annotated[float, Field(ge=0, le=1)] = 1e-4
    """Decay of the weights towards zero."""
    value_weight: Weight = 1.0
    """Weight of the value loss relative to the policy loss."""
    large_value_weight: Weight | None = None
    """The same for the `[large]` net of a run with two nets, where `value_weight` is then the small net's, whose value
    Lan et al. 2019 (section 5) would have weigh more; absent: it is `value_weight` too."""
    root_value_share: Share = 0.0
    """Share of the search's value in the value target; the rest is the result of the game."""
    proven_targets: ProvenTargets = "off"
    """Which value targets are results proven in self-play, by the solver or by `exact_nodes`: those of the positions in
    which they were proven; with `earlier` also, instead of the result of the game, those of the positions before."""
    exact_nodes: Annotated[int, Field(ge=0, le=1_000_000_000)] = 0
    """Alpha-beta solves the positions of a game, from the last one back, with this number of positions searched each:
    exact value targets (with `proven_targets`), no policy targets that lose value; 0: off."""
    surprise_weight: Share = 0.0
    """Share of a game's weight that its positions have by how far the policy target is from the net's prior; 0: all are
    sampled evenly."""
    average_equal: bool = False
    """Positions that the window has several times are learned with the means of their policy and value targets; further
    targets stay."""
    mask_illegal: bool = False
    """The policy loss is over the legal moves alone; for nets of lc0, which leave illegal moves any probability."""
    # As in AlphaGo Zero; AlphaZero left them out, since the rules of chess and shogi are not symmetric. Connect Four
    # reaches with its mirror after 41 % of the evaluations what it reaches without
    # (docs/experiments/learning-methods.md).
    symmetries: bool = True
    """Positions are transformed by a random symmetry of the game."""
    max_gradient_norm: Annotated[float, Field(ge=0, le=1e6)] = 0.0
    """Longer gradients are clipped to this; 0: none."""
    weight_average: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Decay of a moving average of the weights, which is used in play; 0: none."""
    device: Literal["cpu", "cuda"] = "cpu"
    """The training device."""
    mixed_precision: Literal["off", "bfloat16", "auto"] = "off"
    """`bfloat16`: activations and their gradients in 16 bits, weights and losses in 32; `auto`: where the processor
    multiplies it."""
    workers: Annotated[int, Field(ge=1, le=256)] = 1
    """Threads that sample and encode batches; the result does not depend on them."""
    shard_rows: Annotated[int, Field(ge=1, le=1_000_000)] = 128
    """Rows of a batch that one thread computes at a time, on the processor: more threads are busy with fewer, tiny nets
    are faster with more; normalisation sees one shard at a time, so the weights depend on it."""

    def for_net(self, *, large: bool) -> Self:
        """Return the settings with which a run's net, or its large one, is trained."""
        if not large or self.large_value_weight is None:
            return self
        return self.model_copy(update={"value_weight": self.large_value_weight})

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
        c = self.window_games
        alpha = self.window.alpha
        beta = self.window.beta
        growth = beta * (math.pow(total_games / c, alpha) - 1) / alpha
        return round(c * (1 + growth))


class SprtSettings(Section):
    """Sequential probability ratio test of the pairs' results: elo1 (better by so much) against elo0."""

    elo0: Annotated[float, Field(ge=-1000, le=1000)] = 0.0
    """The candidate is no better than this."""
    elo1: Annotated[float, Field(ge=-1000, le=1000)] = 35.0
    """Or better by this."""
    alpha: Annotated[float, Field(gt=0, lt=0.5)] = 0.05
    """Probability of accepting `elo1` when `elo0` is true."""
    beta: Annotated[float, Field(gt=0, lt=0.5)] = 0.05
    """Probability of accepting `elo0` when `elo1` is true."""
    model: Literal["logistic", "normalised"] = "logistic"
    """Unit of Elo: of the score, or of the score in deviations of a pair."""


class GateSettings(Section):
    """Conditions under which the candidate becomes the best net."""

    by: Literal["match", "sprt", "episodes", "off"] = "match"
    """A match; a match ended by a sequential test; the episodes already played by the candidate; or always the
    newest."""
    games: Annotated[int, Field(ge=2, le=1_000_000)] = 100
    """Games of the match, in pairs with swapped sides."""
    # The 55 % of AlphaGo Zero (Silver et al. 2017); AlphaZero has no gate, which is `by = "off"`.
    threshold: Share = 0.55
    """Share of points to reach; draws count half."""
    sprt: SprtSettings = SprtSettings()
    """The sequential test of `by = "sprt"`."""
    visits: Annotated[int, Field(ge=0, le=MOST_VISITS)] = 0
    """Visits a move; 0: as in self-play."""
    opening_plies: Annotated[int, Field(ge=0, le=10_000)] = 0
    """Both games of a pair begin with the same 0 to this many random plies."""
    temperature: GateTemperature = GateTemperature()
    """How moves are sampled from the visits."""


class ControllerSettings(Section):
    """Controller of (w + l)/d of self-play, applied after every generation (hauteur.learning.options.controller)."""

    by: Literal["n_scl", "temperature"] = "n_scl"
    """What it chooses: N_scl of search-contempt, or a factor of both temperatures of the recipe; with `temperature`,
    `double_visits` must be `false`."""
    target: Annotated[float, Field(ge=0.01, le=100)] = 1.0
    """Target (w + l)/d of self-play, in all generations."""
    targets: tuple[Annotated[float, Field(ge=0.01, le=100)], ...] = ()
    """Target of each generation in the place of `target`, the last one for all beyond."""
    initial_n_scl: Count = 5
    """Initial N_scl; the first factor of the temperatures is 1."""
    low: Count = 1
    """Minimum N_scl."""
    high: Count = 1_000_000
    """Maximum N_scl; it is never more than the visits."""
    low_warmth: Annotated[float, Field(gt=0, le=1)] = 0.1
    """Minimum factor of the temperatures."""
    high_warmth: Annotated[float, Field(ge=1, le=100)] = 10.0
    """Maximum factor of the temperatures."""
    settle_factor: Annotated[float, Field(ge=1, le=100)] = 1.25
    """N_scl has settled when it stays within this factor for `settle_generations`."""
    settle_generations: Annotated[int, Field(ge=1, le=10_000)] = 3
    """Generations in which it must stay there."""
    double_visits: bool = True
    """Whether the visits are doubled when N_scl has settled."""
    max_visits: Count = 10_000
    """Upper limit of the visits."""
    probe_games: Count = 50
    """Games of a probe, not trained on, that are played where there is no data near a setting."""
    probe_always: bool = False
    """Whether a probe precedes every generation."""
    long_game: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    """Games of this many plies or more count as draws, in games without any; 0: draws count."""


class YardstickSettings(Section):
    """Matches of the best net with an opponent that does not change (hauteur.learning.yardstick)."""

    opponent: Annotated[str, AfterValidator(checked_opponent)] = "mcts:1000"
    """Any player of `hauteur match`: `mcts:N`, `rave:N`, a net with its visits, `gtp:gnugo --mode gtp --level 1`,
    `uci:PROGRAM nodes=N`."""
    every: Count = 4
    """Generations from one match to the next; the last generation is always measured."""
    games: Annotated[int, Field(ge=2, le=1_000_000)] = 40
    """Games of a match, in pairs with swapped sides."""
    visits: Count = 100
    """Visits a move of the net."""
    opening_plies: Annotated[int, Field(ge=0, le=10_000)] = 2
    """Random plies with which both games of a pair begin."""
    max_plies: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """A game of this many plies is a draw."""

    @field_validator("games")
    @classmethod
    def _in_pairs(cls, games: int) -> int:
        """Refuse an odd number, which would leave an opening with one side."""
        if games % 2:
            raise ValueError("games are played in pairs with swapped sides, so their number is even")
        return games


class StartSettings(Section):
    """Start of a run before its first generation: weights of a net, training on games, or both."""

    net: str | None = None
    """Trained here (`.safetensors`) or lc0's (`.pb.gz`); it keeps its shape: omit `[network]`, or give the same. Of a
    net for another size of the board dense layers over all squares begin anew."""
    large_net: str | None = None
    """The same for `[large]`."""
    games: tuple[str, ...] = ()
    """PGN, SGF and shards (`.parquet`), as a list of texts."""
    epochs: Annotated[float, Field(gt=0, le=10_000)] = 1.0
    """Average number of times a position is sampled."""
    hold_out: Annotated[float, Field(ge=0, lt=1)] = 0.05
    """Share of the games that are held out for measurement."""
    distil_from: str | None = None
    """Its policy and values are the targets, instead of the moves and results of the games."""


class RunSettings(Section):
    """Location and resources of the run."""

    directory: str = "runs"
    """Folder of the runs; this one is `<directory>/<game>/<tag>`."""
    tag: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")] = "default"
    """Name of the run."""
    generations: Annotated[int, Field(ge=0, le=1_000_000_000)] = 10
    """How many; raising it continues a finished run; 0: only `[start]`."""
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 1
    """Seed of all random draws."""
    threads: Annotated[int, Field(ge=0, le=MOST_THREADS)] = 0
    """Threads of the processor; 0: one per core."""
    exact: bool = True
    """A run that was killed and resumed ends with the same games and the same net, bit for bit, as an uninterrupted
    one."""
    backend: Literal["core", "torch"] = "core"
    """Evaluator backend of self-play and gate."""
    precision: Precision = "float32"
    """Arithmetic of those nets."""
    budget_flops: Annotated[float, Field(ge=0, le=1e30)] = 0.0
    """The run ends with the generation in which its nets have taken this many floating-point operations; the learning
    rate still falls over all generations; 0: no budget."""
    solved_positions: Annotated[int, Field(ge=0, le=100_000)] = 1000
    """Solved positions in which each best net is measured, where the game can be solved (in Python: a tenth); 0:
    none."""

    @property
    def cores(self) -> int:
        """Threads of the processor that the run uses: `threads`, or one per core of this machine."""
        return self.threads or min(usable_cores(), MOST_THREADS)
