"""Measures of a player by exact play: moves that keep the value of solved positions, and play against every reply."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from hauteur import _core
from hauteur.games.played_game import line_texts, position_after
from hauteur.matches.ratings.elo import wilson
from hauteur.mcts.driver import SearchDriver
from hauteur.mcts.params import Cpuct, Fpu, SearchParams
from hauteur.mcts.report import choose_move, root_moves
from hauteur.networks.names import data_path
from hauteur.players.move_player import GameLost, MovePlayer, MoveRequest
from hauteur.players.search_player import SearchPlayer
from hauteur.system.seeds import derived_seed, stream

FIXED_SEARCH = SearchParams(
    cpuct=Cpuct(init=1.745, base=38739.0, factor=3.894),
    fpu=Fpu(kind="reduction", value=0.33),
    policy_temperature=1.359,
)
"""The search by which nets are measured, whatever their runs search with: PUCT without noise; the most visited move."""

FIXED_VISITS = 200

COUNT = 5000
"""Positions of a set."""
NODES = 1_000_000
"""Positions searched at most to solve one of a set."""
TOTAL = 100_000_000
"""Positions searched at most to solve a whole set."""

SLOWER = 100
"""Games written in Python have limits that are smaller by this factor."""

PHASES = ("opening", "middle", "end")
"""Thirds of the plies that a set has positions of."""

SIGNS = {"-": -1, "0": 0, "+": 1}
"""How files of solved positions write values."""


class MoveChooser:
    """A player's choices in many positions at once. Every search is sequential: one leaf at a time in a tree."""

    def __init__(
        self, player: SearchPlayer | MovePlayer, game: _core.Game, *, seed: int = 0, watch: "Watch | None" = None
    ) -> None:
        """`seed` keys the random draws of the player. watch: gets the progress."""
        self._player = player
        self._seed = seed
        self._watch = watch
        self._asked = 0
        self._forest = player.forest(game, seed=seed) if isinstance(player, SearchPlayer) else None

    def choose(self, states: Sequence[_core.State]) -> NDArray[np.uint16]:
        """Return the player's moves in these unfinished positions, uint16 [T].

        ValueError where a player without a search has no move, such as a program that ends.
        """
        if not states:
            return np.zeros(0, np.uint16)
        if isinstance(self._player, SearchPlayer):
            return self._searched(self._player, states)
        return self._answered(self._player, states)

    def _searched(self, player: SearchPlayer, states: Sequence[_core.State]) -> NDArray[np.uint16]:
        """Search all positions side by side."""
        forest = self._forest
        assert forest is not None
        ids = np.array([forest.add(state) for state in states], np.int64)
        forest.set_visit_limits(ids, np.full(len(ids), player.visits, np.uint32))
        size = player.evaluator.batch_size
        driver = SearchDriver(forest, player.evaluator, player.large, size, more=player.more)
        before = forest.stats()["visits"]

        def told() -> bool:
            """Tell how far the searches are; they go on."""
            if self._watch is not None:
                made = int(forest.stats()["visits"] - before)
                self._watch("visits made", made, len(states) * player.visits)
            return False

        driver.run(told)
        actions = []
        for tree, state in zip(ids.tolist(), states, strict=True):
            found = root_moves(forest, tree, lines=0)
            uniform = stream(self._seed, "move of exact play", self._asked).random()
            actions.append(choose_move(found, player.temperature, state.ply, float(uniform)).action)
            self._asked += 1
        forest.remove(ids)
        return np.array(actions, np.uint16)

    def _answered(self, player: MovePlayer, states: Sequence[_core.State]) -> NDArray[np.uint16]:
        """Ask a player for its moves, each position as a game of its own, some at a time."""
        actions = []
        for begin in range(0, len(states), ASKED_AT_ONCE):
            some = states[begin : begin + ASKED_AT_ONCE]
            requests = [self._request(state) for state in some]
            answers = [player.choose(request) for request in requests]
            for request, answer in zip(requests, answers, strict=True):
                try:
                    actions.append(answer.result().action)
                except GameLost as error:
                    moves = " ".join(line_texts(request.state.start, request.actions)) or "the start"
                    raise ValueError(f"{player.name} has no move after {moves}: {error}") from None
                player.end(request.game)
            if self._watch is not None:
                self._watch("moves made", len(actions), len(states))
        return np.array(actions, np.uint16)

    def _request(self, state: _core.State) -> MoveRequest:
        """Return a position as a game in which the player is to move."""
        number = self._asked
        self._asked += 1
        seed = derived_seed(self._seed, "move of exact play", number)
        return MoveRequest(number, state.copy(), state.start.notation(), tuple(state.moves), seed)


