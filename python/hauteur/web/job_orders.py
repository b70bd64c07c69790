"""What pages ask for when they begin a run or a match, checked, and the jobs that it becomes.

Nothing that a page sends is a path or a word of a command: recipes are those that ship, players and nets those that a
page may name (`hauteur.web.players`), and a folder is new, in the first root, with a name of its own.
"""

import re
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import AfterValidator, Field

from hauteur.games.registry import load_game
from hauteur.matches.folder import MatchFolder
from hauteur.matches.settings import MatchSettings
from hauteur.players.build import Resources, as_played, player_name
from hauteur.players.settings import PlayerSettings, player_text
from hauteur.system.extras import require
from hauteur.system.files import read_json
from hauteur.system.folders import FoundFolder, entries_of, settings_file
from hauteur.system.formatting import did_you_mean
from hauteur.system.hardware import usable_cores
from hauteur.system.settings import Section, validated
from hauteur.web.jobs import FORM_FILE, Desk, Job
from hauteur.web.players import page_player
from hauteur.web.positions import Spec
from hauteur.web.settings import WebSettings

MATCHES = "matches"
"""Folder of the matches that pages begin, in the first root."""

MOST_VISITS = 1_000_000
"""Visits a move of a player, and ..."""
VISITS_TOGETHER = 5_000_000
"""... of all games at a time: about a GB of trees."""


def _checked_name(name: str) -> str:
    """Return the name of a folder; ValueError for one that could be a path, or hidden."""
    if not re.fullmatch(r"([A-Za-z0-9][A-Za-z0-9._-]{0,59})?", name):
        raise ValueError("allowed are 60 letters, figures and . _ - at most, of which the first is a letter or figure")
    return name


FolderName = Annotated[str, AfterValidator(_checked_name)]
"""Name of a new folder; empty: the first free one."""

Threads = Annotated[int, Field(ge=0, le=1024)]
"""Threads of a job; 0: those of the server's settings."""


class RunOrder(Section):
    """A learning run. recipe: one that ships; generations: None: those of the recipe."""

    recipe: Annotated[str, Field(max_length=100)]
    name: FolderName = ""
    generations: Annotated[int, Field(ge=1, le=1_000_000_000)] | None = None
    threads: Threads = 0


class MatchOrder(Section):
    """A match between two players."""

    game: Spec
    """Spec of the game."""
    a: Annotated[str, Field(max_length=2000)]
    """The first player, as text; empty: the game's own net."""
    b: Annotated[str, Field(max_length=2000)]
    """The second player, likewise."""
    games: Annotated[int, Field(ge=1, le=1_000_000)] = 40
    """Games, of which each opening gets two with colours exchanged."""
    name: FolderName = ""
    """Name of its folder; empty: the first free one."""
    threads: Threads = 0
    """Threads of the players on the processor; 0: those of the server's settings."""


class NewFolder(NamedTuple):
    """A folder for work, and its name in lists."""

    name: str
    folder: Path


def run_job(order: RunOrder, desk: Desk) -> Job:
    """Return the job of a new run. Raise ValueError for what is not allowed, MissingLayerError without torch."""
    from hauteur.learning.recipe import load_recipe  # here: for runs alone
    from hauteur.learning.shipped_recipes import shipped_recipes

    require("learning", "torch", "pyarrow")
    shipped = {recipe.name: recipe for recipe in shipped_recipes()}
    if order.recipe not in shipped:
        near = did_you_mean(order.recipe, shipped)
        raise ValueError(f"there is no recipe {order.recipe!r} that ships{near}; there are {', '.join(shipped)}")
    changes = [f"run.threads={_threads(order.threads, desk.settings)}"]
    if order.generations is not None:
        changes.append(f"run.generations={order.generations}")
    recipe = load_recipe(shipped[order.recipe].path, tuple(changes))
    stem = order.recipe.rpartition("/")[2]
    place = new_folder(desk, recipe.folder.parent.name, order.name, stem=stem)
    folder = place.folder
    words = ("train", order.recipe, f"run.tag={folder.name}", *changes, f"--run={folder}", "--fresh")
    title = f"{recipe.game}: {folder.name}"
    return Job(place.name, "run", title, folder, words)


