"""Settings of the author's runs in Joshi 2025, section 4.2, as texts of players, and the paper's result for each.

They are those that the author gave to lc0. *hybrid* is the setting of search-contempt and of the PUCT beside it in
figure 2: lc0's defaults, no noise. *tau_1* and *tau_2* are PUCT as in the training of lc0's nets; they are named after
their temperatures. hybrid has the temperature of tau_1.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hauteur_experiments.experiment import Result
from hauteur_experiments.grid import Match, with_net
from hauteur_experiments.measured import Record
from hauteur_experiments.setting import Setting, position_lines

PAPER = "Joshi 2025"
VISITS = 1000
GAMES = 100
LEAST_GAMES = 100
"""Games of a setting below which nothing is concluded."""

LC0 = (
    "solver.lost_child_mode=zero_prior solver.clamp_to_bounds=false solver.root_excludes_proven=false "
    "solver.auto_extend=false repetition=on"
)
"""Defaults of lc0's search besides plain PUCT."""

COOL = "temperature=0.7 temperature.decay_moves=5 temperature.endgame=0.1"
TRAINING = (
    "cpuct.init=1.2 root_cpuct.init=2 fpu.value=0.49 root_fpu.kind=absolute root_fpu.value=1 policy_temperature=1.45 "
    f"dirichlet.epsilon=0.1 dirichlet.alpha=0.12 {LC0}"
)
HYBRID = f"{COOL} {LC0}"
TAU_1_TEMPERATURE = f"{COOL} temperature.cutoff_move=40"


def tau_2_temperature(factor: float = 1.0) -> str:
    """The warm schedule of temperatures, times a factor."""
    return (
        f"temperature={0.9 * factor!r} temperature.decay_moves=60 temperature.decay_delay_moves=20 "
        f"temperature.cutoff_move=40 temperature.endgame={0.6 * factor!r} temperature.visit_offset=-0.8"
    )


TAU_1 = f"{TAU_1_TEMPERATURE} {TRAINING}"
TAU_2 = f"{tau_2_temperature()} {TRAINING}"


def contempt(n_scl: int) -> str:
    """hybrid with this N_scl."""
    return f"{HYBRID} search_contempt.n_scl={n_scl}"


@dataclass(frozen=True)
class SelfPlay:
    """Games of one setting against itself: name of their folder, name in tables, and White's results in the paper."""

    name: str
    title: str
    words: str
    paper: Record


N_SCL_SETS = (
    SelfPlay("n5", "N_scl 5", contempt(5), Record(33, 42, 25)),
    SelfPlay("n10", "N_scl 10", contempt(10), Record(19, 56, 25)),
    SelfPlay("n32", "N_scl 32", contempt(32), Record(14, 76, 10)),
    SelfPlay("puct", "PUCT", HYBRID, Record(3, 92, 5)),
)
"""Figure 2; the last is the paper's N_scl of 1,000,000, which is out of reach of 1,000 visits."""

TAU_SETS = (
    SelfPlay("tau1", "tau_1", TAU_1, Record(4, 94, 2)),
    SelfPlay("tau2", "tau_2", TAU_2, Record(32, 42, 26)),
)
"""Figure 3."""


def game_of(setting: Setting) -> str:
    """The game that is played: the paper's is chess."""
    return setting.game or "chess"


def player(setting: Setting, words: str) -> str:
    """The player of these words, with the net and the visits of the setting."""
    return with_net(f"visits={setting.visits_or(VISITS)} {words}", setting.net, setting.precision)


def selfplay(setting: Setting, name: str, words: str, games: int, seed: int = 1) -> Match:
    """Return a self-play match from the start, or from positions in turn; A is the first player, with its own tree."""
    a = player(setting, words)
    openings = position_lines(setting.positions)
    return Match(name, a, a, games, game=game_of(setting), colours="first", openings=openings, seed=seed)


def paper_match(setting: Setting, one: SelfPlay) -> Match:
    """A set of the paper at the scale of the setting."""
    return selfplay(setting, one.name, one.words, setting.scaled(GAMES, 2))


def scoped(setting: Setting, result: Result) -> Result:
    """Return the result with what differs from the paper besides the number of games: the game, the visits."""
    game = game_of(setting)
    visits = setting.visits_or(VISITS)
    return result.scoped(
        f"{game}, not chess" if game != "chess" else "",
        f"{visits:,} visits, not {VISITS:,}" if visits != VISITS else "",
        f"from {Path(setting.positions).stem}, not the start" if setting.positions else "",
    )
