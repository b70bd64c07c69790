"""Numeric settings of a player that are to be tuned, as places from 0 to 1 between two bounds.

`cpuct.init=0.5:3` in text: any key of a player that has a number, and its bounds; `:log` after them where factors count
and not differences. Half-way between 0.5 and 3 is 1.75, or 1.22 with `:log`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hauteur.players.settings import PlayerSettings, changed_player, value_at, value_key
from hauteur.system.settings import kinds_at

DIGITS = 5
"""Significant digits of a value."""


@dataclass(frozen=True)
class Parameter:
    """A setting between two bounds.

    key: as in a player's text; path: its full name; low, high: bounds; log: places are even in the logarithm; whole:
    values are whole numbers. ValueError for bounds that are none.
    """

    key: str
    path: tuple[str, ...]
    low: float
    high: float
    log: bool = False
    whole: bool = False

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise ValueError(f"{self.key}: the lower bound must be below the upper, got {self.low:g}:{self.high:g}")
        if self.log and self.low <= 0:
            raise ValueError(f"{self.key}: with log both bounds must be above 0, got {self.low:g}:{self.high:g}")
        if self.whole and not (self.low.is_integer() and self.high.is_integer()):
            raise ValueError(f"{self.key} is a whole number, and so are its bounds, got {self.low:g}:{self.high:g}")

    def value(self, place: float) -> float | int:
        """The value at a place from 0 to 1, rounded."""
        exact = self._log_value(place) if self.log else self.low + self.width * place
        if self.whole:
            return round(exact)
        return min(max(float(f"{exact:.{DIGITS}g}"), self.low), self.high)

    def place(self, value: float) -> float:
        """Return the place of a value, 0 to 1; ValueError if it is outside the bounds."""
        if not self.low <= value <= self.high:
            raise ValueError(f"{self.key} is {value:g} and must be within its bounds {self.low:g}:{self.high:g}")
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def least_spread(self, place: float) -> float:
        """Return the least distance from a place, to both sides, at which values are certain to differ."""
        if not self.whole:
            return 0.0
        slope = self._log_value(place) * math.log(self.high / self.low) if self.log else self.width
        return min(0.5, 0.6 / slope)

    def _log_value(self, place: float) -> float:
        return self.low * math.exp(math.log(self.high / self.low) * place)

    @property
    def width(self) -> float:
        return self.high - self.low

    def __str__(self) -> str:
        return f"{self.key}={self.low:g}:{self.high:g}{':log' if self.log else ''}"


def parse_parameter(text: str, player: PlayerSettings) -> Parameter:
    """The parameter that `KEY=LOW:HIGH` or `KEY=LOW:HIGH:log` means for this player, which must take both bounds."""
    key, _, bounds = text.partition("=")
    low, high, *log = bounds.split(":") if ":" in bounds else ("", "", "?")
    if log not in ([], ["log"]):
        raise ValueError(f"--parameter is KEY=LOW:HIGH or KEY=LOW:HIGH:log, such as cpuct.init=0.5:3, got {text!r}")
    try:
        path = value_key(key)
    except ValueError as error:
        raise ValueError(f"--parameter {text}: {error}") from None
    kinds = kinds_at(PlayerSettings, path)
    if int not in kinds and float not in kinds:
        raise ValueError(f"--parameter {text}: {key} is not a number")
    found = Parameter(key, path, _number(low, text), _number(high, text), log=bool(log), whole=float not in kinds)
    for value in (found.low, found.high):
        changed_player(player, values_text({key: int(value) if found.whole else value}), f"--parameter {text}")
    return found


def _number(text: str, where: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"--parameter {where}: {text!r} is not a number") from None


def parse_parameters(texts: Sequence[str], player: PlayerSettings) -> tuple[Parameter, ...]:
    """Parse all parameters; ValueError if there is none or one is repeated."""
    found = tuple(parse_parameter(text, player) for text in texts)
    paths = [parameter.path for parameter in found]
    twice = [parameter.key for number, parameter in enumerate(found) if parameter.path in paths[:number]]
    if twice or not found:
        raise ValueError(
            f"--parameter {twice[0]} is given twice" if twice else "--parameter is missing: what is tuned?"
        )
    return found


def places_of(player: PlayerSettings, parameters: Sequence[Parameter]) -> list[float]:
    """Return the places of the player's own values; the middle for a setting of a disabled rule."""
    values = [value_at(player, parameter.path) for parameter in parameters]
    return [
        0.5 if value is None else parameter.place(value) for parameter, value in zip(parameters, values, strict=True)
    ]


def values_text(values: Mapping[str, float | int]) -> str:
    """Values as words of a player."""
    return " ".join(f"{key}={value}" for key, value in values.items())
