"""Planned games: those of a generation, a probe or a gate match, in units, and the files of what was made of them.

gen-GGGGG-UUUU.parquet has the games of unit U of generation G, in order. What is damaged, missing or in another's
place is found, and played again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from hauteur import _core
from hauteur.learning.recorded_games import Games
from hauteur.learning.sections import ANOTHER_RUN, GateSettings, ReanalyseSettings, SelfPlaySettings
from hauteur.matches.openings import Opening, first_of_two, random_opening, read_openings
from hauteur.matches.record import GamePlan
from hauteur.mcts.params import SearchParams
from hauteur.players.settings import Colours
from hauteur.system.seeds import derived_seed, stream

if TYPE_CHECKING:
    import pyarrow as pa

CANDIDATE, BEST = 0, 1
"""Players of a gate match."""
MATCH_UNIT = 8
"""Games of a unit of a probe or gate match, even: few, so that a sequential test ends soon, and workers get like
shares.
"""

REANALYSE_UNIT = 500
"""Positions of a unit of new searches: about as much work as a unit of self-play."""


class OtherRulesError(ValueError):
    """Games that are as they were written cannot be played: the rules of the game have changed."""


@dataclass(frozen=True)
class PlannedGames:
    """Games that are all decided before they are played."""

    kind: Literal["self-play", "gate", "reanalyse"]
    """What the games are for."""
    game: _core.Game
    """Their rules."""
    settings: SelfPlaySettings
    """Settings of self-play in this generation."""
    generation: int
    """The generation that they belong to."""
    nets: tuple[int, ...]
    """Generation of each player's net; NO_NET: none of the run."""
    seed: int
    """Seed of the run."""
    purpose: str
    """Names the random numbers of these games, such as `self-play 3`."""
    plans: tuple[GamePlan, ...]
    """Players and start of each game, by its number."""
    unit_games: int
    """Games of a unit: unit u has those from u * unit_games on."""

    @cached_property
    def units(self) -> dict[int, tuple[GamePlan, ...]]:
        """The plans of each unit, by its number."""
        size = self.unit_games
        first_games = range(0, len(self.plans), size)
        return {first // size: self.plans[first : first + size] for first in first_games}

    @property
    def n_scl(self) -> int | None:
        """N_scl of search-contempt in these games; None where it is off."""
        if self.kind == "gate":
            return None
        return n_scl_of(self.settings.search)

    def checked(self, source: Path | pa.BufferReader, number: int, name: str) -> Games:
        """Return the games of a unit's file or content.

        ValueError, naming it, where it is damaged, or has other games than were planned for this unit; OtherRulesError
        where it is what was written, and the game does not allow its moves.
        """
        from hauteur.learning.shards import check_spec, checked_games, read_table  # with pyarrow

        table = read_table(source, name)
        check_spec(table, name, self.game.spec)
        # Before the plans, since openings that are drawn by other rules are others too.
        try:
            games = checked_games(table, name, self.game.spec)
        except ValueError as error:
            raise OtherRulesError(str(error)) from error
        # A whole file in the place of another, copied from another run or generation, passes every check of its own:
        # only its plans tell the difference.
        for column, expected in self._expected(self.units[number]).items():
            if table[column].to_pylist() != expected:
                raise ValueError(f"{name}: its {column} is not that of unit {number} of generation {self.generation}")
        return games

    def _expected(self, plans: Sequence[GamePlan]) -> dict[str, list[object]]:
        """Return the columns of a unit's file that follow from the plans."""
        # As the column has it, float32: else a large N_scl would differ from the one in its own file.
        n_scl = None if self.n_scl is None else float(np.float32(self.n_scl))
        return {
            "index": [plan.index for plan in plans],
            "generation": [self.generation] * len(plans),
            "seed": [
                derived_seed(self.seed, self.purpose, plan.index) if plan.seed is None else plan.seed for plan in plans
            ],
            "net_first": [self.nets[plan.sides[0]] for plan in plans],
            "net_second": [self.nets[plan.sides[1]] for plan in plans],
            "start": [list(plan.start) for plan in plans],
            "origin": [plan.origin_spec for plan in plans],
            "n_scl": [n_scl] * len(plans),
        }


class Starts(Protocol):
    """Draws where games begin, in the place of the openings of the settings."""

    def plan(self, index: int, random: np.random.Generator) -> GamePlan | None:
        """Plan the game of this number; None where it begins with an opening of the settings."""


def planned_selfplay(
    game: _core.Game,
    settings: SelfPlaySettings,
    *,
    generation: int,
    nets: Sequence[int],
    seed: int,
    colours: Colours = "swap",
    archive: Starts | None = None,
    probe: int | None = None,
) -> PlannedGames:
    """Plan the games of a generation. colours: side of player 0, where the second player is the fixed opponent.

    archive: positions that games may begin in; probe: number of a probe, whose games are for observation only; None:
    the generation itself.
    """
    of_opening = seed if probe is None else derived_seed(seed, "probe", probe)
    plans = game_plans(game, settings, generation=generation, seed=of_opening, colours=colours, archive=archive)
    purpose = f"self-play {generation}"
    size = settings.shard_games
    # Probes have random numbers of their own: else they would be the first games of the generation, played twice.
    if probe is not None:
        purpose = f"probe {generation} {probe}"
        size = MATCH_UNIT
    return PlannedGames("self-play", game, settings, generation, tuple(nets), seed, purpose, tuple(plans), size)


def planned_gate(
    game: _core.Game,
    settings: SelfPlaySettings,
    gate: GateSettings,
    *,
    generation: int,
    best: int,
    seed: int,
) -> PlannedGames:
    """Plan the match of the net of a generation against the best one: pairs of games without resignation."""
    whole = settings.model_copy(update={"resignation": None, "tree_per_side": False})
    plans = []
    for index in range(gate.games):  # 2k and 2k + 1 begin with the same random plies, with sides swapped
        random = stream(seed, f"gate opening {generation}", index // 2)
        start = random_opening(game, gate.opening_plies, random)
        is_first = index % 2 == 0
        sides = (CANDIDATE, BEST) if is_first else (BEST, CANDIDATE)
        plans.append(GamePlan(index, sides, start))
    purpose = f"gate {generation}"
    return PlannedGames("gate", game, whole, generation, (generation, best), seed, purpose, tuple(plans), MATCH_UNIT)


def planned_reanalysis(
    game: _core.Game,
    play: SelfPlaySettings,
    again: ReanalyseSettings,
    window: Games,
    *,
    generation: int,
    net: int,
    seed: int,
) -> tuple[NDArray[np.int64], PlannedGames]:
    """Plan new searches of positions of earlier generations in the window: which of its moves, and games of one move.

    The positions are drawn without replacement, each with the same chance (Schrittwieser et al. 2021, "Online and
    Offline Reinforcement Learning by Planning with a Learned Model": MuZero Reanalyse). play: settings of the
    generation's self-play, which the searches share.
    """
    purpose = f"reanalyse {generation}"
    # Not those of the present generation: without a lag this very net has just searched them.
    is_old = np.repeat(window.generation < generation, window.move_counts)
    old = np.flatnonzero(is_old & window.learned)
    count = round(again.share * len(old))
    random = stream(seed, purpose)
    moves = np.sort(random.choice(old, count, replace=False))
    alone = {"episodes": "best-versus-best", "tree_per_side": False}
    # No fast searches: they are not learned from, and new targets are what the visits are spent for.
    whole = {"visits": again.visits or play.visits, "playout_cap": None, "resignation": None}
    settings = play.model_copy(update=alone | whole)
    plans = tuple(window.plan_at(move, index) for index, move in enumerate(moves.tolist()))
    return moves, PlannedGames("reanalyse", game, settings, generation, (net,), seed, purpose, plans, REANALYSE_UNIT)


def game_plans(
    game: _core.Game,
    settings: SelfPlaySettings,
    *,
    generation: int,
    seed: int,
    colours: Colours = "swap",
    archive: Starts | None = None,
) -> Iterator[GamePlan]:
    """The generation's games: who sits where, and how each begins."""
    book = read_openings(Path(settings.opening_book), game) if settings.opening_book else []
    # A stream for each game and purpose: how a game begins depends neither on how many there are nor on who plays them,
    # and an archive leaves the openings of the games that it does not begin as they were.
    for index in range(settings.games):
        plan = None
        if archive is not None:
            plan = archive.plan(index, stream(seed, f"archive {generation}", index))
        if plan is None:
            plan = opening_plan(game, settings, book, index, stream(seed, f"opening {generation}", index))
        if settings.episodes != "best-versus-best":
            plan = replace(plan, sides=first_of_two(game, colours, plan))
        yield plan


def opening_plan(
    game: _core.Game,
    settings: SelfPlaySettings,
    book: Sequence[Opening],
    index: int,
    random: np.random.Generator,
) -> GamePlan:
    """Plan the start of a game: the initial position, or an opening of the book, if any, and random plies."""
    if random.random() >= settings.opening_share:
        return GamePlan(index)
    plies = int(random.integers(settings.opening_plies + 1))
    plan = GamePlan(index)
    if book:
        opening = book[int(random.integers(len(book)))]
        plan = opening.plan(game, index)
    if plies:
        drawn = random_opening(game, plies, random, after=plan)
        plan = replace(plan, start=plan.start + drawn)
    return plan


def n_scl_of(search: SearchParams) -> int | None:
    """N_scl of search-contempt in a search; None where it is off."""
    rule = search.search_contempt
    if rule is None or rule.is_neutral:
        return None
    return rule.n_scl


def unit_path(folder: Path, generation: int, number: int) -> Path:
    """The file of a unit."""
    return folder / f"gen-{generation:05d}-{number:04d}.parquet"


def unit_games(planned: PlannedGames, folder: Path, number: int) -> Games:
    """Return the games of a unit; ValueError where its file is missing or damaged, or has other games.

    OtherRulesError where the game has other rules than the file was written by.
    """
    path = unit_path(folder, planned.generation, number)
    if not path.exists():
        raise ValueError(f"{path}: is missing")
    try:
        return planned.checked(path, number, str(path))
    except OtherRulesError as error:
        raise OtherRulesError(
            f"{error}; the file is as it was written, so {planned.game.name} has other rules now: with the old ones "
            f"the run goes on, for the new ones {ANOTHER_RUN}"
        ) from error


def sound_units(
    planned: PlannedGames,
    folder: Path,
    warn: Callable[[str], object],
    *,
    finished: bool,
) -> dict[int, Games]:
    """Return the games of the units of a generation that have a right file, by number.

    warn: takes lines about files that are damaged or of other games, or missing although the generation is finished.
    OtherRulesError where the game has other rules than the files were written by.
    """
    paths = {number: unit_path(folder, planned.generation, number) for number in planned.units}
    there = set(folder.glob(f"gen-{planned.generation:05d}-*.parquet"))
    found: dict[int, Games] = {}
    for number, path in paths.items():
        try:
            # A file that is missing is still to be played, in a generation that goes on; in a finished one it was lost.
            if finished or path in there:
                found[number] = unit_games(planned, folder, number)
        except OtherRulesError:
            # Played again by other rules they would be lost, and the run with them.
            raise
        except ValueError as error:
            warn(f"{error}; its games are played again")
    for path in sorted(there - set(paths.values())):
        warn(f"{path}: is the file of no unit of this generation, and is not used")
    return found
