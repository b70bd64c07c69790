"""The yardstick of a run: how often its best nets keep the exact value of solved positions, judged by one fixed search.

The positions and what was found are one file of the run's folder, `yardstick.json`, so each net is judged once. It is
no part of a step: neither its seconds nor its evaluations count in the run's, and no game or net depends on it.
"""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hauteur.learning.run_folder import RunFolder
from hauteur.matches.exact_play import (
    JUDGE,
    JUDGE_VISITS,
    NODES,
    TOTAL,
    SolvedSet,
    solved_set,
    value_preserving_moves,
)
from hauteur.players.search_player import SearchPlayer
from hauteur.system.files import read_json, write_json

if TYPE_CHECKING:
    from hauteur import _core

PROBE = 64
"""Positions by which it is found out whether a game can be solved."""

SHARE = 10
"""The work of solving is so many times less than that of `hauteur prove`."""


def judge_nets(folder: RunFolder, game: _core.Game, count: int, best: list[int]) -> None:
    """Judge the best nets, by their generations, that were not judged yet, by this many positions; 0: none.

    Nothing is judged where the game cannot be solved, or not from the middle of its plies on; the file says why.
    """
    if not count:
        return
    found = read_json(folder.yardstick) if folder.yardstick.exists() else _begun(game, count)
    if "positions" in found:
        solved = SolvedSet.from_text(game, found["positions"])
        for generation in sorted(set(best) - {int(name) for name in found["nets"]}):
            found["nets"][str(generation)] = _judged(game, folder.net(generation), solved)
            write_json(folder.yardstick, found)
    elif not folder.yardstick.exists():
        write_json(folder.yardstick, found)


def _begun(game: _core.Game, count: int) -> dict[str, Any]:
    """Return the positions as the file has them, or why there are none."""
    limits = {"nodes": NODES // SHARE, "total": TOTAL // SHARE}
    try:
        probe = solved_set(game, min(PROBE, count), nodes=limits["nodes"], total=limits["total"] // SHARE)
        if not probe.positions or probe.plies.start > probe.plies[-1] / 2:
            return {"off": f"{game.spec}: positions of the first half of the game take too long to solve"}
        return {"visits": JUDGE_VISITS, "positions": solved_set(game, count, **limits).text(), "nets": {}}
    except ValueError as error:
        return {"off": str(error)}


def _judged(game: _core.Game, net: Path, solved: SolvedSet) -> dict[str, Any]:
    from hauteur.networks.evaluators.factory import make_evaluator

    started = time.process_time()
    with closing(make_evaluator(game, net)) as evaluator:
        player = SearchPlayer(net.stem, evaluator, JUDGE, JUDGE_VISITS)
        _, total = value_preserving_moves(player, solved.positions)
    return total.to_json() | {"cpu_seconds": time.process_time() - started}
