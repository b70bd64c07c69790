"""Statements of the MCTS experiments on tactics: shallow mates are found faster, rare moves are found at all.

Positions with known best moves are searched at numbers of visits that double. A position is solved from the first of
them on at which, and at all that follow, the move to play is one of the best. The positions are mates in 2 to 5 from
games of this program, with all moves that are proved to mate, or those of an EPD file (operation `bm`).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hauteur as ht
from hauteur_experiments.experiment import Experiment, Finding, Result, stated
from hauteur_experiments.files import write_whole
from hauteur_experiments.grid import COLOURS, points, with_net
from hauteur_experiments.mcts_experiments.rules import FORK, SOURCE
from hauteur_experiments.measured import Interval, Mean, Share, columns, exponential
from hauteur_experiments.setting import Setting, position_lines
from hauteur_experiments.verdict import Claim, Inequality

VISITS = 1600
"""The most; the others are its halves, down to 2."""

BATCH = 50
LEAST = 100
"""Positions below which nothing is concluded."""

FASTER = 1.25
"""Factor between the numbers of visits that solve a position that matters."""

MORE = 2.5
"""Percentage points of solved positions that matter."""

_PROOFS = "solver.lookahead=1 solver.clamp-to-bounds=false solver.retro-fix=false"
_COMPRESSION = "prior-mixing.mode=legacy prior-mixing.compression=0.06"
_EARLY = "early-visits.mode=legacy early-visits.ease=1"
ARMS = {
    "plain": FORK,
    "certainty": f"{_PROOFS} {FORK}",
    "compression": f"{_COMPRESSION} {FORK}",
    "early visits": f"{_EARLY} {FORK}",
    "both": f"{_COMPRESSION} {_EARLY} {FORK}",
}
"""The fork's plain search, and it with certainty propagation, policy compression, easy early visits, the last two."""


@dataclass(frozen=True)
class Tactic:
    """A position, the moves that solve it, and the moves to a mate; 0: of another kind."""

    state: ht.State
    best: frozenset[int]
    mate: int

    @classmethod
    def from_text(cls, line: str) -> Tactic:
        """The position of a line of EPD; ValueError for one without best moves."""
        fen = " ".join(line.split()[:4])
        best = re.search(r"\bbm ([^;]+);", line)
        if best is None:
            raise ValueError(f"a position has no best moves (bm): {line}")
        state = ht.position("chess", f"{fen} 0 1")
        mate = re.search(r"\bdm (\d+);", line)
        return cls(state, frozenset(map(state.parse, best[1].split())), int(mate[1]) if mate else 0)


Solved = Mapping[str, Sequence[Sequence[bool]]]
"""By arm: whether each position is solved at each number of visits."""


def make(setting: Setting) -> Result:
    """Search the positions with every arm."""
    name = setting.positions or "mates"
    lines = position_lines(name)
    every = max(1, round(1 / setting.scale))
    tactics = [Tactic.from_text(line) for line in lines[::every]]
    solved = {arm: solved_by(setting, arm, tactics) for arm in ARMS}
    mates = {tactic.mate for tactic in tactics}
    rows = []
    for mate in sorted(mates):
        kind = f"mate in {mate}" if mate else "best move"
        chosen = [tactic.mate == mate for tactic in tactics]
        for arm in ARMS:
            rows.append(_row(setting, arm, kind, solved[arm], chosen))
    found = findings(setting, solved, shallow=0 not in mates)
    result = Result(rows, found, [figure(setting, solved)], [columns(rows, *rows[0])])
    return result.scoped(Path(name).stem)


def counts(setting: Setting) -> list[int]:
    """The numbers of visits, ascending."""
    most = setting.visits_or(VISITS)
    return sorted(most >> halving for halving in range(most.bit_length() - 1))


