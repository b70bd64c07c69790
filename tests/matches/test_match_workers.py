"""Matches by workers: the games of one process, whoever plays them, after deaths and interruptions too."""

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from match_toys import CONNECT4, match_in, played

import hauteur as ht
from hauteur.cli import main
from hauteur.cluster.local import LocalFleet
from hauteur.cluster.scheduler import Scheduler
from hauteur.matches.folder import MatchFolder, TournamentFolder
from hauteur.matches.match import Match, MatchSettings
from hauteur.matches.ratings.elo import Sprt
from hauteur.matches.report.pages import report_of
from hauteur.matches.report.stored import StoredMatch
from hauteur.matches.results import MatchGame
from hauteur.matches.tournament import Tournament, TournamentSettings
from hauteur.matches.tuning.parameters import parse_parameters
from hauteur.matches.tuning.spsa import Schedule
from hauteur.matches.tuning.strength import StrengthTuning, Tuned, TuningFolder, tune_strength
from hauteur.players.build import Resources
from hauteur.players.settings import parse_player

TICTACTOE = ht.load_game("tictactoe")
HERE = Resources(parallel=8, threads=1)


@pytest.fixture(scope="module")
def by_workers() -> Iterator[Resources]:
    scheduler = Scheduler(LocalFleet(2, threads=1))
    yield Resources(parallel=8, threads=1, scheduler=scheduler, workers=2)
    scheduler.close()


def settings_with_nets(**more: object) -> MatchSettings:
    """A shipped net against itself with fewer visits."""
    a, b = "visits=24 precision=float32", "visits=8 temperature=1 precision=float32 name=fast"
    players = {"a": parse_player(a), "b": parse_player(b)}
    return MatchSettings.model_validate({"game": "connect4", "games": 16, "seed": 3, **players, **more})


def small_match(resources: Resources, folder: Path | None = None, *, test: Sprt | None = None) -> Match:
    players = {"a": parse_player("net=uniform visits=25"), "b": parse_player("random")}
    settings = MatchSettings.model_validate({"game": "tictactoe", "games": 200, "random_plies": 2, **players})
    place = None if folder is None else MatchFolder(folder)
    return Match(TICTACTOE, settings, resources=resources, folder=place, sprt=test)


def by_index(games: list[MatchGame]) -> list[MatchGame]:
    return sorted(games, key=lambda game: game.index)


def test_two_workers_play_the_games_of_one_process(tmp_path: Path, by_workers: Resources) -> None:
    settings = settings_with_nets()
    whole = match_in(None, settings)
    expected = by_index(played(whole))
    match = match_in(tmp_path, settings, by_workers)
    assert by_index(played(match)) == expected
    assert match.tally.to_json() == whole.tally.to_json()
    assert match.facts.games == 16
    assert match.work.evaluations > 1000
    assert [name for name in match.evaluators if "connect4" in name]
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["workers"]["units"] >= 4
    assert "workers, on average" in report_of(StoredMatch(tmp_path)).html()
    assert played(match_in(tmp_path, settings)) == []
    assert json.loads((tmp_path / "result.json").read_text())["workers"] == result["workers"]


def test_a_match_that_is_stopped_goes_on(tmp_path: Path, by_workers: Resources) -> None:
    played(small_match(by_workers, tmp_path), 30)
    before = len(list(MatchFolder(tmp_path).games()))
    assert 30 <= before < 200
    match = small_match(by_workers, tmp_path)
    assert len(played(match)) == 200 - before
    assert MatchFolder(tmp_path).workers()["units"] >= 200 / 4  # of both sessions
    whole = small_match(HERE)
    played(whole)
    assert match.tally.to_json() == whole.tally.to_json()


def test_a_worker_that_is_killed_changes_nothing(tmp_path: Path, by_workers: Resources) -> None:
    assert by_workers.scheduler is not None
    fleet = by_workers.scheduler.fleet
    assert isinstance(fleet, LocalFleet)
    match = small_match(by_workers, tmp_path)
    with closing(match.play()) as games:
        next(games)
        fleet.replace(fleet.names[0], "it is killed")
        for _ in games:
            pass
    whole = small_match(HERE)
    assert by_index(list(MatchFolder(tmp_path).games())) == by_index(played(whole))
    assert match.tally.to_json() == whole.tally.to_json()


