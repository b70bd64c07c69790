"""Results of searches: of one position, and of many."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from hauteur import _core
from hauteur.games.game_line import end_text
from hauteur.games.played_game import Move, line_texts, move_of, move_text, moves_of, texts_of
from hauteur.mcts.followed_tree import FollowedTree
from hauteur.mcts.plain_settings import search_model
from hauteur.mcts.report import RootMove, RootReport, report_json
from hauteur.mcts.scores import pov_score
from hauteur.mcts.search_tree import SHOWN_NODES, SearchTree
from hauteur.mcts.tree_source import ForestTree
from hauteur.system.hints import unknown_attribute
from hauteur.system.tables import Rows, html_table, text_table

if TYPE_CHECKING:
    import chess.engine

    from hauteur.plots.tree import Picture

SHOWN_MOVES = 8
"""Moves in the display of a result, and moves of a line there."""

CALLED_HERE = {
    "best": "best_move",
    "bestmove": "best_move",
    "move": "best_move",
    "best_line": "pv",
    "line": "pv",
    "policy": "policy_target, prior or visits",
    "priors": "prior",
    "eval": "score, wdl or value",
    "evaluation": "score, wdl or value",
    "winrate": "wdl[0]",
    "root": "tree.root",
    "nodes": "visits, or tree",
    "N": "visits",
    "Q": "q",
    "P": "prior",
    "to_df": "moves.to_pandas()",
    "to_pandas": "moves.to_pandas()",
}
"""Names of other programs for what a result has."""

Floats = NDArray[np.float32]
Counts = NDArray[np.int64]


class MoveRow(NamedTuple):
    """One legal move of the root; values are for the player to move."""

    action: int
    """Index into the policy vector."""
    move: str
    """Text of the move in the game's notation."""
    visits: int
    """Completed visits N."""
    policy: float
    """Share of the policy target, 0 to 1."""
    q: float
    """Mean value, -1 to 1; NaN before the first visit."""
    win: float
    """Chance of a win by the search, 0 to 1; NaN before the first visit."""
    draw: float
    """Chance of a draw, likewise."""
    loss: float
    """Chance of a loss, likewise."""
    prior: float
    """P, without noise."""
    value: float
    """The network's own value of the position after the move, -1 to 1; NaN where it was not evaluated."""
    proven: int | None
    """Proven result: 1 win, 0 draw, -1 loss; None without a proof."""
    line: str
    """Principal variation, this move first, separated by spaces."""


@dataclass(frozen=True, eq=False, repr=False)
class SearchResult:
    """The result of a search of one position. A is the game's number of actions; values are for the player to move."""

    report: RootReport
    """All figures, as the engine reports them."""
    visits: Counts
    """int64 [A]: N of each action, 0 where illegal."""
    q: Floats
    """float32 [A]: mean values, -1 to 1, NaN where unvisited."""
    prior: Floats
    """float32 [A]: P, without noise."""
    policy_target: Floats
    """float32 [A]: the policy that a network is trained towards; sums to 1."""
    tree: SearchTree
    """The search tree."""

    def __getattr__(self, name: str) -> NoReturn:
        raise unknown_attribute("the result of a search", name, CALLED_HERE)

    @property
    def state(self) -> _core.State:
        """A copy of the position."""
        # A copy: `apply` works in place, and the report goes on to say what was searched.
        return self.report.state.copy()

    @property
    def best_action(self) -> int:
        """The action to play, by the rule of choice of the settings (default: most visits)."""
        return self.report.moves[0].action

    @property
    def best_move(self) -> Move:
        """That action as text, in chess with `.san`, `.uci` and `.chess`."""
        return move_of(self.report.state, self.best_action)

    @property
    def wdl(self) -> Floats:
        """Win, draw, loss by the search, float32 [3]."""
        return np.array(self.report.wdl, np.float32)

    @property
    def value(self) -> float:
        """The network's own value of the position before the search, win minus loss, -1 to 1."""
        return self.report.value[0] - self.report.value[2]

    @property
    def pv(self) -> tuple[Move, ...]:
        """Principal variation: the moves that both players are expected to play, each with its `.action`."""
        return moves_of(self.report.state, self.report.moves[0].line)

    @property
    def score(self) -> chess.engine.PovScore:
        """The value by the search as python-chess has scores: centipawns, or moves to a proven mate, for the player to
        move; White is the first player.
        """
        return pov_score(self.report.wdl, self.report.mate, first_to_move=self.report.state.to_move == 0)

    @property
    def table(self) -> dict[str, NDArray[Any]]:
        """The legal moves as columns: each field of `moves` as an array [moves], the one to play first."""
        columns = zip(*self.moves, strict=True)
        return {name: np.array(column) for name, column in zip(MoveRow._fields, columns, strict=True)}

    def to_dict(self) -> dict[str, Any]:
        """Return position, values and moves as plain numbers and texts, as `hauteur analyse --json` writes them."""
        found = report_json(self.report)
        for move in found["moves"]:
            move["policy"] = float(self.policy_target[move["action"]])
        return found

    def to_json(self, *, indent: int | None = None) -> str:
        """Return the same as JSON."""
        return json.dumps(self.to_dict(), indent=indent)

    def plot(self, max_nodes: int = SHOWN_NODES) -> Picture:
        """Draw the most visited nodes of the tree."""
        return self.tree.plot(max_nodes)

    @property
    def reason(self) -> str:
        """Why the search ended: `visits`, `time`, `stopped` ..."""
        return self.report.reason

    @cached_property
    def moves(self) -> Rows[MoveRow]:
        """The legal moves, the one to play first; `.to_pandas()` gives a DataFrame."""
        return Rows(self._row(move) for move in self.report.moves)

    def _row(self, move: RootMove) -> MoveRow:
        win, draw, loss = move.wdl or (math.nan,) * 3
        return MoveRow(
            action=move.action,
            move=self.report.state.action_to_text(move.action),
            visits=move.visits,
            policy=float(self.policy_target[move.action]),
            q=float(self.q[move.action]),
            win=win,
            draw=draw,
            loss=loss,
            prior=move.prior,
            value=math.nan if move.value is None else move.value + 0.0,
            proven=move.proven,
            line=" ".join(texts_of(self.report.state, move.line[:SHOWN_MOVES])),
        )

    def __repr__(self) -> str:
        return f"{self._headline()}\n{text_table(*self._shown(), SHOWN_MOVES)}"

    def _repr_html_(self) -> str:
        board = f'<div style="flex:none">{self.report.state._repr_svg_()}</div>'
        found = f"<div><p>{escape(self._headline())}</p>{html_table(*self._shown(), SHOWN_MOVES)}</div>"
        return f'<div style="display:flex;flex-wrap:wrap;gap:20px;align-items:flex-start">{board}{found}</div>'

    def _headline(self) -> str:
        win, draw, loss = (round(100 * share) for share in self.report.wdl)
        pace = self.report.pace
        mate = "" if self.report.mate is None else f", mate in {self.report.mate}"
        return (
            f"{self.report.state.game.spec}: {self.best_move.san}, win {win} % draw {draw} % loss {loss} %{mate}, "
            f"{self.report.visits:,} visits, {pace.seconds:.2f} s"
        )

    def _shown(self) -> tuple[Sequence[str], list[tuple[object, ...]]]:
        """Names and rows of the moves, as displays show them: moves as people write them, in chess SAN."""
        names = ("move", "visits", "q", "prior", "line")
        state = self.report.state
        shown: list[tuple[object, ...]] = []
        for row, move in zip(self.moves, self.report.moves, strict=True):
            line = " ".join(line_texts(state, move.line[:SHOWN_MOVES]))
            shown.append((move_text(state, move.action), row.visits, row.q, row.prior, line))
        return names, shown