def solved_by(setting: Setting, arm: str, tactics: Sequence[Tactic]) -> list[list[bool]]:
    """Return whether an arm solves each position at each number of visits; moves on disk are not sought again."""
    player = ht.Player.from_text(with_net(ARMS[arm], setting.net, setting.precision))
    file = setting.folder / f"{arm.replace(' ', '-')}.json"
    moves: dict[str, list[int]] = {}
    if file.exists():
        moves = json.loads(file.read_text(encoding="utf-8"))
    right = []
    for visits in counts(setting):
        done = moves.setdefault(str(visits), [])
        while len(done) < len(tactics):
            missing = tactics[len(done) : len(done) + BATCH]
            states = [one.state for one in missing]
            found = ht.search_batch(states, player.net, player.search, visits=visits, seed=1, threads=setting.threads)
            done += [int(action) for action in found.best_actions]
            write_whole(file, json.dumps(moves))
        are_right = _right(done, tactics)
        right.append(are_right)
        setting.show(f"{arm}, {visits} visits: {sum(are_right)} of {len(tactics)} solved")
    solved = []
    for column in zip(*right, strict=True):
        solved.append([all(column[place:]) for place in range(len(column))])
    return solved


def _right(moves: Sequence[int], tactics: Sequence[Tactic]) -> list[bool]:
    return [move in one.best for move, one in zip(moves, tactics, strict=True)]


def visits_to_solve(setting: Setting, solved: Sequence[bool]) -> int:
    """The number of visits that solves a position; twice the most for one that is not solved."""
    numbers = [*counts(setting), 2 * counts(setting)[-1]]
    return numbers[solved.index(True) if True in solved else -1]


def factor(setting: Setting, plain: Sequence[Sequence[bool]], other: Sequence[Sequence[bool]]) -> Interval:
    """How many times as many visits as another the plain search needs, as the geometric mean over the positions."""
    pairs = zip(plain, other, strict=True)
    logs = []
    for a, b in pairs:
        factor_of_pair = visits_to_solve(setting, a) / visits_to_solve(setting, b)
        logs.append(math.log(factor_of_pair))
    return exponential(Mean(logs))


def findings(setting: Setting, solved: Solved, *, shallow: bool) -> list[Finding]:
    """Mates are solved with fewer visits; compression and early visits solve more at the most visits."""
    found = []
    most = counts(setting)[-1]
    of = "positions"
    if shallow:
        what = "times as many visits without proofs"
        ratio = factor(setting, solved["plain"], solved["certainty"])
        found.append(Finding.of("mates", Claim((Inequality(what, ratio, 1.0, "above", LEAST, of=of, matters=FASTER),))))
    for key in ("compression", "early visits", "both"):
        gains = [100.0 * (b[-1] - a[-1]) for a, b in zip(solved["plain"], solved[key], strict=True)]
        what = f"solved at {most:,} visits, {key} above plain"
        unit = "percentage points"
        side = Inequality(what, Mean(gains), 0.0, "above", LEAST, unit=unit, of=of, matters=MORE)
        found.append(Finding.of(key, Claim((side,))))
    return found


def _row(
    setting: Setting,
    arm: str,
    name: str,
    solved: Sequence[Sequence[bool]],
    chosen: Sequence[bool],
) -> dict[str, Any]:
    mine = [one for one, is_in in zip(solved, chosen, strict=True) if is_in]
    logs = [math.log(visits_to_solve(setting, one)) for one in mine]
    row: dict[str, Any] = {"positions": name, "arm": arm, "count": len(mine)}
    row |= {f"at_{visits}": sum(one[place] for one in mine) for place, visits in enumerate(counts(setting))}
    return row | {"visits_to_solve": math.exp(math.fsum(logs) / len(logs))}


def figure(setting: Setting, solved: Solved) -> ht.Figure:
    """The share of solved positions by visits."""
    numbers = counts(setting)
    lines = []
    for number, (arm, found) in enumerate(solved.items()):
        shares = [Share(sum(at_count), len(found)) for at_count in zip(*found, strict=True)]
        lines.append(points(arm, numbers, shares, COLOURS[number], joined=True))
    text = f"{len(solved['plain'])} positions, solved at a number of visits and at all that follow; shades: 95 %."
    style: Any = {"lines": tuple(lines), "percent": True, "x_log": True}
    return ht.Figure("tactics", "Positions solved by visits", text, "solved", "visits", **style)


EXPERIMENTS = (
    Experiment(
        "tactics",
        SOURCE,
        "positions with best moves: visits that solve them, by search rule",
        make,
        claims=stated(
            SOURCE,
            "mates | certainty propagation finds shallow mates faster | no number",
            "compression | policy compression does well at tactics | more than 170 of 200 positions, visits not stated",
            "early visits | easy early visits might help slightly at tactics (untested there) | no number",
            "both | ... and might work well with policy compression (untested there) | no number",
        ),
        uses=("nets", "visits", "precision", "positions"),
    ),
)
