"""Matches: many games at once between two players, from paired openings or at odds, with resume.

A game is a function of its number, the seed, the opening and the players. So an interrupted match resumes with the
missing numbers and gives the same results.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Generator, Iterator, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from hauteur import __version__, _core
from hauteur.matches.arena import ArenaFacts
from hauteur.matches.folder import MatchFolder
from hauteur.matches.openings import Opening, first_of_two, random_opening
from hauteur.matches.playing import Pairings, ready
from hauteur.matches.ratings.elo import Sprt
from hauteur.matches.record import GamePlan
from hauteur.matches.results import GameCount, MatchGame, Work, sprt_json, sprt_text
from hauteur.players.build import Resources, player_facts, player_name
from hauteur.players.settings import Colours, PlayerSettings
from hauteur.system.provenance import provenance
from hauteur.system.seeds import stream
from hauteur.system.settings import Section

A, B = 0, 1
NO_LIMIT = 100_000_000
"""Games of a match that only a sequential test ends."""
RESULT_SECONDS = 10.0
"""How often result.json is written while games are played."""


class GamesSettings(Section):
    """Settings that decide how games begin and end, whoever plays them.

    random_plies: uniformly random plies that a game begins with, where there are no openings. order: of the openings,
    drawn by the seed or as in the file; after the last the first is used again. max_plies: a longer game is a draw.
    """

    game: str
    random_plies: Annotated[int, Field(ge=0, le=10_000)] = 4
    order: Literal["random", "file"] = "random"
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    max_plies: Annotated[int, Field(ge=1, le=1_000_000)] | None = None


class MatchSettings(GamesSettings):
    """Settings that decide the games of a match."""

    a: PlayerSettings
    b: PlayerSettings
    games: Annotated[int, Field(ge=1, le=NO_LIMIT)] = 400
    colours: Colours = "swap"

    @model_validator(mode="after")
    def _pairs_are_whole(self) -> Self:
        if self.paired and self.games % 2:
            raise ValueError(f"with swapped colours the number of games must be even, got {self.games}")
        return self

    @property
    def paired(self) -> bool:
        """True where games 2k and 2k + 1 share an opening."""
        return self.colours == "swap"


def match_plans(
    game: _core.Game, settings: MatchSettings, openings: Sequence[Opening], skip: Collection[int] = ()
) -> Iterator[GamePlan]:
    """Yield the start and sides of each game, without the games in `skip`."""
    order = list(range(len(openings)))
    if settings.order == "random":
        order = [int(number) for number in stream(settings.seed, "order of openings").permutation(len(openings))]
    for index in range(settings.games):
        if index in skip:
            continue
        number = index // 2 if settings.paired else index
        if openings:
            plan = openings[order[number % len(order)]].plan(game, index)
        else:
            random = stream(settings.seed, "match opening", number)
            plan = GamePlan(index, start=random_opening(game, settings.random_plies, random))
        yield replace(plan, sides=first_of_two(game, settings.colours, plan))


@dataclass
class GamesInProgress:
    """State that matches and tournaments in progress have in common.

    openings_name: identity of the openings, "" where there are none; before: the work of earlier sessions.
    """

    game: _core.Game
    settings: GamesSettings
    openings: Sequence[Opening] = ()
    resources: Resources = field(default_factory=Resources)
    folder: MatchFolder | None = None
    sprt: Sprt | None = None
    openings_name: str = ""
    facts: ArenaFacts = field(default_factory=ArenaFacts)
    before: Work = field(default_factory=Work)

    @property
    def work(self) -> Work:
        """The work of all sessions until now."""
        return self.before.plus(self.facts.search, self.facts.visits)


@dataclass
class Match(GamesInProgress):
    """Match in progress, from which displays read.

    sprt: a sequential test that ends it; then the tally has the games counted by the test, in the order of their
    numbers, and later ones are on disk only.
    """

    settings: MatchSettings
    evaluators: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        most, opening = self.settings.max_plies, 0 if self.openings else self.settings.random_plies
        if most is not None and most <= opening:
            raise ValueError(f"max_plies must be more than random_plies, got {most} and {opening}")
        if self.sprt is not None and not self.settings.paired:
            raise ValueError(f"a sequential test needs colours=swap, got {self.settings.colours}")
        self._counted = GameCount(self.sprt, paired=self.settings.paired)
        self.tally, self.test = self._counted.tally, self._counted.test
        self.names = (player_name(self.game, self.settings.a), player_name(self.game, self.settings.b))

    @property
    def complete(self) -> bool:
        """True once all games are finished, or the sequential test has ended."""
        return self.decided or self.tally.record.games == self.settings.games

    @property
    def decided(self) -> bool:
        """True once the sequential test has ended."""
        return self._counted.decided

    @property
    def games_done(self) -> int:
        """Number of finished games; with a sequential test including those it has not counted."""
        return self._counted.games

    @property
    def games_wanted(self) -> int | None:
        """All games, with a sequential test the most that it may take; None: no limit."""
        return None if self.settings.games == NO_LIMIT else self.settings.games

    def play(self) -> Generator[MatchGame]:
        """Play the missing games and yield each once it is on disk; closing the iterator stops the match."""
        with nullcontext() if self.folder is None else self.folder.locked():
            done = self.resume()
            if len(done) < self.settings.games and not self.decided:
                yield from self._play_without(done)
            else:
                self.write_result()

    def resume(self) -> set[int]:
        """Read the games of earlier sessions; their numbers. ValueError names a line of the games that is damaged."""
        done: set[int] = set()
        if self.folder is not None:
            self.folder.check(self.stored_settings())
            self.before = self.folder.work()
            for game in self.folder.games():
                if game.index < self.settings.games:
                    self._counted.add(game)
                    done.add(game.index)
        return done

    def keep(self, game: MatchGame) -> None:
        """Count a game that has just ended, once it is on disk."""
        if self.folder is not None:
            self.folder.append(game)
        self._counted.add(game)

    def _play_without(self, done: set[int]) -> Generator[MatchGame]:
        settings = self.settings
        pairings = Pairings(
            self.game,
            (settings.a, settings.b),
            ("A", "B"),
            seed=settings.seed,
            purpose="match",
            max_plies=settings.max_plies,
        )
        with ready(pairings, self.resources) as playing:
            self.evaluators = playing.evaluators
            if self.folder is not None:  # not before, so that players that do not fit leave nothing behind
                self.folder.begin(self.stored_settings(), names=self.names)
                self.write_result()  # for those who watch: how many games there are to be, and the bounds of a test
            plans = match_plans(self.game, settings, self.openings, done)
            try:
                with closing(playing.play(plans, self.facts)) as games:
                    yield from self._kept(games)
            finally:
                self.write_result()

    def _kept(self, played: Iterator[MatchGame]) -> Generator[MatchGame]:
        """The games, each once it is counted and on disk."""
        written = time.monotonic()
        for game in played:
            self.keep(game)
            if time.monotonic() - written > RESULT_SECONDS:
                self.write_result()
                written = time.monotonic()
            yield game
            if self.decided:
                return

    def result(self) -> dict[str, Any]:
        """Return the contents of result.json."""
        return {
            "complete": self.complete,
            "a": self.names[0],
            "b": self.names[1],
            "results": self.tally.to_json(),
            **({} if self.test is None else {"sprt": sprt_json(self.test)}),
            "work": self.work.to_json(),
            "settings": {**self.stored_settings(), "games": self.settings.games},
            "resources": {
                "parallel": self.resources.parallel,
                "batch_size": self.resources.rows,
                "threads": self.resources.cores,
                "evaluators": self.evaluators,
            },
            "hauteur": __version__,
            "written": provenance(),
        }

    def stored_settings(self) -> dict[str, Any]:
        """The settings that decide the games, as match.json holds them; nets and openings by their content, which is
        read once.
        """
        return self._deciding

    @cached_property
    def _deciding(self) -> dict[str, Any]:
        values = self.settings.model_dump(exclude={"a", "b", "games"})
        values |= player_facts(self.game, self.settings.a, "a") | player_facts(self.game, self.settings.b, "b")
        if self.openings_name:
            values["openings"] = self.openings_name
        if self.sprt is not None:
            values["sprt"] = sprt_text(self.sprt)
        return values

    def write_result(self) -> None:
        """Renew result.json."""
        if self.folder is not None:
            self.folder.write_result(self.result())
