"""Settings of a search, one section a rule: an absent section, or one that `is_neutral`, is plain PUCT.

Written from crates/core by `make schema`: change them there. Every rule has a page in mcts/methods.
"""

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from hauteur.mcts.core_settings import RuledSection, RuleSection
from hauteur.system.settings import Section


class Cpuct(Section):
    """Exploration of PUCT: c_puct(N) = init + factor * ln((N + base) / base), N = parent visits (lc0, AlphaZero)."""

    init: Annotated[float, Field(ge=0, le=100)] = 1.745
    """c_puct of a young node."""
    base: Annotated[float, Field(ge=1, le=1_000_000_000)] = 38739.0
    """Visits at which growth sets in."""
    factor: Annotated[float, Field(ge=0, le=1_000)] = 3.894
    """Strength of the growth; 0: constant."""


class Fpu(Section):
    """First-play urgency: the Q of an edge without visits.

    reduction: Q(parent) - value * sqrt(sum of the priors of visited edges); absolute: value; parent_value: reduction
    with the network's own value of the parent in the place of its mean.
    """

    kind: Literal["reduction", "absolute", "parent_value"] = "reduction"
    """The formula."""
    value: Annotated[float, Field(ge=-100, le=100)] = 0.33
    """The reduction, or the value."""


class Dirichlet(Section):
    """Noise on the root's priors: P <- (1 - epsilon) P + epsilon * Dir(alpha), once per root."""

    epsilon: Annotated[float, Field(ge=0, le=1)] = 0.25
    """Share of the noise."""
    alpha: Annotated[float, Field(ge=1e-06, le=1_000)] = 0.3
    """Concentration."""


class SearchContempt(RuleSection):
    """Search-contempt (Joshi 2025): the opponent's visits freeze after N_scl of them and are sampled from then on.

    >>> import hauteur as ht
    >>> ht.SearchParams(search_contempt=ht.SearchContempt(n_scl=10)).search_contempt.temperature
    1.0
    """

    n_scl: Annotated[int, Field(ge=-1_000_000_000, le=1_000_000_000)] = 1_000_000_000
    """Visits of its children at which an opponent node freezes; negative: the root player's own nodes freeze; 0, with
    `opponent_net` alone: every visit draws from the model's priors."""
    temperature: Annotated[float, Field(ge=0.001, le=100)] = 1.0
    """Frozen weights are N_scl(s, a)^(1 / temperature)."""
    sampling_ratio: Annotated[float, Field(ge=0, le=1)] = 1.0
    """Share of a frozen node's visits that are sampled; the others stay PUCT."""
    ratio_schedule: str = ""
    """The ratio by visits of the node, "1000:0.5 8000:0.9"; before the first step `sampling_ratio`."""
    proofs_respect_contempt: bool = False
    """Opponent nodes take no proof from replies outside their frozen support."""


class OpponentNet(RuleSection):
    """A model of the opponent: a second network gives the priors of the nodes where the opponent of the root's player
    moves."""

    temperature: Annotated[float, Field(ge=0.001, le=100)] = 1.0
    """T_M: the model's priors are softmax(logits / temperature)."""
    share: Annotated[float, Field(ge=0, le=1)] = 1.0
    """Share of the draws at opponent nodes that are made; the others are PUCT: against a model that may be wrong."""
    plies: Annotated[int, Field(ge=1, le=1_000)] | None = None
    """Opponent nodes deeper than this below the root have the own network's priors and PUCT; absent: none are."""


