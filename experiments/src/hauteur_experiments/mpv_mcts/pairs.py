"""Pairs of nets: their costs, and the players that they give at a budget.

Lan, Li, Wei, Wu: "Multiple Policy Value Monte Carlo Tree Search", IJCAI 2019. Work is counted in evaluations of the
large net: one of a net f(filters, blocks) costs (filters / 128)^2 * blocks / 10 of those of f(128, 10) (section 4.1),
so a pair has the cost of the small net over that of the large one, 1/8 for the paper's f(64, 5) and f(128, 10). A move
has a budget of B units; the share r of it goes to the large net (section 4.2).
"""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import hauteur as ht
from hauteur_experiments.experiment import joined
from hauteur_experiments.grid import with_net
from hauteur_experiments.setting import Setting

PAPER = "Lan et al., Multiple Policy Value MCTS"
LAN = "Lan et al. 2019"
BUDGETS = (100, 200, 400, 800, 1600)
"""Units a move of figures 2 and 3."""

BEST_SHARE = 0.5
"""r of all later experiments of the paper."""

GAME = "nogo"
PAPER_TURNS = 8
"""Evaluations of f(64, 5) that cost as much as one of f(128, 10)."""

LEAST_BUDGET = 4
"""Units of which a quarter is still an evaluation of the large net."""

SEARCH = "cpuct.init=1.5 cpuct.factor=0 fpu.value=0 policy_temperature=1 reuse_tree=false"
"""The paper's search: constant c_puct of 1.5, unmodified priors, an empty tree at every move. First-play urgency is the
parent's value, as in training; the paper does not state it."""


def turns(budget: float, share: float, cost: float) -> tuple[int, int]:
    """Small and large turns of a move: b_S = (1 - r) B / cost and b_L = r B, rounded.

    budget: B, above 0, in evaluations of the large net; share: r, 0 to 1; cost: of an evaluation of the small net, in
    those of the large one. ValueError where a net that has a share would have no turn.
    """
    small = round((1 - share) * budget / cost)
    large = round(share * budget)
    if (share < 1 and small == 0) or (share > 0 and large == 0):
        raise ValueError(f"a budget of {budget:g} is too small for a share of {share:g}: {small} and {large} turns")
    return small, large


@cache
def described(net: Path) -> tuple[str, Any]:
    """Return the game of a net, and its architecture."""
    found = ht.load_network(net)
    return found.game, found.architecture


def net_cost(net: Path) -> float:
    """Work of an evaluation of a net, in those of f(128, 10); ValueError where it is not a residual tower."""
    cost = getattr(described(net)[1], "cost", None)
    if cost is None:
        raise ValueError(f"{net}: the cost of an evaluation is known of residual towers alone (.safetensors)")
    return float(cost)


def net_name(net: Path) -> str:
    """f(filters, blocks) of a net, as the paper writes it; else the name of its file."""
    architecture = described(net)[1]
    known = hasattr(architecture, "filters") and hasattr(architecture, "cost")
    if known:
        return f"f{architecture.filters},{architecture.blocks}"
    return net.stem


@dataclass(frozen=True)
class Pair:
    """A small and a large net for the same game. ValueError where they are not.

    declared: work of an evaluation of the small net, in those of the large one; None: by the paper's formula.
    """

    small: Path
    large: Path
    declared: float | None = None

    def __post_init__(self) -> None:
        games = [described(net)[0] for net in (self.small, self.large)]
        if games[0] != games[1]:
            raise ValueError(f"{self.small} is for {games[0]} and {self.large} for {games[1]}: a pair plays one game")
        if self.cost >= 1:
            raise ValueError(
                f"the small net comes first: {self.small} costs {self.cost:g} times what {self.large} does"
            )

    @cached_property
    def cost(self) -> float:
        """Work of an evaluation of the small net, in those of the large one."""
        if self.declared is None:
            return net_cost(self.small) / net_cost(self.large)
        return self.declared

    @property
    def game(self) -> str:
        """The game of both."""
        return described(self.small)[0]

    def player(self, budget: float, share: float) -> str:
        """Return the player of a budget with this share of the large net; shares 0 and 1 are PV-MCTS with one net."""
        small, large = turns(budget, share, self.cost)
        if not (small and large):
            return alone(self.small if small else self.large, small or large)
        second = f"second_net.small_visits={small} second_net.large_visits={large}"
        large_net = shlex.quote(f"large_net={self.large}")
        return f"{alone(self.small, small)} {large_net} {second}"


def alone(net: Path, visits: int) -> str:
    """PV-MCTS: a net alone with these visits a move."""
    return with_net(f"visits={visits} {SEARCH}", net)


def budgets_of(setting: Setting, paper: Sequence[int]) -> list[int]:
    """The paper's budgets, or with `--visits` those as many doublings below it, without the ones that are too small.

    ValueError where none is left.
    """
    largest = setting.visits_or(max(paper))
    if largest < LEAST_BUDGET:
        raise ValueError(f"--visits is the largest budget, at least {LEAST_BUDGET}, got {largest}")
    found = [round(budget * largest / max(paper)) for budget in paper]
    return [budget for budget in found if budget >= LEAST_BUDGET]


def scope_of(game: str, budgets: Sequence[float], cost: float | None = None) -> str:
    """In what a measurement differs from the paper's: game, budgets, and small turns for a large one where known.

    budgets: in evaluations of the large net; cost: of an evaluation of the small net, in those of the large one.
    """
    other_game = ""
    if game != ht.load_game(GAME).spec:
        board = re.fullmatch(r"nogo\(size=(\d+)\)", game)
        played = game if board is None else f"NoGo {board[1]}x{board[1]}"
        other_game = f"{played}, not NoGo 9x9"
    other_turns = ""
    if cost is not None and abs(1 / cost - PAPER_TURNS) > 0.05:
        other_turns = f"{1 / cost:.2g} small turns for a large one, not {PAPER_TURNS}"
    other_budget = ""
    low = min(budgets)
    high = max(budgets)
    if low < min(BUDGETS):
        sizes = f"{low:g} to {high:g}" if low < high else f"{high:g}"
        other_budget = f"a budget of {sizes}, not of {min(BUDGETS)} to {max(BUDGETS):,}"
    return joined(other_game, other_turns, other_budget)


def game_of(setting: Setting) -> str:
    """Return the game of the nets or runs, or the one requested.

    ValueError if they differ, and for a folder that is not a learning run.
    """
    asked = None if setting.game is None else ht.load_game(setting.game).spec
    for net in setting.nets:
        file = net / "config.toml"
        if net.is_dir() and not file.exists():
            raise ValueError(f"{net} is not the folder of a learning run (hauteur train): it has no config.toml")
        if net.is_dir():
            recipe = tomllib.loads(file.read_text(encoding="utf-8"))
            game = recipe["game"]
        else:
            game, *_ = described(net)
        spec = ht.load_game(game).spec
        if asked not in (None, spec):
            raise ValueError(f"{net} is for {spec}, not for {asked}")
        asked = spec
    return asked or ht.load_game(GAME).spec


def pair_of(nets: Sequence[Path], cost: float | None = None) -> Pair:
    """Two nets as a pair; ValueError where there are others than two.

    cost: of an evaluation of the large net, in those of the small one; None: by the paper's formula.
    """
    if len(nets) != 2:
        raise ValueError(f"this experiment needs two nets, --net SMALL --net LARGE, got {len(nets)}")
    return Pair(nets[0], nets[1], cost and 1 / cost)
