"""Matches of an experiment, several seeds of them, resumed, and how long they will take."""

from pathlib import Path

from hauteur.players.settings import parse_player
from hauteur_experiments.experiment import ExperimentSetting
from hauteur_experiments.matches import MatchSpec, PlayedMatch, match_seconds, play_matches

UNIFORM = "net=uniform visits=8 temperature=1"


def spec(name: str = "duel", **changes: object) -> MatchSpec:
    """A short match at tic-tac-toe."""
    player = parse_player(UNIFORM)
    return MatchSpec(name, player, player, games=6, game="tictactoe", **changes)  # type: ignore[arg-type]


def setting(folder: Path, seeds: int = 1) -> ExperimentSetting:
    return ExperimentSetting(folder, seeds=seeds, threads=1, parallel=4, show=lambda line: None)


def lines(played: PlayedMatch) -> list[tuple[int, str, float]]:
    return [(game.index, game.moves, game.score) for game in played.games]


def test_every_match_has_a_folder_and_its_games_in_order(tmp_path: Path) -> None:
    found = play_matches(setting(tmp_path), [spec(), spec("self", colours="first")])
    assert list(found) == ["duel", "self"]
    assert [game.index for game in found["duel"].games] == list(range(6))
    assert {game.a for game in found["self"].games} == {"first"}
    assert found["duel"].tally.record.games == 6
    assert found["duel"].tally.pairs.pairs == 3
    assert (tmp_path / "self" / "result.json").exists()


def test_a_match_that_was_cut_short_goes_on(tmp_path: Path) -> None:
    whole = play_matches(setting(tmp_path / "whole"), [spec()])["duel"]
    play_matches(setting(tmp_path / "cut"), [spec()])
    file = tmp_path / "cut" / "duel" / "games.jsonl"
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:2]) + '{"index": 5, "a')
    assert lines(play_matches(setting(tmp_path / "cut"), [spec()])["duel"]) == lines(whole)


def test_seeds_are_matches_of_their_own_and_count_together(tmp_path: Path) -> None:
    one = play_matches(setting(tmp_path), [spec()])["duel"]
    two = play_matches(setting(tmp_path, seeds=2), [spec()])["duel"]
    assert lines(two)[:6] == lines(one)
    assert [game.index for game in two.games] == list(range(12))
    assert two.tally.pairs.pairs == 6
    assert lines(two)[6:] != [(index + 6, moves, score) for index, moves, score in lines(one)]


def test_openings_are_kept_beside_the_games(tmp_path: Path) -> None:
    played = play_matches(setting(tmp_path), [spec(openings=("b2 a1", "c1"))])["duel"]
    assert sorted({game.opening for game in played.games}) == ["b2 a1", "c1"]
    assert (tmp_path / "duel.openings.epd").read_text() == "b2 a1\nc1\n"


def test_the_estimate_counts_what_nets_have_to_do(tmp_path: Path) -> None:
    without_net = MatchSpec("r", parse_player("random"), parse_player("random"), games=6, game="tictactoe")
    assert match_seconds(setting(tmp_path), [without_net]) == 0
    assert match_seconds(setting(tmp_path), [spec()]) > 0
