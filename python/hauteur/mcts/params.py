"""Every setting that a user can change, as pydantic models: unknown keys are errors; TOML in and out.

`SearchParams` mirrors crates/core/src/params.rs field by field and reaches the core as JSON.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from hauteur.mcts.rules import (
    EarlyVisits,
    ForcedPlayouts,
    Gumbel,
    InitialTrust,
    LowerBound,
    PriorMixing,
    QAverage,
    Repetition,
    SearchContempt,
    SecondNet,
    Solver,
    TreeBalance,
    Variance,
    WdlContempt,
)
from hauteur.system.settings import Section


class Cpuct(Section):
    """Exploration of PUCT: c_puct(N) = init + factor * ln((N + base) / base), N = parent visits (lc0, AlphaZero)."""

    init: Annotated[float, Field(ge=0, le=100)] = 1.745
    """c_puct of a young node."""
    base: Annotated[float, Field(ge=1, le=1e9)] = 38739.0
    """Visits at which growth sets in."""
    factor: Annotated[float, Field(ge=0, le=1000)] = 3.894
    """Strength of the growth; 0: constant."""


class Fpu(Section):
    """First-play urgency: the Q of an edge without visits.

    reduction: Q(parent) - value * sqrt(sum of the priors of visited edges); absolute: value; parent_value: reduction
    with the network's own value of the parent in the place of its mean.
    """

    kind: Literal["reduction", "absolute", "parent_value"] = "reduction"
    """Which formula."""
    value: Annotated[float, Field(ge=-100, le=100)] = 0.33
    """The reduction, or the value."""


class Dirichlet(Section):
    """Noise on the root's priors: P <- (1 - epsilon) P + epsilon * Dir(alpha), once per root."""

    epsilon: Annotated[float, Field(ge=0, le=1)] = 0.25
    """Share of the noise."""
    alpha: Annotated[float, Field(ge=1e-6, le=1000)] = 0.3
    """Concentration."""


