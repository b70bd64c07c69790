"""Tuning of player settings for strength: matches compare two settings, and SPSA moves towards the better one.

Each iteration is a match in its own folder, or two with a fixed opponent. An interrupted tuning restarts in the same
folder and finds the finished matches; there is no other state.

A setting is tuned as a place from 0 to 1 between two bounds. `cpuct.init=0.5:3` in text: any key of a player that has
a number, and its bounds; `:log` after them where factors count and not differences. Half-way between 0.5 and 3 is 1.75,
or 1.22 with `:log`.

SPSA finds the maximum of a function of several numbers that can be compared with noise alone, as matches do players:
Spall, "An overview of the simultaneous perturbation method for efficient optimization" (1998), as chess programmers use
it. An iteration moves all parameters a little, each to a random side, and in one match lets the point there play the
point opposite; all parameters then move towards the side that did better:

    p = theta + c_k d        m = theta - c_k d        d_i = +-1
    theta_i <- theta_i + a_k r d_i / c_k              r = share of points of p - share of points of m

    a_k ~ ((1 + A) / (k + 1 + A)) ^ 0.602    c_k ~ (k + 1) ^ -0.101    A = iterations / 10

Why not an optimiser from a package: those are given a function's value at a point, so each point would play some third
player. Here the two points play each other: the same noise shows twice the difference, which is worth four times the
games, and there is nothing to be modelled. The one thing to be chosen, how large the steps are, is chosen below for
places from 0 to 1.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hauteur.games.registry import load_game
from hauteur.matches.folder import MatchFolder, games_stamp
from hauteur.matches.match import Match
from hauteur.matches.openings import Opening
from hauteur.matches.ratings.elo import MatchScore
from hauteur.matches.results import Tally, summary
from hauteur.matches.settings import MatchSettings
from hauteur.players.build import Resources
from hauteur.players.settings import PlayerSettings, changed_player, player_text, value_at, value_key
from hauteur.system.run_directory import RunDirectory
from hauteur.system.seeds import derived_seed, stream
from hauteur.system.settings import kinds_at

if TYPE_CHECKING:
    from hauteur.cluster.scheduler import Scheduler

DIGITS = 5
"""Significant digits of a value."""


@dataclass(frozen=True)
class Parameter:
    """A setting between two bounds. Raise ValueError for bounds that leave no range."""

    key: str
    """Name of the setting as in a player's text, such as `cpuct.init`."""
    path: tuple[str, ...]
    """The full name, section by section."""
    low: float
    """Lower bound."""
    high: float
    """Upper bound."""
    log: bool = False
    """The scale is logarithmic, so that equal steps are equal factors."""
    whole: bool = False
    """The setting takes whole numbers."""

    def __post_init__(self) -> None:
        given = f"{self.low:g}:{self.high:g}"
        is_finite = math.isfinite(self.low) and math.isfinite(self.high)
        if not is_finite or self.low >= self.high:
            raise ValueError(f"{self.key}: the lower bound must be below the upper, got {given}")
        if self.log and self.low <= 0:
            raise ValueError(f"{self.key}: with log both bounds must be above 0, got {given}")
        if self.whole and not (self.low.is_integer() and self.high.is_integer()):
            raise ValueError(f"{self.key} is a whole number, and so are its bounds, got {given}")

    def value(self, place: float) -> float | int:
        """The value at a place from 0 to 1, rounded."""
        exact = self._log_value(place) if self.log else self.low + self.width * place
        if self.whole:
            return round(exact)
        # Rounding may lead out of the bounds.
        rounded = float(f"{exact:.{DIGITS}g}")
        return min(max(rounded, self.low), self.high)

    def place(self, value: float) -> float:
        """Return the place of a value, 0 to 1; ValueError if it is outside the bounds."""
        if not self.low <= value <= self.high:
            raise ValueError(f"{self.key} is {value:g} and must be within its bounds {self.low:g}:{self.high:g}")
        if self.log:
            return math.log(value / self.low) / self._log_width
        return (value - self.low) / (self.high - self.low)

    def least_spread(self, place: float) -> float:
        """Return the least distance from a place, to both sides, at which values are certain to differ."""
        if not self.whole:
            return 0.0
        slope = self.width
        if self.log:
            slope = self._log_value(place) * self._log_width
        # On both sides: points 1.2 apart are rounded to different whole numbers wherever they lie.
        return min(0.5, 0.6 / slope)

    def _log_value(self, place: float) -> float:
        """Return the value at a place of a logarithmic scale, not rounded."""
        return self.low * math.exp(self._log_width * place)

    @property
    def _log_width(self) -> float:
        """Distance of the bounds on a logarithmic scale."""
        return math.log(self.high / self.low)

    @property
    def width(self) -> float:
        """Distance of the bounds."""
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
    found = Parameter(
        key,
        path,
        low=_number(low, text),
        high=_number(high, text),
        log=bool(log),
        whole=float not in kinds,
    )
    for value in (found.low, found.high):
        bound = int(value) if found.whole else value
        changed_player(player, values_text({key: bound}), f"--parameter {text}")
    return found


