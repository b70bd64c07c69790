"""The positions of queries: those that wait, by priority, and those that are searched, together in batches.

Positions of one game with the same settings are trees of one `SearchPool`, so that their leaves share the batches of
the net. A position's answer depends on itself, the settings and the seed alone, not on what is searched beside it.
"""

from __future__ import annotations

import heapq
from collections import OrderedDict
from collections.abc import Callable
from itertools import count
from typing import Any, NamedTuple

from hauteur import _core
from hauteur.engine.analysis import answers
from hauteur.engine.analysis.query import Action, Query, QueryError
from hauteur.engine.nets import NetChoice, OpenNets, open_nets
from hauteur.games.played_game import position_after
from hauteur.mcts.batch_analysis import SearchPool
from hauteur.mcts.net_search import search_of_net
from hauteur.mcts.params import SearchParams
from hauteur.mcts.report import Pace, root_report
from hauteur.networks.names import ResolvedNet
from hauteur.system.closing import Closing
from hauteur.system.errors import explain

BATCHES = 3
"""Trees of a pool, in batches of the net: while one batch is computed others are gathered."""
MOST_WAITING = 100_000
"""Positions that wait; no further query is taken until some have begun."""
MOST_IDLE = 8
"""Pools without a search, and games without a pool, that are kept for the next query."""
ALL_LINES = 2**16
"""Every move gets a line."""

Answer = dict[str, Any]
GameKey = tuple[str, tuple[int, int, int], int]
"""Name, shape of the features and number of actions: what the positions of a pool, and of a net, have in common."""


class QueuedPosition(NamedTuple):
    """A position of a query. Those with the smallest rank begin first, among equals the one that came first."""

    rank: int
    """The priority, negated."""
    number: int
    """Count of the positions before it."""
    query: Query
    """The query that it is of."""
    turn: int
    """Number of the move after which it is."""


class _Group:
    """The searches of one game with one set of settings."""

    def __init__(self, pool: SearchPool, most: int) -> None:
        """most: trees at a time."""
        self.pool = pool
        self.most = most
        self.positions: dict[int, QueuedPosition] = {}

    @property
    def has_room(self) -> bool:
        """Whether another tree may begin."""
        return len(self.positions) < self.most

    def begin(self, position: QueuedPosition, state: _core.State) -> None:
        """Begin the tree of a position."""
        tree = self.pool.add(state, position.query.visits)
        self.positions[tree] = position

    def turn(self) -> list[Answer]:
        """Take a turn; return the answers of the trees that are done, which are removed."""
        found = []
        for tree in self.pool.turn():
            position = self.positions.pop(tree)
            report = root_report(self.pool.forest, tree, pace=Pace(), lines=ALL_LINES)
            self.pool.remove(tree)
            found.append(answers.analysed(position.query, position.turn, report))
        return found

    def end(self, is_ended: Callable[[QueuedPosition], bool]) -> None:
        """Let the trees of these positions make no further visit than the first; a turn answers them."""
        for tree, position in self.positions.items():
            if is_ended(position):
                self.pool.set_visits(tree, 1)


