"""The exact play of a run: how often its best nets keep the value of solved positions, all by one fixed search.

The positions and what was found are one file of the run's folder, `exact_play.json`, so each net is measured once. It
is not part of a step: neither its seconds nor its evaluations count in the run's, and no game or net depends on it.
"""

import math
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from hauteur import _core
from hauteur.learning.run_folder import RunFolder
from hauteur.matches.exact_play import (
    FIXED_SEARCH,
    FIXED_VISITS,
    NODES,
    TOTAL,
    SolvedSet,
    solved_set,
    value_preserving_moves,
)
from hauteur.players.search_player import SearchPlayer
from hauteur.system.files import read_json, write_json

PROBE = 64
"""Positions by which it is found out whether a game can be solved."""

SHARE = 10
"""One part in this number: of the work of `hauteur prove`, and of the positions of a game that is written in Python."""


def measure_nets(
    folder: RunFolder,
    game: _core.Game,
    count: int,
    best: list[int],
    show: Callable[[str], object] | None = None,
) -> None:
    """Measure the best nets, by their generations, that were not measured yet, in `count` positions; 0: none.

    show: takes a line of words about each net, and about the positions of a game in Python.

    Nothing is measured where the game cannot be solved, or not from the middle of its plies on; the file says why. Nets
    that are no longer there are left out. Raise ValueError for a file that is damaged.
    """
    if not count:
        return
    if folder.exact_play.exists():
        found = read_json(folder.exact_play)
    else:
        # Minutes in a slow game, in which a run would say nothing.
        if show is not None and _is_in_python(game):
            show(f"solving positions of {game.spec}, to measure nets by (run.solved_positions=0 leaves it out)")
        found = _begun(game, count)
        write_json(folder.exact_play, found)
        if show is not None and _is_in_python(game) and "off" in found:
            show(f"nets are not measured by exact play: {found['off']}")
    if "off" in found:
        return
    try:
        missing = set(best) - {int(name) for name in found["nets"]}
        missing = {generation for generation in missing if folder.net(generation).exists()}
        solved = SolvedSet.from_text(game, found["positions"]) if missing else None
    except (KeyError, TypeError, ValueError, AttributeError):
        again = "delete it, and positions and nets are measured again"
        raise ValueError(f"{folder.exact_play} is not what a run wrote: {again}") from None
    if solved is not None:
        for generation in sorted(missing):
            found["nets"][str(generation)] = _measured(game, folder.net(generation), solved)
            # After each net, so that a kill costs one measurement.
            write_json(folder.exact_play, found)
            if show is not None:
                show(_line(generation, found["nets"][str(generation)]))


def _is_in_python(game: _core.Game) -> bool:
    """Return whether a game is one that a user has written."""
    return game.name not in _core.game_names()


def _line(generation: int, found: dict[str, Any]) -> str:
    """Return in words how often a net keeps the value of the positions."""
    low, high = found["interval_95"]
    return (
        f"net of generation {generation} keeps the exact value in {found['share']:.1%} [{low:.1%}, {high:.1%}]"
        f" of {found['positions']:,} solved positions"
    )


def why_not_measured(game: _core.Game) -> str | None:
    """Return why no net of a game can be measured in solved positions; None where it can be."""
    # A few positions: for a game that is too large, to solve all of them would take minutes to find that out.
    try:
        # Also where fewer are wanted: the last plies have their positions first, so that few are of these alone.
        probe = solved_set(game, PROBE, nodes=NODES // SHARE, total=TOTAL // SHARE // SHARE)
    except ValueError as error:
        return str(error)
    if not probe.positions or probe.plies.start > probe.plies[-1] / 2:
        return f"{game.spec}: positions of the first half of the game take too long to solve"
    # As in a game whose every mistake is punished at once: such positions are left out, the others tell nothing.
    if not any(position.choice_matters for position in probe.positions):
        return f"{game.spec}: in none of {len(probe.positions)} solved positions does it matter which move is played"
    return None


def _begun(game: _core.Game, count: int) -> dict[str, Any]:
    """Return the positions as the file has them, or why there are none."""
    # Positions of a game in Python took three times as long to find as the run took to learn.
    if _is_in_python(game):
        count = math.ceil(count / SHARE)
    if reason := why_not_measured(game):
        return {"off": reason}
    solved = solved_set(game, count, nodes=NODES // SHARE, total=TOTAL // SHARE)
    return {"visits": FIXED_VISITS, "positions": solved.text(), "nets": {}}


def _measured(game: _core.Game, net: Path, solved: SolvedSet) -> dict[str, Any]:
    """Return how often a net keeps the value of the positions, as the file has it."""
    from hauteur.networks.evaluators.factory import make_evaluator

    started = time.process_time()
    with closing(make_evaluator(game, net)) as evaluator:
        player = SearchPlayer(net.stem, evaluator, FIXED_SEARCH, FIXED_VISITS)
        _, total = value_preserving_moves(player, solved.positions)
    return total.to_json() | {"cpu_seconds": time.process_time() - started}
