"""Many recorded games as flat arrays, the form in which training keeps them."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hauteur import _core
from hauteur.games.game_line import BY_PYTHON, RESIGNATION, end_text, result_text
from hauteur.games.played_game import movers_and_end
from hauteur.games.registry import load_game
from hauteur.matches.record import COLUMNS, GamePlan, GameRecord, LearnedColumns, Level, column, columns_of

STORED = tuple(column for column in COLUMNS if column.stored)
"""Columns of games that are written to shards."""

Rows = slice | NDArray[np.int64]
"""Rows of a level that are taken."""

make_cached = lru_cache(64)(load_game)


@dataclass(frozen=True, kw_only=True)
class Games(LearnedColumns):
    """G games of M searched moves, V visited root edges and L actions in all; games one after another.

    The offsets [G + 1] (of moves: [M + 1]) are where the rows of a game (of a move) begin.
    """

    lines: NDArray[np.uint16] = column("line", np.uint16)
    """Actions of all games, with those before the first search, [L]."""
    line_lengths: NDArray[np.int64] = column("game", np.int64)
    """Actions of each game, [G]."""
    move_counts: NDArray[np.int64] = column("game", np.int64)
    """Searched moves of each game, [G]."""
    outcome: NDArray[np.int8] = column("game", np.int8)
    """1 the first player won, 0 draw, -1, [G]."""
    generation: NDArray[np.int32] = column("game", np.int32)
    """Generation of each game, [G]."""
    index: NDArray[np.int64] = column("game", np.int64)
    """Number of each game in its generation, [G]."""
    n_scl: NDArray[np.float32] = column("game", np.float32)
    """N_scl of search-contempt, NaN without it, [G]."""
    nets: NDArray[np.int32] = column("game", np.int32, width=2)
    """Generation of the net on each side, [G, 2]."""
    resigned: NDArray[np.int8] = column("game", np.int8)
    """Side that was ready to resign, -1 for none, [G]."""
    gave_up: NDArray[np.bool_] = column("game", np.bool_)
    """Whether the game ended by resignation, [G]."""
    origin: NDArray[np.object_] = column("game", np.object_)
    """Spec of the game whose start each began from; None: the game's own, [G]."""

    @property
    def games(self) -> int:
        """Number of games."""
        return len(self.outcome)

    @property
    def positions(self) -> int:
        """Number of positions that are learned from."""
        return int(np.count_nonzero(self.learned))

    @property
    def digest(self) -> str:
        """Hash of all columns, hexadecimal."""
        # Names and lengths are hashed too: values that move from one column to the next give another digest.
        digest = hashlib.sha256()
        for one in fields(self):
            values = getattr(self, one.name)
            is_text = values.dtype == np.object_
            content = repr(values.tolist()).encode() if is_text else values.tobytes()
            digest.update(f"{one.name} {len(content)} ".encode())
            digest.update(content)
        return digest.hexdigest()

    @cached_property
    def line_offsets(self) -> NDArray[np.int64]:
        """Offsets of the games' lines [G + 1]."""
        return offsets_of(self.line_lengths)

    @cached_property
    def moves_before(self) -> NDArray[np.int64]:
        """Offsets of the games' moves [G + 1]."""
        return offsets_of(self.move_counts)

    @cached_property
    def edge_offsets(self) -> NDArray[np.int64]:
        """Offsets of the moves' edges [M + 1]."""
        return offsets_of(self.policy_lengths)

    @cached_property
    def plies(self) -> NDArray[np.int64]:
        """The index of each move into the line of its game [M]."""
        starts = self.line_lengths - self.move_counts
        shift = np.repeat(starts - self.moves_before[:-1], self.move_counts)
        return shift + np.arange(len(self.movers))

    @cached_property
    def results(self) -> NDArray[np.int8]:
        """Result of the game for the player who made each move, 1 won, 0 draw, -1 lost [M]."""
        outcomes = np.repeat(self.outcome, self.move_counts)
        return np.where(self.movers == 0, outcomes, -outcomes)

    def proven_results(self, *, earlier: bool) -> NDArray[np.int8]:
        """Results with proven ones in their place [M]; earlier: also that of the next proven position of the game."""
        proven = self.proven_targets
        moves = np.arange(len(self.learn))
        source = np.where(proven > 0, moves, len(moves))
        if earlier:
            # Mistakes after a proven position may have changed the outcome: for the moves before, it says more.
            source = np.minimum.accumulate(source[::-1])[::-1]
        ends = np.repeat(self.moves_before[1:], self.move_counts)
        # The minimum has run on across the ends of games: what is proven in the next game says nothing about this one.
        source = np.where(source < ends, source, moves)
        found = proven[source].astype(np.int8) - 2
        own = np.where(self.movers[source] == self.movers, found, -found)
        return np.where(proven[source] == 0, self.results, own)

    def plan_at(self, move: int, index: int) -> GamePlan:
        """Return the plan of a game with this number that begins before the move, with the past of that position."""
        game = int(self.game_of(np.array([move]))[0])
        line = self.line_offsets[game]
        # By the moves that led there and not as a bare position: repetitions and planes of the past need them.
        spec = self.origin[game]
        start = tuple(self.lines[line : line + self.plies[move]].tolist())
        origin = None if spec is None else make_cached(spec).new_initial_state()
        return GamePlan(index, start=start, origin=origin)

    def without_policies(self) -> Games:
        """Return the games without policy targets, which are most of their bytes."""
        # Copies below: an empty view would keep the whole arrays in memory.
        none = np.zeros_like(self.policy_lengths)
        actions = self.policy_actions[:0]
        counts = self.policy_counts[:0]
        return replace(self, policy_lengths=none, policy_actions=actions.copy(), policy_counts=counts.copy())

    def with_targets(self, moves: NDArray[np.int64], found: Games) -> Games:
        """Return the games with what the searches of `found`, games of one move each, say of these moves."""
        new: dict[str, NDArray[Any]] = {}
        for name in ("policy_lengths", "root_wdl", "surprise", "learn"):
            values = getattr(self, name).copy()
            values[moves] = getattr(found, name)
            new[name] = values
        new["learn"] = np.maximum(new["learn"], self.learn)  # what was proven stays so
        # Old edges and then new ones in one array; `begins` says for each move where its own are in it.
        begins = self.edge_offsets[:-1].copy()
        begins[moves] = found.edge_offsets[:-1] + len(self.policy_actions)
        lengths = new["policy_lengths"]
        offsets = offsets_of(lengths)
        shift = np.repeat(begins - offsets[:-1], lengths)
        edges = shift + np.arange(offsets[-1])
        for name in ("policy_actions", "policy_counts"):
            both = np.concatenate([getattr(self, name), getattr(found, name)])
            new[name] = both[edges]
        return replace(self, **new)

    def game_of(self, moves: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the games that these moves are of."""
        return np.searchsorted(self.moves_before, moves, side="right") - 1

    def record(self, number: int) -> GameRecord:
        """Return a game as it was played; what training does not read of records has its defaults."""
        moves = slice(*self.moves_before[number : number + 2].tolist())
        edges = slice(*self.edge_offsets[[moves.start, moves.stop]].tolist())
        of_line = slice(*self.line_offsets[number : number + 2].tolist())
        line = self.lines[of_line]
        searched = len(line) - int(self.move_counts[number])
        opening = tuple(line[:searched].tolist())
        first, second = self.nets[number].tolist()
        origin = self.origin[number]
        begun = None if origin is None else make_cached(origin).new_initial_state()
        n_scl = float(self.n_scl[number])
        learned = self._rows_of(LearnedColumns, {"move": moves, "edge": edges})
        return GameRecord(
            plan=GamePlan(int(self.index[number]), (first, second), opening, begun),
            seed=0,
            actions=line[searched:],
            outcome=int(self.outcome[number]),
            end_reason=RESIGNATION if self.gave_up[number] else "",
            n_scl=None if math.isnan(n_scl) else n_scl,
            resigned=int(self.resigned[number]),
            **learned,
        )

    def last(self, games: int) -> Games:
        game = max(0, self.games - games)
        line = self.line_offsets[game]
        move = self.moves_before[game]
        begins = {"game": game, "line": line, "move": move, "edge": self.edge_offsets[move]}
        return self._taken({level: slice(begin, None) for level, begin in begins.items()})

    def ordered(self) -> Games:
        """Return the games by generation and number, whatever the order of their shards."""
        games = np.lexsort((self.index, self.generation))
        lines = places_of(self.line_offsets, games)
        moves = places_of(self.moves_before, games)
        edges = places_of(self.edge_offsets, moves)
        return self._taken({"game": games, "line": lines, "move": moves, "edge": edges})

    @classmethod
    def of(cls, records: Sequence[GameRecord], *, generation: int = 0) -> Games:
        """Return games as they were played, in their order; generation: what they count as."""
        learned: dict[str, Any] = {}
        for one in columns_of(LearnedColumns):
            learned[one.name] = np.concatenate([getattr(record, one.name) for record in records])
        lines = []
        for record in records:
            start = np.array(record.plan.start, np.uint16)
            lines.append(np.concatenate([start, record.actions]))
        n_scl = [math.nan if record.n_scl is None else record.n_scl for record in records]
        return cls(
            lines=np.concatenate(lines),
            line_lengths=np.array([len(line) for line in lines], np.int64),
            move_counts=np.array([len(record.actions) for record in records], np.int64),
            outcome=np.array([record.outcome for record in records], np.int8),
            generation=np.full(len(records), generation, np.int32),
            index=np.array([record.plan.index for record in records], np.int64),
            n_scl=np.array(n_scl, np.float32),
            nets=np.array([record.plan.sides for record in records], np.int32),
            resigned=np.array([record.resigned for record in records], np.int8),
            gave_up=np.array([record.end_reason == RESIGNATION for record in records], np.bool_),
            origin=np.array([record.plan.origin_spec for record in records], np.object_),
            **learned,
        )

    @classmethod
    def join(cls, parts: Sequence[Games]) -> Games:
        joined = {}
        for one in fields(cls):
            joined[one.name] = np.concatenate([getattr(part, one.name) for part in parts])
        return cls(**joined)

    def _taken(self, rows: Mapping[Level, Rows] | Mapping[str, Rows]) -> Games:
        return Games(**self._rows_of(Games, rows))

    def _rows_of(self, kind: type, rows: Mapping[Level, Rows] | Mapping[str, Rows]) -> dict[str, Any]:
        """Return the columns that a class declares by their names, with the rows of their level alone."""
        found = {}
        for one in columns_of(kind):
            found[one.name] = getattr(self, one.name)[rows[one.level]]
        return found


def offsets_of(lengths: NDArray[Any]) -> NDArray[np.int64]:
    """Return where each of the rows with these lengths begins, and the end: [n + 1]."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])


def places_of(offsets: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the places of all values of these rows, one row after another."""
    lengths = np.diff(offsets)[rows]
    begins = offsets_of(lengths)
    shift = np.repeat(offsets[rows] - begins[:-1], lengths)
    return shift + np.arange(begins[-1])


def faults(
    games: Games, rules: Sequence[_core.Game], end_reasons: Sequence[str | None] | None = None
) -> Iterator[tuple[int, str]]:
    """Yield which games have values that they must not have or cannot be played, and why.

    rules, end_reasons: of each of them; None: it is not known why they ended.
    """
    edges_before = games.edge_offsets[games.moves_before]
    actions = np.array([game.num_actions for game in rules], np.int64)
    actions_of_edges = np.repeat(actions, np.diff(edges_before))
    wrong_edges = _sums(games.policy_actions >= actions_of_edges, edges_before)
    has_outcome = np.isin(games.outcome, (-1, 0, 1))
    has_value = (np.abs(games.root_wdl - 0.5) < 0.51).all(axis=1)  # NaN is no value either
    has_policy = _sums(games.policy_counts, games.edge_offsets) > 0
    no_target = games.learned & ~(has_value & has_policy)
    untaught = _sums(no_target, games.moves_before)
    for number, game in enumerate(rules):
        if not has_outcome[number] or wrong_edges[number] > 0:
            yield number, "has an outcome or an action that the game does not have"
            continue
        if untaught[number] > 0:
            yield number, "has a position without a policy target or a value"
            continue
        ended = None if end_reasons is None else end_reasons[number]
        reason = _unplayable(games, number, game, ended)
        if reason is not None:
            yield number, reason


def _sums(values: NDArray[Any], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.diff(offsets_of(values)[offsets])


def _unplayable(games: Games, number: int, game: _core.Game, end_reason: str | None) -> str | None:
    """Return why a game cannot have been played as recorded; None where it can. end_reason: None where unknown."""
    moves = slice(games.moves_before[number], games.moves_before[number + 1])
    of_line = slice(games.line_offsets[number], games.line_offsets[number + 1])
    line = games.lines[of_line].tolist()
    try:
        # A hash says that a shard is what was written, not that anybody could have played it.
        movers, end = movers_and_end(_start(games.origin[number], game), line)
    except ValueError as error:
        return str(error)
    searched = len(line) - int(games.move_counts[number])
    if movers[searched:] != games.movers[moves].tolist():
        return "does not say rightly who made each move"
    return _otherwise_ended(end, int(games.outcome[number]), end_reason)


def _otherwise_ended(end: _core.State, outcome: int, end_reason: str | None) -> str | None:
    """Return how the rules contradict a recorded result; None where they do not. end: the last position."""
    now = end.outcome()
    if now is not None and now != outcome:
        return f"its result is {result_text(outcome)}, but the last position is {end_text(end)}"
    # Resignations, limits and failures end games that go on by the rules; in Python these have a reason of their own.
    if now is None and end_reason == BY_PYTHON:
        return f"was over after {end.ply} plies, where the game goes on"
    return None


def _start(origin: str | None, game: _core.Game) -> _core.State:
    begun = game if origin is None else make_cached(origin)
    if (begun.name, begun.num_actions, begun.feature_shape) != (game.name, game.num_actions, game.feature_shape):
        raise ValueError(f"begins from a position of {begun.spec}, but is a game of {game.spec}")
    return begun.new_initial_state()
