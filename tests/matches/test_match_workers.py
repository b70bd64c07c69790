"""Matches by workers: the games of one process, whoever plays them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from match_toys import match_in, played

from hauteur.cluster.local import LocalFleet
from hauteur.cluster.scheduler import Scheduler
from hauteur.matches.match import MatchSettings
from hauteur.matches.results import MatchGame
from hauteur.players.build import Resources
from hauteur.players.settings import parse_player


@pytest.fixture(scope="module")
def two_workers() -> Iterator[Scheduler]:
    scheduler = Scheduler(LocalFleet(2, threads=1))
    yield scheduler
    scheduler.close()


def settings_with_nets(**more: object) -> MatchSettings:
    """A shipped net against itself with fewer visits."""
    players = {"a": parse_player("visits=24"), "b": parse_player("visits=8 temperature=1 name=fast")}
    return MatchSettings.model_validate({"game": "connect4", "games": 16, "seed": 3, **players, **more})


def by_index(games: list[MatchGame]) -> list[MatchGame]:
    return sorted(games, key=lambda game: game.index)


def test_two_workers_play_the_games_of_one_process(tmp_path: Path, two_workers: Scheduler) -> None:
    settings = settings_with_nets()
    whole = match_in(None, settings)
    expected = by_index(played(whole))
    match = match_in(tmp_path, settings, Resources(parallel=8, threads=1, scheduler=two_workers))
    assert by_index(played(match)) == expected
    assert match.tally.to_json() == whole.tally.to_json()
    assert match.facts.games == 16
    assert match.work.evaluations > 1000
    assert [name for name in match.evaluators if "connect4" in name]


def test_half_a_match_goes_on_with_workers(tmp_path: Path, two_workers: Scheduler) -> None:
    settings = settings_with_nets()
    first = played(match_in(tmp_path, settings), 5)
    rest = played(match_in(tmp_path, settings, Resources(parallel=8, threads=1, scheduler=two_workers)))
    assert len(rest) == 11
    assert by_index(first + rest) == by_index(played(match_in(None, settings)))
