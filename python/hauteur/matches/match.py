"""Matches: many games at once between two players, from paired openings or at odds, with resume.

A game is a function of its number, the seed, the opening and the players. So an interrupted match resumes with the
missing numbers and gives the same results.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hauteur import __version__, _core
from hauteur.games.begins import check_begins
from hauteur.matches.arena import ArenaFacts, GameRules, Layout, play_games
from hauteur.matches.folder import MatchFolder
from hauteur.matches.openings import Opening, first_of_two, random_opening
from hauteur.matches.ratings.elo import Sprt
from hauteur.matches.record import GamePlan
from hauteur.matches.results import MatchGame, Tally, Work, sprt_json, sprt_text, standing
from hauteur.matches.settings import NO_LIMIT, GamesSettings, MatchSettings
from hauteur.players.build import Evaluators, Resources, build_player, player_facts, player_name
from hauteur.players.settings import PlayerSettings
from hauteur.system.provenance import provenance
from hauteur.system.seeds import derived_seed, stream

if TYPE_CHECKING:
    from hauteur.cluster.scheduler import Scheduler
    from hauteur.players.move_player import MovePlayer
    from hauteur.players.search_player import SearchPlayer

STRIDE = NO_LIMIT
"""Game n of match k has the number k * STRIDE + n while the games of several matches are played together."""
RESULT_SECONDS = 10.0
"""How often result.json is written while games are played."""


def match_plans(
    game: _core.Game,
    settings: MatchSettings,
    openings: Sequence[Opening],
    skip: Collection[int] = (),
) -> Iterator[GamePlan]:
    """Yield the start, sides and seed of each game, without the games in `skip`."""
    order = list(range(len(openings)))
    if settings.order == "random":
        random = stream(settings.seed, "order of openings")
        order = random.permutation(len(openings)).tolist()
    for index in range(settings.games):
        if index in skip:
            continue
        number = index // 2 if settings.paired else index
        if openings:
            plan = openings[order[number % len(order)]].plan(game, index)
        else:
            # Named by its number: a match that is resumed draws the missing openings alone, and draws the same.
            random = stream(settings.seed, "match opening", number)
            plan = GamePlan(index, start=random_opening(game, settings.random_plies, random))
        sides = first_of_two(game, settings.colours, plan)
        yield replace(plan, sides=sides, seed=derived_seed(settings.seed, "match", index))


@dataclass
class GamesInProgress:
    """Games in progress, from which displays read: of a match, or of all matches of a tournament together."""

    game: _core.Game
    """The game that is played."""
    settings: GamesSettings
    """How the games begin and end."""
    openings: Sequence[Opening] = ()
    """Openings of the games; empty: random plies."""
    resources: Resources = field(default_factory=Resources)
    """Threads, batches, backend: what does not change the games."""
    folder: MatchFolder | None = None
    """Where results and games are kept; None: nowhere."""
    sprt: Sprt | None = None
    """The sequential test that ends the games; None: their number does."""
    openings_name: str = ""
    """Identity of the openings, which a stored match is checked against; empty without openings."""
    facts: ArenaFacts = field(default_factory=ArenaFacts)
    """Counts and seconds of this session."""
    before: Work = field(default_factory=Work)
    """Work of earlier sessions in the same folder."""
    evaluators: list[str] = field(default_factory=list)
    """Names of the nets that are open."""
    interrupted: bool = False
    """Ctrl-C ended the games."""

    @property
    def work(self) -> Work:
        """Cost of all sessions so far."""
        return self.before.plus(self.facts.search, self.facts.visits)

    @property
    def pairings(self) -> Mapping[tuple[int, int], Match]:
        """The matches by the indices of their two players among `players`."""
        raise NotImplementedError

    @property
    def players(self) -> Mapping[str, PlayerSettings]:
        """The players by what messages call them."""
        raise NotImplementedError

    @property
    def matches(self) -> list[Match]:
        """All matches."""
        return list(self.pairings.values())

    @property
    def games_done(self) -> int:
        """Number of finished games; with a sequential test including those it has not counted."""
        return sum(match.tally.finished for match in self.matches)

    def resume(self) -> list[set[int]]:
        """Read what earlier sessions have done; the numbers of the finished games of each match."""
        raise NotImplementedError

    def begin(self) -> None:
        """Write the settings of the work into its folder, if it has one."""
        raise NotImplementedError

    def write_result(self) -> None:
        """Write the result so far into the folder, if there is one."""
        raise NotImplementedError

    def play_all(self, scheduler: Scheduler | None = None) -> Generator[tuple[int, MatchGame]]:
        """Play the missing games and yield each, with the index of its match, once it is counted and on disk.

        scheduler: gives them to workers; None: this process plays them. Closing the iterator stops them. ValueError or
        OSError, naming the player, where one does not fit.
        """
        with nullcontext() if self.folder is None else self.folder.locked():
            done = self.resume()
            if all(match.over for match in self.matches):
                self.write_result()
                return
            if not self.openings:
                check_begins(self.game)
            with Evaluators(self.game, self.resources) as evaluators:
                players = [build_player(self.game, one, evaluators, label) for label, one in self.players.items()]
                self.evaluators = [evaluator.name for evaluator in evaluators.opened.values()]
                self.begin()  # not before, so that players that do not fit leave nothing behind
                self.write_result()  # for those who watch: how many games there are to be, and the bounds of a test
                if scheduler is None:
                    games = self._played_here(players, self._plans(done))
                else:
                    evaluators.close()  # they have shown that the players fit
                    games = self._played_by(scheduler, done)
                try:
                    with closing(games):
                        yield from self._kept(games)
                finally:
                    self.write_result()

    def _played_here(
        self, players: Sequence[SearchPlayer | MovePlayer], plans: Iterator[GamePlan]
    ) -> Generator[MatchGame]:
        """Yield games as this process plays them."""
        records = play_games(
            self.game,
            players,
            plans,
            seed=self.settings.seed,
            purpose="match",
            layout=Layout(self.resources.parallel, self.resources.rows),
            rules=GameRules(max_plies=self.settings.max_plies),
            facts=self.facts,
        )
        with closing(records):
            for record in records:
                yield MatchGame.of(self.game, record)

    def _played_by(self, scheduler: Scheduler, done: Sequence[Collection[int]]) -> Generator[MatchGame]:
        """Return the games as workers play them."""
        from hauteur.matches.units import MatchUnits, games_of_workers  # which a match of one process needs not

        wanted = sum(match.settings.games for match in self.matches)
        missing = wanted - sum(map(len, done))
        units = MatchUnits(self.game, self.settings, self.players, self.resources, missing)
        return games_of_workers(scheduler, units, self._plans(done), self.facts)

    def _plans(self, done: Sequence[Collection[int]]) -> Iterator[GamePlan]:
        """Pair by pair through the matches, so that all advance together."""
        missing = []
        for match, known in zip(self.matches, done, strict=True):
            missing.append(match_plans(self.game, match.settings, self.openings, known))
        most = max(match.settings.games for match in self.matches)
        for first in range(0, most, 2):
            for number, (players, match) in enumerate(self.pairings.items()):
                for index in (first, first + 1):
                    if index >= match.settings.games or index in done[number]:
                        continue
                    plan = next(missing[number])
                    a, b = plan.sides
                    yield replace(plan, index=number * STRIDE + index, sides=(players[a], players[b]))

    def _kept(self, played: Iterator[MatchGame]) -> Generator[tuple[int, MatchGame]]:
        """The games, each once it is counted and on disk."""
        written = time.monotonic()
        matches = self.matches
        for numbered in played:
            number, index = divmod(numbered.index, STRIDE)
            game = numbered.model_copy(update={"index": index})
            matches[number].keep(game)
            if time.monotonic() - written > RESULT_SECONDS:
                self.write_result()
                written = time.monotonic()
            yield number, game
            # Tests that have ended take no further game: those that still run are dropped by whoever closes this.
            if all(match.tally.ended for match in matches):
                return


@dataclass
class Match(GamesInProgress):
    """A match in progress, from A's view.

    sprt: a sequential test that ends it; then the tally has the games counted by the test, in the order of their
    numbers, and later ones are on disk only.
    """

    settings: MatchSettings
    _played: list[MatchGame] = field(default_factory=list)

    def __post_init__(self) -> None:
        most = self.settings.max_plies
        opening = 0 if self.openings else self.settings.random_plies
        if most is not None and most <= opening:
            raise ValueError(f"max_plies must be more than random_plies, got {most} and {opening}")
        if self.sprt is not None and not self.settings.paired:
            raise ValueError(f"a sequential test needs colours=swap, got {self.settings.colours}")
        self.tally = Tally(self.settings.paired, self.sprt)
        self.names = (player_name(self.game, self.settings.a), player_name(self.game, self.settings.b))

    @property
    def pairings(self) -> Mapping[tuple[int, int], Match]:
        """This match alone."""
        return {(0, 1): self}

    @property
    def players(self) -> Mapping[str, PlayerSettings]:
        """The two players."""
        return {"A": self.settings.a, "B": self.settings.b}

    @property
    def complete(self) -> bool:
        """True once all games are finished, or the sequential test has ended."""
        return self.tally.ended or self.tally.record.games == self.settings.games

    @property
    def over(self) -> bool:
        """True where no game is missing; a sequential test may be without a verdict."""
        return self.tally.ended or self.tally.finished >= self.settings.games

    @property
    def games_wanted(self) -> int | None:
        """All games, with a sequential test the most that it may take; None: no limit."""
        return None if self.settings.games == NO_LIMIT else self.settings.games

    @property
    def date(self) -> str:
        """The day on which the match was begun, YYYY.MM.DD."""
        day = ""
        if self.folder is not None:
            begun = self.folder.stored().get("begun", {})
            day = str(begun.get("created", ""))[:10]
        return day.replace("-", ".") or datetime.now(UTC).strftime("%Y.%m.%d")

    def games(self) -> Iterator[MatchGame]:
        """All finished games: of the folder, without one those of this process."""
        return iter(self._played) if self.folder is None else self.folder.games()

    def play(self, scheduler: Scheduler | None = None) -> Generator[MatchGame]:
        """Play the missing games and yield each once it is on disk, as `play_all`."""
        with closing(self.play_all(scheduler)) as played:
            for _, game in played:
                yield game

    def resume(self) -> list[set[int]]:
        """Read the games of earlier sessions; their numbers. ValueError names a line of the games that is damaged."""
        done: set[int] = set()
        if self.folder is not None:
            self.folder.check(self.stored_settings())
            self.before = self.folder.work()
            for game in self.folder.games():
                if game.index < self.settings.games:
                    self.tally.add(game)
                    done.add(game.index)
        return [done]

    def keep(self, game: MatchGame) -> None:
        """Count a game that has just ended, once it is on disk."""
        # On disk first: what is shown as counted is there after a crash.
        if self.folder is not None:
            self.folder.append(game)
        else:
            self._played.append(game)
        self.tally.add(game)

    def begin(self) -> None:
        """Write the settings of the match into its folder, if it has one."""
        if self.folder is not None:
            self.folder.begin(self.stored_settings(), names=self.names)

    def write_result(self) -> None:
        """Write the result so far into the folder, if there is one."""
        if self.folder is not None and self.folder.settings_file.exists():
            self.folder.write_result(self.result())

    def result(self) -> dict[str, Any]:
        """Return the result so far as JSON has it."""
        return {
            "complete": self.complete,
            "a": self.names[0],
            "b": self.names[1],
            "games": self.tally.record.games,
            "summary": f"{self.tally.finished:,} games  {standing(self.tally)}",
            "results": self.tally.to_json(),
            **({} if self.tally.test is None else {"sprt": sprt_json(self.tally.test)}),
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
        """Return the settings that decide the games, with the content of the nets."""
        # Without `games`, which may be raised when the match goes on, and players, whose nets count by content.
        values = self.settings.model_dump(exclude={"a", "b", "games"})
        values |= player_facts(self.game, self.settings.a, "a")
        values |= player_facts(self.game, self.settings.b, "b")
        if self.openings_name:
            values["openings"] = self.openings_name
        if self.sprt is not None:
            values["sprt"] = sprt_text(self.sprt)
        return values
