"""Matches of tests: settings, folders, games played."""

from collections.abc import Collection, Sequence
from contextlib import closing
from itertools import islice
from pathlib import Path

from hauteur import _core
from hauteur.matches.arena import Layout, play_games
from hauteur.matches.folder import MatchFolder
from hauteur.matches.match import Match, match_plans
from hauteur.matches.results import MatchGame
from hauteur.matches.settings import MatchSettings
from hauteur.players.build import Resources
from hauteur.players.search_player import SearchPlayer
from hauteur.players.settings import parse_player

CONNECT4 = _core.Game("connect4")
CHESS = _core.Game("chess")
FAST = Resources(parallel=4, threads=1)


def settings_of(
    game: str = "connect4", *, a: str = "visits=12", b: str = "visits=4 temperature=1", **more: object
) -> MatchSettings:
    nets = " net=uniform"
    return MatchSettings.model_validate(
        {"game": game, "a": parse_player(a + nets), "b": parse_player(b + nets), "games": 12, **more}
    )


def match_in(folder: Path | None, settings: MatchSettings, resources: Resources = FAST) -> Match:
    return Match(CONNECT4, settings, resources=resources, folder=None if folder is None else MatchFolder(folder))


def played(match: Match, games: int | None = None) -> list[MatchGame]:
    """Plays the match, or that many games of it."""
    with closing(match.play()) as iterator:
        return list(islice(iterator, games))


def games_of_players(
    players: Sequence[SearchPlayer], settings: MatchSettings, resources: Resources = FAST, *, skip: Collection[int] = ()
) -> list[MatchGame]:
    """The games of a match in order, between players that are built already."""
    plans = match_plans(CONNECT4, settings, (), skip)
    layout = Layout(resources.parallel, resources.rows)
    records = play_games(CONNECT4, players, plans, seed=0, purpose="match", layout=layout)
    return sorted((MatchGame.of(CONNECT4, record) for record in records), key=lambda game: game.index)