@dataclass(frozen=True, eq=False, repr=False)
class BatchResult:
    """The results of searches of T positions of one game with A actions; values are for each player to move."""

    visits: Counts
    """int64 [T, A]: N of each action, 0 where illegal."""
    q: Floats
    """float32 [T, A]: mean values, -1 to 1, NaN where unvisited."""
    wdl: Floats
    """float32 [T, 3]: win, draw, loss by the search."""
    best_actions: Counts
    """int64 [T]: the action to play in each position."""
    policy_targets: Floats
    """float32 [T, A]: the policies that a network is trained towards; rows sum to 1."""
    trees: tuple[SearchTree, ...]
    """The search trees."""

    def __len__(self) -> int:
        return len(self.best_actions)

    def __repr__(self) -> str:
        return f"{len(self)} searches of {self.trees[0].state.game.spec}"


def search_result(tree: FollowedTree, report: RootReport) -> SearchResult:
    """Return the result of a search of this tree, which stays readable until the tree goes on to another position.

    Raise ValueError where the position was never evaluated.
    """
    if not report.moves:
        raise ValueError("there is no result yet: the position was not evaluated")
    forest = tree.forest
    ids = tree.ids
    return SearchResult(
        report,
        # int64, since a difference of the core's unsigned counts would wrap below 0.
        visits=forest.root_visits(ids)[0].astype(np.int64),
        q=forest.root_q(ids)[0],
        prior=forest.root_priors(ids)[0],
        policy_target=forest.policy_targets(ids)[0],
        tree=followed_tree(tree),
    )


def followed_tree(tree: FollowedTree) -> SearchTree:
    """Return the tree of an analysis to walk through, as long as it does not go on to another position."""
    # The core moves its tree on in place: without the check a kept result would read lines of another position.
    version = tree.version

    def check() -> None:
        if tree.version != version:
            raise ValueError("this tree is gone: the analysis has gone on to another position")

    facts = {"settings": search_model(tree.params).model_dump(mode="json"), "seed": tree.seed}
    return SearchTree(tree.position, ForestTree(tree.forest, tree.number, check, facts))


def batch_result(forest: _core.Forest, ids: NDArray[np.int64]) -> BatchResult:
    """Return the results of these trees of a forest, each of which was searched."""
    return BatchResult(
        visits=forest.root_visits(ids).astype(np.int64),
        q=forest.root_q(ids),
        wdl=forest.reported_values(ids),
        best_actions=forest.best_actions(ids).astype(np.int64),
        policy_targets=forest.policy_targets(ids),
        trees=tuple(SearchTree(forest.state(number), ForestTree(forest, number)) for number in ids.tolist()),
    )


def refuse_finished(state: object, where: str = "") -> None:
    """Raise ValueError where no move is left in a position, TypeError for something that is no position."""
    if not isinstance(state, _core.State):
        kind = type(state).__name__
        raise TypeError(f"{where}expected a position, such as game.new_initial_state(), got {kind}")
    if not len(state.legal_actions()):
        raise ValueError(f"{where}the game is over, {end_text(state)}: there is nothing to search")
