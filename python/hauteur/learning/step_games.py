"""The games of a run's steps, played by this process; `worker_games` has them played by workers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from hauteur.cluster.facts import worker_facts
from hauteur.learning.gate import GateResults, gate_match
from hauteur.learning.planned import PlannedGames
from hauteur.learning.recipe import Recipe
from hauteur.learning.recorded_games import Games
from hauteur.learning.run_folder import RunFolder
from hauteur.learning.run_players import RunPlayers, evaluations_of_nets
from hauteur.learning.selfplay import play_generation, played
from hauteur.learning.unit_files import missing_units
from hauteur.learning.unit_journal import UnitJournal
from hauteur.matches.arena import ArenaFacts
from hauteur.matches.ratings.elo import Sprt
from hauteur.matches.record import GameRecord

OnGames = Callable[[int], None]
"""Takes the number of games that have ended."""


@dataclass(frozen=True)
class StepCost:
    """What games took. evaluations: of the run's own net, and of the large one beside it; seconds: of the clock."""

    facts: ArenaFacts
    evaluations: tuple[int, int]
    seconds: float


class StepGames(Protocol):
    """Plays the games of a run's steps."""

    def unit_games(self, games: int) -> int:
        """Return the games of a unit, even, where so many are played and no file is written."""

    def begin(self, *planned: PlannedGames) -> None:
        """Begin the self-play of generations, where they can be played beside other work."""

    def self_play(self, planned: PlannedGames, on_games: OnGames) -> tuple[StepCost, dict[Path, Games]]:
        """Play the games of a generation that are missing on disk; return those of some files, which were checked."""

    def play_again(self, planned: PlannedGames, numbers: Sequence[int], on_games: OnGames) -> None:
        """Play units of a generation that is over, whose files are not right any more."""

    def probe(self, planned: PlannedGames, on_games: OnGames) -> tuple[Games, StepCost]:
        """Play games for observation."""

    def gate_match(self, planned: PlannedGames, sprt: Sprt | None, on_games: OnGames) -> GateResults:
        """Play a gate match; with a sequential test until it ends."""

    def workers(self) -> str | None:
        """Return who plays games, and what they wait for, in words; None: nobody but this process."""

    def metrics(self) -> dict[str, Any]:
        """Return the numbers of the generation until now."""

    def progress(self) -> dict[str, Any]:
        """Return what progress.json has about workers."""

    def end_generation(self) -> dict[str, Any]:
        """Return the numbers of the generation that ends, and begin to count anew."""

    def close(self) -> None:
        """End what goes on."""


class OwnGames:
    """This process plays all games, side by side. warn: takes what is wrong with files, in a line."""

    def __init__(self, recipe: Recipe, folder: RunFolder, players: RunPlayers, warn: Callable[[str], object]) -> None:
        self._players, self._folder, self._warn = players, folder, warn
        self._journal = UnitJournal(recipe, folder)

    def unit_games(self, games: int) -> int:
        """All games are one unit."""
        return games + games % 2

    def begin(self, *planned: PlannedGames) -> None:
        """Nothing goes on beside other work."""

    def self_play(self, planned: PlannedGames, on_games: OnGames) -> tuple[StepCost, dict[Path, Games]]:
        """Play the games of a generation that are missing on disk."""
        distrusted = self._journal.distrusted(planned.generation)
        missing = missing_units(planned, self._folder.games, self._warn, distrusted)
        before = len(planned.plans) - sum(len(planned.units[number]) for number in missing)
        return self._play(planned, missing, lambda games: on_games(before + games)), {}

    def play_again(self, planned: PlannedGames, numbers: Sequence[int], on_games: OnGames) -> None:
        """Play units of a generation that is over."""
        self._play(planned, numbers, on_games)

    def _play(self, planned: PlannedGames, missing: Sequence[int], on_games: OnGames) -> StepCost:
        """Play units of self-play, and write their files."""
        facts, me = ArenaFacts(), worker_facts(self._players.threads)
        with ExitStack() as stack:
            players = self._players.of_selfplay(list(planned.nets), planned.settings, stack)
            spent = 0.0
            for number in play_generation(
                players,
                planned,
                self._folder.games,
                missing=missing,
                facts=facts,
                on_games=on_games,
            ):
                self._journal.add(planned, number, "driver", me, facts.search.total - spent)
                spent = facts.search.total
            evaluations = evaluations_of_nets(facts, players, planned.nets)
        return StepCost(facts, evaluations, facts.search.total)

    def probe(self, planned: PlannedGames, on_games: OnGames) -> tuple[Games, StepCost]:
        """Play games for observation."""
        facts, records = ArenaFacts(), list[GameRecord]()
        with ExitStack() as stack:
            players = self._players.of_selfplay(list(planned.nets), planned.settings, stack)
            for record in played(players, planned, iter(planned.plans), facts):
                records.append(record)
                on_games(len(records))
            evaluations = evaluations_of_nets(facts, players, planned.nets)
        return Games.of(records), StepCost(facts, evaluations, facts.search.total)

    def gate_match(self, planned: PlannedGames, sprt: Sprt | None, on_games: OnGames) -> GateResults:
        """Play a gate match; with a sequential test until it ends."""
        with ExitStack() as stack:
            players = [self._players.of_gate(net, planned.settings.visits, stack) for net in planned.nets]
            return gate_match(players, planned, sprt, on_games=on_games)

    def workers(self) -> str | None:
        """Nobody but this process plays."""
        return None

    def metrics(self) -> dict[str, Any]:
        """Return no numbers: there are no workers."""
        return {}

    def progress(self) -> dict[str, Any]:
        """Return nothing: there are no workers."""
        return {}

    def end_generation(self) -> dict[str, Any]:
        """Return no numbers: there are no workers."""
        return {}

    def close(self) -> None:
        """Nothing goes on."""
