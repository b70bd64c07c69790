"""Settings of the search rules, one section a rule: an absent section, or one that `is_neutral`, is plain PUCT.

They mirror crates/core/src/rules/*.rs field by field. Every rule has a page in mcts/methods.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from hauteur.system.settings import Section

SEARCH_CONTEMPT_OFF = 1_000_000_000
"""N_scl from which search-contempt is off."""


def ratio_steps(schedule: str) -> list[tuple[int, float]]:
    """The (visits, ratio) steps of "1000:0.5 8000:0.9"; ValueError for anything else. Visits ascend."""
    found = [re.fullmatch(r"([0-9]{1,9}):([01]|[01]?\.[0-9]{1,17})", step) for step in schedule.split()]
    steps = [(int(step[1]), float(step[2])) for step in found if step]
    visits = [start for start, _ in steps]
    if None in found or visits != sorted(set(visits)) or any(ratio > 1 for _, ratio in steps):
        raise ValueError(
            "must be VISITS:RATIO pairs with ascending visits and ratios 0 to 1, such as '1000:0.5 8000:0.9'"
        )
    return steps


class SearchContempt(Section):
    """Search-contempt (Joshi 2025): the opponent's visits freeze after N_scl of them and are sampled from then on.

    mcts/methods/search-contempt.md has the equations; `TreeNode.frozen` shows the frozen weights. Raise ValueError,
    naming the setting and its range, for what is not allowed.

    >>> import hauteur as ht
    >>> ht.SearchParams(search_contempt=ht.SearchContempt(n_scl=10)).search_contempt.temperature
    1.0
    """

    n_scl: Annotated[int, Field(ge=-SEARCH_CONTEMPT_OFF, le=SEARCH_CONTEMPT_OFF)] = SEARCH_CONTEMPT_OFF
    """Visits of its children at which an opponent node freezes; negative: the root player's own nodes freeze."""
    temperature: Annotated[float, Field(ge=1e-3, le=100)] = 1.0
    """Frozen weights are N_scl(s, a)^(1 / temperature)."""
    sampling_ratio: Annotated[float, Field(ge=0, le=1)] = 1.0
    """Share of a frozen node's visits that are sampled; the others stay PUCT."""
    ratio_schedule: str = ""
    """The ratio by visits of the node, "1000:0.5 8000:0.9"; before the first step `sampling_ratio`."""
    proofs_respect_contempt: bool = False
    """Opponent nodes take no proof from replies outside their frozen support."""

    @field_validator("n_scl")
    @classmethod
    def _not_zero(cls, n_scl: int) -> int:
        if n_scl == 0:
            raise ValueError("n_scl must not be 0")
        return n_scl

    @field_validator("ratio_schedule")
    @classmethod
    def _has_steps(cls, schedule: str) -> str:
        ratio_steps(schedule)
        return schedule

    @property
    def is_neutral(self) -> bool:
        """True where the settings leave the search as it is."""
        return abs(self.n_scl) >= SEARCH_CONTEMPT_OFF


class SecondNet(Section):
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
    """Which leaf the large net sees next."""
    parent_bonus: Annotated[float, Field(ge=0, le=100)] = 1.0
    """Weight of the parent's visits in `parent_bonus`."""
    values: Literal["means", "states"] = "means"
    """How the two values become one: means over the subtree by each net (A), or state by state (B)."""
    large_batch: Annotated[int, Field(ge=1, le=4096)] = 1
    """Frontier nodes that the large net evaluates together; 1: exact."""

    @model_validator(mode="after")
    def _some_visits(self) -> SecondNet:
        if self.small_visits == self.large_visits == 0:
            raise ValueError("small_visits and large_visits must not both be 0")
        return self

    @property
    def is_neutral(self) -> bool:
        """True where the settings leave the search as it is: the small net alone."""
        return self.large_visits == 0


class Solver(Section):
    """Solver (certainty propagation, MCTS-Solver): proven bounds of results travel up the tree."""

    lookahead: Annotated[int, Field(ge=0, le=1)] = 0
    """Plies that are looked ahead at expansion."""
    lost_child_mode: Literal["visit", "avoid", "damp", "damp_by_depth", "zero_prior"] = "visit"
    """What selection does with proven children below the root."""
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


class Repetition(Section):
    """Repetition scoring: a second occurrence of a position counts as a draw."""

    mode: Literal["inline_value", "legacy_certain"] = "inline_value"
    """Those below the root, as a value (lc0); or all of them, as a proof (the fork)."""