def test_a_sequential_test_ends_as_in_one_process(by_workers: Resources) -> None:
    test = Sprt(0, 100, 0.1, 0.1)
    here, there = small_match(HERE, test=test), small_match(by_workers, test=test)
    played(here)
    played(there)
    assert there.decided
    assert there.test is not None
    assert here.test is not None
    assert (there.test.llr, there.test.verdict) == (here.test.llr, here.test.verdict)
    assert there.tally.to_json() == here.tally.to_json()
    assert there.games_done < 200


def test_a_tournament_has_the_games_of_one_process(tmp_path: Path, by_workers: Resources) -> None:
    players = tuple(map(parse_player, ("net=uniform visits=20", "mcts:20", "random")))
    settings = TournamentSettings(game="tictactoe", players=players, games=16, random_plies=1)
    by_workers = replace(by_workers, parallel=32)  # units of 12 games: two pairs of each of the three pairings
    cups = [
        Tournament(TICTACTOE, settings, resources=resources, folder=TournamentFolder(tmp_path / name))
        for name, resources in (("here", HERE), ("there", by_workers))
    ]
    for cup in cups:
        assert len(list(cup.play())) == 48
    for number, match in enumerate(cups[0].matches):
        assert match.folder is not None
        other = cups[1].matches[number].folder
        assert other is not None
        assert by_index(list(match.folder.games())) == by_index(list(other.games()))
    assert repr(cups[0].ratings()) == repr(cups[1].ratings())


def tuned(folder: Path, resources: Resources) -> Tuned:
    player = parse_player("net=uniform visits=10 temperature=1")
    parameters = parse_parameters(("cpuct.init=0.5:3",), player)
    tuning = StrengthTuning("tictactoe", player, parameters, Schedule(2, 0.2, 0.3), games=4, verification=4, seed=5)
    return tune_strength(tuning, TuningFolder(folder, resources), lambda _: None)


def test_a_tuning_comes_to_the_same_values(tmp_path: Path, by_workers: Resources) -> None:
    here, there = tuned(tmp_path / "here", HERE), tuned(tmp_path / "there", by_workers)
    assert here.to_json() == there.to_json()


def even(features: object) -> object:
    raise AssertionError(features)


@pytest.mark.parametrize(
    ("a", "message"),
    [
        (lambda: ht.Player(even), "player A: even is a Python object, which workers cannot be given"),
        (lambda: parse_player("net=absent.safetensors"), "absent.safetensors"),
        (lambda: parse_player("rave:5"), "rave plays nogo alone"),
    ],
)
def test_players_that_do_not_fit_are_refused_before_any_game(
    a: Callable[[], ht.Player], message: str, tmp_path: Path, by_workers: Resources
) -> None:
    settings = settings_with_nets(a=a())
    with pytest.raises((ValueError, OSError), match=message) as error:
        played(Match(CONNECT4, settings, resources=by_workers, folder=MatchFolder(tmp_path / "m")))
    assert "\n" not in str(error.value)
    assert not (tmp_path / "m" / "match.json").exists()


def test_the_command_and_the_call_take_workers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["match", "net=uniform visits=20", "random", "--game", "tictactoe", "--games", "6", "--random-plies", "2"]
    assert main.main([*words, "--workers", "1", "--out", str(tmp_path), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["results"]["games"] == 6
    assert 0 < result["workers"]["present"] <= 1
    assert "units in flight, on average" in (tmp_path / "report.html").read_text()
    again = ht.play_match("net=uniform visits=20", "random", "tictactoe", games=6, random_plies=2, workers=1)
    assert list(again.games) == by_index(list(MatchFolder(tmp_path).games()))
    with pytest.raises(ValueError, match=r"^workers must be 0 to"):
        ht.play_match("random", "random", "tictactoe", workers=-1)