class QuerySearches(Closing):
    """All positions of the queries that were taken and not answered yet.

    nets: the nets of a game, ValueError where it has none. seed: of all random draws. batch_size: maximum rows of a
    batch, None: what suits the net.
    """

    def __init__(
        self,
        nets: Callable[[_core.Game], NetChoice],
        *,
        seed: int = 0,
        batch_size: int | None = None,
    ) -> None:
        self._choose_nets = nets
        self._seed = seed
        self._batch_size = batch_size
        self._waiting: list[QueuedPosition] = []
        self._numbers = count()
        self._nets: OrderedDict[GameKey, OpenNets] = OrderedDict()
        self._choices: dict[GameKey, NetChoice] = {}
        self._groups: OrderedDict[tuple[GameKey, SearchParams], _Group] = OrderedDict()

    @property
    def are_busy(self) -> bool:
        """Whether a position waits or is searched."""
        return bool(self._waiting) or any(group.positions for group in self._groups.values())

    @property
    def have_room(self) -> bool:
        """Whether another query may be taken."""
        return len(self._waiting) < MOST_WAITING

    def add(self, query: Query) -> None:
        """Take a query: its positions wait for their turn."""
        for turn in query.turns:
            position = QueuedPosition(-query.priority, next(self._numbers), query, turn)
            heapq.heappush(self._waiting, position)

    def end(self, action: Action) -> list[Answer]:
        """End the searches that an action names; return the answers of those that had not begun.

        The others are answered by a later turn, with what they have found.
        """

        def is_ended(position: QueuedPosition) -> bool:
            is_named = action.query_id in (None, position.query.id)
            return is_named and (action.turns is None or position.turn in action.turns)

        for group in self._groups.values():
            group.end(is_ended)
        ended = [position for position in self._waiting if is_ended(position)]
        self._waiting = [position for position in self._waiting if not is_ended(position)]
        heapq.heapify(self._waiting)
        return [answers.without_results(position.query, position.turn) for position in ended]

    def turn(self) -> list[Answer]:
        """Begin what there is room for, search a batch of each pool, and return the answers that are ready."""
        found = self._begin_waiting()
        for key, group in list(self._groups.items()):
            if group.positions:
                found += self._turn_of(key, group)
        self._drop_idle()
        return found

    def close(self) -> None:
        """Break off what is searched, and close the nets."""
        for group in self._groups.values():
            group.pool.cancel()
        self._groups.clear()
        for nets in self._nets.values():
            nets.close()
        self._nets.clear()

    def _begin_waiting(self) -> list[Answer]:
        """Begin positions in their order until the next one's pool is full; return the answers that need no search."""
        found = []
        while self._waiting:
            position = self._waiting[0]
            try:
                group = self._group_of(position.query)
                if not group.has_room:
                    break
                state = position_after(position.query.start, position.query.actions[: position.turn])
                if state.outcome() is None:
                    group.begin(position, state)
                else:
                    found.append(answers.finished(position.query, position.turn, state))
            except QueryError as error:
                found.append({**answers.refused(error), "turnNumber": position.turn})
            heapq.heappop(self._waiting)
        return found

    def _turn_of(self, key: tuple[GameKey, SearchParams], group: _Group) -> list[Answer]:
        """Take a turn of a group; where its search fails all its positions are answered with the error."""
        try:
            return group.turn()
        except Exception as error:  # of a net or a game, which may be anybody's code: the other queries go on
            group.pool.cancel()
            del self._groups[key]
            message = explain(error) or f"{type(error).__name__}: {error}"
            return [answers.failed(one.query, one.turn, message) for one in group.positions.values()]

    def _group_of(self, query: Query) -> _Group:
        """Return the group of a query, made where there is none. QueryError where net or settings do not fit."""
        game = query.start.game
        game_key = (game.name, game.feature_shape, game.num_actions)
        nets = self._nets_of(game_key, query)
        search = self._search_of(game_key, query)
        key = (game_key, search)
        if key not in self._groups:
            try:
                pool = SearchPool(
                    game,
                    nets.small,
                    search,
                    large=nets.large,
                    seed=self._seed,
                    batch_size=self._batch_size,
                )
            except ValueError as error:
                raise QueryError(str(error), query.id, "overrideSettings") from None
            self._groups[key] = _Group(pool, BATCHES * (self._batch_size or nets.small.batch_size))
        self._groups.move_to_end(key)
        return self._groups[key]

    def _nets_of(self, key: GameKey, query: Query) -> OpenNets:
        """Return the open nets of a game."""
        if key not in self._nets:
            game = query.start.game
            try:
                self._choices[key] = self._choose_nets(game)
                self._nets[key] = open_nets(game, self._choices[key])
            except (ValueError, OSError, ImportError) as error:
                raise QueryError(explain(error) or str(error), query.id, "game") from None
        self._nets.move_to_end(key)
        return self._nets[key]

    def _search_of(self, key: GameKey, query: Query) -> SearchParams:
        """Return the settings of a query over those that the net of its game carries."""
        choice = self._choices[key]
        try:
            return search_of_net(query.search, ResolvedNet(choice.net), choice.large)
        except ValueError as error:
            raise QueryError(str(error), query.id, "game") from None

    def _drop_idle(self) -> None:
        """Forget pools without a search, and close nets without a pool, but for those that were used last."""
        idle = [key for key, group in self._groups.items() if not group.positions]
        for key in idle[:-MOST_IDLE]:
            del self._groups[key]
        used = {game for game, _ in self._groups}
        unused = [game for game in self._nets if game not in used]
        for game in unused[:-MOST_IDLE]:
            self._nets.pop(game).close()