class Variance(Section):
    """Empirical variance of the results behind an edge, as noise, bonus or scale of exploration."""

    mode: Literal["half_normal", "std_bonus", "stderr_bonus", "ucb1_tuned", "node_scaled_cpuct"] = "half_normal"
    """What the variance is used for."""
    scale: Annotated[float, Field(ge=-100, le=100)] = 0.01
    """Strength; 0: plain PUCT."""
    prior_mean: Annotated[float, Field(ge=1e-6, le=1)] = 0.16
    """Variance that `prior_weight` visits are taken to have shown; of `node_scaled_cpuct` also the usual variance."""
    prior_weight: Annotated[float, Field(ge=0, le=1e6)] = 0.0
    """In visits; 0: none."""
    source: Literal["empirical", "wdl"] = "empirical"
    """The spread of the values backed up, or the mean's own shares: W + L - (W - L)^2."""

    @property
    def is_neutral(self) -> bool:
        """True where the settings leave the search as it is."""
        return self.scale == 0.0


class TreeBalance(Section):
    """Tree balance: edges behind which there are few replies are explored more."""

    mode: Literal["normalised", "legacy", "capped", "additive", "additive_relative"] = "normalised"
    """The clean form, or one of the fork's."""
    many: Annotated[float, Field(ge=0, le=10)] = 1.0
    """Exponent where there are more replies than the mean (`normalised`)."""
    few: Annotated[float, Field(ge=0, le=10)] = 0.2
    """Exponent where there are fewer (`normalised`)."""
    normalise: bool = True
    """Divide by the mean factor under the priors, so that c_puct keeps its meaning (`normalised`)."""
    clip: Annotated[float, Field(ge=1, le=1e6)] = 4.0
    """Factors are clipped to 1 / clip ... clip (`normalised`)."""
    scale: Annotated[float, Field(ge=-1000, le=1000)] = 1.1
    """The fork's --tree-balance."""
    left: Annotated[float, Field(ge=-100, le=100)] = 2.0
    """The fork's --tree-scale-left."""
    right: Annotated[float, Field(ge=-1, le=100)] = 0.3
    """The fork's --tree-scale-right."""
    until: Annotated[int, Field(ge=0, le=4_000_000_000)] | None = None
    """Additive forms act while an edge has at most so many visits."""

    @model_validator(mode="after")
    def _positive_scale(self) -> TreeBalance:
        if self.mode not in ("additive", "additive_relative") and self.scale < 0.01:
            raise ValueError(f"scale must be 0.01 or more but in the additive modes, got {self.scale}")
        return self

    @property
    def is_neutral(self) -> bool:
        """True where the settings leave the search as it is."""
        match self.mode:
            case "normalised":
                return self.many == self.few == 0.0
            case "legacy":
                return self.left == self.right == 0.0
            case _:
                return self.left == 0.0


class PriorMixing(Section):
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

    @property
    def is_neutral(self) -> bool:
        """True where the settings leave the search as it is."""
        match self.mode:
            case "share":
                return self.share == 0.0
            case "dynamic":
                return self.share == 0.0 or self.kappa == 0.0
            case _:
                return self.compression == 0.0


class EarlyVisits(Section):
    """Easy early visits: the denominator of U grows later."""

    mode: Literal["continuous", "legacy"] = "continuous"
    """Continuous in `ease`, or the fork's form."""
    ease: Annotated[float, Field(ge=0, le=1)] = 1.0
    """0: plain PUCT."""

    @property
    def is_neutral(self) -> bool:
        """True where the settings leave the search as it is."""
        return self.ease == 0.0


class QAverage(Section):
    """Q moving average: later results count more in the mean of a node."""

    mode: Literal["mean", "power", "linear", "combined", "floor", "limited"] = "linear"
    """Which step size, see `reference.q_average.step_size`."""
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

    @property
    def is_neutral(self) -> bool:
        """True where the settings leave the search as it is."""
        is_mean = {
            "mean": True,
            "power": self.gamma == 1.0,
            "linear": self.beta == 1.0,
            "limited": self.beta == 1.0,
            "combined": self.gamma == self.beta == 1.0,
            "floor": self.min_step == 0.0,
        }
        return is_mean[self.mode] and self.sufficient is None