class SearchParams(Section):
    """All settings of the search. Every rule has an optional section; absent = off = plain PUCT.

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
    root_cpuct: Cpuct | None = None
    fpu: Fpu = Fpu()
    root_fpu: Fpu | None = None
    policy_temperature: Annotated[float, Field(ge=1e-3, le=100)] = 1.359
    """Priors are softmax(logits / temperature)."""
    root_policy_temperature: Annotated[float, Field(ge=1e-3, le=100)] | None = None
    """The same for the root alone."""
    arithmetic: Literal["exact", "lc0"] = "exact"
    """How exp (of that softmax) and ln (of c_puct) are computed; lc0: by its polynomials, for comparing searches."""
    dirichlet: Dirichlet | None = None
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
    """Which positions share an evaluation: those that the network cannot tell apart, or, within a tree, also those that
    differ in the moves that led to them (`State.position_key`)."""
    graph: bool = False
    """Graph search: a position that is reached by two orders of moves is one node (mcts/methods/graph-search.md)."""
    swap_colors: bool = False
    """Show the net the other colour: the plane of the side to move is inverted in every row (chess alone has one)."""
    max_tree_bytes: Annotated[int, Field(ge=0)] = 0
    """Bytes a tree may take before it stops growing; 0: no cap."""

    search_contempt: SearchContempt | None = None
    second_net: SecondNet | None = None
    solver: Solver | None = None
    repetition: Repetition | None = None
    variance: Variance | None = None
    tree_balance: TreeBalance | None = None
    prior_mixing: PriorMixing | None = None
    early_visits: EarlyVisits | None = None
    q_average: QAverage | None = None
    initial_trust: InitialTrust | None = None
    wdl_contempt: WdlContempt | None = None
    gumbel: Gumbel | None = None
    lower_bound: LowerBound | None = None
    forced_playouts: ForcedPlayouts | None = None

    @model_validator(mode="after")
    def _rules_go_together(self) -> Self:
        problem = conflict(self.without_neutral_rules())
        if problem:
            raise ValueError(problem)
        return self

    def without_neutral_rules(self) -> SearchParams:
        """The same search with the rules that change nothing left out."""
        neutral = [name for name, rule in self if getattr(rule, "is_neutral", False)]
        return self.model_copy(update=dict.fromkeys(neutral))


def rules_off_by_default() -> tuple[str, ...]:
    """Return the sections and settings of SearchParams that are off by default, in order: any value turns one on."""
    fields = SearchParams.model_fields.items()
    return tuple(name for name, field in fields if field.default is None or field.default is False)


def conflict(params: SearchParams) -> str | None:
    """Return the conflict between active rules, in one line worded as in the core; None if there is none."""
    two_nets = params.second_net is not None and params.second_net.small_visits > 0
    stranger = next((name for name in NOT_WITH_TWO_NETS if getattr(params, name) is not None), None)
    if two_nets and params.cache_key == "position":
        stranger = stranger or "cache_key position"
    if two_nets and stranger:
        return (
            f"second_net and {stranger} cannot be used together (two nets go with search_contempt, "
            "repetition, tree_balance, prior_mixing, early_visits and initial_trust)"
        )
    if params.graph and (problem := _conflict_of_graph(params)):
        return problem
    if params.gumbel is None:
        return None
    exclude = "SearchParams.{} and SearchParams.{} exclude each other: {}".format
    if params.dirichlet and params.dirichlet.epsilon > 0:
        return exclude("gumbel", "dirichlet", "both are noise of the root")
    if params.second_net:
        return exclude("gumbel", "second_net", "both say which edge of the root is visited")
    if params.lower_bound:
        return exclude("gumbel", "lower_bound", "both say which action is played")
    if params.gumbel.below_root == "improved_policy" and _changes_scores(params):
        why = "there is no PUCT for the rules that change it"
        return f"SearchParams.gumbel.below_root must be puct here, got improved_policy: {why}"
    if params.forced_playouts:
        return exclude("forced_playouts", "gumbel", "both say which edge of the root is visited")
    return None


NOT_WITH_TWO_NETS = ("solver", "variance", "q_average", "gumbel", "lower_bound", "wdl_contempt", "forced_playouts")
"""Rules of which nobody has said what they mean with two nets."""


def _conflict_of_graph(params: SearchParams) -> str | None:
    """Return a rule that needs every visit of a node, or gives a node what belongs to one way to it."""
    two_nets, solver, repetition = params.second_net, params.solver, params.repetition
    others = {
        "second_net": two_nets is not None and two_nets.small_visits > 0,
        "variance": params.variance is not None,
        "lower_bound": params.lower_bound is not None,
        "q_average": params.q_average is not None,
        "tree_balance": params.tree_balance is not None,
        "solver.clamp_to_bounds": solver is not None and solver.clamp_to_bounds,
        "solver.auto_extend": solver is not None and solver.auto_extend,
        "repetition.mode legacy_certain": repetition is not None and repetition.mode == "legacy_certain",
    }
    return next(
        (
            f"graph and {name} cannot be used together (graph search goes with the solver without clamp_to_bounds and "
            "auto_extend, and not with second_net, variance, lower_bound, q_average and tree_balance)"
            for name, on in others.items()
            if on
        ),
        None,
    )


def _changes_scores(params: SearchParams) -> bool:
    """Return whether a rule changes the scores that PUCT compares; neutral ones are left out."""
    solver, average = params.solver, params.q_average
    ruled = (
        *(params.variance, params.tree_balance, params.prior_mixing),
        *(params.early_visits, params.initial_trust, params.second_net),
    )
    return (
        any(rule is not None for rule in ruled)
        or (average is not None and average.sufficient is not None)
        or (
            solver is not None
            and (solver.lookahead > 0 or solver.lost_child_mode in ("avoid", "damp", "damp_by_depth"))
        )
    )


class Temperature(Section):
    """Randomness of the moves played: p ~ N^(1/T). Meanings as lc0's Temp... options (hauteur.mcts.move_choice)."""

    initial: Annotated[float, Field(ge=0, le=100)] = 0.0
    decay_moves: Annotated[int, Field(ge=0, le=10_000)] = 0
    decay_delay_moves: Annotated[int, Field(ge=0, le=10_000)] = 0
    cutoff_move: Annotated[int, Field(ge=0, le=10_000)] = 0
    endgame: Annotated[float, Field(ge=0, le=100)] = 0.0
    visit_offset: Annotated[float, Field(ge=-1e5, le=1e5)] = 0.0
    value_cutoff: Annotated[float, Field(ge=0, le=100)] = 100.0
