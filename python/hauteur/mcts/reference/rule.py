"""Search rules of one's own, in Python: the six places of mcts/methods as methods of a class.

`Rule` is what a user derives from, `RuleChain` what the reference search calls. The compiled core knows of neither.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Sequence
from typing import Any

from hauteur.mcts.reference.tree import Edge, Node, Value

PLACES = ("edge_value", "prior", "exploration", "step_size", "after_backup", "final_score")
"""The methods of a rule, by the number of their place."""

Override = tuple[str, Callable[..., Any]]
"""A method that a rule overrides, with what messages call it: `Curious.edge_value`."""


class Rule:
    """A search rule written in Python: derive from it, and override the places at which the rule acts.

    A visit walks from the root along the edges with the largest Q + U, evaluates a leaf and moves the mean of every
    node on its way. Each method stands for one of the six places of that (mcts/methods) and is called with what plain
    PUCT, and the rules of `SearchParams`, make of it; the methods here change nothing. Of several rules each gets what
    the one before it returned; at places 4 and 6 the last one that overrides the method decides.

    A node has `visits` N(s), `value` (mean W - L in -1 to 1, for short `q`, and D, both of the player to move there),
    `network` (the network's own value), `state` (to be read, or copied before anything is played), `mover` (0 or 1),
    `edges`, and `memory`, a dict that is the rules' own; `node.q_of(edge)` is Q(s, a), None without visits. An edge has
    `action`, `visits` N(s, a), `prior` P(s, a) as the network gave it, and `child`, the node behind it, None before its
    first visit.

    Such a search runs in Python, at some thousands of visits a second: `search(..., rules=[...])` and players with
    `rules=` say so once. A method that raises, or returns something else than a finite number, stops the search with a
    ValueError that names rule and method. Rules of one player are shared by all its games: what is kept of a position
    belongs in `node.memory`.

    >>> import hauteur as ht
    >>> class Curious(ht.Rule):
    ...     def edge_value(self, node, edge, q):
    ...         return q + 0.1 / (1 + edge.visits)
    >>> Curious().edge_value
    <bound method Curious.edge_value of Curious()>
    """

    def edge_value(self, node: Node, edge: Edge, q: float) -> float:  # noqa: ARG002
        """Place 1: return Q(s, a) as selection compares it; q: for the mover of `node`, of an edge without visits its
        first-play urgency. Not called where the result of the edge is proven (solver).
        """
        return q

    def prior(self, node: Node, edge: Edge, p: float) -> float:  # noqa: ARG002
        """Place 2: return P(s, a) as it counts in U; p: the stored prior, at a root with its noise and temperature. The
        stored one, first-play urgency and training targets stay as they are. Must be >= 0; need not add up to 1.
        """
        return p

    def exploration(self, node: Node, edge: Edge, u: float) -> float:  # noqa: ARG002
        """Place 3: return U(s, a); u: c_puct(N) sqrt(max(N(s) - 1, 1)) P(s, a) / (1 + N(s, a) + visits in flight)."""
        return u

    def step_size(self, node: Node, visits: int) -> float:  # noqa: ARG002
        """Place 4: return how far visit number `visits` (from 1) moves the mean of `node` to its result, 0 to 1."""
        return 1.0 / visits

    def after_backup(self, node: Node, value: Value) -> None:
        """Place 5: called for each node of a visit's way, from the leaf to the root, once all of them are updated.

        value: the visit's result for the mover of `node` (`value.wl` = W - L, `value.d` = D). Return nothing.
        """

    def final_score(self, root: Node, edge: Edge) -> float:  # noqa: ARG002
        """Place 6: return by what the action to play is chosen: the largest, then most visits, higher Q, higher prior.
        With the solver proven wins still come first and proven losses last.
        """
        return float(edge.visits)

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in vars(self).items() if not name.startswith("_"))
        return f"{type(self).__name__}({values})"


class RuleChain:
    """Rules in their order, as the search calls them: only methods that a rule overrides, each answer checked."""

    def __init__(self, rules: Sequence[Rule] = ()) -> None:
        """Raise ValueError where one of them is no rule."""
        self.rules = checked_rules(rules)
        found = {place: _overrides(self.rules, place) for place in PLACES}
        self._edge_value, self._prior, self._exploration = (found[place] for place in PLACES[:3])
        self._step_size, self._after_backup, self._final_score = (found[place] for place in PLACES[3:])

    @property
    def steps(self) -> bool:
        """Whether a rule decides how far a visit moves the mean, which then is no plain mean of the visits."""
        return bool(self._step_size)

    @property
    def watches(self) -> bool:
        """Whether a rule acts after a backup."""
        return bool(self._after_backup)

    def edge_value(self, node: Node, edge: Edge, q: float) -> float:
        """Place 1."""
        for override in self._edge_value:
            q = _number(override, node, edge, q)
        return q

    def prior(self, node: Node, edge: Edge, p: float) -> float:
        """Place 2."""
        for override in self._prior:
            p = _number(override, node, edge, p, low=0.0)
        return p

    def exploration(self, node: Node, edge: Edge, u: float) -> float:
        """Place 3."""
        for override in self._exploration:
            u = _number(override, node, edge, u)
        return u

    def step_size(self, node: Node, step: float) -> float:
        """Place 4; step: what the search itself takes."""
        for override in self._step_size[-1:]:
            step = _number(override, node, node.visits, low=0.0, high=1.0)
        return step

    def after_backup(self, node: Node, value: Value) -> None:
        """Place 5."""
        for override in self._after_backup:
            if (returned := _called(override, node, value)) is not None:
                raise ValueError(f"rule {override[0]} must return nothing (None), got {_shown(returned)}")

    def final_scores(self, root: Node) -> dict[int, float] | None:
        """Place 6, by action; None where no rule decides."""
        for override in self._final_score[-1:]:
            return {edge.action: _number(override, root, edge) for edge in root.edges}
        return None


def checked_rules(rules: object) -> tuple[Rule, ...]:
    """Return the rules as a tuple; ValueError where they are something else, such as a class instead of an object."""
    if isinstance(rules, Rule) or not isinstance(rules, Sequence) or isinstance(rules, str):
        raise ValueError(f"rules must be a list of hauteur.Rule objects, got {_shown(rules)}")
    for number, rule in enumerate(rules):
        if isinstance(rule, type):
            raise ValueError(
                f"rules[{number}] must be an object, got the class {rule.__name__}: write {rule.__name__}()"
            )
        if not isinstance(rule, Rule):
            raise ValueError(f"rules[{number}] must be a hauteur.Rule, got {_shown(rule)}")
    return tuple(rules)


def _overrides(rules: Sequence[Rule], place: str) -> tuple[Override, ...]:
    """Return what the rules do at a place."""
    return tuple(
        (f"{type(rule).__name__}.{place}", getattr(rule, place))
        for rule in rules
        if place in vars(rule) or getattr(type(rule), place) is not getattr(Rule, place)
    )


def _called(override: Override, *arguments: Any) -> Any:
    """Return what the method returns; ValueError names rule and method where it raises."""
    name, method = override
    try:
        return method(*arguments)
    except Exception as error:
        raise ValueError(f"rule {name} has failed: {type(error).__name__}: {' '.join(str(error).split())}") from error


def _number(override: Override, *arguments: Any, low: float = -math.inf, high: float = math.inf) -> float:
    """Return the number that the method returns; ValueError where it is none that the place allows."""
    returned = _called(override, *arguments)
    is_number = isinstance(returned, numbers.Real) and not isinstance(returned, bool)
    number = float(returned) if is_number else math.nan
    if not (math.isfinite(number) and low <= number <= high):
        bounds = "" if low == -math.inf else f" >= {low:g}" if high == math.inf else f" from {low:g} to {high:g}"
        raise ValueError(f"rule {override[0]} must return a finite number{bounds}, got {_shown(returned)}")
    return number


def _shown(value: object) -> str:
    """A value in a few words."""
    if value is None:
        return "None"
    text = " ".join(repr(value).split())
    return f"{text if len(text) <= 60 else text[:57] + '...'} ({type(value).__name__})"


NO_RULES = RuleChain()