def _number(text: str, where: str) -> float:
    """Return the number that a text means; ValueError names the option."""
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"--parameter {where}: {text!r} is not a number") from None


def parse_parameters(texts: Sequence[str], player: PlayerSettings) -> tuple[Parameter, ...]:
    """Parse all parameters; ValueError if there is none or one is repeated."""
    found = tuple(parse_parameter(text, player) for text in texts)
    if not found:
        raise ValueError("--parameter is missing: what is tuned?")
    paths = set()
    for parameter in found:
        if parameter.path in paths:
            raise ValueError(f"--parameter {parameter.key} is given twice")
        paths.add(parameter.path)
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


ALPHA = 0.602
"""Spall's exponent of a_k."""
GAMMA = 0.101
"""Spall's exponent of c_k."""

Place = NDArray[np.float64]
"""A point: a coordinate from 0 to 1 for each parameter."""

Compare = Callable[[int, Place, Place], float]
"""(iteration, p, m) -> r, from -1 (m won every game) to 1."""


@dataclass(frozen=True)
class Schedule:
    """Settings of SPSA.

    spread: c_0, how far the two points are from the middle, in shares of the range; step: how far every parameter moves
    in the first iteration if one side wins all games. In a simulation of matches (30 to 200 iterations of 20 to 40
    games, one to three parameters, 50 to 200 Elo from the best to the bounds) 0.2 and 0.3 lost 1 to 5 Elo at the end.
    """

    iterations: int
    spread: float = 0.2
    step: float = 0.3

    def __post_init__(self) -> None:
        if not 1 <= self.iterations <= 1_000_000:
            raise ValueError(f"iterations must be 1 to 1,000,000, got {self.iterations}")
        for name, value, most in (("spread", self.spread, 0.5), ("step", self.step, 10.0)):
            if not 0 < value <= most:
                raise ValueError(f"{name} must be above 0 and at most {most:g}, got {value:g}")

    def spread_at(self, iteration: int) -> float:
        """c_k, in shares of the range."""
        return self.spread / math.pow(iteration + 1, GAMMA)

    def step_at(self, iteration: int) -> float:
        """a_k / c_k: how far parameters move for r = 1."""
        late = self.iterations / 10
        return (
            self.step * math.pow((1 + late) / (iteration + 1 + late), ALPHA) * self.spread / self.spread_at(iteration)
        )


@dataclass(frozen=True)
class Iteration:
    """One iteration of SPSA."""

    number: int
    """Number of the iteration, from 0."""
    plus: Place
    """The point p, whose games are counted as wins and losses."""
    minus: Place
    """The point m, on the other side of the middle."""
    result: float
    """r, from -1 (m won every game) to 1 (p won every game)."""
    place: Place
    """The parameters after the iteration."""


def spsa(
    compare: Compare,
    start: Sequence[float],
    schedule: Schedule,
    *,
    seed: int,
    least_spread: Callable[[Place], Sequence[float]] | None = None,
) -> Iterator[Iteration]:
    """Yield the iterations from `start`, each after its comparison.

    A function of start, schedule, seed and the results of `compare`: restarted after an interruption, it requests the
    same comparisons. least_spread: lower bound of c_k for each parameter at a place, for rounded values. Near a bound
    the two points move inwards together.
    """
    place = np.clip(np.array(start, np.float64), 0, 1)
    for number in range(schedule.iterations):
        spread = np.full(len(place), schedule.spread_at(number))
        if least_spread is not None:
            spread = np.minimum(np.maximum(spread, least_spread(place)), 0.5)
        side = stream(seed, "spsa", number).choice([-1.0, 1.0], len(place))
        middle = np.clip(place, spread, 1 - spread)
        plus = middle + spread * side
        minus = middle - spread * side
        result = compare(number, plus, minus)
        place = np.clip(place + schedule.step_at(number) * result * side, 0, 1)
        yield Iteration(number, plus, minus, result, place)


