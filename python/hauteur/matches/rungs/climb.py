"""The rating of a player on the ladder: which rung it plays next, when that is enough, and the games themselves.

A pair of games from one opening follows another: of the two rungs nearest to the estimate so far, the one with fewer
games. All of it follows from the seed, so the same seed gives the same games under any load, as far as the player
itself depends on nothing else; a player limited by time does.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import ExitStack, closing, nullcontext
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Field

from hauteur import _core
from hauteur.games.registry import load_game
from hauteur.matches.arena import GameRules, Layout, play_games
from hauteur.matches.openings import Opening, read_openings
from hauteur.matches.ratings.bradley_terry import rating_list
from hauteur.matches.ratings.elo import MatchScore
from hauteur.matches.ratings.rating_list import Encounter
from hauteur.matches.record import GamePlan
from hauteur.matches.results import MatchGame
from hauteur.matches.rungs.table import Z95, RatedRung, RungTable, check_nets, openings_path
from hauteur.players.build import Evaluators, Resources, build_player, player_facts, player_name
from hauteur.players.engines.player import probed
from hauteur.players.engines.process import FAILURES
from hauteur.players.search_player import SearchPlayer
from hauteur.players.settings import PlayerSettings
from hauteur.system.jsonl import Journal
from hauteur.system.run_directory import InFolder, RunDirectory
from hauteur.system.seeds import derived_seed, stream
from hauteur.system.settings import Section

LEAST_GAMES = 20
"""Games before which no interval is narrow enough."""
LEAST_PLAYED = 4
"""A player that has lost its first games, this many, by failures of its own is not rated."""
PLAYER = "the player under test"


class ClimbSettings(Section):
    """Settings that decide the games of a rating."""

    player: PlayerSettings
    """The player under test."""
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    """Seed of the openings and of all draws."""
    within: Annotated[float, Field(ge=1, le=1000)] = 50.0
    """Error that is small enough: half of the 95 % interval in Elo, of the games and of the rungs."""
    max_games: Annotated[int, Field(ge=2, le=1_000_000, multiple_of=2)] = 400
    """The most games."""


class RungGame(MatchGame):
    """A game against a rung, as a line of games.jsonl."""

    rung: str
    """Name of the rung."""


@dataclass(frozen=True)
class Estimate:
    """A rating on the ladder's scale."""

    elo: float
    """The most probable rating."""
    of_games: float
    """Standard error in Elo of the player's own games, the rungs being where the table has them."""
    of_rungs: float
    """Standard error in Elo of the rungs, as a whole, relative to the anchor."""

    @property
    def error_of_games(self) -> float:
        """Half of the 95 % interval that the games alone give, in Elo; more games make it smaller."""
        return Z95 * self.of_games

    @property
    def error_of_rungs(self) -> float:
        """Half of the 95 % interval of the rungs, in Elo."""
        return Z95 * self.of_rungs

    @property
    def error(self) -> float:
        """Half of the 95 % interval with both errors, in Elo."""
        return math.hypot(self.error_of_games, self.error_of_rungs)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval, with both errors."""
        return self.elo - self.error, self.elo + self.error


@dataclass(frozen=True)
class ClimbFolder(RunDirectory):
    """Files of a rating on the ladder; an interrupted one goes on."""

    SETTINGS = "ladder.json"
    CONTENT = "a rating on the ladder"
    WORK = "rating a player"
    GROWING = ("games.jsonl",)

    games_file = InFolder("games.jsonl")
    """The finished games, in the order in which they ended."""
    pgn_file = InFolder("games.pgn")
    """The games without times, of which the sha256 is."""

    @property
    def journal(self) -> Journal[RungGame]:
        """The finished games."""
        return Journal(self.games_file, RungGame, "a game against a rung")


@dataclass
class Climb:
    """A rating in progress."""

    table: RungTable
    """The ladder."""
    settings: ClimbSettings
    """The player, and what decides the games."""
    folder: ClimbFolder | None = None
    """Where games are kept; None: nowhere."""
    stockfish: str | None = None
    """Path of the Stockfish of the rungs; None: the one on the path."""
    games: dict[int, RungGame] = field(default_factory=dict)
    """The finished games by number; those of a pair have the numbers 2k and 2k + 1."""
    cpu_seconds: float = 0.0
    """Processor time of this process and of the programs that have ended."""
    version: str = ""
    """What the Stockfish of the rungs calls itself here."""
    facts: dict[str, str] = field(default_factory=dict)
    """What the player is: its settings, the net's content, the name and version that a program gives itself."""

    def __post_init__(self) -> None:
        self.game = load_game(self.table.game)
        self.name = player_name(self.game, self.settings.player)
        if self.name in [rung.name for rung in self.table.rung]:
            raise ValueError(f"{self.name!r} is the name of a rung: give the player another one with name=")

    @property
    def pairs(self) -> int:
        """Number of complete pairs, from the first on."""
        number = 0
        while 2 * number in self.games and 2 * number + 1 in self.games:
            number += 1
        return number

    def counted(self) -> list[RungGame]:
        """Return the games of complete pairs in the order of their numbers."""
        return [self.games[index] for index in range(2 * self.pairs)]

    def records(self) -> dict[str, MatchScore]:
        """Return the player's results against each rung that it has met."""
        found: dict[str, MatchScore] = {}
        for game in self.counted():
            before = found.get(game.rung, MatchScore())
            found[game.rung] = before.add(game.score)
        return found

    def estimate(self) -> Estimate:
        """Return the rating so far; before the first pair that of the anchor, without limits."""
        records = self.records()
        if not records:
            return Estimate(self.table.anchor_elo, math.inf, 0.0)
        anchors = {name: self.table.named(name).rating for name in records}
        encounters = [Encounter(PLAYER, name, record) for name, record in records.items()]
        ratings = rating_list(encounters, anchors=anchors).ratings
        own = next(rating for rating in ratings if rating.name == PLAYER)
        return Estimate(own.elo, own.deviation, self._error_of_rungs(records))

    def _error_of_rungs(self, records: dict[str, MatchScore]) -> float:
        """Return the mean standard error of the rungs, each with the weight of its games.

        Rungs near each other owe most of their error to the same games on the way to the anchor, so it does not
        become smaller where several are averaged.
        """
        games = sum(record.games for record in records.values())
        weighted = []
        for name, record in records.items():
            deviation = self.table.named(name).deviation
            weighted.append(record.games * deviation)
        return sum(weighted) / games

    def next_rung(self) -> RatedRung:
        """Return the rung of the next pair: of the two nearest to the estimate, the one with fewer games."""
        elo = self.estimate().elo
        records = self.records()

        def distance(rung: RatedRung) -> float:
            return abs(rung.rating - elo)

        def games(rung: RatedRung) -> int:
            return records.get(rung.name, MatchScore()).games

        near = sorted(self.table.rung, key=distance)[:2]
        return min(near, key=lambda rung: (games(rung), distance(rung)))

    @property
    def over(self) -> bool:
        """True where the games are enough, or as many as they may be."""
        games = 2 * self.pairs
        if games >= self.settings.max_games:
            return True
        return games >= LEAST_GAMES and self.estimate().error <= self.settings.within

    def play(self) -> Generator[RungGame]:
        """Play until it is over and yield each game once it is kept; closing the iterator stops.

        ValueError or OSError where a rung or the player cannot play here.
        """
        with nullcontext() if self.folder is None else self.folder.locked():
            self._resume()
            yield from self._play()

    def _resume(self) -> None:
        """Check what the rungs need, and read the games of earlier sessions."""
        check_nets(self.table)
        self.version = stockfish_version(self.table, self.stockfish)
        self.facts = player_facts(self.game, self.settings.player, "player")
        if self.folder is None:
            return
        stored = self._stored_settings()
        self.folder.check(stored)
        self.folder.begin(stored)
        self.games = {game.index: game for game in self.folder.journal.entries()}

    def _stored_settings(self) -> dict[str, Any]:
        """Return what a folder is checked against."""
        # Without the most games, which may be raised when a rating goes on.
        settings = self.settings.model_dump(mode="json", include={"seed", "within"})
        rungs = [rung.player for rung in self.table.rung]
        return {**settings, **self.facts, "stockfish": self.version, "rungs": rungs}

    def _play(self) -> Generator[RungGame]:
        before = _processor_seconds()
        openings = read_openings(openings_path(self.table.game), self.game)
        # A pair at a time, as the next rung follows from its result.
        resources = Resources(parallel=2, batch_size=2, threads=1)
        with Evaluators(self.game, resources) as evaluators, _Players(self.game, evaluators) as players:
            own = players.of(self.settings.player, "player")
            while not self.over:
                rung = self.next_rung()
                other = players.of(rung.settings(self.stockfish), rung.name)
                yield from self._pair(rung, own, other, openings)
                self._check_that_it_plays()
        self.cpu_seconds = _processor_seconds() - before

    def _check_that_it_plays(self) -> None:
        """Raise ValueError where the player has failed in each of its games, so that a rating would be of nothing."""
        games = self.counted()
        if len(games) < LEAST_PLAYED or len(self.failures()) < len(games):
            return
        last = games[-1]
        why = "".join(f": {note}" for note in list(last.notes.values())[-1:])
        raise ValueError(
            f"{self.name} lost each of its {len(games)} games off the board, so there is nothing to rate: "
            f"{last.end}{why}"
        )

    def _pair(self, rung: RatedRung, own: Any, other: Any, openings: list[Opening]) -> Generator[RungGame]:
        """Play the missing games of the next pair against a rung."""
        first = 2 * self.pairs
        plans = [plan for plan in self._plans(first, openings) if plan.index not in self.games]
        records = play_games(
            self.game,
            [own, other],
            plans,
            seed=self.settings.seed,
            purpose="ladder",
            layout=Layout(parallel=2, batch_size=2),
            rules=GameRules(max_plies=self.table.max_plies),
        )
        with closing(records):
            for record in records:
                values = MatchGame.of(self.game, record).model_dump()
                game = RungGame(**values, rung=rung.name)
                if self.folder is not None:
                    self.folder.journal.append(game)
                self.games[game.index] = game
                yield game

    def _plans(self, first: int, openings: list[Opening]) -> Iterator[GamePlan]:
        """Yield the two games of a pair: one opening, the player first and second."""
        seed = self.settings.seed
        order = stream(seed, "openings of the ladder").permutation(len(openings))
        pair = first // 2
        opening = openings[int(order[pair % len(openings)])]
        for index, sides in ((first, (0, 1)), (first + 1, (1, 0))):
            plan = opening.plan(self.game, index)
            yield GamePlan(index, sides, plan.start, plan.origin, derived_seed(seed, "ladder", index))

    def failures(self, score: float = 0.0) -> list[RungGame]:
        """Return the games that the player lost by a failure of its program; with score 1 those that a rung lost so."""
        return [game for game in self.counted() if game.end in FAILURES and game.score == score]

    @property
    def ends(self) -> Counter[str]:
        """Games by the reason of their end."""
        return Counter(game.end for game in self.counted())