def match_job(order: MatchOrder, desk: Desk) -> Job:
    """Return the job of a new match. Raise ValueError for what is not allowed."""
    game = load_game(order.game)
    return _match_job_at(new_folder(desk, MATCHES, order.name, stem=game.name), order, desk)


def resumed_job(found: FoundFolder, desk: Desk) -> Job:
    """Return the job that goes on in a folder. Raise ValueError where a page may not, or its form does not hold."""
    folder = found.folder
    if not can_go_on(found):
        raise ValueError(f"{found.name} was not begun on a page: go on with it by the command that began it")
    if isinstance(folder, MatchFolder):
        form = folder.path / FORM_FILE
        order = validated(MatchOrder, read_json(form), str(form))
        return _match_job_at(NewFolder(found.name, folder.path), order, desk)
    words = ("train", str(folder.settings_file), f"--run={folder.path}")
    return Job(found.name, "run", folder.title(), folder.path, words)


def can_go_on(found: FoundFolder) -> bool:
    """Return whether a page can go on with the work in a folder: with any run, and with matches begun on a page."""
    if found.kind == "match":
        return (found.folder.path / FORM_FILE).is_file()
    return found.kind == "run"


def new_folder(desk: Desk, parent: str, name: str, *, stem: str) -> NewFolder:
    """Return a folder that is not there yet, in the folder `parent` of the first root.

    name: empty: the first that is free of stem-1, stem-2 and so on. ValueError where there is no root, the name is
    taken, or a folder of work cannot lie there: inside of another one, or behind a link.
    """
    label, root = desk.folders.first_root()
    for above in (root, root / parent):
        if above.is_symlink():
            raise ValueError(f"{above} is a link, and links are not followed")
        if settings_file(entries_of(above)) is not None:
            raise ValueError(f"{above} is itself the folder of a run or match, so that no other can lie in it")

    def place_of(last: str) -> NewFolder:
        return NewFolder(f"{label}/{parent}/{last}", root / parent / last)

    def is_taken(place: NewFolder) -> bool:
        return place.folder.exists() or desk.jobs.find(place.name) is not None

    if not name:
        places = (place_of(f"{stem}-{number}") for number in count(1))
        return next(place for place in places if not is_taken(place))
    place = place_of(name)
    if is_taken(place):
        raise ValueError(f"there is {place.name} already: choose another name")
    return place


def _match_job_at(place: NewFolder, order: MatchOrder, desk: Desk) -> Job:
    """Return the job of a match in this folder; ValueError for players or settings that a page may not give."""
    game = load_game(order.game)
    a = _player(order.a, "player A", desk.settings)
    b = _player(order.b, "player B", desk.settings)
    players = [a, b]
    validated(MatchSettings, {"a": a, "b": b, "game": game.spec, "games": order.games}, "match")
    names = [player_name(game, player) for player in players]
    played = [as_played(game, player) for player in players]
    words = (
        "match",
        *[player_text(player) or f"visits={player.visits}" for player in played],
        f"--game={game.spec}",
        f"--games={order.games}",
        f"--threads={_threads(order.threads, desk.settings)}",
        f"--parallel={_parallel(players)}",
        f"--out={place.folder}",
    )
    title = f"{game.spec}: {' – '.join(names)}"
    return Job(place.name, "match", title, place.folder, words, form=order.model_dump())


def _player(text: str, label: str, settings: WebSettings) -> PlayerSettings:
    """Return a player of a text; ValueError for one that pages may not name, or with more than MOST_VISITS."""
    roots = [str(root) for root in settings.roots]
    player = page_player(text, roots, allow_programs=settings.allow_programs, label=label)
    if player.has_net and player.visits > MOST_VISITS:
        raise ValueError(f"{label}: visits in a match of a page are at most {MOST_VISITS:,}, got {player.visits:,}")
    return player


def _parallel(players: Sequence[PlayerSettings]) -> int:
    """Return how many games are played at a time, so that their trees fit into memory."""
    visits = max((player.visits for player in players if player.has_net), default=1)
    return min(Resources().parallel, max(1, VISITS_TOGETHER // visits))


def _threads(asked: int, settings: WebSettings) -> int:
    """Return the threads of a job, 0: one a core. ValueError for more than there are cores."""
    cores = usable_cores()
    if asked > cores:
        raise ValueError(f"threads must be at most {cores}, the cores of this machine, got {asked}")
    return asked or settings.threads