ASKED_AT_ONCE = 64
"""Positions in which a player without a search is asked at a time."""

Watch = Callable[[str, int, int], object]
"""Takes what is done, as `positions solved`, how often, and of how many, 1 or more."""


@dataclass(frozen=True)
class SolvedPosition:
    """A position and the exact value of each legal move for the mover: +1 win, 0 draw, -1 loss."""

    state: _core.State
    values: tuple[int, ...]

    @property
    def choice_matters(self) -> bool:
        """True where some legal move is worse than another."""
        return len(set(self.values)) > 1

    def preserved_by(self, action: int) -> bool:
        """Return whether the action keeps the value of the position."""
        legal: list[int] = self.state.legal_actions().tolist()
        return self.values[legal.index(action)] == max(self.values)


@dataclass(frozen=True)
class SolvedSet:
    """Solved positions of a game in the order of their plies.

    nodes: the positions searched for one at most; unsolved: by ply from 0, positions that took more, or were left out
    with their ply; quiet: no two moves end one of them with a winner.
    """

    positions: Sequence[SolvedPosition]
    nodes: int
    unsolved: tuple[int, ...]
    quiet: bool

    @property
    def plies(self) -> range:
        """From the first ply to the last one."""
        if not self.positions:
            return range(0)
        first = self.positions[0].state.ply
        last = self.positions[-1].state.ply
        return range(first, last + 1)

    def phase(self, ply: int) -> str:
        """Return the third of the plies that a ply is in."""
        after_first = ply - self.plies.start
        return PHASES[after_first * len(PHASES) // len(self.plies)]

    def thinned(self, count: int) -> Self:
        """Return at most this many of the positions, evenly spread."""
        whole = len(self.positions)
        if whole <= count:
            return replace(self, positions=list(self.positions))
        chosen = [self.positions[i * whole // count] for i in range(count)]
        return replace(self, positions=chosen)

    def text(self) -> str:
        """Return the set in lines: what is left out, then moves and values of each position."""
        unsolved = " ".join(map(str, self.unsolved))
        lines = [f"nodes {self.nodes} quiet {int(self.quiet)} unsolved {unsolved}"]
        sign_of = {value: sign for sign, value in SIGNS.items()}
        for position in self.positions:
            signs = "".join(sign_of[value] for value in position.values)
            lines.append(f"{_moves(position.state)}:{signs}")
        return "\n".join([*lines, ""])

    @classmethod
    def found(
        cls,
        game: _core.Game,
        count: int,
        seed: int,
        nodes: int,
        total: int,
        table_bits: int = 22,
        watch: Watch | None = None,
    ) -> Self:
        """Find a set, whether one ships or not; table_bits: of the solver; watch: gets the progress."""
        found, unsolved, quiet = _core.solved_positions(game, count, seed, nodes, total, table_bits, watch)
        positions = [
            SolvedPosition(position_after(game.new_initial_state(), moves), tuple(values)) for moves, values in found
        ]
        return cls(positions, nodes, tuple(unsolved), quiet)

    @classmethod
    def from_text(cls, game: _core.Game, text: str) -> Self:
        """Read what `text` wrote; ValueError for anything else."""
        head, *rows = text.splitlines()
        _, nodes, _, quiet, _, *unsolved = head.split(" ")
        start = game.new_initial_state()
        positions = []
        for row in rows:
            moves, signs = row.split(":")
            state = position_after(start, map(int, moves.split()))
            values = tuple(SIGNS[sign] for sign in signs)
            positions.append(SolvedPosition(state, values))
        return cls(positions, int(nodes), tuple(map(int, unsolved)), quiet == "1")


def _moves(state: _core.State) -> str:
    """Return the actions that led to a position as text."""
    return " ".join(map(str, state.moves))


def limits_of(game: _core.Game, nodes: int, total: int) -> tuple[int, int]:
    """Return the limits for a game, smaller where it is written in Python."""
    slower = 1 if game.name in _core.game_names() else SLOWER
    return nodes // slower, total // slower


def solved_set(
    game: _core.Game,
    count: int = COUNT,
    *,
    seed: int = 0,
    nodes: int = NODES,
    total: int = TOTAL,
    watch: Watch | None = None,
) -> SolvedSet:
    """Return solved positions of a game: of the set that ships for it, with seed 0, else found now, the same each time.

    count: as many, or fewer where the game has no more or `total` is spent. watch: gets the progress. Raise
    ValueError for a game that cannot be solved by its positions.
    """
    shipped = data_path(f"{game.spec}.solved")
    if seed == 0 and count <= COUNT and shipped.exists():
        return SolvedSet.from_text(game, shipped.read_text(encoding="utf-8")).thinned(count)
    return SolvedSet.found(game, count, seed, *limits_of(game, nodes, total), watch=watch)


@dataclass(frozen=True)
class Preserved:
    """Moves that kept the value of their position, of `positions`; and of those where the choice matters."""

    positions: int
    preserved: int
    choices: int
    choices_preserved: int

    @property
    def share(self) -> float:
        """Share of the positions whose value the player kept, 0 to 1; 1 without any."""
        return self.preserved / self.positions if self.positions else 1.0

    @property
    def choices_share(self) -> float:
        """The same of the positions where some move is worse than another."""
        return self.choices_preserved / self.choices if self.choices else 1.0

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of `share`."""
        if self.positions:
            return wilson(self.share, self.positions, 0.95)
        return (0.0, 1.0)

    @property
    def choices_interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of `choices_share`."""
        if self.choices:
            return wilson(self.choices_share, self.choices, 0.95)
        return (0.0, 1.0)

    def to_json(self) -> dict[str, Any]:
        """Return counts, shares and intervals."""
        shares = {"share": self.share, "interval_95": list(self.interval)}
        choices = {"choices_share": self.choices_share, "choices_interval_95": list(self.choices_interval)}
        return asdict(self) | shares | choices


def value_preserving_moves(
    player: SearchPlayer | MovePlayer, positions: Sequence[SolvedPosition], *, seed: int = 0
) -> tuple[dict[int, Preserved], Preserved]:
    """Return, by ply and in all, how often the player's move preserves the value of the position; all of one game."""
    return shares_of(positions, kept_values(player, positions, seed=seed))


def kept_values(
    player: SearchPlayer | MovePlayer,
    positions: Sequence[SolvedPosition],
    *,
    seed: int = 0,
    watch: Watch | None = None,
) -> list[bool]:
    """Return for each position, of one game, whether the player's move keeps its value; watch: gets the progress."""
    chooser = MoveChooser(player, positions[0].state.game, seed=seed, watch=watch)
    actions = chooser.choose([position.state for position in positions])
    return [position.preserved_by(int(action)) for position, action in zip(positions, actions, strict=True)]


def shares_of(positions: Sequence[SolvedPosition], kept: Sequence[bool]) -> tuple[dict[int, Preserved], Preserved]:
    """Return, by ply and in all, how many of the positions kept their value."""
    found = list(zip(positions, kept, strict=True))
    by_ply = defaultdict(list)
    for position, is_kept in found:
        by_ply[position.state.ply].append((position, is_kept))
    return {ply: _preserved(by_ply[ply]) for ply in sorted(by_ply)}, _preserved(found)


def _preserved(found: Sequence[tuple[SolvedPosition, bool]]) -> Preserved:
    """Count the positions whose value was kept."""
    preserved = sum(kept for _, kept in found)
    choices = [kept for position, kept in found if position.choice_matters]
    return Preserved(len(found), preserved, len(choices), sum(choices))


def summed(parts: Sequence[Preserved]) -> Preserved:
    """Return parts together."""
    return Preserved(
        positions=sum(part.positions for part in parts),
        preserved=sum(part.preserved for part in parts),
        choices=sum(part.choices for part in parts),
        choices_preserved=sum(part.choices_preserved for part in parts),
    )


@dataclass
class PlayedTree:
    """A player's games against an exact opponent, as one side: every reply, or all those that keep the value.

    All counts are of different positions.
    """

    side: int
    """The player's side: 0 moves first, 1 second."""
    replies: Literal["all", "best"]
    """Replies of the opponent that were followed: all, or those that keep the value of the position."""
    value: int | None = None
    """Value of the start for the player: +1 win, 0 draw, -1 loss; None: it could not be solved."""
    positions: int = 1
    """Positions met, finished ones included."""
    searched: int = 0
    """Positions in which the player had to move."""
    checked: int = 0
    """Of these, positions where the values of all moves are known."""
    kept: int = 0
    """Of the checked ones, positions where the player's move kept the value."""
    wins: int = 0
    """Finished positions that the player won."""
    draws: int = 0
    """Finished positions that are drawn."""
    losses: int = 0
    """Finished positions that the player lost."""
    sampled_from: int | None = None
    """Ply from which only a sample of the positions was followed; None: the tree is complete."""
    unchecked: dict[int, int] = field(default_factory=dict)
    """Positions that took too long to solve, by ply."""
    mistakes: list[str] = field(default_factory=list)
    """Lines that end with a move that gave value away, as texts of moves; the earliest first."""

    @property
    def complete(self) -> bool:
        """True where every line was followed and every move checked."""
        return self.sampled_from is None and not self.unchecked

    @property
    def perfect(self) -> bool:
        """True where the tree is complete, and no move gave value away."""
        return self.complete and not self.mistakes


LINES = 4000
"""Positions of a ply that are followed at most."""

TREE_NODES = 200_000
"""Positions searched to solve one of a tree."""

TRIED = 10
"""Positions of a ply after which, if none could be solved, the others are not tried."""


class TreePlayer:
    """Plays out the tree of a player's moves and an exact opponent's replies, ply by ply."""

    def __init__(
        self,
        player: SearchPlayer | MovePlayer,
        game: _core.Game,
        *,
        replies: Literal["all", "best"] = "best",
        lines: int = LINES,
        nodes: int = TREE_NODES,
        seed: int = 0,
        watch: Watch | None = None,
    ) -> None:
        """lines: positions of a ply that are followed at most, then a random sample of them, keyed by `seed`; watch:
        gets the number of visited positions.
        """
        self._watch = watch
        self._chooser = MoveChooser(player, game, seed=seed, watch=watch)
        self._solver = _core.ExactSolver(game)
        self._game = game
        self._replies = replies
        self._lines = lines
        self._seed = seed
        self._nodes, _ = limits_of(game, nodes, 0)

    def play(self, side: int) -> PlayedTree:
        """Return the tree of the player as this side, 0 first, 1 second."""
        result = PlayedTree(side, self._replies)
        start = self._game.new_initial_state()
        values = self._solver.move_values(start, 10 * self._nodes)
        if values is not None:
            of_mover = max(values)
            result.value = of_mover if start.to_move == side else -of_mover
        level = [start]
        while level:
            ended: dict[int, _core.State] = {}
            going_on: dict[int, _core.State] = {}
            for child in self._children(level, result):
                # By key, so that lines which meet again are searched, and counted, once.
                (going_on if child.outcome() is None else ended)[child.key] = child
            result.positions += len(ended) + len(going_on)
            for outcome in (state.outcome() or 0 for state in ended.values()):
                own = outcome if side == 0 else -outcome
                result.wins += own > 0
                result.draws += own == 0
                result.losses += own < 0
            level = self._followed(list(going_on.values()), result)
        return result

    def _followed(self, level: list[_core.State], result: PlayedTree) -> list[_core.State]:
        """Return the positions of a ply that are followed, a sample if there are too many."""
        if len(level) <= self._lines:
            return level
        if result.sampled_from is None:
            result.sampled_from = level[0].ply
        # Named by the ply: a sample does not depend on how many were drawn before.
        random = stream(self._seed, "lines of a tree", level[0].ply)
        places = random.choice(len(level), self._lines, replace=False)
        return [level[place] for place in sorted(places.tolist())]

    def _children(self, level: Sequence[_core.State], result: PlayedTree) -> Iterator[_core.State]:
        """Yield the positions after the player's moves, and after the opponent's replies."""
        own = []
        others = []
        for state in level:
            if state.to_move == result.side:
                own.append(state)
            else:
                others.append(state)
        actions = self._chooser.choose(own).tolist()
        for state, action, values in zip(own, actions, self._values(own), strict=True):
            result.searched += 1
            child = state.child(action)
            if values is None:
                result.unchecked[state.ply] = result.unchecked.get(state.ply, 0) + 1
            else:
                result.checked += 1
                kept = SolvedPosition(state, tuple(values)).preserved_by(action)
                result.kept += kept
                if not kept:
                    moves = line_texts(child.start, child.moves)
                    result.mistakes.append(" ".join(moves))
            yield child
        known: list[list[int] | None] = [None] * len(others)
        if self._replies == "best":
            known = self._values(others)
        for state, values in zip(others, known, strict=True):
            for place, action in enumerate(state.legal_actions().tolist()):
                if values is None or values[place] == max(values):
                    yield state.child(action)

    def _values(self, states: Sequence[_core.State]) -> list[list[int] | None]:
        """Return the values of the moves of positions of one ply, None where they take too long."""
        found: list[list[int] | None] = []
        for state in states:
            hopeless = len(found) >= TRIED and all(one is None for one in found)
            found.append(None if hopeless else self._solver.move_values(state, self._nodes))
            if self._watch is not None:
                self._watch(f"positions of ply {state.ply} checked", len(found), len(states))
        return found


def has_few_positions(game: _core.Game, most: int, watch: Watch | None = None) -> bool:
    """Return whether at most `most` different positions can come about in a game. watch: gets the progress."""
    places = [game.new_initial_state()]
    known = {places[0].key}
    for state in places:  # which grows while it is read
        for action in state.legal_actions().tolist() if state.outcome() is None else ():
            child = state.child(action)
            if child.key not in known:
                if len(known) == most:
                    return False
                known.add(child.key)
                places.append(child)
        if watch is not None:
            watch("positions counted", len(known), most)
    return True
