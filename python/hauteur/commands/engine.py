"""`hauteur analyse` and `hauteur uci`: looking at one position, and the chess engine for UCI programs."""

import json as json_format
import os
import sys
from concurrent.futures import Future
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from hauteur.analyse import Session
from hauteur.config import SearchParams
from hauteur.limits import Limits
from hauteur.root_report import RootReport
from hauteur.time_manager import Budget

if TYPE_CHECKING:
    from rich.console import Console

    from hauteur import _core

DEFAULT_VISITS = 800
SHOWN = 12


def analyse(
    spec: str = "chess",
    *,
    net: str | None = None,
    fen: str | None = None,
    moves: Annotated[tuple[str, ...], Parameter(consume_multiple=True)] = (),
    visits: int | None = None,
    time: float | None = None,
    only: Annotated[tuple[str, ...], Parameter(consume_multiple=True)] = (),
    moves_shown: int = SHOWN,
    json: bool = False,
    batch_size: int | None = None,
    threads: int = 0,
    seed: int = 0,
    search: Annotated[SearchParams, Parameter(name="search")] = SearchParams(),  # noqa: B008  (immutable)
) -> int:
    """Search a position; show every move with visits, prior, value and line.

    Parameters
    ----------
    spec
        Game, such as chess, connect4, nogo(size=7).
    net
        Net file, or `uniform` or `rollout`; default: the net that comes with the game, for chess the variable HAUTEUR_NET or
        the newest .pb.gz file of the working directory.
    fen
        Chess: the position; default: the start of the game.
    moves
        Moves played from there, in any notation of the game.
    visits
        Visits of the root, its own evaluation included; default 800, or no limit with --time.
    time
        Seconds.
    only
        The only moves to look at.
    moves_shown
        Rows of the table; each has its line of play.
    json
        Print one JSON object instead.
    batch_size
        Most positions evaluated together; 1 makes the search exactly sequential. Default: what suits the net's backend.
    threads
        Threads of the net on the processor; 0: one a core.
    seed
        Of all random draws.
    search
        Any setting of the search, such as --search.cpuct.init 2.
    """
    limits = _limits(visits, time)
    game, state, actions = _position(spec, fen, moves)
    restriction = tuple(state.action_from_text(move) for move in only)
    with _evaluator(game, net, threads) as (evaluator, name):
        session = Session(evaluator, search, seed=seed, batch_size=batch_size)
        session.set_position(game.initial_state(), actions)
        console = _console(quiet=json)
        report = _run(session, limits, restriction, moves_shown, console)
    if json:
        from hauteur.report_view import report_json

        print(json_format.dumps(report_json(report, game=game.spec, net=name)))
    return 0
