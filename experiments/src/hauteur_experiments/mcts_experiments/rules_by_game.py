"""Every search rule in four games, each from a base that is tuned for the game: a table rule by game.

Published effects of a rule are single matches of one net in one game, from constants that suit that net more or less.
Here both players have the net of the game and its base, c_puct and first-play urgency tuned by matches with seeds of
their own, and one of them the rule. A control has the side effect of a rule alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hauteur.matches.ratings.elo import elo_of_score
from hauteur.matches.results import summary
from hauteur.mcts.params import Cpuct, Fpu
from hauteur.players.settings import PlayerSettings, parse_player
from hauteur.plots import LINE_COLOURS, Figure, Series
from hauteur.system.formatting import finite
from hauteur_experiments.experiment import Experiment, ExperimentSetting, Finding, Result
from hauteur_experiments.matches import MatchSpec, PlayedMatch, is_over, match_seconds, play_matches
from hauteur_experiments.mcts_experiments.elo_claims import beyond, elo_inequality
from hauteur_experiments.measured import MatchElo
from hauteur_experiments.verdict import Claim

VISITS = 100
RANDOM_PLIES = 4
TUNING_SEED = 7001
"""Of the matches that the base is tuned with: other openings than those of the table."""

CPUCTS = (0.5, 0.75, 1.0, 1.4, 2.5)
"""Values of c_puct that are tried against the default; then FPUS with the best of them and the default."""

FPUS = (0.0, 0.2, 0.6)
"""Reductions of first-play urgency that are tried."""

APART = 0.12
"""Distance of the points of a rule in the figure."""


@dataclass(frozen=True)
class TableGame:
    """A game of the table: games a cell at scale 1, plies of a game for the estimate."""

    name: str
    spec: str
    games: int
    plies: int


GAMES = (
    TableGame("connect4", "connect4", 1000, 36),
    TableGame("minichess", "minichess", 1000, 60),
    TableGame("nogo7", "nogo(size=7)", 1000, 40),
    TableGame("chess", "chess", 400, 120),
)


@dataclass(frozen=True)
class TableRule:
    """A rule of the table. words: of the player that has it, beside the base; cpuct: factor on the base's c_puct.

    control: the rule that has its side effect alone; games: in which it means something.
    """

    name: str
    words: str = ""
    cpuct: float = 1.0
    control: str = ""
    games: tuple[str, ...] = tuple(game.name for game in GAMES)


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

    def player(
        self, setting: ExperimentSetting, game: TableGame, words: str = "", factor: float = 1.0
    ) -> PlayerSettings:
        """The player with these constants and the rule of the words; factor: on c_puct."""
        own = setting if game.name == "chess" else replace(setting, nets=())
        constants = f"cpuct.init={self.cpuct * factor:.6g}"
        constants += "" if "fpu." in words else f" fpu.value={self.fpu:g}"
        player = parse_player(f"visits={setting.visits_or(VISITS)} {constants} {words}")
        return player.model_copy(update={"net": own.net(game.spec)})


DEFAULT = Base(Cpuct().init, Fpu().value)


@dataclass(frozen=True)
class TableCell:
    """A rule in a game, and the match against the base."""

    rule: TableRule
    game: TableGame
    played: PlayedMatch

    @property
    def elo(self) -> MatchElo:
        """The difference that the rule makes."""
        return MatchElo(self.played.tally)


def make(setting: ExperimentSetting) -> Result:
    """Tune the bases, play the table."""
    names = chosen(setting)
    wanted = replace(setting, only=tuple(names) if setting.only else ())
    bases, cells = {}, []
    for game in GAMES:
        own = [(rule, cell_game) for rule, cell_game in CELLS if cell_game is game]
        begun = any(is_over(setting, cell_spec(setting, rule, game, DEFAULT)) for rule, _ in own)
        if not begun and not any(cell_name(rule, game) in names for rule, _ in own):
            continue
        bases[game.name] = base = tuned(setting, game)
        mine = tuple(name for name in wanted.only if name.startswith(f"{game.name}-"))
        specs = {cell_name(rule, game): cell_spec(setting, rule, game, base) for rule, _ in own}
        played = _played(replace(wanted, only=mine), specs, every=not wanted.only)
        cells += [
            TableCell(rule, game, played[cell_name(rule, game)]) for rule, _ in own if cell_name(rule, game) in played
        ]
    constants = {name: {"cpuct": base.cpuct, "fpu": base.fpu} for name, base in bases.items()}
    facts = {"base": constants, "visits": setting.visits_or(VISITS), "cells": len(CELLS)}
    findings = [finding(cell, cells) for cell in cells]
    return Result(
        [_row(cell, bases[cell.game.name]) for cell in cells], findings, [figure(setting, cells)], facts=facts
    )


def _played(setting: ExperimentSetting, specs: Mapping[str, MatchSpec], *, every: bool) -> dict[str, PlayedMatch]:
    """The matches that are wanted and those that are over."""
    if every or setting.only:
        return play_matches(setting, specs.values())
    return play_matches(setting, [spec for spec in specs.values() if is_over(setting, spec)])


def chosen(setting: ExperimentSetting) -> list[str]:
    """Return the cells that `--only` chooses, by their name, their rule or their game; all without it.

    ValueError for a word that chooses none.
    """
    for word in setting.only:
        if not any(word in (cell_name(rule, game), rule.name, game.name) for rule, game in CELLS):
            rules, games = (", ".join(one.name for one in every) for every in (TABLE_RULES, GAMES))
            raise ValueError(f"--only {word}: a cell is GAME-RULE, GAME or RULE; games: {games}; rules: {rules}")
    return [
        cell_name(rule, game)
        for rule, game in CELLS
        if not setting.only or {cell_name(rule, game), rule.name, game.name} & set(setting.only)
    ]


def cell_name(rule: TableRule, game: TableGame) -> str:
    """Name of a cell's match."""
    return f"{game.name}-{rule.name}"


