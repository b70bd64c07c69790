"""The games of generations as files of units: gen-GGGGG-UUUU.parquet has those of unit U of generation G, in order.

What is damaged, missing or in another's place is found, and played again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from hauteur.learning.planned import PlannedGames
from hauteur.learning.recipe import Recipe
from hauteur.learning.recorded_games import Games
from hauteur.learning.run_folder import RunFolder
from hauteur.system.errors import one_line

UNLIKE = "are not those that the nets have learned from (another machine or version plays others)"


def unit_path(folder: Path, generation: int, number: int) -> Path:
    """The file of a unit."""
    return folder / f"gen-{generation:05d}-{number:04d}.parquet"


def unit_games(planned: PlannedGames, folder: Path, number: int) -> Games:
    """Return the games of a unit; ValueError where its file is missing or damaged, or has other games."""
    path = unit_path(folder, planned.generation, number)
    if not path.exists():
        raise ValueError(f"{path}: is missing")
    return planned.checked(path, number, str(path))


def missing_units(planned: PlannedGames, folder: Path, warn: Callable[[str], object]) -> list[int]:
    """Return the units of a generation without a right file; name files that are damaged or of other games."""
    missing = []
    for number in planned.units:
        if not unit_path(folder, planned.generation, number).exists():
            missing.append(number)
            continue
        try:
            unit_games(planned, folder, number)
        except ValueError as error:
            warn(f"{error}; its games are played again")
            missing.append(number)
    known = {unit_path(folder, planned.generation, number) for number in planned.units}
    for path in sorted(set(folder.glob(f"gen-{planned.generation:05d}-*.parquet")) - known):
        warn(f"{path}: is the file of no unit of this generation, and is not used")
    return missing


def played_games(planned: PlannedGames, folder: Path, checked: Mapping[Path, Games]) -> dict[Path, Games]:
    """Return the games of a generation that was just played, by file. checked: those that need not be read."""
    paths = {number: unit_path(folder, planned.generation, number) for number in planned.units}
    return {
        path: checked[path] if path in checked else unit_games(planned, folder, number)
        for number, path in paths.items()
    }


def finished_games(
    recipe: Recipe,
    folder: RunFolder,
    planned: PlannedGames,
    digest: str | None,
    play_again: Callable[[list[int]], object],
    warn: Callable[[str], object],
) -> dict[Path, Games]:
    """Return the games of a generation that is over, by file; units without a right file are played again.

    digest: of the games that were learned from, where it is known; play_again: plays units. ValueError where that
    cannot be done, or with run.exact where other games come out; without it they are learned from, with a warning.
    """
    found, wrong = dict[int, Games](), list[int]()
    for number in planned.units:
        try:
            found[number] = unit_games(planned, folder.games, number)
        except ValueError as error:
            warn(f"{error}; its games are played again")
            wrong.append(number)
    if wrong:
        try:
            play_again(wrong)
        except (ValueError, OSError) as error:
            what = f"{folder.path}: games of generation {planned.generation} are damaged or missing"
            raise ValueError(f"{what}, and cannot be played again: {one_line(error)}") from None
        found |= {number: unit_games(planned, folder.games, number) for number in wrong}
    games = [found[number] for number in planned.units]
    if wrong and digest not in (None, digest_of(games)):
        message = f"{folder.path}: games of generation {planned.generation} that were played again {UNLIKE}"
        if recipe.run.exact:
            for number in wrong:
                unit_path(folder.games, planned.generation, number).unlink()
            raise ValueError(f"{message}; put the files back from a copy, or begin another run with run.tag=NAME")
        warn(message)
    return {unit_path(folder.games, planned.generation, number): found[number] for number in planned.units}


def digest_of(games: Iterable[Games]) -> str:
    """Return the hash of the games of a generation, by number."""
    return Games.join(list(games)).ordered().digest
