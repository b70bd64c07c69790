"""Settings of the author's runs in Joshi 2025, section 4.2, and the paper's result for each.

They use lc0's names, as the author gave them to lc0. *hybrid* is the setting of search-contempt and of the PUCT beside
it in figure 2: lc0's defaults, no noise. *tau_1* and *tau_2* are PUCT as in the training of lc0's nets; they are named
after their temperatures. hybrid has the temperature of tau_1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from hauteur.matches.ratings.elo import MatchScore
from hauteur.mcts.lc0_options import Value, search_params, temperature
from hauteur.mcts.params import Temperature
from hauteur.players.settings import PlayerSettings
from hauteur_experiments.experiment import ExperimentSetting, Finding
from hauteur_experiments.matches import MatchSpec
from hauteur_experiments.verdict import Inequality, Measured

PAPER = "Joshi 2025"
VISITS = 1000
GAMES = 100
LEAST_GAMES = 100
"""Games of a setting below which nothing is concluded."""

Options = Mapping[str, Value]

HYBRID: Options = {"Temperature": 0.7, "TempEndgame": 0.1, "TempDecayMoves": 5}
TRAINING: Options = {
    "CPuct": 1.2,
    "RootHasOwnCpuctParams": True,
    "CPuctAtRoot": 2.0,
    "FpuStrategy": "reduction",
    "FpuValue": 0.49,
    "FpuStrategyAtRoot": "absolute",
    "FpuValueAtRoot": 1.0,
    "PolicyTemperature": 1.45,
    "DirichletNoiseEpsilon": 0.1,
    "DirichletNoiseAlpha": 0.12,
}
TAU_1: Options = {**TRAINING, **HYBRID, "TempDecayDelayMoves": 0, "TempCutoffMove": 40}
TAU_2: Options = {
    **TRAINING,
    "Temperature": 0.9,
    "TempEndgame": 0.6,
    "TempDecayMoves": 60,
    "TempDecayDelayMoves": 20,
    "TempCutoffMove": 40,
    "TempVisitOffset": -0.8,
}


def contempt(n_scl: int) -> Options:
    """hybrid with this N_scl."""
    return {**HYBRID, "ScLimit": n_scl}


@dataclass(frozen=True)
class SelfPlay:
    """Games of one setting against itself: name of their folder, name in tables, and White's results in the paper."""

    name: str
    title: str
    options: Options
    paper: MatchScore


N_SCL_SETS = (
    SelfPlay("n5", "N_scl 5", contempt(5), MatchScore(33, 42, 25)),
    SelfPlay("n10", "N_scl 10", contempt(10), MatchScore(19, 56, 25)),
    SelfPlay("n32", "N_scl 32", contempt(32), MatchScore(14, 76, 10)),
    SelfPlay("puct", "PUCT", HYBRID, MatchScore(3, 92, 5)),
)
"""Figure 2; the last is the paper's N_scl of 1,000,000, which is out of reach of 1,000 visits."""

TAU_SETS = (
    SelfPlay("tau1", "tau_1", TAU_1, MatchScore(4, 94, 2)),
    SelfPlay("tau2", "tau_2", TAU_2, MatchScore(32, 42, 26)),
)
"""Figure 3."""


EQUAL_WITHIN = 1.5
"""Ratios (w + l)/d are equal where one is less than this factor above the other."""


def equal_within(what: str, factor: Measured, least: int, of: str) -> tuple[Inequality, Inequality]:
    """Return that a factor between two ratios (w + l)/d is nearly 1. least, of: units that may decide."""
    low, high = 1 / EQUAL_WITHIN, EQUAL_WITHIN
    return (
        Inequality(what, factor, low, "above", least, of=of, matters=low),
        Inequality("the same", factor, high, "below", least, of=of, matters=high),
    )


def game_of(setting: ExperimentSetting) -> str:
    """The game that is played: the paper's is chess."""
    return setting.game or "chess"


def scoped(setting: ExperimentSetting, findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings with what differs from the paper besides the number of games: the game, the visits."""
    game, visits = game_of(setting), setting.visits_or(VISITS)
    scope = [f"{game}, not chess"] if game != "chess" else []
    scope += [f"{visits:,} visits, not {VISITS:,}"] if visits != VISITS else []
    return [replace(finding, scope=", ".join([*scope, *filter(None, [finding.scope])])) for finding in findings]


def player(setting: ExperimentSetting, options: Options) -> PlayerSettings:
    """The player of these options, with the net and the visits of the setting."""
    return PlayerSettings(
        net=setting.net(game_of(setting)),
        visits=setting.visits_or(VISITS),
        search=search_params(options),
        temperature=temperature(options),
    )


def warmer(settings: PlayerSettings, factor: float) -> PlayerSettings:
    """The player with its whole schedule of temperatures times a factor."""
    schedule = settings.temperature
    changed = {"initial": schedule.initial * factor, "endgame": schedule.endgame * factor}
    return settings.model_copy(update={"temperature": Temperature.model_validate(schedule.model_dump() | changed)})


def selfplay(setting: ExperimentSetting, name: str, settings: PlayerSettings, games: int) -> MatchSpec:
    """Return a self-play match from the start; A is the first player, and each side has its own tree."""
    return MatchSpec(name, settings, settings, games, game=game_of(setting), colours="first")


def paper_match(setting: ExperimentSetting, one: SelfPlay) -> MatchSpec:
    """A set of the paper at the scale of the setting."""
    return selfplay(setting, one.name, player(setting, one.options), setting.scaled(GAMES, 2))