class _Players(ExitStack):
    """Players that are built once and stay ready from one pair of games to the next."""

    def __init__(self, game: _core.Game, evaluators: Evaluators) -> None:
        super().__init__()
        self._game = game
        self._evaluators = evaluators
        self._built: dict[str, Any] = {}

    def of(self, settings: PlayerSettings, label: str) -> Any:
        """Return the player of a label."""
        if label not in self._built:
            player = build_player(self._game, settings, self._evaluators, label)
            if not isinstance(player, SearchPlayer):
                self.callback(player.close)
                player = _Ready(player)
            self._built[label] = player
        return self._built[label]


class _Ready:
    """A player without a forest whose programs go on running after the games."""

    def __init__(self, player: Any) -> None:
        self.name = player.name
        self.choose = player.choose
        self.end = player.end

    def close(self) -> None:
        """Do nothing: the player is closed when all pairs are over."""


def stockfish_version(table: RungTable, stockfish: str | None) -> str:
    """Return what the Stockfish of the rungs calls itself here; empty where no rung is one.

    ValueError where it is missing, or lacks an option.
    """
    game = load_game(table.game)
    for rung in table.rung:
        engine = rung.settings(stockfish).engine
        if engine is not None:
            try:
                return probed(game, engine).name
            except ValueError as error:
                raise ValueError(f"{error}; the rungs need Stockfish: install it, or --stockfish PATH") from None
    return ""


def _processor_seconds() -> float:
    """Return the processor time of this process and of its children that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
