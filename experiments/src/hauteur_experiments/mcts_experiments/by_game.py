"""Every search rule in four games, each from a base that is tuned for the game: a table rule by game.

Published effects of a rule are single matches of one net in one game, from constants that suit that net more or less.
Here both players have the net of the game and its base, c_puct and first-play urgency tuned by matches with seeds of
their own, and one of them the rule. A control has the side effect of a rule alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import hauteur as ht
from hauteur_experiments.experiment import Experiment, Finding, Result, SourceClaim
from hauteur_experiments.grid import APART, COLOURS, Match, Played, is_over, play, points, with_net
from hauteur_experiments.measured import MatchElo, Record, contrast, elo_above, elo_columns
from hauteur_experiments.setting import Setting
from hauteur_experiments.verdict import Claim

VISITS = 100
RANDOM_PLIES = 4
TUNING_SEED = 7001
"""Of the matches that the base is tuned with: other openings than those of the table."""

CPUCTS = (0.5, 0.75, 1.0, 1.4, 2.5)
"""Values of c_puct that are tried against the default; then FPUS with the best of them and the default."""

FPUS = (0.0, 0.2, 0.6)
"""Reductions of first-play urgency that are tried."""


@dataclass(frozen=True)
class TableGame:
    """A game of the table: games a cell at scale 1."""

    name: str
    spec: str
    games: int


GAMES = (
    TableGame("connect4", "connect4", 1000),
    TableGame("minichess", "minichess", 1000),
    TableGame("nogo7", "nogo(size=7)", 1000),
    TableGame("chess", "chess", 400),
)


@dataclass(frozen=True)
class TableRule:
    """A rule of the table."""

    name: str
    """Name of the rule, and of its row."""
    words: str = ""
    """Settings of the player that has it, added to those of the base."""
    cpuct: float = 1.0
    """Factor on the base's c_puct."""
    control: str = ""
    """Name of the rule that has only its side effect; empty: there is none."""
    games: tuple[str, ...] = tuple(game.name for game in GAMES)
    """Names of the games in which it has a meaning."""


_BALANCE = "tree-balance.mode=legacy tree-balance.scale=1.5 tree-balance.left=1.5 tree-balance.right=0.01"

TABLE_RULES = (
    TableRule("solver", "solver=on"),
    TableRule("q-average", "q-average=on"),
    TableRule("tree-balance", _BALANCE, control="c-puct"),
    TableRule("c-puct", cpuct=1.5**-1.5),
    TableRule("prior-mixing", "prior-mixing=on"),
    TableRule("variance", "variance=on"),
    TableRule("initial-trust", "initial-trust=on"),
    TableRule("fpu-zero", "fpu.kind=absolute fpu.value=0"),
    TableRule("early-visits", "early-visits=on"),
    TableRule("lower-bound", "lower-bound=on"),
    TableRule("forced-playouts", "forced-playouts=on"),
    TableRule("gumbel", "gumbel.noise=0"),
    TableRule("repetition", "repetition=on", games=("minichess", "chess")),
    TableRule("wdl-contempt", "wdl-contempt.contempt=100", games=("connect4", "minichess", "chess")),
)
"""c-puct is the exploration that tree balance leaves to an average move, and its control; repetition means nothing
where positions do not repeat, contempt nothing where no game is drawn."""

CELLS = tuple((rule, game) for rule in TABLE_RULES for game in GAMES if game.name in rule.games)


@dataclass(frozen=True)
class Base:
    """The constants of both players in a game."""

    cpuct: float
    fpu: float

    def player(self, setting: Setting, game: TableGame, rule: TableRule | None = None) -> str:
        """The player with these constants and the rule."""
        words, factor = (rule.words, rule.cpuct) if rule else ("", 1.0)
        constants = f"cpuct.init={self.cpuct * factor:.6g}"
        constants += "" if "fpu." in words else f" fpu.value={self.fpu:g}"
        net = setting.net if game.name == "chess" else None
        return with_net(f"visits={setting.visits_or(VISITS)} {constants} {words}", net, setting.precision)


DEFAULT = Base(ht.SearchParams().cpuct.init, ht.SearchParams().fpu.value)


@dataclass(frozen=True)
class TableCell:
    """A rule in a game, and the match against the base."""

    rule: TableRule
    game: TableGame
    base: Base
    played: Played

    @property
    def elo(self) -> MatchElo:
        """The difference that the rule makes."""
        return MatchElo(self.played.tally)


def make(setting: Setting) -> Result:
    """Tune the bases, play the table."""
    names = chosen_cells(setting)
    cells: list[TableCell] = []
    for game in GAMES:
        playable = {}
        for rule, one in CELLS:
            if one is not game:
                continue
            name = cell_name(rule, game)
            if name in names or is_over(setting, cell_match(setting, rule, game, DEFAULT)):
                playable[name] = rule
        if not playable:
            continue
        base = tuned(setting, game)
        matches = [cell_match(setting, rule, game, base) for rule in playable.values()]
        played = play(replace(setting, only=()), matches)
        for name, rule in playable.items():
            cells.append(TableCell(rule, game, base, played[name]))
    rows = []
    findings = []
    constants = {}
    for cell in cells:
        rows.append(_row(cell))
        findings.append(finding(cell, cells))
        constants[cell.game.name] = {"cpuct": cell.base.cpuct, "fpu": cell.base.fpu}
    facts = {"base": constants, "visits": setting.visits_or(VISITS), "cells": len(CELLS)}
    return Result(rows, findings, [figure(setting, cells)], facts=facts)


