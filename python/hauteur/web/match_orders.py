"""Matches that a page starts or goes on with, as jobs: every part of the command is checked before."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from hauteur.games.registry import load_game
from hauteur.matches.folder import MatchFolder, TournamentFolder
from hauteur.matches.match import NO_LIMIT, MatchSettings
from hauteur.matches.ratings.elo import Model, Sprt
from hauteur.players.build import Resources
from hauteur.players.settings import PlayerSettings, changed_player, player_text
from hauteur.studies.folders import FoundFolder
from hauteur.system.settings import Section
from hauteur.web.jobs import JobCommand
from hauteur.web.players import page_player
from hauteur.web.settings import WebSettings

PLAYED = ("match", "sprt", "tournament")
"""Commands whose arguments are players."""

KEPT_OPTIONS = {
    *("game", "games", "colours", "random-plies", "order", "seed", "max-plies", "kind", "eval"),
    *("elo0", "elo1", "alpha", "beta", "model", "max-games", "parallel", "batch-size", "threads", "backend"),
}
"""Options with which such a command goes on; --out is the folder itself."""

FLAGS = frozenset({"eval", "json"})
"""Options without a value."""

MOST_VISITS = 1_000_000
"""Visits a move of a player in a match that a page starts, and ..."""
VISITS_TOGETHER = 5_000_000
"""... of all games at a time, about a GB of trees."""

FOLDER = "matches"
"""Folder of the matches that pages start, in the first root."""

Text = Annotated[str, Field(max_length=2000)]


class MatchOrder(Section):
    """A match that a page asks for. games: with a sequential test the most that it may take, 0: no limit."""

    kind: Literal["match", "sprt"] = "match"
    game: Annotated[str, Field(max_length=200)]
    a: Text = ""
    b: Text = ""
    visits: Annotated[int, Field(ge=1, le=MOST_VISITS)] = 100
    games: Annotated[int, Field(ge=0, le=NO_LIMIT)] = 100
    random_plies: Annotated[int, Field(ge=0, le=10_000)] = 4
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    elo0: float = 0.0
    elo1: float = 10.0
    model: Model = "normalised"


def match_job(order: MatchOrder, settings: WebSettings) -> JobCommand:
    """Return the command of a new match. Raise ValueError where it, its players or its test cannot be."""
    if not settings.roots:
        raise ValueError("there is no folder for matches: start the server with one, hauteur web FOLDER")
    game = load_game(order.game)
    a, b = (_player(text, settings, f"player {name}", order.visits) for name, text in (("A", order.a), ("B", order.b)))
    options = {"game": game.spec, "random-plies": str(order.random_plies), "seed": str(order.seed)}
    if order.kind == "sprt":
        test = Sprt(order.elo0, order.elo1, model=order.model)
        options |= {"elo0": f"{test.elo0:g}", "elo1": f"{test.elo1:g}", "model": test.model}
        options |= {"max-games": str(order.games)} if order.games else {}
    else:
        options |= {"games": str(order.games)}
    wanted = order.games or NO_LIMIT
    MatchSettings(a=a, b=b, game=game.spec, games=wanted, random_plies=order.random_plies, seed=order.seed)
    folder = _new_folder(settings.roots[0] / FOLDER)
    return _job(order.kind, (a, b), options | _resources((a, b), settings), folder)


def resumed_job(found: FoundFolder, settings: WebSettings) -> JobCommand:
    """Return the command that a match or tournament was begun with, to go on. Raise ValueError where a page may not."""
    if not isinstance(found.folder, MatchFolder | TournamentFolder) or found.inside is not None:
        raise ValueError(f"{found.name}: what goes on from a page is a match or a tournament of its own")
    words = (found.folder.stored().get("begun") or {}).get("command")
    if not isinstance(words, list) or len(words) < 3 or words[1] not in PLAYED:
        raise ValueError(f"{found.name}: it was not begun by hauteur {', '.join(PLAYED)}; go on with what began it")
    players, options = _split([str(word) for word in words[2:]])
    if left := sorted(options.keys() - KEPT_OPTIONS - {"out", "json", "pgn", "sgf"}):
        raise ValueError(f"{found.name}: --{left[0]} is not for pages; go on with it by its command")
    kept = {name: value for name, value in options.items() if name in KEPT_OPTIONS}
    made = [_player(text, settings, f"player {number}") for number, text in enumerate(players, 1)]
    return _job(words[1], made, {**_resources(made, settings), **kept}, found.folder.path)


def _resources(players: Sequence[PlayerSettings], settings: WebSettings) -> dict[str, str]:
    """Return options for what a match may use: threads as the server's pages, games at a time by their trees."""
    visits = max((player.visits for player in players if player.has_net), default=1)
    parallel = min(Resources().parallel, max(1, VISITS_TOGETHER // visits))
    threads = {"threads": str(settings.threads)} if settings.threads else {}
    return threads | ({"parallel": str(parallel)} if parallel < Resources().parallel else {})


def _job(command: str, players: Sequence[PlayerSettings], options: dict[str, Any], folder: Path) -> JobCommand:
    texts = [player_text(player) or f"visits={player.visits}" for player in players]
    title = f"{command} {' – '.join(texts)}"[:200]
    return JobCommand(command, title, folder, texts, {**options, "out": str(folder)})


def _player(text: str, settings: WebSettings, label: str, visits: int | None = None) -> PlayerSettings:
    """Return a player of a page's text; visits: of one that searches and has none of its own."""
    roots = [str(root) for root in settings.roots]
    player = page_player(text, roots, allow_programs=settings.allow_programs, label=label)
    if player.has_net and player.visits > MOST_VISITS:
        raise ValueError(f"{label}: visits in a match of a page are at most {MOST_VISITS:,}, got {player.visits:,}")
    if visits is None or not player.has_net or "visits" in player.model_fields_set:
        return player
    return changed_player(player, f"visits={visits}", label)


def _new_folder(parent: Path) -> Path:
    """Return a path for a folder that is not there."""
    name = time.strftime("%Y-%m-%d-%H%M%S")
    names = [name, *(f"{name}-{number}" for number in range(2, 100))]
    return next(path for path in (parent / one for one in names) if not path.exists())


def _split(words: Sequence[str]) -> tuple[list[str], dict[str, str | bool]]:
    """Return the arguments and the options of a command line, as --name=value, --name value or --name."""
    arguments, options, rest = list[str](), dict[str, str | bool](), list(words)
    while rest:
        word = rest.pop(0)
        if not word.startswith("--"):
            arguments.append(word)
            continue
        name, equals, value = word[2:].partition("=")
        following = not equals and name not in FLAGS and bool(rest) and not rest[0].startswith("--")
        options[name] = value if equals else rest.pop(0) if following else True
    return arguments, options