class SecondNet(RuleSection):
    """Two-net search, MPV-MCTS (Lan et al. 2019): a small net searches, a large one corrects the most visited nodes."""

    small_visits: Annotated[int, Field(ge=0, le=4_000_000_000)] = 800
    """b_S: small turns a move."""
    large_visits: Annotated[int, Field(ge=0, le=4_000_000_000)] = 100
    """b_L: large turns a move; 0: the small net alone."""
    alpha: Annotated[float, Field(ge=0, le=1)] = 0.5
    """Weight of the small net in the value."""
    beta: Annotated[float, Field(ge=0, le=1)] = 0.0
    """Weight of the small net in the prior."""
    order: Literal["random", "round_robin", "large_first"] = "random"
    """The order of turns."""
    large_first: Annotated[int, Field(ge=0, le=4_000_000_000)] = 50
    """Large turns at the beginning of `large_first`."""
    priority: Literal["visits", "own_puct", "parent_bonus"] = "visits"
    """The leaf that the large net sees next."""
    parent_bonus: Annotated[float, Field(ge=0, le=100)] = 1.0
    """Weight of the parent's visits in `parent_bonus`."""
    values: Literal["means", "states"] = "means"
    """How the two values become one: means over the subtree by each net (A), or state by state (B)."""
    large_batch: Annotated[int, Field(ge=1, le=4_096)] = 1
    """Frontier nodes that a larger net evaluates together; 1: exact."""
    more: str = ""
    """Nets after the second one, the smaller first, each as VISITS:ALPHA:BETA:PRIORITY.

    These are turns a move, shares of value and prior, of which the nets before it have the rest, and the leaf it sees
    next; left out: an equal share, 1, and `priority`.
    """


class Solver(RuleSection):
    """Solver (certainty propagation, MCTS-Solver): proven bounds of results travel up the tree."""

    lookahead: Annotated[int, Field(ge=0, le=1)] = 0
    """Plies that are looked ahead at expansion."""
    threats: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    """Positions that a search of wins by threats may look at in a new node; 0: no such search.

    Chess and minichess (mates by checks), Gomoku (fours and threes).
    """
    exact: Annotated[int, Field(ge=0, le=10_000_000)] = 0
    """Positions that an exact search of the root's moves may look at; 0: no such search.

    Connect Four, Gomoku, Hex, NoGo, Othello, tic-tac-toe.
    """
    lost_child_mode: Literal["visit", "avoid", "damp", "damp_by_depth", "zero_prior"] = "visit"
    """The way of selection with proven children below the root."""
    clamp_to_bounds: bool = True
    """Values that are backed up are clamped to the bounds of the nodes they pass."""
    retro_fix: bool = True
    """A proof corrects the means of all ancestors, as if every earlier visit had returned the proven value."""
    root_excludes_proven: bool = True
    """A proven root edge is not chosen while another one is not proven."""
    draw_preference: Literal["q_based", "never", "always"] = "q_based"
    """When a proven draw is played in the place of the most visited move; q_based: when that has Q < 0."""
    auto_extend: bool = True
    """Nodes with a single legal move are expanded on the spot, without the network."""


class Repetition(RuleSection):
    """Repetition scoring: a second occurrence of a position counts as a draw."""

    mode: Literal["inline_value", "legacy_certain"] = "inline_value"
    """Those below the root, as a value (lc0); or all of them, as a proof (the fork)."""


class Variance(RuleSection):
    """Empirical variance of the results of an edge, as noise, bonus or scale of exploration."""

    mode: Literal["half_normal", "std_bonus", "stderr_bonus", "ucb1_tuned", "node_scaled_cpuct"] = "half_normal"
    """The use of the variance."""
    scale: Annotated[float, Field(ge=-100, le=100)] = 0.01
    """Strength; 0: plain PUCT."""
    prior_mean: Annotated[float, Field(ge=1e-06, le=1)] = 0.16
    """Variance that `prior_weight` visits are taken to have shown; of `node_scaled_cpuct` also the usual variance."""
    prior_weight: Annotated[float, Field(ge=0, le=1_000_000)] = 0.0
    """In visits; 0: none."""
    source: Literal["empirical", "wdl"] = "empirical"
    """The spread of the values backed up, or the mean's own shares: W + L - (W - L)^2."""