def chosen_cells(setting: Setting) -> set[str]:
    """Return the cells that `--only` chooses, by their name, their rule or their game; all without it.

    ValueError for a word that chooses none.
    """
    chosen = set()
    found = set()
    for rule, game in CELLS:
        name = cell_name(rule, game)
        words = {name, rule.name, game.name}
        found |= words
        if not setting.only or words & set(setting.only):
            chosen.add(name)
    for word in setting.only:
        if word not in found:
            rules = ", ".join(rule.name for rule in TABLE_RULES)
            games = ", ".join(game.name for game in GAMES)
            raise ValueError(f"--only {word}: a cell is GAME-RULE, GAME or RULE; games: {games}; rules: {rules}")
    return chosen


def cell_name(rule: TableRule, game: TableGame) -> str:
    """Name of a cell's match."""
    return f"{game.name}-{rule.name}"


def cell_match(setting: Setting, rule: TableRule, game: TableGame, base: Base) -> Match:
    """The match of a cell: the base with the rule against the base."""
    a = base.player(setting, game, rule)
    b = base.player(setting, game)
    games = setting.pairs(game.games)
    return Match(cell_name(rule, game), a, b, games, game=game.spec, random_plies=RANDOM_PLIES)


def tuning_match(setting: Setting, game: TableGame, base: Base) -> Match:
    """A match of the tuning: a base against the default, half as many games."""
    a = base.player(setting, game)
    b = DEFAULT.player(setting, game)
    games = setting.pairs(game.games // 2)
    name = f"tune-{game.name}-c{base.cpuct:g}-f{base.fpu:g}"
    return Match(name, a, b, games, game=game.spec, random_plies=RANDOM_PLIES, seed=TUNING_SEED)


def tuned(setting: Setting, game: TableGame) -> Base:
    """The base of a game: the best c_puct against the default, then the best reduction with it."""
    every = replace(setting, only=())
    cpuct = _best(every, game, [DEFAULT, *(Base(value, DEFAULT.fpu) for value in CPUCTS)])
    best = _best(every, game, [cpuct, *(Base(cpuct.cpuct, value) for value in FPUS)])
    setting.show(f"{game.name}: base c_puct {best.cpuct:g}, reduction {best.fpu:g}")
    return best


def _best(setting: Setting, game: TableGame, bases: Sequence[Base]) -> Base:
    """The base that scores most against the default, which has a half against itself; of equal ones the first."""
    matches = {base: tuning_match(setting, game, base) for base in bases if base != DEFAULT}
    played = play(setting, matches.values())
    scores = {base: played[matches[base].name].tally.record.score if base in matches else 0.5 for base in bases}
    return max(scores, key=lambda base: scores[base])


def finding(cell: TableCell, cells: Sequence[TableCell]) -> Finding:
    """The rule makes the player stronger, beyond its control where it has one, among all cells of the table."""
    sides = [elo_above("difference", cell.elo)]
    control = None
    for one in cells:
        if one.rule.name == cell.rule.control and one.game == cell.game:
            control = one
            break
    scope = ""
    if control is not None:
        beyond = contrast((1, cell.elo), (-1, control.elo))
        sides.append(elo_above(f"beyond {control.rule.name}", beyond))
    elif cell.rule.control:
        scope = f"without its control {cell.rule.control}"
    claim = Claim(tuple(sides), cells=len(CELLS))
    return Finding.of(cell_name(cell.rule, cell.game), claim, scope=scope)


def _row(cell: TableCell) -> dict[str, Any]:
    tally = cell.played.tally
    record = Record.of(tally)
    return {
        "game": cell.game.name,
        "rule": cell.rule.name,
        "cpuct": cell.base.cpuct,
        "fpu": cell.base.fpu,
        "visits": ht.Player.from_text(cell.played.match.a).visits,
        "games": record.games,
        **record._asdict(),
        **elo_columns(cell.elo),
        "superiority": tally.superiority,
    }


def figure(setting: Setting, cells: Sequence[TableCell]) -> ht.Figure:
    """Elo with intervals by rule, a colour a game."""
    rules = list(dict.fromkeys(cell.rule.name for cell in cells))
    middle = (len(GAMES) - 1) / 2
    lines = []
    for number, game in enumerate(GAMES):
        shift = APART * (number - middle)
        mine = [cell for cell in cells if cell.game is game]
        if mine:
            xs = [rules.index(cell.rule.name) + 1 + shift for cell in mine]
            lines.append(points(game.name, xs, [cell.elo for cell in mine], COLOURS[number]))
    sizes = {cell.played.tally.record.games for cell in cells}
    games = " or ".join(f"{size:,}" for size in sorted(sizes))
    visits = setting.visits_or(VISITS)
    return ht.Figure(
        "rules-by-game",
        "Search rules by game",
        f"Each rule against the tuned base, {games} games a cell, {visits:,} visits a move; 95 %.",
        "Elo",
        "rule",
        lines=tuple(lines),
        threshold=0.0,
        threshold_name="the base",
        x_names=rules,
    )


def matches(setting: Setting) -> list[Match]:
    """The matches of the cells that are chosen, as if the bases were the default."""
    names = chosen_cells(setting)
    return [cell_match(setting, rule, game, DEFAULT) for rule, game in CELLS if cell_name(rule, game) in names]


EXPERIMENTS = (
    Experiment(
        "rules-by-game",
        "this laboratory",
        "every search rule in four games, from a base tuned for each",
        make,
        claims=[
            SourceClaim(
                cell_name(rule, game),
                "this laboratory",
                f"{rule.name} makes a player of {game.name} stronger",
                "none",
            )
            for rule, game in CELLS
        ],
        matches=matches,
        uses=("nets", "visits", "precision", "only"),
    ),
)
