"""Matches, sequential tests, tournaments and tunings played by workers: the games and numbers of one process."""

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from thread_fleet import ThreadFleet

import hauteur as ht
from hauteur.cli.main import main
from hauteur.cluster.scheduler import Played, Scheduler
from hauteur.cluster.unit import Unit, UnitResult
from hauteur.games.registry import load_game
from hauteur.matches.folder import MatchFolder
from hauteur.matches.match import Match
from hauteur.matches.ratings.elo import Sprt
from hauteur.matches.results import MatchGame
from hauteur.matches.settings import MatchSettings
from hauteur.matches.tournament import Tournament, TournamentSettings
from hauteur.matches.tuning import Schedule, StrengthTuning, TuningFolder, parse_parameters, tune_strength
from hauteur.matches.units import checked_games
from hauteur.players.settings import parse_player

STRONG, WEAK = "net=tictactoe visits=12 temperature=0.5", "net=uniform visits=6 temperature=1"

WITHOUT = ("work", "written", "resources", "summary")
"""Parts of a result about the clock, and how many games came after the end of a test."""


@pytest.fixture
def scheduler() -> Iterator[Scheduler]:
    with closing(Scheduler(ThreadFleet(2))) as found:
        yield found


def match_of(folder: Path | None = None, *, games: int = 40, sprt: Sprt | None = None, **settings: Any) -> Match:
    players = {"a": parse_player(STRONG), "b": parse_player(WEAK)}
    values: dict[str, Any] = {"game": "tictactoe", "games": games, "seed": 3, **players}
    where = None if folder is None else MatchFolder(folder)
    return Match(load_game("tictactoe"), MatchSettings(**(values | settings)), folder=where, sprt=sprt)


def in_order(games: Iterator[MatchGame]) -> list[MatchGame]:
    return sorted(games, key=lambda game: game.index)


def numbers(match: Match) -> dict[str, Any]:
    """All that a result says of the games."""
    return {name: value for name, value in match.result().items() if name not in WITHOUT}


def test_a_match_has_the_games_and_the_result_of_one_process(scheduler: Scheduler, tmp_path: Path) -> None:
    alone = match_of(tmp_path / "0")
    shared = match_of(tmp_path / "2")
    assert len(list(alone.play())) == len(list(shared.play(scheduler))) == 40
    assert in_order(shared.games()) == in_order(alone.games())
    assert numbers(shared) == numbers(alone)
    assert shared.work.visits == alone.work.visits


def test_a_match_that_was_begun_by_one_process_is_continued_by_workers(scheduler: Scheduler, tmp_path: Path) -> None:
    begun = match_of(tmp_path)
    with closing(begun.play()) as games:
        for _ in range(7):
            next(games)
    left = [game.index for game in match_of(tmp_path).play(scheduler)]
    assert sorted(left) == sorted(set(range(40)) - {game.index for game in begun.games()} | set(left))
    alone = match_of()
    list(alone.play())
    assert in_order(match_of(tmp_path).games()) == in_order(alone.games())


def test_a_sequential_test_takes_the_same_games(scheduler: Scheduler) -> None:
    test = Sprt(0.0, 150.0, 0.05, 0.05, "normalised")
    alone, shared = (match_of(games=100_000, sprt=test, random_plies=3) for _ in range(2))
    list(alone.play())
    list(shared.play(scheduler))
    assert alone.tally.test is not None
    assert alone.tally.test.verdict is not None
    assert numbers(shared) == numbers(alone)


def test_a_tournament_has_the_same_ratings(scheduler: Scheduler) -> None:
    players = tuple(parse_player(text) for text in (STRONG, WEAK, "random", "mcts:20"))
    settings = TournamentSettings(game="tictactoe", players=players, games=8, seed=5)
    alone, shared = (Tournament(load_game("tictactoe"), settings) for _ in range(2))
    list(alone.play_all())
    list(shared.play_all(scheduler))
    for first, second in zip(alone.matches, shared.matches, strict=True):
        assert in_order(first.games()) == in_order(second.games())
    assert [(one.name, one.elo) for one in shared.ratings().ratings] == [
        (one.name, one.elo) for one in alone.ratings().ratings
    ]


def test_a_tuning_has_the_same_steps(scheduler: Scheduler, tmp_path: Path) -> None:
    player = parse_player(STRONG)
    parameters = parse_parameters(["cpuct.init=0.5:3"], player)
    tuning = StrengthTuning("tictactoe", player, parameters, Schedule(2), games=8, verification=8)
    alone = tune_strength(tuning, TuningFolder(tmp_path / "0"), lambda _line: None)
    shared = tune_strength(tuning, TuningFolder(tmp_path / "2", scheduler=scheduler), lambda _line: None)
    assert shared.to_json() == alone.to_json()


def test_openings_with_a_position_travel(scheduler: Scheduler) -> None:
    lines = ["4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", "e2e4 e7e5"]
    options: dict[str, Any] = {"games": 8, "openings": lines, "max_plies": 12, "seed": 1}
    alone = ht.play_match("material", "random", "chess", **options)
    assert alone.games == ht.play_match("material", "random", "chess", workers=2, **options).games


def test_the_file_of_games_is_the_same_by_processes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hashes = []
    for workers in ("0", "2"):
        out = tmp_path / workers
        words = ["match", "material", "random", "--game", "chess", "--games", "8", "--max-plies", "30", "--seed", "2"]
        assert main([*words, "--workers", workers, "--out", str(out)]) == 0
        hashes.append(hashlib.sha256(without_times((out / "games.pgn").read_text())).hexdigest())
    assert hashes[0] == hashes[1]
    capsys.readouterr()


def without_times(pgn: str) -> bytes:
    """A PGN without its comments, which have times, and in one line, as they break lines too."""
    return " ".join(re.sub(r"\{[^}]*\}", " ", pgn).split()).encode()


def test_what_only_this_process_has_is_refused() -> None:
    function = ht.Player.from_function(lambda state: int(state.legal_actions()[0]), "first move")
    with pytest.raises(ValueError, match="player B holds an object of this process, which workers have not"):
        ht.play_match("random", function, "tictactoe", games=2, workers=1)


def test_games_that_were_not_planned_are_refused() -> None:
    unit = Unit("match", "match, unit 0", {}, {"plans": [{"index": 1}]})
    game = MatchGame(index=0, a="first", score=1, end="won", plies=5)
    content = json.dumps([game.model_dump()]).encode()
    for bytes_of_worker, message in ((content, "are not those that were planned"), (b"[", "cannot be read")):
        with pytest.raises(ValueError, match=f"match, unit 0: its games {message}"):
            checked_games(Played(unit, UnitResult(unit.key, bytes_of_worker)))
