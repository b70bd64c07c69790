"""Every search rule before an exact judge: whose moves keep the value of solved positions of Connect Four.

A match says which of two players is stronger, and needs hundreds of games for a rule that changes one move in fifty. In
solved positions each move is right or wrong, and both players are asked the same: the few positions that only one of
them keeps decide. The base, c_puct and first-play urgency, is chosen on every second position and the rules are judged
on the others, so that no rule is measured where its base was fitted. A control has the side effect of a rule alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import hauteur as ht
from hauteur_experiments.experiment import Experiment, Finding, Result, Setting, SourceClaim
from hauteur_experiments.grid import COLOURS, points, with_net
from hauteur_experiments.mcts_experiments.by_game import CPUCTS, DEFAULT, FPUS, GAMES, TABLE_RULES, Base, TableRule
from hauteur_experiments.measured import Mean
from hauteur_experiments.verdict import Claim, Inequality

VISITS = 100
POSITIONS = 5000
GAME = GAMES[0]
"""Connect Four, whose solved positions come with the package."""

LEAST = 500
"""Positions below which nothing is concluded."""

MATTERS = 0.5
"""Percentage points of kept values that matter: a tenth of the mistakes of a net that keeps 95 %."""

UNIT = "percentage points"
NO_RULE = TableRule("base")
RULES = tuple(rule for rule in TABLE_RULES if GAME.name in rule.games)


@dataclass(frozen=True)
class Kept:
    """Which positions a player kept, 100 for a kept value and 0 for one that was given away, in their order."""

    values: tuple[float, ...]

    def less(self, other: Kept) -> Mean:
        """Return the mean difference from another player in the same positions, in percentage points."""
        return Mean([own - others for own, others in zip(self.values, other.values, strict=True)])

    @property
    def share(self) -> Mean:
        """The share that is kept, in per cent."""
        return Mean(self.values)

    def half(self, number: int) -> Kept:
        """Return every second position from this one on, 0 or 1."""
        return Kept(self.values[number::2])


def make(setting: Setting) -> Result:
    """Choose the base on one half of the positions, judge the rules on the other."""
    base = _chosen_base(setting)
    setting.show(f"base c_puct {base.cpuct:g}, reduction {base.fpu:g}")
    players = {"base": _player(setting, base)}
    for rule in RULES:
        players[rule.name] = _player(setting, base, rule)
    kept = {name: one.half(1) for name, one in _measured(setting, players).items()}
    rows = []
    findings = []
    for rule in RULES:
        rows.append(_row(setting, rule, kept))
        findings.append(_finding(rule, kept))
    facts = {"base": {"cpuct": base.cpuct, "fpu": base.fpu}, "kept_by_base": kept["base"].share.value}
    return Result(rows, findings, [_figure(setting, kept)], facts=facts)


def _player(setting: Setting, base: Base, rule: TableRule = NO_RULE) -> str:
    """Return the player with these constants and a rule."""
    constants = f"cpuct.init={base.cpuct * rule.cpuct:.6g}"
    if "fpu." not in rule.words:
        constants += f" fpu.value={base.fpu:g}"
    words = f"visits={setting.visits_or(VISITS)} {constants} {rule.words}"
    return with_net(words, setting.net, setting.precision)


def _measured(setting: Setting, players: Mapping[str, str]) -> dict[str, Kept]:
    """Return what each player keeps, by its name."""
    count = setting.scaled(POSITIONS, 20)
    texts = list(players.values())
    found = ht.exact_play(texts, GAME.spec, positions=count, threads=setting.threads)
    kept = {}
    for number, name in enumerate(players):
        kept[name] = Kept(tuple(100.0 * is_kept for is_kept in found.kept[number].tolist()))
    return kept


def _chosen_base(setting: Setting) -> Base:
    """Return the best c_puct on the first half of the positions, then the best reduction with it."""
    cpuct = _best(setting, [DEFAULT, *(Base(value, DEFAULT.fpu) for value in CPUCTS)])
    return _best(setting, [cpuct, *(Base(cpuct.cpuct, value) for value in FPUS)])


def _best(setting: Setting, bases: Sequence[Base]) -> Base:
    """Return the base that keeps most; of equal ones the first."""
    names = {f"{base.cpuct:g} {base.fpu:g}": base for base in bases}
    kept = _measured(setting, {name: _player(setting, base) for name, base in names.items()})
    shares = {name: kept[name].half(0).share.value for name in names}
    return names[max(shares, key=lambda name: shares[name])]


def _finding(rule: TableRule, kept: Mapping[str, Kept]) -> Finding:
    """The rule keeps more values than the base, and than its control where it has one, among all rules."""
    gain = kept[rule.name].less(kept["base"])
    sides = [Inequality("difference", gain, 0.0, "above", LEAST, unit=UNIT, of="positions", matters=MATTERS)]
    if rule.control:
        beyond = kept[rule.name].less(kept[rule.control])
        what = f"beyond {rule.control}"
        sides.append(Inequality(what, beyond, 0.0, "above", LEAST, unit=UNIT, of="positions", matters=MATTERS))
    return Finding.of(rule.name, Claim(tuple(sides), cells=len(RULES)))


def _row(setting: Setting, rule: TableRule, kept: Mapping[str, Kept]) -> dict[str, Any]:
    own = kept[rule.name].values
    base = kept["base"].values
    gain = kept[rule.name].less(kept["base"])
    low, high = gain.interval(0.95)
    return {
        "rule": rule.name,
        "visits": setting.visits_or(VISITS),
        "positions": len(own),
        "kept": kept[rule.name].share.value,
        "kept_alone": sum(a > b for a, b in zip(own, base, strict=True)),
        "base_alone": sum(a < b for a, b in zip(own, base, strict=True)),
        "difference": gain.value,
        "difference_low": low,
        "difference_high": high,
    }


def _figure(setting: Setting, kept: Mapping[str, Kept]) -> ht.Figure:
    """Percentage points with intervals by rule."""
    names = [rule.name for rule in RULES]
    gains = [kept[name].less(kept["base"]) for name in names]
    count = len(kept["base"].values)
    visits = setting.visits_or(VISITS)
    return ht.Figure(
        "rules-by-exact-play",
        "Search rules by exact play",
        f"Kept values of {count:,} solved positions, less those of the tuned base, {visits:,} visits; 95 %.",
        UNIT,
        "rule",
        lines=(points("Connect Four", range(1, len(names) + 1), gains, COLOURS[0]),),
        threshold=0.0,
        threshold_name="the base",
        x_names=names,
    )


EXPERIMENTS = (
    Experiment(
        "rules-by-exact-play",
        "this laboratory",
        "every search rule in solved positions of Connect Four, from a tuned base",
        make,
        claims=[
            SourceClaim(rule.name, "this laboratory", f"{rule.name} keeps more exact values in Connect Four", "none")
            for rule in RULES
        ],
        uses=("nets", "visits", "precision"),
    ),
)
