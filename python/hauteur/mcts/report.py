"""The findings of a search about its root: the moves, best first, with their lines, and the pace."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from hauteur import _core
from hauteur.games.played_game import line_texts, move_text
from hauteur.mcts.plain_settings import TemperatureSettings

Wdl = tuple[float, float, float]
"""Chances of win, draw and loss of the player to move."""


@dataclass(frozen=True)
class RootMove:
    """The findings about one move of the root. Values are for the root's mover."""

    action: int
    """The move, as an index into the policy vector."""
    visits: int
    """Completed visits N."""
    in_flight: int
    """Visits that wait for the network."""
    prior: float
    """P, without noise."""
    q: float
    """Mean value by which the search goes, draw score and WDL contempt included; before the first visit what it assumes
    of the move (FPU)."""
    wdl: Wdl | None
    """As reported: WDL contempt is taken back as far as `eval_objectivity` says. None before the first visit."""
    u: float
    """Exploration term of PUCT."""
    score: float
    """q + u, by which the search chooses."""
    value: float | None
    """The network's own value of the position after the move; None where it has not been asked."""
    terminal: bool
    """The game is over after the move."""
    line: tuple[int, ...]
    """Principal variation, this move first; only this move where no line was asked for."""
    lower: int
    """The solver has proven that the mover gets this at least: -1 loss, 0 draw, 1 win."""
    upper: int
    """The solver has proven that the mover gets this at most."""
    plies: int | None
    """Plies to the proven end; None where nothing is proven, or only a tablebase says so."""
    variance: float | None
    """Sample variance of the values of the move's visits; None where the search keeps none (it does with the sections
    `variance` and `lower_bound`), or before the second visit."""

    @property
    def result(self) -> int:
        """+1: wins at once, -1: loses at once, 0: neither."""
        if not self.terminal or self.wdl is None:
            return 0
        win, _, loss = self.wdl
        return round(win - loss)

    @property
    def proven(self) -> int | None:
        """The result that the solver has proven; None without a proof."""
        return self.lower if self.lower == self.upper else None

    @property
    def mate(self) -> int | None:
        """Moves to the win (positive) or the loss (negative) that the solver or the board proves; None without one."""
        if self.result:
            return self.result
        if not self.proven or self.plies is None:
            return None
        return self.proven * ((self.plies + 1) // 2)


@dataclass(frozen=True)
class Pace:
    """The work of one search since it began."""

    seconds: float = 0.0
    """Time since it began."""
    new_visits: int = 0
    """Visits that it made."""
    depth: float = 0.0
    """Mean depth of the new visits, in plies."""
    rows: int = 0
    """Positions that the network evaluated."""
    tablebase_hits: int = 0
    """Leaves that a tablebase evaluated, and the root where it knew the root."""
    batch_seconds: float = 0.0
    """From one answer of the network to the next."""
    batches: int = 0
    """Of these rows, known at the end of the search."""
    fill: float = 0.0
    """Mean share of a batch that held rows, known at the end of the search."""

    @property
    def visits_per_second(self) -> float:
        if self.seconds > 0.0:
            return self.new_visits / self.seconds
        return 0.0

    @property
    def rows_per_second(self) -> float:
        if self.seconds > 0.0:
            return self.rows / self.seconds
        return 0.0


@dataclass(frozen=True)
class RootReport:
    """A search so far, or at its end."""

    state: _core.State
    """The position at the root."""
    moves: tuple[RootMove, ...]
    """Best first; empty where the game is over."""
    visits: int
    """Of the root, its own evaluation and a re-used tree included."""
    wdl: Wdl
    """By the search, as reported (see RootMove)."""
    value: Wdl
    """By the network alone."""
    seldepth: int
    """Depth of the deepest visit of the tree, in plies."""
    nodes: int
    """Nodes of the tree."""
    memory: int
    """Bytes of the tree."""
    pace: Pace
    """Time, visits and rows of the search."""
    reason: str = ""
    """Why the search ended; empty while it runs."""

    @property
    def best(self) -> RootMove | None:
        """The move to play; None where nothing has been searched or the game is over."""
        return self.moves[0] if self.moves else None

    @property
    def mate(self) -> int | None:
        """Moves to a proven win (positive) or loss (negative) of the root's mover."""
        return self.moves[0].mate if self.moves else None


OnReport = Callable[[RootReport], None]


class AnalysisOptions(TypedDict, total=False):
    """Options of a search."""

    actions: Sequence[int]
    """The only root moves to search; empty: all."""
    lines: int
    """Moves that get a principal variation; default 1."""
    on_report: OnReport | None
    """Gets the search every REPORT_SECONDS and soon after each new best move, in the searching thread."""


def root_report(
    forest: _core.Forest,
    tree: int,
    *,
    pace: Pace,
    lines: int = 1,
    allowed: Collection[int] = (),
    reason: str = "",
) -> RootReport:
    """Report the tree as it stands; `lines` moves get their line, only `allowed` ones (empty: all) are listed."""
    ids = np.array([tree], np.int64)
    stats = forest.tree_stats(tree)
    return RootReport(
        state=forest.state(tree),
        moves=root_moves(forest, tree, lines=lines, allowed=allowed),
        visits=int(forest.root_node_visits(ids)[0]),
        wdl=_triple(forest.reported_values(ids)[0]),
        value=_triple(forest.network_values(ids)[0]),
        seldepth=int(stats["depth_max"]),
        nodes=int(stats["nodes"]),
        memory=int(stats["bytes"]),
        pace=pace,
        reason=reason,
    )


def root_moves(forest: _core.Forest, tree: int, *, lines: int, allowed: Collection[int] = ()) -> tuple[RootMove, ...]:
    """Return the moves of the root: winning at once, then as the rule of choice orders them, losing at once last."""
    edges = [edge for edge in forest.root_edges(tree) if not allowed or edge["action"] in allowed]
    moves = [_root_move(edge) for edge in edges]
    # A stable sort: among equals the order of the rule of choice stays.
    moves.sort(key=lambda move: -move.result)
    for place, move in enumerate(moves[:lines]):
        line = forest.principal_variation(tree, move.action)
        moves[place] = replace(move, line=tuple(int(action) for action in line))
    return tuple(moves)


def choose_move(moves: Sequence[RootMove], settings: TemperatureSettings, ply: int, uniform: float) -> RootMove:
    """Return the move to play of some, best first, `ply` plies into the game; uniform, in [0, 1), decides a draw."""
    by_action = {}
    rows = []
    # By action, so that a drawn number means the same move in whatever order a report lists them.
    for move in sorted(moves, key=lambda move: move.action):
        # Without a visit q is the FPU, which no cutoff by value may take for a finding.
        q = move.q if move.visits else math.nan
        by_action[move.action] = move
        rows.append((move.action, move.visits, q, move.prior, move.proven))
    chosen = _core.choose_action(rows, moves[0].action, ply, uniform, settings.model_dump_json())
    return by_action[chosen]


def wdl_of_result(result: int) -> Wdl:
    """Return the chances that a known result is: 1 a win, 0 a draw, -1 a loss; numbers further from 0 are as these."""
    return float(result > 0), float(result == 0), float(result < 0)


def flipped(wdl: Wdl) -> Wdl:
    """Return win, draw, loss as the other player has them."""
    return wdl[2], wdl[1], wdl[0]


def with_result(report: RootReport, result: int) -> RootReport:
    """Return the report with a result that is known (-1, 0, 1 for the root's mover) in place of the search's values.

    All its moves must keep that result. A move that ends the game has its own, which is no mate unless it mates.
    """
    wdl = wdl_of_result(result)
    moves = []
    for move in report.moves:
        known = move if move.terminal else replace(move, wdl=wdl, q=float(result))
        moves.append(known)
    return replace(report, wdl=wdl, moves=tuple(moves))


def with_win(report: RootReport, line: Sequence[int]) -> RootReport:
    """Return the report with the line of a win that is proven in as many moves; its first move is the best one."""
    wdl: Wdl = (1.0, 0.0, 0.0)
    found = next(move for move in report.moves if move.action == line[0])
    best = replace(found, wdl=wdl, q=1.0, lower=1, upper=1, plies=len(line), line=tuple(line))
    others = (move for move in report.moves if move is not found)
    return replace(report, moves=(best, *others), wdl=wdl)


def report_json(report: RootReport, **facts: Any) -> dict[str, Any]:
    """The report as JSON holds it; `facts` (game, net, settings) come first. Values are for the player to move."""
    state = report.state
    pace = report.pace
    return {
        "game": state.game.spec,
        **facts,
        "position": state.notation(),
        "played": state.moves,
        "to_move": state.to_move,
        "visits": report.visits,
        "new_visits": pace.new_visits,
        "seconds": round(pace.seconds, 4),
        "visits_per_second": round(pace.visits_per_second, 1),
        "evaluations": pace.rows,
        "mean_depth": round(pace.depth, 3),
        "seldepth": report.seldepth,
        "tree_bytes": report.memory,
        "reason": report.reason,
        "wdl": list(report.wdl),
        "network_wdl": list(report.value),
        "mate": report.mate,
        "best": state.action_to_text(report.best.action) if report.best else None,
        "moves": [_move_json(state, move) for move in report.moves],
    }


def _move_json(state: _core.State, move: RootMove) -> dict[str, Any]:
    texts = {"move": state.action_to_text(move.action)}
    if state.game.move_notation:
        texts["san"] = move_text(state, move.action)
    return {
        **texts,
        "action": move.action,
        "visits": move.visits,
        "prior": move.prior,
        "q": move.q if move.visits else None,
        "wdl": list(move.wdl) if move.wdl else None,
        "value": move.value,
        "terminal": move.terminal,
        "line": line_texts(state, move.line),
    }


_EDGE_FACTS = tuple(field.name for field in fields(RootMove) if field.name not in ("wdl", "line"))
"""Fields of a move that an edge of the root has under the same name."""


def _root_move(edge: Mapping[str, Any]) -> RootMove:
    facts = {name: edge[name] for name in _EDGE_FACTS}
    wdl = edge["reported_wdl"]
    return RootMove(**facts, wdl=None if wdl is None else _triple(wdl), line=(edge["action"],))


def _triple(values: NDArray[np.float32] | Sequence[float]) -> Wdl:
    return float(values[0]), float(values[1]), float(values[2])
