"""Tuning of player settings for strength by SPSA (`spsa`): matches compare two settings.

Each iteration is a match in its own folder, or two with a fixed opponent. An interrupted tuning restarts in the same
folder and finds the finished matches; there is no other state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from hauteur.games.registry import load_game
from hauteur.matches.folder import MatchFolder, games_stamp
from hauteur.matches.match import Match, MatchSettings
from hauteur.matches.openings import Opening
from hauteur.matches.ratings.elo import MatchScore
from hauteur.matches.results import Tally, summary
from hauteur.matches.tuning.parameters import Parameter, places_of, values_text
from hauteur.matches.tuning.spsa import Iteration, Place, Schedule, settled, spsa
from hauteur.players.build import Resources
from hauteur.players.settings import PlayerSettings, changed_player, player_text
from hauteur.system.run_directory import RunDirectory
from hauteur.system.seeds import derived_seed

Show = Callable[[str], None]


@dataclass(frozen=True)
class TuningFolder(RunDirectory):
    """Files of a tuning, and its matches, which resume on their own.

    openings: of the games; openings_name: their identity.
    """

    SETTINGS = "tune.json"
    CONTENT = "a tuning"
    WORK = "tuning"

    resources: Resources = field(default_factory=Resources)
    openings: Sequence[Opening] = ()
    openings_name: str = ""

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
        with closing(match.play()) as games:
            for _ in games:
                pass
        return match.tally


@dataclass(frozen=True)
class StrengthTuning:
    """Settings of a tuning, and the number of its games.

    game: its spec; player: whose settings they are; opponent: whom both points play, None: each other; games: of an
    iteration; verification: games of the tuned against the given player at the end, 0: none; random_plies: that pairs
    of games begin with. ValueError for sizes that cannot be, and for a player whose values are out of bounds.
    """

    game: str
    player: PlayerSettings
    parameters: tuple[Parameter, ...]
    schedule: Schedule
    opponent: PlayerSettings | None = None
    games: int = 40
    verification: int = 400
    random_plies: int = 4
    seed: int = 0

    def __post_init__(self) -> None:
        places_of(self.player, self.parameters)
        least = 2 if self.opponent is None else 4
        if self.games < least or self.games % least:
            raise ValueError(f"games of an iteration must be a multiple of {least} here, got {self.games}")
        if self.verification < 0 or self.verification % 2:
            raise ValueError(f"games of the verification must be even, or 0 for none, got {self.verification}")

    @property
    def start(self) -> list[float]:
        return places_of(self.player, self.parameters)

    def values(self, place: Sequence[float] | Place) -> dict[str, float | int]:
        return {one.key: one.value(float(x)) for one, x in zip(self.parameters, place, strict=True)}

    def player_at(self, place: Sequence[float] | Place) -> PlayerSettings:
        return changed_player(self.player, values_text(self.values(place)))

    def match(self, a: PlayerSettings, b: PlayerSettings, games: int, seed: int) -> MatchSettings:
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
        return self.tuning.values(settled(self.iterations))

    @property
    def player(self) -> PlayerSettings:
        return self.tuning.player_at(settled(self.iterations))

    def to_json(self) -> dict[str, Any]:
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
    iterations, results = [], []
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
    results: list[MatchScore] = []

    def compare(number: int, plus: Place, minus: Place) -> float:
        record = _play_iteration(tuning, folder, number, (plus, minus))
        results.append(record)
        return (record.wins - record.losses) / record.games

    def least(place: Place) -> list[float]:
        return [parameter.least_spread(float(x)) for parameter, x in zip(tuning.parameters, place, strict=True)]

    for one in spsa(compare, tuning.start, tuning.schedule, seed=tuning.seed, least_spread=least):
        yield one, results[-1]


def _line(tuning: StrengthTuning, one: Iteration, record: MatchScore) -> str:
    sides = " v ".join(values_text(tuning.values(place)) for place in (one.plus, one.minus))
    return (
        f"iteration {one.number + 1}/{tuning.schedule.iterations}  {sides}: {record} ({record.score:.1%})  "
        f"now {values_text(tuning.values(one.place))}"
    )


def _play_iteration(
    tuning: StrengthTuning, folder: TuningFolder, number: int, places: tuple[Place, Place]
) -> MatchScore:
    """Results of the first point against the second; or of both against the opponent, the second's turned round."""
    name, seed = f"iteration-{number + 1:04}", derived_seed(tuning.seed, "tune", number)
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
    before, after = tuned.tuning.values(tuned.tuning.start), tuned.values
    rows = [f"{key}: {before[key]:g} -> {value:g}" for key, value in after.items()]
    rows.append(f"tuned player: {player_text(tuned.player)}")
    if tuned.verification is not None:
        rows.append(f"tuned against given: {summary(tuned.verification)}  (95 %)")
    return "\n".join(rows)