class TreeBalance(RuleSection):
    """Tree balance: edges after which there are few replies are explored more."""

    mode: Literal["normalised", "legacy", "capped", "additive", "additive_relative"] = "normalised"
    """The clean form, or one of the fork's."""
    many: Annotated[float, Field(ge=0, le=10)] = 1.0
    """Exponent where there are more replies than the mean (`normalised`)."""
    few: Annotated[float, Field(ge=0, le=10)] = 0.2
    """Exponent where there are fewer (`normalised`)."""
    normalise: bool = True
    """Divide by the mean factor under the priors, so that c_puct keeps its meaning (`normalised`)."""
    clip: Annotated[float, Field(ge=1, le=1_000_000)] = 4.0
    """Factors are clipped to 1 / clip ... clip (`normalised`)."""
    scale: Annotated[float, Field(ge=-1_000, le=1_000)] = 1.1
    """The fork's --tree-balance."""
    left: Annotated[float, Field(ge=-100, le=100)] = 2.0
    """The fork's --tree-scale-left."""
    right: Annotated[float, Field(ge=-1, le=100)] = 0.3
    """The fork's --tree-scale-right."""
    until: Annotated[int, Field(ge=0, le=4_000_000_000)] | None = None
    """Additive forms act while an edge has at most this number of visits."""


class PriorMixing(RuleSection):
    """Prior mixing, the fork's policy compression: priors are mixed with the uniform policy, less with depth."""

    mode: Literal["share", "dynamic", "legacy", "legacy_dynamic"] = "share"
    """Where the share of the uniform policy comes from: lambda itself, or the fork's c."""
    share: Annotated[float, Field(ge=0, le=1)] = 0.1
    """lambda at the root (`share`), or the greatest lambda (`dynamic`)."""
    decay: Annotated[float, Field(ge=0, le=1)] = 0.5
    """rho: factor of lambda from depth to depth."""
    kappa: Annotated[float, Field(ge=0, le=100)] = 0.5
    """Strength of `dynamic`."""
    compression: Annotated[float, Field(ge=0, le=2)] = 0.06
    """The fork's --policy-compression."""
    compression_decay: Annotated[float, Field(ge=0, le=2)] = 1.0
    """The fork's --policy-compression-decay."""


class EarlyVisits(RuleSection):
    """Easy early visits: the denominator of U grows later."""

    mode: Literal["continuous", "legacy"] = "continuous"
    """Continuous in `ease`, or the fork's form."""
    ease: Annotated[float, Field(ge=0, le=1)] = 1.0
    """0: plain PUCT."""


class QAverage(RuleSection):
    """Q moving average: later results count more in the mean of a node."""

    mode: Literal["mean", "power", "linear", "combined", "floor", "limited"] = "linear"
    """The step size, see `reference.q_average.step_size`."""
    gamma: Annotated[float, Field(ge=0.25, le=1.5)] = 0.75
    """Exponent of `power` and `combined`."""
    beta: Annotated[float, Field(ge=0.01, le=2)] = 0.49
    """Factor of `linear`, `combined` and `limited`."""
    min_step: Annotated[float, Field(ge=0, le=1)] = 0.01
    """Least step of `floor`."""
    limit: Annotated[int, Field(ge=0, le=4_000_000_000)] = 100
    """Visits after which `limited` steps like a mean."""
    sufficient: Annotated[float, Field(ge=-1, le=1)] | None = None
    """A node explores no more (c_puct = 0) once a visited edge's Q is above this."""


class InitialTrust(RuleSection):
    """Initial trust: the value of an edge with few visits is drawn towards first-play urgency."""

    weight: Annotated[float, Field(ge=0, le=1_000)] = 1.0
    """Visits that first-play urgency counts as; 0: plain PUCT."""
    until: Annotated[int, Field(ge=0, le=4_000_000_000)] = 1_000_000_000
    """Visits of the edge from which its own mean counts alone."""


