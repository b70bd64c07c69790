"""Tuning of a player's setting to a target ratio of decisive to drawn games, (w + l)/d, in games against itself.

The search is `hauteur.matches.tuning.ratio_fit.tune_ratio`; this module plays its matches. All games at a value are one
match in its own folder, in which the player has both seats, each with its own tree; more games at a value extend that
match.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hauteur.matches.match import MatchSettings
from hauteur.matches.ratings.elo import MatchScore
from hauteur.matches.tuning.folder import TuningFolder
from hauteur.matches.tuning.parameters import Parameter
from hauteur.matches.tuning.ratio_fit import (
    MeasuredRatio,
    RatioSearch,
    TunedRatio,
    decisive_ratio,
    decisive_ratio_interval,
    tune_ratio,
)
from hauteur.players.settings import PlayerSettings, changed_player, player_text
from hauteur.system.seeds import derived_seed

Show = Callable[[str], None]


@dataclass(frozen=True)
class RatioTuning:
    """Settings of a tuning: a player, the setting to tune, the search, and the beginning of games.

    rising: whether the ratio rises with the setting; games: at a value at a time; most_games: in all; precision: it
    ends where the interval of the value is narrower than this factor.
    """

    game: str
    player: PlayerSettings
    parameter: Parameter
    wanted: float
    rising: bool
    games: int = 40
    most_games: int = 400
    precision: float = 1.5
    random_plies: int = 0
    seed: int = 0

    @property
    def search(self) -> RatioSearch:
        """Settings of the search; ValueError for invalid sizes or bounds."""
        low, high = self.parameter.low, self.parameter.high
        if low <= 0:
            raise ValueError(f"{self.parameter.key}: both bounds must be above 0, got {low:g}:{high:g}")
        third = (low * low * high) ** (1 / 3), (low * high * high) ** (1 / 3)
        starts = tuple(dict.fromkeys(float(round(x)) if self.parameter.whole else x for x in third))
        return RatioSearch(
            wanted=self.wanted,
            low=low,
            high=high,
            starts=starts,
            rising=self.rising,
            whole=self.parameter.whole,
            games=self.games,
            most_games=self.most_games,
            precision=self.precision,
        )

    def value(self, x: float) -> float | int:
        """A place of the search as a value of the setting; different places have different values."""
        return round(x) if self.parameter.whole else float(f"{x:.10g}")

    def player_at(self, x: float) -> PlayerSettings:
        """The player with this value."""
        return changed_player(self.player, f"{self.parameter.key}={self.value(x)}")

    def stamp(self) -> dict[str, Any]:
        """Return the settings that determine the games."""
        return {
            "game": self.game,
            "player": player_text(self.player),
            "parameter": str(self.parameter),
            "wanted": self.wanted,
            "rising": self.rising,
            "games": self.games,
            "random_plies": self.random_plies,
            "seed": self.seed,
        }


def tune_to_ratio(tuning: RatioTuning, folder: TuningFolder, show: Show) -> TunedRatio:
    """Tune in the folder, resuming an earlier attempt; write result.json there.

    show: receives a line for every value played. Raise ValueError if the folder holds another tuning.
    """

    def measure(x: float, games: int) -> MatchScore:
        player = tuning.player_at(x)
        settings = MatchSettings(
            game=tuning.game,
            a=player,
            b=player,
            games=games,
            colours="first",
            random_plies=tuning.random_plies,
            seed=derived_seed(tuning.seed, f"tune ratio at {tuning.value(x)}"),  # games of near values are not the same
        )
        record = folder.play(f"value-{tuning.value(x)}", settings).record
        show(f"{tuning.parameter.key}={tuning.value(x):g}: {ratio_text(record)}")
        return record

    search = tuning.search
    with folder.open(tuning.stamp()):
        tuned = tune_ratio(measure, search)
        folder.write_result(to_json(tuning, tuned))
    return tuned


def ratio_text(record: MatchScore) -> str:
    """Results of the first player and (w + l)/d with its interval."""
    low, high = decisive_ratio_interval(record)
    ratio = decisive_ratio(record)
    shown = "no draw" if ratio is None else f"(w+l)/d {ratio:.3g}"
    return f"{record.games} games {record}  {shown} [{low:.3g}, {high:.3g}]"


def report(tuning: RatioTuning, tuned: TunedRatio) -> str:
    """All values that were played in order, and the one that was found."""
    rows = [_row(tuning, one) for one in sorted(tuned.measured, key=lambda one: one.x)]
    low, high = tuned.interval
    key, value = tuning.parameter.key, tuning.value(tuned.x)
    found = f"{key}={value:g} [{low:.4g}, {high:.4g}] (95 %) for (w+l)/d {tuning.wanted:g}"
    if tuned.reached != "found":
        found = f"(w+l)/d {tuning.wanted:g} is beyond the {tuned.reached} bound: {key}={value:g} has {tuned.ratio:.3g}"
    return "\n".join([*rows, f"{found}, {tuned.games} games", f"player: {player_text(tuning.player_at(tuned.x))}"])


def _row(tuning: RatioTuning, one: MeasuredRatio) -> str:
    return f"{tuning.parameter.key}={tuning.value(one.x):<8g} {ratio_text(one.record)}"


def to_json(tuning: RatioTuning, tuned: TunedRatio) -> dict[str, Any]:
    """Everything as numbers."""
    return {
        "settings": tuning.stamp(),
        "value": tuning.value(tuned.x),
        "interval_95": list(tuned.interval),
        "ratio": tuned.ratio,
        "reached": tuned.reached,
        "player": player_text(tuning.player_at(tuned.x)),
        "measured": [_measured_json(tuning, one) for one in tuned.measured],
    }


def _measured_json(tuning: RatioTuning, one: MeasuredRatio) -> dict[str, Any]:
    record = one.record
    low, high = decisive_ratio_interval(record)
    return {
        "value": tuning.value(one.x),
        "wins": record.wins,
        "draws": record.draws,
        "losses": record.losses,
        "ratio": decisive_ratio(record),
        "interval_95": [low, high if math.isfinite(high) else None],
    }
