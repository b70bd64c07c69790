"""Live analysis as Leela Zero and KataGo write it: the request, and one line for a state of the search."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hauteur.engine.gtp.game_history import GameHistory
from hauteur.engine.gtp.protocol import quoted, read_colour, read_integer
from hauteur.mcts.report import RootMove, RootReport, Wdl

CENTISECOND = 0.01
BOUND_DEVIATIONS = 1.96
"""Standard deviations between the win rate and its lower bound: 95 % two-sided."""
FLAGS = ("rootInfo", "ownership", "movesOwnership", "pvVisits")
"""Keys with true or false that KataGo's clients send; all but the first ask for what no game here has."""
NUMBERS = ("interval", "minmoves", "maxmoves")


@dataclass(frozen=True)
class LiveRequest:
    """The request of an analysis command. colour: None = whose turn it is; interval: seconds between lines."""

    colour: int | None = None
    interval: float = 1.0
    most: int = 20
    root: bool = False


def read_analysis_request(arguments: Sequence[str]) -> LiveRequest:
    """Read `[COLOUR] [CENTISECONDS] [KEY VALUE ...]`."""
    words = list(arguments)
    colour = read_colour(words.pop(0)) if words and words[0].lower() in ("b", "w", "black", "white") else None
    if words and words[0].isdecimal():
        words.insert(0, "interval")
    values: dict[str, int] = {"interval": 100, "maxmoves": 20}
    if len(words) % 2:
        raise ValueError(f"syntax error: {quoted(words[-1])} has no value")
    for key, value in zip(words[::2], words[1::2], strict=True):
        values[key] = _value(key, value)
    interval = max(1, values["interval"]) * CENTISECOND
    return LiveRequest(colour, interval, max(1, values["maxmoves"]), bool(values.get("rootInfo")))


def leela_line(board: GameHistory, report: RootReport, request: LiveRequest) -> str:
    """Return one line in Leela Zero's form, empty before the first visit of a move: rates and priors in 1/10,000."""
    return " ".join(_leela_move(board, move, order) for order, move in _shown(report, request))


def katago_line(board: GameHistory, report: RootReport, request: LiveRequest) -> str:
    """Return one line in KataGo's form, empty before the first visit of a move: rates 0 to 1, utility -1 to 1."""
    moves = [_katago_move(board, move, order) for order, move in _shown(report, request)]
    win, draw, loss = report.wdl
    root = f"rootInfo visits {report.visits} utility {win - loss:.6f} winrate {win + 0.5 * draw:.6f}"
    return " ".join([*moves, *([root] if request.root and moves else [])])


def win_rate(wdl: Wdl) -> float:
    """Return the expected score: a draw is half a win."""
    return wdl[0] + 0.5 * wdl[1]


def lower_bound(rate: float, visits: int) -> float:
    """Return the lower end of the Wilson interval of a win rate, as if visits were games: a rank, not a promise."""
    z = BOUND_DEVIATIONS
    middle = rate + z * z / (2 * visits)
    spread = z * math.sqrt(rate * (1.0 - rate) / visits + z * z / (4 * visits * visits))
    return max(0.0, (middle - spread) / (1.0 + z * z / visits))


def _value(key: str, text: str) -> int:
    if key in NUMBERS:
        return read_integer(text)
    if key not in FLAGS:
        raise ValueError(f"syntax error: no key {quoted(key)}; there are {', '.join((*NUMBERS, *FLAGS))}")
    if text.lower() not in ("true", "false"):
        raise ValueError(f"syntax error: {key} is true or false, got {quoted(text)}")
    return int(text.lower() == "true")


def _shown(report: RootReport, request: LiveRequest) -> Iterator[tuple[int, RootMove]]:
    """The moves with visits, best first, with their ranks."""
    return enumerate([move for move in report.moves if move.wdl is not None][: request.most])


def _figures(move: RootMove) -> tuple[float, float, float]:
    """Win rate, prior and lower bound of the win rate."""
    assert move.wdl is not None  # moves without visits are not shown
    rate = min(1.0, max(0.0, win_rate(move.wdl)))
    return rate, move.prior, lower_bound(rate, move.visits)


def _line(board: GameHistory, move: RootMove) -> str:
    return " ".join(vertex for _, vertex in board.line(move.line))


def _leela_move(board: GameHistory, move: RootMove, order: int) -> str:
    rate, prior, bound = (round(10_000 * figure) for figure in _figures(move))
    figures = f"visits {move.visits} winrate {rate} prior {prior} lcb {bound} order {order}"
    return f"info move {board.vertex(move.action)} {figures} pv {_line(board, move)}"


def _katago_move(board: GameHistory, move: RootMove, order: int) -> str:
    rate, prior, bound = _figures(move)
    figures = f"visits {move.visits} utility {2 * rate - 1:.6f} winrate {rate:.6f} prior {prior:.6f} lcb {bound:.6f}"
    return f"info move {board.vertex(move.action)} {figures} order {order} pv {_line(board, move)}"