class WdlContempt(RuleSection):
    """WDL contempt of lc0: the network's win, draw and loss are shifted as if one side were stronger."""

    contempt: Annotated[float, Field(ge=-10_000, le=10_000)] = 0.0
    """Elo by which the contempt side is stronger."""
    mode: Literal["play", "white_side_analysis", "black_side_analysis", "disable"] = "play"
    """The side that the contempt is of; play: the player to move at the root."""
    max_value: Annotated[float, Field(ge=0, le=10_000)] = 420.0
    """Greatest |contempt| that counts."""
    calibration_elo: Annotated[float, Field(ge=0, le=10_000)] = 0.0
    """Elo of the contempt side; 0: unknown, `contempt` acts alone."""
    draw_rate_reference: Annotated[float, Field(ge=0.0001, le=0.9999)] = 0.5
    """Draw rate that the network was trained at."""
    draw_rate_target: Annotated[float, Field(ge=0, le=0.9999)] = 0.0
    """Draw rate to assume; 0: unchanged. Only without `calibration_elo`."""
    attenuation: Annotated[float, Field(ge=-10, le=10)] = 1.0
    """Factor of the shift."""
    max_s: Annotated[float, Field(ge=0.01, le=10)] = 1.4
    """Greatest sharpness s that is kept."""
    book_exit_bias: Annotated[float, Field(ge=-2, le=2)] = 0.65
    """mu of the positions in which books end, where `contempt` counts in full. Only without `calibration_elo`."""
    eval_objectivity: Annotated[float, Field(ge=0, le=1)] = 1.0
    """Share of the shift that reports take back. 1: values of an even game; 0: those that the search used."""


class Gumbel(RuleSection):
    """Gumbel root (Danihelka et al. 2022): actions sampled without replacement, halved sequentially; completed Q."""

    considered: Annotated[int, Field(ge=1, le=65_535)] = 16
    """m: actions that are considered at the root."""
    c_visit: Annotated[float, Field(ge=0, le=1_000_000)] = 50.0
    """sigma(q) = (c_visit + max_b N(b)) c_scale q, q on the scale 0 to 1."""
    c_scale: Annotated[float, Field(ge=0, le=1_000)] = 1.0
    """See `c_visit`."""
    noise: Annotated[float, Field(ge=0, le=10)] = 1.0
    """Factor of the Gumbel noise; 0: none, the search is deterministic."""
    below_root: Literal["puct", "improved_policy"] = "puct"
    """How edges are selected below the root: by PUCT, or so that visits come near the improved policy."""


class LowerBound(RuleSection):
    """Final choice by the lower confidence bound of Q instead of the most visits."""

    confidence: Annotated[float, Field(ge=0.5, le=0.999999)] = 0.95
    """One-sided; 0.5 compares the means themselves."""
    min_share: Annotated[float, Field(ge=1e-06, le=1)] = 0.1
    """Candidates have at least this share of the most visited move's visits."""


class ForcedPlayouts(RuleSection):
    """Forced playouts with policy target pruning (Wu 2019): for self-play, at the root alone."""

    k: Annotated[float, Field(ge=0, le=100)] = 2.0
    """A visited move gets at least (k P sum N)^(1/2) visits; 0: plain PUCT."""


class Posterior(RuleSection):
    """Policy posterior (Grill et al. 2020): the policy target is what visits approach, computed from the root's Q."""

    c: Annotated[float, Field(ge=0.001, le=1_000)] = 1.25
    """c of lambda = c sqrt(N) / (actions + N), which c_puct is to the search."""


