"""The games of a match or tournament, played by this process: its players built, its nets open."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass

from hauteur import _core
from hauteur.matches.arena import ArenaFacts, play_games
from hauteur.matches.record import GamePlan
from hauteur.matches.results import MatchGame
from hauteur.players.build import Evaluators, Resources, build_player
from hauteur.players.move_player import MovePlayer
from hauteur.players.search_player import SearchPlayer
from hauteur.players.settings import PlayerSettings


@dataclass(frozen=True)
class Pairings:
    """Players, and the settings that decide their games besides the plans.

    labels: of the players, for messages; purpose: of the seed, where plans have none.
    """

    game: _core.Game
    players: Sequence[PlayerSettings]
    labels: Sequence[str]
    seed: int
    purpose: str
    max_plies: int | None = None


@contextmanager
def ready(pairings: Pairings, resources: Resources) -> Iterator[Playing]:
    """Yield what plays the games; ValueError or OSError, naming the player, where one does not fit."""
    with Evaluators(pairings.game, resources) as evaluators:
        players = [
            build_player(pairings.game, settings, evaluators, label)
            for settings, label in zip(pairings.players, pairings.labels, strict=True)
        ]
        names = [evaluator.name for evaluator in evaluators.opened.values()]
        yield Playing(pairings, players, resources, names)


@dataclass
class Playing:
    """Players that are ready. evaluators: the names of theirs."""

    pairings: Pairings
    players: Sequence[SearchPlayer | MovePlayer]
    resources: Resources
    evaluators: list[str]

    def play(self, plans: Iterator[GamePlan], facts: ArenaFacts) -> Generator[MatchGame]:
        """Play the games of an iterator and yield each as it ends."""
        records = play_games(
            self.pairings.game,
            self.players,
            plans,
            seed=self.pairings.seed,
            purpose=self.pairings.purpose,
            parallel=self.resources.parallel,
            batch_size=self.resources.rows,
            max_plies=self.pairings.max_plies,
            facts=facts,
        )
        with closing(records):
            for record in records:
                yield MatchGame.of(self.pairings.game, record, a=min(record.plan.sides))