def cell_spec(setting: ExperimentSetting, rule: TableRule, game: TableGame, base: Base) -> MatchSpec:
    """The match of a cell: the base with the rule against the base."""
    a = base.player(setting, game, rule.words, rule.cpuct)
    return _spec(setting, cell_name(rule, game), game, a, base.player(setting, game))


def _spec(
    setting: ExperimentSetting,
    name: str,
    game: TableGame,
    a: PlayerSettings,
    b: PlayerSettings,
    *,
    tuning: bool = False,
) -> MatchSpec:
    games = 2 * setting.scaled(game.games // (4 if tuning else 2))
    seed = TUNING_SEED if tuning else 1
    return MatchSpec(name, a, b, games, game=game.spec, random_plies=RANDOM_PLIES, seed=seed)


def tuned(setting: ExperimentSetting, game: TableGame) -> Base:
    """The base of a game: the best c_puct against the default, then the best reduction with it."""
    every = replace(setting, only=())
    cpuct = _best(every, game, {DEFAULT: None, **{Base(value, DEFAULT.fpu): None for value in CPUCTS}})
    best = _best(every, game, {cpuct: None, **{Base(cpuct.cpuct, value): None for value in FPUS}})
    setting.show(f"{game.name}: base c_puct {best.cpuct:g}, reduction {best.fpu:g}")
    return best


def _best(setting: ExperimentSetting, game: TableGame, bases: Mapping[Base, None]) -> Base:
    """The base that scores most against the default, which has a half against itself; of equal ones the first."""
    specs = {base: tuning_spec(setting, game, base) for base in bases if base != DEFAULT}
    played = play_matches(setting, specs.values())
    scores = {base: played[specs[base].name].tally.record.score if base in specs else 0.5 for base in bases}
    return max(scores, key=lambda base: scores[base])


def tuning_spec(setting: ExperimentSetting, game: TableGame, base: Base) -> MatchSpec:
    """A match of the tuning: a base against the default."""
    name = f"tune-{game.name}-c{base.cpuct:g}-f{base.fpu:g}"
    return _spec(setting, name, game, base.player(setting, game), DEFAULT.player(setting, game), tuning=True)


def finding(cell: TableCell, cells: Sequence[TableCell]) -> Finding:
    """Whether the rule makes the player stronger, beyond its control where it has one, among all cells of the table."""
    sides = [elo_inequality("difference", cell.elo)]
    control = next((one for one in cells if (one.rule.name, one.game) == (cell.rule.control, cell.game)), None)
    if control is not None:
        sides.append(elo_inequality(f"beyond {control.rule.name}", beyond(cell.elo, control.elo)))
    scope = f"without its control {cell.rule.control}" if cell.rule.control and control is None else ""
    statement = f"{cell.rule.name} makes a player of {cell.game.name} stronger"
    return Finding.of(statement, Claim(tuple(sides), cells=len(CELLS)), scope=scope)


def _row(cell: TableCell, base: Base) -> dict[str, Any]:
    record, (low, high) = cell.played.tally.record, cell.elo.interval(0.95)
    return {
        "game": cell.game.name,
        "rule": cell.rule.name,
        "cpuct": base.cpuct,
        "fpu": base.fpu,
        "visits": cell.played.spec.a.visits,
        "games": record.games,
        "wins": record.wins,
        "draws": record.draws,
        "losses": record.losses,
        "elo": finite(elo_of_score(record.score)),
        "elo_low": finite(low),
        "elo_high": finite(high),
        "summary": summary(cell.played.tally),
    }


def figure(setting: ExperimentSetting, cells: Sequence[TableCell]) -> Figure:
    """Elo with intervals by rule, a colour a game."""
    rules = list(dict.fromkeys(cell.rule.name for cell in cells))
    lines = [_series(number, game, rules, cells) for number, game in enumerate(GAMES)]
    sizes = sorted({cell.played.tally.record.games for cell in cells})
    games = " or ".join(f"{size:,}" for size in sizes)
    text = f"Each rule against the tuned base, {games} games a cell, {setting.visits_or(VISITS):,} visits a move; 95 %."
    return Figure(
        "rules-by-game",
        "Search rules by game",
        text,
        "Elo",
        "rule",
        lines=tuple(line for line in lines if line.xs),
        threshold=0.0,
        threshold_name="the base",
        x_names=rules,
    )


def _series(number: int, game: TableGame, rules: Sequence[str], cells: Sequence[TableCell]) -> Series:
    mine = [cell for cell in cells if cell.game is game]
    xs = [rules.index(cell.rule.name) + 1 + APART * (number - (len(GAMES) - 1) / 2) for cell in mine]
    ends = [cell.elo.interval(0.95) for cell in mine]
    values, lows, highs = (
        [finite(value) for value in column]
        for column in ([cell.elo.value for cell in mine], [low for low, _ in ends], [high for _, high in ends])
    )
    return Series(game.name, xs, values, LINE_COLOURS[number], low=lows, high=highs, joined=False)


def _all_specs(setting: ExperimentSetting, game: TableGame) -> Iterator[MatchSpec]:
    """Yield the matches of a game, as many as will be played; the base is not known yet."""
    names = chosen(setting)
    cells = [cell_spec(setting, rule, game, DEFAULT) for rule, cell_game in CELLS if cell_game is game]
    mine = [spec for spec in cells if spec.name in names]
    if mine:
        yield from (tuning_spec(setting, game, Base(value, DEFAULT.fpu)) for value in CPUCTS)
        yield from (tuning_spec(setting, game, Base(DEFAULT.cpuct, value)) for value in FPUS)
    yield from mine


def seconds(setting: ExperimentSetting) -> float:
    """Estimate the seconds of all matches, started from scratch."""
    return sum(match_seconds(setting, list(_all_specs(setting, game)), game.plies) for game in GAMES)


EXPERIMENTS = (
    Experiment(
        "rules-by-game",
        "this laboratory",
        "every search rule in four games, from a base tuned for each",
        0.0,
        make,
        seeds=1,
        uses=("nets", "visits", "only"),
        estimate_here=seconds,
    ),
)
