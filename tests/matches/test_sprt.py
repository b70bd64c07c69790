"""Sequential tests by matches: pairs count by number, the verdict survives interruptions, the command's exit status."""

import json
from pathlib import Path

import pytest
from match_toys import played

from hauteur import _core
from hauteur.cli import main
from hauteur.matches.folder import MatchFolder
from hauteur.matches.match import Match
from hauteur.matches.ratings.elo import PairsInOrder, Sprt
from hauteur.matches.results import Tally
from hauteur.matches.settings import MatchSettings
from hauteur.players.build import Resources
from hauteur.players.settings import parse_player

pytestmark = pytest.mark.quick

GAME = _core.Game("tictactoe")
TEST = Sprt(0, 100, 0.1, 0.1)


def match_in(folder: Path | None, *, parallel: int = 6, games: int = 400, **more: object) -> Match:
    settings = MatchSettings.model_validate(
        {
            "game": "tictactoe",
            "a": parse_player("net=uniform visits=25"),
            "b": parse_player("net=uniform visits=2 temperature=1"),
            "games": games,
            "random_plies": 2,
            **more,
        }
    )
    resources = Resources(parallel=parallel, threads=1)
    return Match(GAME, settings, resources=resources, folder=None if folder is None else MatchFolder(folder), sprt=TEST)


def test_only_pairs_without_a_gap_before_them_count() -> None:
    test = PairsInOrder(TEST)
    for index in (7, 6, 2, 3, 1):
        test.add(index, 1.0)
    assert test.pairs.pairs == 0
    test.add(0, 0.5)
    assert test.pairs.counts == (0, 0, 0, 1, 1)
    test.add(4, 0.0)
    test.add(5, 0.0)
    assert test.pairs.counts == (1, 0, 0, 1, 2)
    assert test.record.games == 8


def test_nothing_counts_after_the_verdict() -> None:
    test = PairsInOrder(TEST)
    for index in range(200):
        test.add(index, 1.0)
    assert test.verdict is True
    assert 2 < test.pairs.pairs < 100
    before = PairsInOrder(TEST)
    for index in range(2 * test.pairs.pairs - 2):
        before.add(index, 1.0)
    assert before.verdict is None


@pytest.mark.parametrize("parallel", [1, 32])
def test_the_verdict_does_not_depend_on_how_many_play_at_once(parallel: int) -> None:
    """More games may have ended when the test does, but those that count are the same."""
    alone = match_in(None, parallel=2)
    match = match_in(None, parallel=parallel)
    played(alone)
    games = played(match)
    assert match.tally.decided
    assert match.complete
    assert match.tally.test is not None
    assert alone.tally.test is not None
    assert (match.tally.test.verdict, match.tally.test.pairs, match.tally.test.record) == (
        alone.tally.test.verdict,
        alone.tally.test.pairs,
        alone.tally.test.record,
    )
    assert match.tally.to_json() == alone.tally.to_json()
    assert len(games) >= match.tally.test.record.games
    counted = Tally(paired=True)
    for game in games:
        if game.index < match.tally.test.record.games:
            counted.add(game)
    assert counted.to_json() == match.tally.to_json()


@pytest.mark.parametrize("before", [1, 9])
def test_an_interrupted_test_comes_to_the_same_verdict(tmp_path: Path, before: int) -> None:
    whole = match_in(None)
    played(whole)
    played(match_in(tmp_path), before)
    match = match_in(tmp_path, parallel=9)
    played(match)
    assert match.tally.to_json() == whole.tally.to_json()
    again = match_in(tmp_path)
    assert played(again) == []
    assert again.result()["sprt"] == json.loads(json.dumps(match.result()["sprt"]))
    assert json.loads((tmp_path / "result.json").read_text())["sprt"]["verdict"] == "elo1"


def test_a_folder_of_another_test_is_refused(tmp_path: Path) -> None:
    """Else one could look at the games and choose the bounds."""
    played(match_in(tmp_path), 1)
    match = match_in(tmp_path)
    match.sprt = Sprt(0, 50, 0.1, 0.1)
    with pytest.raises(ValueError, match="sprt was 'elo 0 against 100"):
        played(match)
    match = match_in(tmp_path)
    match.sprt = None
    with pytest.raises(ValueError, match="and is now None"):
        played(match)


def test_without_pairs_there_is_no_test() -> None:
    with pytest.raises(ValueError, match="needs colours=swap, got first"):
        match_in(None, colours="first")


WORDS = ["sprt", "--game", "tictactoe", "--parallel", "4", "--threads", "1"]
STRONG, WEAK = "net=uniform visits=40", "net=uniform visits=1 temperature=1"


@pytest.mark.parametrize(
    ("players", "more", "status", "verdict"),
    [
        ((STRONG, WEAK), ["--elo1", "100"], 0, "elo1"),
        ((WEAK, STRONG), ["--elo1", "100", "--model", "logistic"], 1, "elo0"),
        (("random", "random"), ["--max-games", "8"], 3, None),
    ],
)
def test_the_command_tells_the_verdict(
    players: tuple[str, str], more: list[str], status: int, verdict: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main([*WORDS, *players, *more, "--json"]) == status
    result = json.loads(capsys.readouterr().out)
    assert result["sprt"]["verdict"] == verdict
    assert result["results"]["games"] == 2 * result["sprt"]["pairs"]
    assert result["complete"]
    assert main.main([*WORDS, *players, *more]) == status
    text = capsys.readouterr().out
    assert "SPRT of elo 0 against" in text
    assert ("accepted" in text) is (verdict is not None)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--elo0", "5", "--elo1", "5"], "elo0 must be below elo1, both within 2000, got 5 and 5"),
        (["--alpha", "0.6"], "alpha must be between 0 and 0.5, got 0.6"),
        (["--beta", "0"], "beta must be between 0 and 0.5, got 0"),
        (["--max-games", "3"], "must be even, got 3"),
        (["--model", "x"], "x"),
    ],
)
def test_bad_bounds_are_one_line(more: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main([*WORDS, "random", "random", *more]) == main.EXIT_BAD_INPUT
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert message in captured.err
