"""Every search rule before an exact judge: whose moves keep the value of solved positions of Connect Four.

A match says which of two players is stronger, and needs hundreds of games for a rule that changes one move in fifty. In
solved positions each move is right or wrong, and both players are asked the same: the few positions that only one of
them keeps decide. The base (c_puct, first-play urgency) is chosen on every second position of the set that ships, the
rules are judged on the others and on sets of other seeds, so that no rule is measured where its base was fitted. A
control has the side effect of a rule alone. The base with twice the visits, no rule, shows what these are worth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import hauteur as ht
from hauteur_experiments.experiment import Experiment, Finding, Result, SourceClaim
from hauteur_experiments.grid import COLOURS, points, with_net
from hauteur_experiments.mcts_experiments.by_game import CPUCTS, DEFAULT, FPUS, GAMES, TABLE_RULES, Base, TableRule
from hauteur_experiments.measured import Mean
from hauteur_experiments.setting import Setting
from hauteur_experiments.verdict import Claim, Inequality

VISITS = 100
POSITIONS = 5000
"""Of each set at most; solving ends most sets before."""
SETS = 6
"""Seeds of sets, from 0, that of the one that ships."""
GAME = GAMES[0]
"""Connect Four, whose solved positions come with the package."""

LEAST = 500
"""Positions below which nothing is concluded."""

MATTERS = 0.5
"""Percentage points of kept values that matter: a tenth of the mistakes of a net that keeps 95 %."""

UNIT = "percentage points"
NO_RULE = TableRule("base")
TWICE = TableRule("twice the visits")
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


def make(setting: Setting) -> Result:
    """Choose the base on one half of a set, judge the rules on the other and on more sets."""
    base = _chosen_base(setting)
    setting.show(f"base c_puct {base.cpuct:g}, reduction {base.fpu:g}")
    players = {rule.name: _player(setting, base, rule) for rule in (NO_RULE, *RULES, TWICE)}
    kept = _judged(setting, players)
    rows = [_row(rule, kept) for rule in (*RULES, TWICE)]
    findings = [_finding(rule, kept) for rule in RULES]
    facts = {
        "base": {"cpuct": base.cpuct, "fpu": base.fpu},
        "visits": setting.visits_or(VISITS),
        "kept_by_base": kept[NO_RULE.name].share.value,
    }
    return Result(rows, findings, [_figure(setting, kept)], facts=facts)


def _player(setting: Setting, base: Base, rule: TableRule = NO_RULE) -> str:
    """Return the player with these constants and a rule."""
    visits = setting.visits_or(VISITS)
    if rule is TWICE:
        visits *= 2
    constants = f"cpuct.init={base.cpuct * rule.cpuct:.6g}"
    if "fpu." not in rule.words:
        constants += f" fpu.value={base.fpu:g}"
    return with_net(f"visits={visits} {constants} {rule.words}", setting.net, setting.precision)


def _measured(setting: Setting, players: Mapping[str, str], seed: int) -> tuple[dict[str, Kept], list[int]]:
    """Return what each player keeps of a set, by its name, and the keys of its positions."""
    count = setting.scaled(POSITIONS, 20)
    texts = list(players.values())
    found = ht.exact_play(texts, GAME.spec, positions=count, seed=seed, threads=setting.threads)
    kept = {}
    for number, name in enumerate(players):
        kept[name] = Kept(tuple(100.0 * is_kept for is_kept in found.kept[number].tolist()))
    return kept, [position.state.key for position in found.positions]


def _chosen_base(setting: Setting) -> Base:
    """Return the best c_puct on every second position of the first set, then the best reduction with it."""
    cpuct = _best(setting, [DEFAULT, *(Base(value, DEFAULT.fpu) for value in CPUCTS)])
    return _best(setting, [cpuct, *(Base(cpuct.cpuct, value) for value in FPUS)])


def _best(setting: Setting, bases: Sequence[Base]) -> Base:
    """Return the base that keeps most; of equal ones the first."""
    names = {f"{base.cpuct:g} {base.fpu:g}": base for base in bases}
    kept, _ = _measured(setting, {name: _player(setting, base) for name, base in names.items()}, 0)
    shares = {name: Kept(kept[name].values[::2]).share.value for name in names}
    return names[max(shares, key=lambda name: shares[name])]


def _judged(setting: Setting, players: Mapping[str, str]) -> dict[str, Kept]:
    """Return what each player keeps of the positions that chose nothing, each counted once."""
    values: dict[str, list[float]] = {name: [] for name in players}
    seen: set[int] = set()
    for seed in range(SETS):
        kept, keys = _measured(setting, players, seed)
        if seed == 0:
            seen |= set(keys[::2])
        for place, key in enumerate(keys):
            if key in seen:
                continue
            seen.add(key)
            for name, found in kept.items():
                values[name].append(found.values[place])
        setting.show(f"set {seed + 1} of {SETS}: {len(values[NO_RULE.name]):,} positions judged")
    return {name: Kept(tuple(found)) for name, found in values.items()}


def _finding(rule: TableRule, kept: Mapping[str, Kept]) -> Finding:
    """The rule keeps more values than the base, and than its control where it has one, among all rules."""
    gain = kept[rule.name].less(kept[NO_RULE.name])
    sides = [Inequality("difference", gain, 0.0, "above", LEAST, unit=UNIT, of="positions", matters=MATTERS)]
    if rule.control:
        beyond = kept[rule.name].less(kept[rule.control])
        what = f"beyond {rule.control}"
        sides.append(Inequality(what, beyond, 0.0, "above", LEAST, unit=UNIT, of="positions", matters=MATTERS))
    return Finding.of(rule.name, Claim(tuple(sides), cells=len(RULES)))


def _row(rule: TableRule, kept: Mapping[str, Kept]) -> dict[str, Any]:
    own = kept[rule.name].values
    base = kept[NO_RULE.name].values
    gain = kept[rule.name].less(kept[NO_RULE.name])
    low, high = gain.interval(0.95)
    return {
        "rule": rule.name,
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
    names = [rule.name for rule in (*RULES, TWICE)]
    gains = [kept[name].less(kept[NO_RULE.name]) for name in names]
    count = len(kept[NO_RULE.name].values)
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