def settled(iterations: Sequence[Iteration]) -> Place:
    """The mean place of the second half of the iterations, which is nearer to the maximum than the last one is."""
    half = iterations[len(iterations) // 2 :]
    mean: Place = np.mean([one.place for one in half], axis=0)
    return mean


Show = Callable[[str], None]


@dataclass(frozen=True)
class TuningFolder(RunDirectory):
    """Files of a tuning, and its matches, which resume on their own.

    openings: of the games; openings_name: their identity; scheduler: gives the games to workers.
    """

    SETTINGS = "tune.json"
    CONTENT = "a tuning"
    WORK = "tuning"

    resources: Resources = field(default_factory=Resources)
    openings: Sequence[Opening] = ()
    openings_name: str = ""
    scheduler: "Scheduler | None" = None

    def stamps(self) -> dict[str, str]:
        return super().stamps() | games_stamp(self.path)

    def play(self, name: str, settings: MatchSettings) -> Tally:
        """Return the results of a match, playing the missing games."""
        match = Match(
            load_game(settings.game),
            settings,
            openings=self.openings,
            openings_name=self.openings_name,
            resources=self.resources,
            folder=MatchFolder(self.path / name),
        )
        with closing(match.play(self.scheduler)) as games:
            for _ in games:
                pass
        return match.tally


@dataclass(frozen=True)
class StrengthTuning:
    """Settings of a tuning, and the number of its games.

    Raise ValueError for numbers of games that cannot be, and for a player whose values are out of bounds.
    """

    game: str
    """Spec of the game."""
    player: PlayerSettings
    """Player whose settings are tuned."""
    parameters: tuple[Parameter, ...]
    """The settings that are tuned, with their bounds."""
    schedule: Schedule
    """Iterations and steps of SPSA."""
    opponent: PlayerSettings | None = None
    """Player that both points play; None: they play each other."""
    games: int = 40
    """Games of an iteration."""
    verification: int = 400
    """Games of the tuned against the given player at the end; 0: none."""
    random_plies: int = 4
    """Uniformly random plies that pairs of games begin with."""
    seed: int = 0
    """Seed of all random draws."""

    def __post_init__(self) -> None:
        places_of(self.player, self.parameters)
        least = 2 if self.opponent is None else 4
        if self.games < least or self.games % least:
            raise ValueError(f"games of an iteration must be a multiple of {least} here, got {self.games}")
        if self.verification < 0 or self.verification % 2:
            raise ValueError(f"games of the verification must be even, or 0 for none, got {self.verification}")

    @property
    def start(self) -> list[float]:
        """Places of the given player's values."""
        return places_of(self.player, self.parameters)

    def values(self, place: Sequence[float] | Place) -> dict[str, float | int]:
        """Return the values at a place, by key."""
        return {one.key: one.value(float(x)) for one, x in zip(self.parameters, place, strict=True)}

    def player_at(self, place: Sequence[float] | Place) -> PlayerSettings:
        """Return the player with the values at a place."""
        return changed_player(self.player, values_text(self.values(place)))

    def match(self, a: PlayerSettings, b: PlayerSettings, games: int, seed: int) -> MatchSettings:
        """Return the settings of a match of the tuning."""
        return MatchSettings(game=self.game, a=a, b=b, games=games, random_plies=self.random_plies, seed=seed)

    def stamp(self) -> dict[str, Any]:
        """Return the settings that determine the iterations."""
        return {
            "game": self.game,
            "player": player_text(self.player),
            "opponent": None if self.opponent is None else player_text(self.opponent),
            "parameters": [str(parameter) for parameter in self.parameters],
            "iterations": self.schedule.iterations,
            "spread": self.schedule.spread,
            "step": self.schedule.step,
            "games": self.games,
            "random_plies": self.random_plies,
            "seed": self.seed,
        }


@dataclass(frozen=True)
class Tuned:
    """The result of a tuning: all iterations with the results of their first point, the place, and the verification."""

    tuning: StrengthTuning
    iterations: tuple[Iteration, ...]
    results: tuple[MatchScore, ...]
    verification: Tally | None

    @property
    def values(self) -> dict[str, float | int]:
        """The tuned values by key."""
        return self.tuning.values(settled(self.iterations))

    @property
    def player(self) -> PlayerSettings:
        """The player with the tuned values."""
        return self.tuning.player_at(settled(self.iterations))

    def to_json(self) -> dict[str, Any]:
        """Return settings, iterations and verification."""
        steps = zip(self.iterations, self.results, strict=True)
        return {
            "summary": f"{len(self.iterations):,} iterations",
            "settings": self.tuning.stamp(),
            "before": self.tuning.values(self.tuning.start),
            "tuned": self.values,
            "player": player_text(self.player),
            "verification": None if self.verification is None else self.verification.to_json(),
            "iterations": [
                {
                    "plus": self.tuning.values(one.plus),
                    "minus": self.tuning.values(one.minus),
                    **asdict(record),
                    "values": self.tuning.values(one.place),
                }
                for one, record in steps
            ],
        }


def tune_strength(tuning: StrengthTuning, folder: TuningFolder, show: Show) -> Tuned:
    """Tune in the folder, resuming an earlier attempt; write result.json there.

    show: receives a line per iteration. Raise ValueError if the folder holds another tuning.
    """
    iterations = []
    results = []
    with folder.open(tuning.stamp()):
        for one, record in _iterations(tuning, folder):
            iterations.append(one)
            results.append(record)
            so_far = Tuned(tuning, tuple(iterations), tuple(results), None)
            folder.write_result({**so_far.to_json(), "complete": False})
            show(_line(tuning, one, record))
        tuned = Tuned(tuning, tuple(iterations), tuple(results), None)
        if tuning.verification:
            seed = derived_seed(tuning.seed, "tune verification")
            match = tuning.match(tuned.player, tuning.player, tuning.verification, seed)
            tuned = replace(tuned, verification=folder.play("verification", match))
        folder.write_result({**tuned.to_json(), "complete": True})
    return tuned


def _iterations(tuning: StrengthTuning, folder: TuningFolder) -> Iterator[tuple[Iteration, MatchScore]]:
    """Yield each iteration with the results of its first point."""
    results: list[MatchScore] = []

    def compare(number: int, plus: Place, minus: Place) -> float:
        """Play the games of an iteration and return r."""
        record = _play_iteration(tuning, folder, number, (plus, minus))
        results.append(record)
        return (record.wins - record.losses) / record.games

    def least(place: Place) -> list[float]:
        parameters = zip(tuning.parameters, place, strict=True)
        return [parameter.least_spread(float(x)) for parameter, x in parameters]

    for one in spsa(compare, tuning.start, tuning.schedule, seed=tuning.seed, least_spread=least):
        yield one, results[-1]


def _line(tuning: StrengthTuning, one: Iteration, record: MatchScore) -> str:
    """Return an iteration as a line of progress."""
    plus = values_text(tuning.values(one.plus))
    minus = values_text(tuning.values(one.minus))
    now = values_text(tuning.values(one.place))
    iteration = f"iteration {one.number + 1}/{tuning.schedule.iterations}"
    return f"{iteration}  {plus} v {minus}: {record} ({record.score:.1%})  now {now}"


def _play_iteration(
    tuning: StrengthTuning,
    folder: TuningFolder,
    number: int,
    places: tuple[Place, Place],
) -> MatchScore:
    """Results of the first point against the second; or of both against the opponent, the second's turned round."""
    name = f"iteration-{number + 1:04}"
    # One seed for both points: against an opponent they play from the same openings.
    seed = derived_seed(tuning.seed, "tune", number)
    a, b = (tuning.player_at(place) for place in places)
    if tuning.opponent is None:
        return folder.play(name, tuning.match(a, b, tuning.games, seed)).record
    first, second = (
        folder.play(f"{name}-{side}", tuning.match(player, tuning.opponent, tuning.games // 2, seed)).record
        for side, player in (("plus", a), ("minus", b))
    )
    return first.plus(second.turned)


def report(tuned: Tuned) -> str:
    """The tuned values, the player, and how it did against the one that was given."""
    before = tuned.tuning.values(tuned.tuning.start)
    rows = [f"{key}: {before[key]:g} -> {value:g}" for key, value in tuned.values.items()]
    rows.append(f"tuned player: {player_text(tuned.player)}")
    if tuned.verification is not None:
        rows.append(f"tuned against given: {summary(tuned.verification)}  (95 %)")
    return "\n".join(rows)