class SearchParams(RuledSection):
    """All settings of the search: a rule has an optional section, which is off where it is absent.

    Sections may be given as models, as dicts, or as a number, which is their first setting that is one. Settings cannot
    be changed afterwards, `model_copy(update=...)` makes others. Raise ValueError for an unknown key, a value out of
    range, and rules that exclude each other.

    >>> import hauteur as ht
    >>> params = ht.SearchParams(cpuct={"init": 2.0}, solver={})
    >>> params.cpuct.init, params.solver is not None, params.gumbel
    (2.0, True, None)
    >>> ht.SearchParams(cpuct=2.5, search_contempt=5).search_contempt.n_scl
    5
    """

    if TYPE_CHECKING:

        def __init__(self, **settings: Any) -> None: ...

    cpuct: Cpuct = Cpuct()
    """Exploration below the root, and at it unless `root_cpuct` is given."""
    root_cpuct: Cpuct | None = None
    """Exploration at the root."""
    fpu: Fpu = Fpu()
    """First-play urgency below the root, and at it unless `root_fpu` is given."""
    root_fpu: Fpu | None = None
    """First-play urgency at the root."""
    policy_temperature: Annotated[float, Field(ge=0.001, le=100)] = 1.359
    """Priors are softmax(logits / temperature)."""
    root_policy_temperature: Annotated[float, Field(ge=0.001, le=100)] | None = None
    """The same for the root alone; stored priors keep `policy_temperature`."""
    arithmetic: Literal["exact", "lc0"] = "exact"
    """How exp (of that softmax) and ln (of c_puct) are computed; lc0: by its polynomials, for comparing searches."""
    dirichlet: Dirichlet | None = None
    """Noise on the root's priors."""
    draw_score: Annotated[float, Field(ge=-1, le=1)] = 0.0
    """Value of a draw for the first player."""
    reuse_tree: bool = True
    """Keep the subtree of the move played."""
    max_in_flight: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    """Rows that one tree may have in flight; 0 = its share of the batch, 1 = exactly sequential search."""
    max_collisions: Annotated[int, Field(ge=1, le=30_000)] = 32
    """Visits that may end at a leaf already in flight before a gather leaves the tree."""
    cache_size: Annotated[int, Field(ge=0, le=1_000_000_000)] = 200_000
    """Positions in the evaluation cache; 0: none."""
    cache_key: Literal["exact", "position"] = "exact"
    """Positions that share an evaluation: those that the network cannot tell apart, or, within a tree, also those that
    differ in the moves that led to them (`State.position_key`)."""
    graph: bool = False
    """Graph search: a position that is reached by two orders of moves is one node (mcts/methods/graph-search.md)."""
    swap_colors: bool = False
    """Show the net the other colour: the plane of the side to move is inverted in every row (chess alone has one)."""
    max_tree_bytes: Annotated[int, Field(ge=0, le=1_000_000_000_000_000)] = 0
    """Bytes a tree may take before it stops growing; 0: no cap."""
    search_contempt: SearchContempt | None = None
    """Opponent nodes freeze and are sampled."""
    opponent_net: OpponentNet | None = None
    """A model of the opponent gives the priors of their nodes."""
    second_net: SecondNet | None = None
    """A second, large network searches with."""
    solver: Solver | None = None
    """Proven results travel up the tree."""
    repetition: Repetition | None = None
    """Second occurrences count as draws."""
    variance: Variance | None = None
    """The spread of results changes selection."""
    tree_balance: TreeBalance | None = None
    """Numbers of replies change exploration."""
    prior_mixing: PriorMixing | None = None
    """Priors are mixed with the uniform policy."""
    early_visits: EarlyVisits | None = None
    """The first visits of an edge cost less."""
    q_average: QAverage | None = None
    """Later results count more."""
    initial_trust: InitialTrust | None = None
    """First visits are trusted less."""
    wdl_contempt: WdlContempt | None = None
    """One side counts as stronger."""
    gumbel: Gumbel | None = None
    """The root is searched by sequential halving."""
    lower_bound: LowerBound | None = None
    """The move is chosen by its lower confidence bound."""
    forced_playouts: ForcedPlayouts | None = None
    """Forced playouts of the root and pruned policy targets."""
    posterior: Posterior | None = None
    """The policy target is what visits approach."""


class Temperature(Section):
    """Randomness of the moves played: p ~ N^(1/T). Meanings as lc0's Temp... options (reference/choice.py)."""

    initial: Annotated[float, Field(ge=0, le=100)] = 0.0
    """T at the beginning; 0: the best move."""
    decay_moves: Annotated[int, Field(ge=0, le=10_000)] = 0
    """Moves over which it falls to 0; 0: it does not."""
    decay_delay_moves: Annotated[int, Field(ge=0, le=10_000)] = 0
    """Moves before it begins to fall."""
    cutoff_move: Annotated[int, Field(ge=0, le=10_000)] = 0
    """Move from which on it is `endgame`; 0: none."""
    endgame: Annotated[float, Field(ge=0, le=100)] = 0.0
    """T of the endgame, which it never falls below."""
    visit_offset: Annotated[float, Field(ge=-100_000, le=100_000)] = 0.0
    """Added to the visits of every action."""
    value_cutoff: Annotated[float, Field(ge=0, le=100)] = 100.0
    """Actions whose value is lower than the best one's by more, in percentage points, are not drawn."""
