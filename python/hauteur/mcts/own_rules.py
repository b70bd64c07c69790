"""Search rules of one's own, in Python: the six places of mcts/methods as methods of a class, on arrays of many trees.

`Rule` is what a user derives from; `RuleChain` is what a search calls, the core's or the reference's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hauteur.system.formatting import did_you_mean

Floats: TypeAlias = NDArray[np.float64]
Numbers: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]

NODE_FACTS = 5
"""Rows of a table of nodes before its columns; Edges and Way have theirs below."""
EDGE_FACTS = 8


class Fact:
    """A row of a table as its attribute, read-only: floats [width]."""

    def __init__(self, row: int) -> None:
        self._row = row

    def __get__(self, table: Table | None, owner: type[Table]) -> Floats:
        """Return the row; of a class, which has no rows, an empty one."""
        return np.empty(0) if table is None else table._rows[self._row]


class FlagFact(Fact):
    """A row of a table as flags, bool [width]."""

    def __get__(self, table: Table | None, owner: type[Table]) -> Flags:  # type: ignore[override]
        return np.asarray(super().__get__(table, owner) != 0)


class Table:
    """Rows of floats with names; `table["name"]` is a column of the rule that is being called."""

    def __init__(self, rows: Floats, columns: Floats) -> None:
        """columns: what rules keep, [C, rows' width]."""
        self._rows = rows
        self._columns = columns
        self._rule = 0
        self._places = dict[str, int]()

    def __getitem__(self, name: str) -> Floats:
        """Return a column of the rule that is being called, floats [width]."""
        found: Floats = self._columns[self._place(name)]
        return found

    def show_to(self, rule: int, places: dict[str, int]) -> None:
        """Show the columns of a rule by its number: their places by name."""
        self._rule = rule
        self._places = places

    def _place(self, name: str) -> int:
        """Return the row of a column; KeyError for a name that the rule did not declare."""
        if name not in self._places:
            raise KeyError(f"{name!r} is not in the rule's columns: {', '.join(self._places) or 'it has none'}")
        return self._places[name]


class Nodes(Table):
    """The nodes of one depth that choose an edge now, [n], one a tree, each as its mover sees it.

    `nodes["name"]`: the rule's columns of the position itself.
    """

    def __init__(self, depth: int, tree: Numbers, rows: Floats, handed: dict[tuple[int, str], Floats]) -> None:
        super().__init__(rows, rows[NODE_FACTS:])
        self.depth = depth
        """Plies below the root: 0 at the roots."""
        self.tree = tree
        """The number of each tree in its forest."""
        self._handed = handed

    def __len__(self) -> int:
        """Return n."""
        return len(self.tree)

    visits = Fact(0)
    """N(s), the position's own evaluation included."""
    mean = Fact(1)
    """Mean W - L of all visits, -1 to 1."""
    drawn = Fact(2)
    """Mean share of draws, 0 to 1."""
    network = Fact(3)
    """W - L by the network alone."""
    sign = Fact(4)
    """1 where the first player is to move, else -1: `sign * mean` is the first player's."""

    def handed(self, name: str, default: float) -> Floats:
        """Return what the rule handed down to these nodes one depth above, [n]; `default` where it was not asked."""
        found = self._handed.get((self._rule, name))
        if found is None:
            return np.full(len(self.tree), default)
        # NaN: this node's tree has not asked above, or came here by an edge that the rule was not shown.
        return np.where(np.isnan(found), default, found)


class Edges(Table):
    """The edges of these nodes, [E], those of one node after those of another, each as the node's mover sees it.

    `edges["name"]`: the rule's columns of the position after the edge; 0 before the first visit.
    """

    def __init__(self, starts: Numbers, action: NDArray[np.uint16], rows: Floats) -> None:
        super().__init__(rows, rows[EDGE_FACTS:])
        self.starts = starts
        """Where the edges of each node begin, and where the last ones end, [n + 1]."""
        self._actions = action
        self.random: Floats = np.empty(0)
        """The random numbers that the rule asks for with `random`; those of a tree depend on its seed alone."""
        self.below: dict[tuple[int, str], Floats] = {}
        """Numbers that are handed down, by rule and name."""

    def __len__(self) -> int:
        """Return E."""
        return len(self._actions)

    @cached_property
    def node(self) -> Numbers:
        """The place of each edge's node."""
        nodes = np.arange(len(self.starts) - 1)
        return np.repeat(nodes, np.diff(self.starts))

    visits = Fact(0)
    """N(s, a)."""

    @cached_property
    def action(self) -> Numbers:
        """The action of each edge, an index into the policy."""
        return self._actions.astype(np.int64)

    in_flight = Fact(1)
    """Visits that wait for the network."""
    mean = Fact(2)
    """Mean W - L of the visits, -1 to 1; 0 before the first."""
    drawn = Fact(3)
    """Mean share of draws; 0 before the first visit."""
    prior = Fact(4)
    """P(s, a) as the network gave it."""
    ended = FlagFact(5)
    """True where the game is known to be over after the edge."""
    proven = FlagFact(6)
    """True where the result is proven (solver)."""
    allowed = FlagFact(7)
    """True where the search may take the edge: not what a root is kept from."""

    def of(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return a value a node, [n], as one an edge, [E]."""
        found: NDArray[Any] = values[self.node]
        return found

    def total(self, values: Floats) -> Floats:
        """Return the sum over the edges of each node, [n]."""
        # Every node that chooses has an edge: of one without, reduceat would return the value of the next node's first.
        found: Floats = np.add.reduceat(values, self.starts[:-1])
        return found

    def hand_down(self, name: str, values: Floats) -> None:
        """Keep a number an edge, [E], that `nodes.handed(name, default)` finds one depth below in this descent."""
        if np.shape(values) != (len(self),):
            raise ValueError(f"hand_down needs a number an edge, shape {(len(self),)}, got {np.shape(values)}")
        self.below[self._rule, name] = values

    def show_random(self, place: int | None) -> None:
        """Show the random numbers of a rule, whose column has this place; final choices have none."""
        if place is not None and place < len(self._columns):
            self.random = self._columns[place]


class Way(Table):
    """The ways of visits that are backed up now, one a tree: the positions from each leaf, [S] together, to its root.

    A position's statistics stand on the edge that leads to it and are as the mover above sees them; a root's are as its
    own mover does. `way["name"]` are the rule's columns of the positions; `way["name"] = values` changes them.
    """

    def __init__(self, tree: Numbers, starts: Numbers, rows: Floats) -> None:
        super().__init__(rows, rows[:0])
        self.tree = tree
        """The number of each tree in its forest, [m]."""
        self.starts = starts
        """Where each way begins, and where the last one ends, [m + 1]."""

    def __len__(self) -> int:
        """Return S."""
        return int(self.starts[-1])

    def __setitem__(self, name: str, values: Floats) -> None:
        """Change a column of the rule; ValueError unless it gets S finite numbers."""
        if np.shape(values) != (len(self),) or not np.isfinite(values).all():
            raise ValueError(f"column {name!r} must be finite numbers of shape ({len(self)},)")
        self._columns[self._place(name)] = values

    visits = Fact(0)
    """Visits, this one included."""
    value = Fact(1)
    """W - L of the visit, -1 to 1."""
    drawn = Fact(2)
    """Share of draws of the visit."""
    mean = Fact(3)
    """Mean W - L before the visit; 0 before the first."""
    sign = Fact(4)
    """1 where the first player is who sees that, else -1."""
    step = Fact(5)
    """How far the visit moves the mean: 1 / visits, unless a rule says otherwise."""

    @cached_property
    def height(self) -> Numbers:
        """Plies above the leaf: 0 at leaves."""
        leaves = np.repeat(self.starts[:-1], np.diff(self.starts))
        return np.arange(len(self)) - leaves

    @cached_property
    def depth(self) -> Numbers:
        """Plies below the root: 0 at roots."""
        ends = np.repeat(self.starts[1:], np.diff(self.starts))
        return ends - 1 - np.arange(len(self))


SURE, LIKELY = 0.85, 0.6
"""How alike a method's name and a place's are, of 1, where the place was meant."""

PLACES = ("edge_value", "prior", "exploration", "choose", "step_size", "after_backup", "final_score")
"""The methods of a rule: places 1, 2 and 3, the choice of an edge, places 4, 5 and 6."""


class Rule:
    """A search rule written in Python: derive from it, and override the places at which the rule acts.

    A visit walks from the root along the edges with the largest Q + U, evaluates a leaf and moves the mean of every
    node on its way. Each method stands for one of the six places of that (mcts/methods), and is called once for all
    trees that search side by side: with the nodes of one depth, [n], one a tree, and all their edges, [E], one node's
    after another's. It gets what plain PUCT, and the rules of `SearchParams`, make of its place; the methods here
    change nothing. Of several rules each gets what the one before it returned; at `choose` and places 4 and 6 the last
    one that overrides the method decides.

    `columns` are names of floats that the rule keeps of every position, 0 at first: `edges["name"]`, `nodes["name"]`,
    and `way["name"] = values` after a backup. They stay when the root moves, and their sign is never turned. `random`:
    "uniform" (0 to 1) or "normal" gives `edges.random`, a number an edge from the stream of its tree (not at place 6).
    So long as a rule keeps nothing else, and no answer depends on what else stands in an array, a tree is the same
    whatever other trees are searched with it.

    A method that raises, or returns something else than finite numbers of the right shape, stops the search with a
    ValueError that names rule and method.

    >>> import hauteur as ht
    >>> class Curious(ht.Rule):
    ...     def edge_value(self, nodes, edges, q):
    ...         return q + 0.1 / (1 + edges.visits)
    >>> Curious().edge_value
    <bound method Curious.edge_value of Curious()>
    """

    columns: Sequence[str] = ()
    random: str = ""

    def edge_value(self, nodes: Nodes, edges: Edges, q: Floats) -> Floats:  # noqa: ARG002
        """Place 1: return Q(s, a), [E], as selection compares it; q: for the node's mover, of edges without visits
        their first-play urgency. Where the result of an edge is proven (solver) the answer is not used.
        """
        return q

    def prior(self, nodes: Nodes, edges: Edges, p: Floats) -> Floats:  # noqa: ARG002
        """Place 2: return P(s, a), [E], as it counts in U; p: the stored prior, at a root with its noise and
        temperature. The stored one, first-play urgency and training targets stay. Must be >= 0; need not add up to 1.
        """
        return p

    def exploration(self, nodes: Nodes, edges: Edges, u: Floats) -> Floats:  # noqa: ARG002
        """Place 3: return U(s, a), [E]; u: c_puct(N) sqrt(max(N(s) - 1, 1)) P(s, a) / (1 + N(s, a) + in flight)."""
        return u

    def choose(self, nodes: Nodes, edges: Edges, scores: Floats) -> Numbers:  # noqa: ARG002
        """Return which edge each node takes, whole numbers [n]: 0 is the node's first one, -1: that with the greatest
        score. scores: Q + U, [E].
        """
        return np.full(len(nodes), -1)

    def step_size(self, way: Way) -> Floats:
        """Place 4: return how far each visit moves the means on its way to its result, [S], 0 to 1."""
        return way.step

    def after_backup(self, way: Way) -> None:
        """Place 5: called when visits are backed up; change `way["name"]`. Return nothing."""

    def final_score(self, nodes: Nodes, edges: Edges) -> Floats:  # noqa: ARG002
        """Place 6: return by what the action to play at a root is chosen, [E]: the largest, then most visits, higher Q,
        higher prior. With the solver proven wins still come first and proven losses last.
        """
        return edges.visits

    def __repr__(self) -> str:
        values = []
        for name, value in vars(self).items():
            if not name.startswith("_"):
                values.append(f"{name}={value!r}")
        return f"{type(self).__name__}({', '.join(values)})"


class Override(NamedTuple):
    """A method that a rule overrides, with the rule's number and what messages call it: `Curious.edge_value`."""

    name: str
    method: Callable[..., Any]
    rule: int


class RuleChain:
    """Rules in their order as one forest calls them: only methods that a rule overrides, each answer checked.

    The core calls `show_nodes` and then what it asks about them, `show_ways` and then what it asks about these.
    """

    def __init__(self, rules: Sequence[Rule] = ()) -> None:
        """Raise ValueError where one of them is not a rule."""
        self.rules = checked_rules(rules)
        self._overrides = {place: _overrides(self.rules, place) for place in PLACES}
        self.places = tuple(place for place in PLACES if self._overrides[place])
        """The methods that some rule overrides."""
        self.columns: list[tuple[int, str]] = []
        """The columns of all rules: number of the rule, and name."""
        self._places: list[dict[str, int]] = []
        self.draws: list[str] = []
        """The random numbers that rules want for every edge."""
        drawing: list[int] = []
        for number, rule in enumerate(self.rules):
            places = {}
            for name in rule.columns:
                places[name] = len(self.columns)
                self.columns.append((number, name))
            self._places.append(places)
            if rule.random:
                drawing.append(number)
                self.draws.append(rule.random)
        self._random = {number: len(self.columns) + place for place, number in enumerate(drawing)}
        self._nodes: Nodes
        self._edges: Edges
        self._way: Way

    def show_nodes(
        self,
        depth: int,
        tree: Numbers,
        starts: Numbers,
        via: Numbers,
        nodes: Floats,
        actions: NDArray[np.uint16],
        edges: Floats,
    ) -> None:
        """Take the nodes of a depth and their edges, as `OutsideRules` of the core has them."""
        # At the roots a new descent begins, and numbers of the last one are out of date.
        below = self._edges.below if depth > 0 else {}
        handed = {}
        for key, values in below.items():
            handed[key] = np.where(via >= 0, values[via], np.nan)
        self._nodes = Nodes(depth, tree, nodes, handed)
        self._edges = Edges(starts, actions, edges)

    def priors(self, p: Floats) -> Floats:
        """Place 2, [E]."""
        for override in self._overrides["prior"]:
            p = _floats(override, self._asked(override, p), p.shape, low=0.0)
        return p

    def terms(self, q: Floats, u: Floats) -> tuple[Floats, Floats, Numbers | None]:
        """Places 1 and 3, [E], and the edges that are chosen, [n]; None: by the scores."""
        for override in self._overrides["edge_value"]:
            q = _floats(override, self._asked(override, q), q.shape)
        for override in self._overrides["exploration"]:
            u = _floats(override, self._asked(override, u), u.shape)
        picks = None
        # The last rule decides, as two cannot both name the edge.
        for override in self._overrides["choose"][-1:]:
            picks = self._picks(override, self._asked(override, q + u))
        return q, u, picks

    def final_scores(self) -> Floats:
        """Place 6, [E]."""
        override = self._overrides["final_score"][-1]
        return _floats(override, self._asked(override), (len(self._edges),))

    def _asked(self, override: Override, *given: Floats) -> Any:
        """Return what a method makes of the nodes that were shown."""
        rule = override.rule
        self._nodes.show_to(rule, self._places[rule])
        self._edges.show_to(rule, self._places[rule])
        self._edges.show_random(self._random.get(rule))
        return _called(override, self._nodes, self._edges, *given)

    def _picks(self, override: Override, found: Any) -> Numbers:
        """Return the edges that a rule chooses; ValueError where there is no such edge, or it may not be taken."""
        edges = self._edges
        n = len(self._nodes)
        picks = np.asarray(found)
        if picks.shape != (n,) or picks.dtype.kind not in "iu":
            raise ValueError(f"rule {override.name} must return {n} whole numbers, got {_shown(found)}")
        picks = picks.astype(np.int64)
        bad = (picks < -1) | (picks >= np.diff(edges.starts))
        chosen = edges.starts[:-1] + np.maximum(picks, 0)
        # Wrong picks are looked up at 0, since their own place may be beyond the last edge.
        is_allowed = edges.allowed[np.where(bad, 0, chosen)]
        bad |= ~is_allowed & (picks >= 0)
        if bad.any():
            raise ValueError(f"rule {override.name} must choose edges that may be taken, or -1; got {picks[bad][0]}")
        return np.ascontiguousarray(picks)

    def show_ways(self, tree: Numbers, starts: Numbers, steps: Floats) -> None:
        """Take the ways of visits, as `OutsideRules` of the core has them."""
        self._way = Way(tree, starts, steps)

    def steps(self) -> Floats:
        """Place 4, [S]."""
        override = self._overrides["step_size"][-1]
        steps = _floats(override, _called(override, self._way), (len(self._way),), low=0.0, high=1.0)
        # after_backup comes later and shall see the step that was taken, not 1 / visits.
        self._way._rows[5] = steps
        return steps

    def after_backup(self, columns: Floats) -> None:
        """Place 5; columns: of the positions on the ways, [C, S], which rules change."""
        way = self._way
        way._columns = columns
        for override in self._overrides["after_backup"]:
            way.show_to(override.rule, self._places[override.rule])
            if (returned := _called(override, way)) is not None:
                raise ValueError(f"rule {override.name} must return nothing (None), got {_shown(returned)}")


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
        # A text is a sequence too: each of its letters would become a column.
        if isinstance(rule.columns, str) or rule.random not in ("", "uniform", "normal"):
            what = f"columns a list of names and random uniform or normal, got {rule.columns!r} and {rule.random!r}"
            raise ValueError(f"rules[{number}], {type(rule).__name__}, must have as {what}")
        _check_places(number, rule)
    return tuple(rules)


def _check_places(number: int, rule: Rule) -> None:
    """Raise ValueError for a rule that acts nowhere, or has a method that is nearly called as a place is."""
    # Such a method is never called, and plain PUCT would be taken for what the rule does.
    kind = type(rule)
    acts = kind is Rule or any(_overrides((rule,), place) for place in PLACES)
    for name in sorted({*dir(kind)} - {*dir(Rule)}):
        if name.startswith("_") or not callable(getattr(kind, name)):
            continue
        # Helpers may be called somewhat like a place: `value`, `score`.
        meant = did_you_mean(name, PLACES, least=SURE if acts else LIKELY)
        if meant:
            raise ValueError(f"rules[{number}], {kind.__name__}, has a method {name}, which is no place{meant}")
    if not acts:
        raise ValueError(f"rules[{number}], {kind.__name__}, must override one of {', '.join(PLACES)}")


def rule_chain(rules: Sequence[Rule] | None) -> RuleChain | None:
    """Return what a forest of the core calls; None where there is no rule."""
    return RuleChain(rules) if rules else None


def _overrides(rules: Sequence[Rule], place: str) -> tuple[Override, ...]:
    """Return the methods of this name that rules override."""
    return tuple(
        Override(f"{type(rule).__name__}.{place}", getattr(rule, place), number)
        for number, rule in enumerate(rules)
        # Each place that stays out saves a call into Python at every depth of every gather.
        if place in vars(rule) or getattr(type(rule), place) is not getattr(Rule, place)
    )


def _called(override: Override, *arguments: Any) -> Any:
    """Return what the method returns; ValueError names rule and method where it raises."""
    try:
        return override.method(*arguments)
    # Exception alone: Ctrl-C must come through as what it is.
    except Exception as error:
        kind = type(error).__name__
        message = " ".join(str(error).split())
        raise ValueError(f"rule {override.name} has failed: {kind}: {message}") from error


def _floats(
    override: Override,
    returned: Any,
    shape: tuple[int, ...],
    low: float = -math.inf,
    high: float = math.inf,
) -> Floats:
    """Return the numbers that the method returns; ValueError where they are none that the place allows."""
    # `type` and not `isinstance`: a masked array or a matrix would behave differently below.
    numbers = returned if type(returned) is np.ndarray else np.asarray(returned)
    has_numbers = numbers.shape == shape and numbers.dtype.kind in "fiu"
    fits = has_numbers and bool(np.isfinite(numbers).all())
    if fits and numbers.size and (low > -math.inf or high < math.inf):
        fits = bool(numbers.min() >= low and numbers.max() <= high)
    if not fits:
        bounds = ""
        if low > -math.inf:
            bounds = f" >= {low:g}" if high == math.inf else f" from {low:g} to {high:g}"
        raise ValueError(
            f"rule {override.name} must return finite numbers{bounds} of shape {shape}, got {_shown(returned)}"
        )
    # The core copies what it gets as one slice of doubles.
    return np.ascontiguousarray(numbers, np.float64)


def _shown(value: object) -> str:
    """A value in a few words."""
    if value is None:
        return "None"
    if isinstance(value, np.ndarray) and value.size > 4:
        bad = value[~np.isfinite(value)] if value.dtype.kind == "f" else value[:0]
        values = f"with {bad[:1]}"
        if value.dtype.kind in "fiu" and not bad.size:
            values = f"from {value.min()} to {value.max()}"
        return f"an array of {value.dtype}, shape {value.shape}, {values}"
    text = " ".join(repr(value).split())
    if len(text) > 60:
        text = f"{text[:57]}..."
    return f"{text} ({type(value).__name__})"