class InitialTrust(Section):
    """Initial trust: the value of an edge with few visits is drawn towards first-play urgency."""

    weight: Annotated[float, Field(ge=0, le=1000)] = 1.0
    """Visits that first-play urgency counts as; 0: plain PUCT."""
    until: Annotated[int, Field(ge=0, le=4_000_000_000)] = 1_000_000_000
    """Visits of the edge from which its own mean counts alone."""

    @property
    def is_neutral(self) -> bool:
        """True where the settings leave the search as it is."""
        return self.weight == 0.0 or self.until <= 1


class WdlContempt(Section):
    """WDL contempt of lc0: the network's win, draw and loss are shifted as if one side were stronger."""

    contempt: Annotated[float, Field(ge=-10_000, le=10_000)] = 0.0
    """Elo by which the contempt side is stronger."""
    mode: Literal["play", "white_side_analysis", "black_side_analysis", "disable"] = "play"
    """Which side the contempt is of; play: the player to move at the root."""
    max_value: Annotated[float, Field(ge=0, le=10_000)] = 420.0
    """Greatest |contempt| that counts."""
    calibration_elo: Annotated[float, Field(ge=0, le=10_000)] = 0.0
    """Elo of the contempt side; 0: unknown, `contempt` acts alone."""
    draw_rate_reference: Annotated[float, Field(ge=1e-4, le=0.9999)] = 0.5
    """Draw rate that the network was trained at."""
    draw_rate_target: Annotated[float, Field(ge=0, le=0.9999)] = 0.0
    """Draw rate to assume; 0: as it is. Only without `calibration_elo`."""
    attenuation: Annotated[float, Field(ge=-10, le=10)] = 1.0
    """Factor of the shift."""
    max_s: Annotated[float, Field(ge=0.01, le=10)] = 1.4
    """Greatest sharpness s that is kept."""
    book_exit_bias: Annotated[float, Field(ge=-2, le=2)] = 0.65
    """mu of the positions in which books end, where `contempt` counts in full. Only without `calibration_elo`."""
    eval_objectivity: Annotated[float, Field(ge=0, le=1)] = 1.0
    """Share of the shift that reports take back. 1: values of an even game; 0: those that the search used."""

    @field_validator("draw_rate_target")
    @classmethod
    def _check_target(cls, rate: float) -> float:
        if 0.0 < rate < 0.001:
            raise ValueError(f"draw_rate_target must be 0 or 0.001 to 0.9999, got {rate}")
        return rate

    @property
    def is_neutral(self) -> bool:
        """True where the settings leave every value as it is."""
        keeps_sharpness = not self.calibration_elo and self.draw_rate_target in (0.0, self.draw_rate_reference)
        favours_nobody = self.mode == "disable" or not (self.contempt and self.max_value and self.attenuation)
        return keeps_sharpness and favours_nobody


class Gumbel(Section):
    """Gumbel root (Danihelka et al. 2022): actions sampled without replacement, halved sequentially; completed Q."""

    considered: Annotated[int, Field(ge=1, le=65_535)] = 16
    """m: actions that are considered at the root."""
    c_visit: Annotated[float, Field(ge=0, le=1e6)] = 50.0
    """sigma(q) = (c_visit + max_b N(b)) c_scale q, q on the scale 0 to 1."""
    c_scale: Annotated[float, Field(ge=0, le=1e3)] = 1.0
    """See `c_visit`."""
    noise: Annotated[float, Field(ge=0, le=10)] = 1.0
    """Factor of the Gumbel noise; 0: none, the search is deterministic."""
    below_root: Literal["puct", "improved_policy"] = "puct"
    """How edges are selected below the root: by PUCT, or so that visits come near the improved policy."""


class LowerBound(Section):
    """Final choice by the lower confidence bound of Q instead of the most visits."""

    confidence: Annotated[float, Field(ge=0.5, le=0.999999)] = 0.95
    """One-sided; 0.5 compares the means themselves."""
    min_share: Annotated[float, Field(ge=1e-6, le=1)] = 0.1
    """Candidates have at least this share of the most visited move's visits."""

    @property
    def is_neutral(self) -> bool:
        """True where the settings leave the choice as it is: the greatest Q among the most visited moves."""
        return self.confidence == 0.5 and self.min_share == 1.0


class ForcedPlayouts(Section):
    """Forced playouts with policy target pruning (Wu 2019): for self-play, at the root alone."""

    k: Annotated[float, Field(ge=0, le=100)] = 2.0
    """A visited move gets at least (k P sum N)^(1/2) visits; 0: plain PUCT."""

    @property
    def is_neutral(self) -> bool:
        """True where the settings leave search and policy target as they are."""
        return self.k == 0.0
