"""The recipes that ship: by name, and what each reaches."""

from functools import cache
from pathlib import Path
from typing import NamedTuple

from hauteur.system.formatting import did_you_mean
from hauteur.system.settings import Section, read_toml

FOLDER = Path(__file__).parent / "recipes"
BUNDLED = "bundled"
"""Folder of the recipes of nets that ship, whose names need no folder where no other recipe has the name."""

CATALOGUE = "catalogue.toml"


class CatalogueEntry(Section):
    """What is said of a recipe. minutes: processor time, None where it was not measured; needs: what must be there."""

    reaches: str
    minutes: float | None = None
    needs: str = ""


class ShippedRecipe(NamedTuple):
    """A recipe that ships."""

    name: str
    """Its name, as `hauteur train` takes it."""
    game: str
    """Spec of its game."""
    minutes: float | None
    """Processor time of the run; None where it was not measured."""
    reaches: str
    """What the run reaches, in words."""
    needs: str
    """What it needs besides, in words; empty: nothing."""
    path: Path
    """The file."""


@cache
def shipped_recipes() -> tuple[ShippedRecipe, ...]:
    """Return the recipes that ship, those that a newcomer begins with first."""
    found = []
    for name, fields in read_toml(FOLDER / CATALOGUE).items():
        entry = CatalogueEntry.model_validate(fields)
        path = _file_of(name)
        if path is None:
            raise FileNotFoundError(f"{FOLDER / CATALOGUE}: there is no recipe {name!r}")
        game = str(read_toml(path)["game"])
        found.append(ShippedRecipe(name, game, entry.minutes, entry.reaches, entry.needs, path))
    return tuple(found)


def recipe_file(given: str | Path) -> Path:
    """Return the file of a recipe that is given by its path or by the name of one that ships.

    Raise ValueError for a name that none has, FileNotFoundError for a path without a file.
    """
    path = Path(given)
    if path.is_file():
        return path
    shipped = _file_of(str(given))
    if shipped is not None:
        return shipped
    if path.suffix == ".toml":
        by_name = f": the recipe that ships is called {path.stem}" if _file_of(path.stem) else ""
        raise FileNotFoundError(2, f"No such file{by_name}", str(given))
    near = _of_game(str(given)) or did_you_mean(str(given), [recipe.name for recipe in shipped_recipes()])
    raise ValueError(f"there is no recipe {str(given)!r}{near}; name a .toml file or one of `hauteur train --list`")


def _of_game(given: str) -> str:
    """Return in words which recipes learn a game that is given in the place of a recipe; empty where none does."""
    spec = given.replace(" ", "")
    names = [recipe.name for recipe in shipped_recipes() if spec in (recipe.game, recipe.game.partition("(")[0])]
    return f" (that game has {', '.join(names)})" if names else ""


def _file_of(name: str) -> Path | None:
    """Return the file of the recipe that ships by this name; None where there is none."""
    if not name or name.startswith(("/", ".")) or "\\" in name or ".." in name:
        return None
    for path in (FOLDER / f"{name}.toml", FOLDER / BUNDLED / f"{name}.toml"):
        if path.is_file() and path.name != CATALOGUE:
            return path
    return None


def recipe_lines() -> list[str]:
    """Return a line for each recipe: name, game, processor time, what it reaches and needs."""
    rows = []
    for recipe in shipped_recipes():
        reaches = recipe.reaches
        if recipe.needs:
            reaches += f"; needs {recipe.needs}"
        rows.append((recipe.name, recipe.game, minutes_text(recipe.minutes), reaches))
    names = ("recipe", "game", "CPU time", "reaches")
    table = [names, *rows]
    widths = []
    for column in range(3):
        widths.append(max(len(row[column]) for row in table))
    lines = []
    for row in table:
        cells = [text.ljust(width) for text, width in zip(row[:3], widths, strict=True)]
        lines.append("  ".join([*cells, row[3]]))
    return lines


def expectation(given: str | Path, *, changed: bool = False) -> str:
    """Return what the run of a recipe takes and reaches, in a line; empty for a file.

    changed: whether the run has other settings than the recipe.
    """
    file = _file_of(str(given))
    found = next((recipe for recipe in shipped_recipes() if recipe.path == file), None)
    if found is None or Path(given).is_file():
        return ""
    name = f"{found.name} without these changes" if changed else found.name
    if found.minutes is None:
        return f"{name}: {found.reaches}; how long it takes and what it reaches was not measured"
    return f"{name}: {minutes_text(found.minutes)} of CPU time in all on a core of a server; then {found.reaches}"


def minutes_text(minutes: float | None) -> str:
    """Return a processor time as people say it; `-` where it was not measured."""
    if minutes is None:
        return "-"
    if minutes < 1:
        return f"{60 * minutes:.0f} s"
    if minutes < 120:
        return f"{minutes:.0f} min"
    return f"{minutes / 60:.0f} h"
