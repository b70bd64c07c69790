"""Parts that the experiments of MPV-MCTS share: budgets, and the players that a pair of nets gives at a budget.

Lan, Li, Wei, Wu: "Multiple Policy Value Monte Carlo Tree Search", IJCAI 2019. Work is counted in evaluations of the
large net: one of a net f(filters, blocks) costs (filters / 128)^2 * blocks / 10 of those of f(128, 10) (section 4.1),
so a pair has the cost of the small net over that of the large one, 1/8 for the paper's f(64, 5) and f(128, 10). A move
has a budget of B units; the share r of it goes to the large net (section 4.2).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from hauteur import networks
from hauteur.mcts.params import Cpuct, Fpu, SearchParams
from hauteur.mcts.rules import SecondNet
from hauteur.networks.architecture import ResNetArchitecture
from hauteur.players.settings import PlayerSettings

PAPER = "Lan et al., Multiple Policy Value MCTS"
BUDGETS = (100, 200, 400, 800, 1600)
"""Units a move of figures 2 and 3."""
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""r: shares of the large net in figure 2; 0 and 1 are the nets alone."""
BEST_SHARE = 0.5
"""r of all later experiments of the paper."""
Size = tuple[int, int]
"""Filters and blocks."""
SMALL: Size = (64, 5)
LARGE: Size = (128, 10)
GAMES = 1000
"""Games of a point."""
RANDOM_PLIES = 2
"""Random plies that a pair of games begins with: without them nets alone would play one game again and again."""


def turns(budget: float, share: float, cost: float) -> tuple[int, int]:
    """Small and large turns of a move: b_S = (1 - r) B / cost and b_L = r B, rounded.

    budget: B, above 0, in evaluations of the large net; share: r, 0 to 1; cost: of an evaluation of the small net, in
    those of the large one. ValueError where a net that has a share would have no turn.
    """
    if not (budget > 0 and 0 <= share <= 1 and cost > 0):
        raise ValueError(f"budget and cost must be above 0 and share 0 to 1, got {budget:g}, {cost:g} and {share:g}")
    small, large = round((1 - share) * budget / cost), round(share * budget)
    if (share < 1 and small == 0) or (share > 0 and large == 0):
        raise ValueError(f"a budget of {budget:g} is too small for a share of {share:g}: {small} and {large} turns")
    return small, large


def net_cost(net: Path) -> float:
    """Work of an evaluation of a net, in those of f(128, 10); ValueError where it is no residual tower."""
    architecture = networks.describe(net).architecture
    if not isinstance(architecture, ResNetArchitecture):
        raise ValueError(f"{net}: the cost of an evaluation is known of residual towers alone (.safetensors)")
    return architecture.cost


def net_name(net: Path) -> str:
    """f(filters, blocks) of a net, as the paper writes it."""
    architecture = networks.describe(net).architecture
    if not isinstance(architecture, ResNetArchitecture):
        return net.stem
    return f"f{architecture.filters},{architecture.blocks}"


def size_name(size: Size) -> str:
    """Return a size as in file names: f64-5."""
    return f"f{size[0]}-{size[1]}"


@dataclass(frozen=True)
class Pair:
    """A small and a large net for the same game. ValueError where they are not.

    declared: work of an evaluation of the small net, in those of the large one; None: by the paper's formula.
    """

    small: Path
    large: Path
    declared: float | None = None

    def __post_init__(self) -> None:
        games = [networks.describe(net).game for net in (self.small, self.large)]
        if games[0] != games[1]:
            raise ValueError(f"{self.small} is for {games[0]} and {self.large} for {games[1]}: a pair plays one game")
        if self.cost >= 1:
            raise ValueError(
                f"the small net comes first: {self.small} costs {self.cost:g} times what {self.large} does"
            )

    @cached_property
    def cost(self) -> float:
        """Work of an evaluation of the small net, in those of the large one."""
        return net_cost(self.small) / net_cost(self.large) if self.declared is None else self.declared

    @property
    def game(self) -> str:
        """The game of both."""
        return str(networks.describe(self.small).game)

    def player(self, budget: float, share: float, alpha: float = 0.5) -> PlayerSettings:
        """Return the player of a budget with this share of the large net; shares 0 and 1 are PV-MCTS with one net.

        alpha: weight of the small net in the value of both.
        """
        small, large = turns(budget, share, self.cost)
        if large == 0:
            return alone(self.small, small)
        if small == 0:
            return alone(self.large, large)
        rule = SecondNet(small_visits=small, large_visits=large, alpha=alpha)
        search = search_settings().model_copy(update={"second_net": rule})
        return PlayerSettings(net=str(self.small), large_net=str(self.large), visits=small, search=search)


def alone(net: Path, visits: int) -> PlayerSettings:
    """PV-MCTS: a net alone with so many visits a move."""
    return PlayerSettings(net=str(net), visits=visits, search=search_settings())


def search_settings() -> SearchParams:
    """Return the paper's search: constant c_puct of 1.5, unmodified priors, an empty tree at every move.

    First-play urgency is the parent's value, as in training; the paper does not state it.
    """
    return SearchParams(cpuct=Cpuct(init=1.5, factor=0.0), fpu=Fpu(value=0.0), policy_temperature=1.0, reuse_tree=False)
