"""Matches, tests and tournaments in one call: the same games as the commands', and what their results say."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import chess.pgn
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from match_toys import CONNECT4, match_in, played, settings_of
from numpy.typing import NDArray

import hauteur as ht
from hauteur.matches.match_result import MatchResult
from hauteur.matches.results import MatchGame, Tally

pytestmark = pytest.mark.quick

Floats = NDArray[np.float32]
QUICK: dict[str, Any] = {"parallel": 4, "threads": 1}
A = ht.Player.from_text("net=uniform visits=12")
B = ht.Player.from_text("net=uniform visits=4 temperature=1")


def half(features: Floats) -> tuple[Floats, Floats]:
    """Return what `uniform` answers."""
    rows = len(features)
    return np.zeros((rows, 7), np.float32), np.tile(np.array([0.5, 0, 0.5], np.float32), (rows, 1))


class Curious(ht.Rule):
    def edge_value(self, nodes: Any, edges: Any, q: Any) -> Any:
        return q + 0.2 / (1 + edges.visits)


def ruled_player(*rules: ht.Rule, visits: int = 12) -> ht.Player:
    return ht.Player("uniform", visits=visits, rules=rules)


def test_the_games_are_those_of_the_command() -> None:
    match = match_in(None, settings_of(seed=5))
    expected = sorted(played(match), key=lambda game: game.index)
    seen: list[MatchGame] = []
    result = ht.play_match(A, B, CONNECT4, games=12, seed=5, on_game=seen.append, **QUICK)
    assert list(result.games) == expected == sorted(seen, key=lambda game: game.index)
    tally = match.tally
    assert (result.wins, result.draws, result.losses) == (tally.record.wins, tally.record.draws, tally.record.losses)
    assert (result.score, result.los, result.elo_interval) == (
        tally.record.score,
        tally.superiority,
        tally.elo_interval,
    )
    assert result.to_json()["results"] == match.result()["results"]
    assert result.complete
    assert "Elo" in repr(result)
    assert "Elo" in result._repr_html_()


@pytest.mark.parametrize("other", ["object", "rule"])
def test_objects_and_neutral_rules_play_as_the_text_does(other: str) -> None:
    player = ht.Player(half, visits=12) if other == "object" else ruled_player(ht.Rule())
    expected = ht.play_match(A, B, "connect4", games=6, **QUICK).games
    assert ht.play_match(player, B, "connect4", games=6, **QUICK).games == expected


def test_a_rule_of_one_s_own_plays_other_games_than_without() -> None:
    expected = ht.play_match(A, B, "connect4", games=6, **QUICK).games
    found = ht.play_match(ruled_player(Curious()), B, "connect4", games=6, **QUICK)
    assert len(found.games) == 6
    assert found.games != expected
    assert found.names[0] == "uniform visits=12 rules=[Curious()]"


def test_a_rule_that_fails_in_a_match_is_one_line() -> None:
    class Bad(ht.Rule):
        def prior(self, nodes: Any, edges: Any, p: Any) -> Any:
            return math.nan * p

    with pytest.raises(ValueError, match=r"^rule Bad\.prior must return finite numbers >= 0 of shape"):
        ht.play_match(ruled_player(Bad()), B, "connect4", games=2, **QUICK)


def test_an_interrupted_match_has_what_was_played_and_goes_on_in_its_folder(tmp_path: Path) -> None:
    def play(games: int = 8, after: int | None = None, **more: Any) -> MatchResult:
        left = iter(range(games if after is None else after))

        def on_game(game: MatchGame) -> None:
            if after is not None and next(left, None) is None:
                raise KeyboardInterrupt

        return ht.play_match(ht.Player(half, visits=12), B, CONNECT4, games=games, on_game=on_game, **more, **QUICK)

    whole = play()
    first = play(after=3, out=tmp_path / "m")
    assert (len(first.games), first.complete, first.interrupted) == (4, False, True)
    assert repr(first).startswith("interrupted: 4 of 8 games")
    assert first.wins + first.draws + first.losses == 4
    second = play(out=tmp_path / "m")
    assert (second.games, second.complete, second.interrupted) == (whole.games, True, False)
    assert (second.elo, second.los) == (whole.elo, whole.los)
    assert len(play(games=10, out=tmp_path / "m").games) == 10


def test_a_folder_knows_its_players_openings_and_rules(tmp_path: Path) -> None:
    def play(a: ht.Player, openings: list[str] | None = None) -> MatchResult:
        return ht.play_match(a, B, CONNECT4, games=2, out=tmp_path / "m", openings=openings, **QUICK)

    play(ruled_player(Curious()), ["1 2", "3 4"])
    facts = json.loads((tmp_path / "m" / "match.json").read_text())["settings"]
    assert facts["openings"].startswith("2 openings sha256 ")
    for a, openings in (
        (A, ["1 2", "3 4"]),
        (ruled_player(Curious()), ["1 2"]),
        (ht.Player("uniform", visits=12), None),
    ):
        with pytest.raises(ValueError, match="m holds a match with other settings"):
            play(a, openings)


def test_openings_are_a_list_of_lines_or_a_file(tmp_path: Path) -> None:
    file = tmp_path / "book.txt"
    file.write_text("1 2\n3 4\n")
    found = [ht.play_match(A, B, CONNECT4, games=4, openings=o, **QUICK).games for o in (["1 2", "3 4"], file)]
    assert found[0] == found[1]
    assert {game.opening for game in found[0]} == {"1 2", "3 4"}


def test_games_as_pgn_sgf_and_rows(tmp_path: Path) -> None:
    result = ht.play_match("random name=R", "random", "chess", games=2, max_plies=12, **QUICK)
    assert result.to_pgn(tmp_path / "games.pgn") == 2
    with (tmp_path / "games.pgn").open() as file:
        game = chess.pgn.read_game(file)
    assert game is not None
    assert game.headers["White"] == "R"
    with pytest.raises(ValueError, match=r"games of chess go to a file \*\.pgn"):
        result.to_sgf(tmp_path / "games.sgf")
    assert ht.play_match("random", "random", "nogo(size=4)", games=2, **QUICK).to_sgf(tmp_path / "g.sgf") == 2
    frame = pytest.importorskip("pandas") and result.games.to_pandas()
    assert frame.game.tolist() == [0, 1]
    assert frame.a.tolist() == ["first", "second"]
    assert frame.score.mean() == result.score


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=30), st.randoms())
def test_score_elo_and_superiority_are_of_the_same_games(scores: list[float], random: Any) -> None:
    """Also while games lack their partner: the three are on the same side of equality."""
    tally = Tally(paired=True)
    numbers = random.sample(range(40), len(scores))
    for number, score in zip(numbers, scores, strict=True):
        tally.add(MatchGame(index=number, a="first", score=score, end="", plies=1))
    assert (tally.superiority > 0.5) == (tally.record.score > 0.5)
    assert (tally.superiority < 0.5) == (tally.record.score < 0.5)
    low, high = tally.elo_interval
    assert low <= (400 * math.log10(s / (1 - s)) if 0 < (s := tally.record.score) < 1 else (s - 0.5) * math.inf) <= high


def test_a_sequential_test_ends_and_counts_the_same_pairs() -> None:
    result = ht.sprt("net=uniform visits=40", "random", "tictactoe", elo1=100, seed=1, **QUICK)
    assert result.verdict == "elo1"
    assert result.llr >= result.llr_bounds[1]
    assert [game.index for game in result.games] == list(range(result.wins + result.draws + result.losses))
    assert result.score == sum(game.score for game in result.games) / len(result.games)
    assert "elo 100 (normalised) accepted" in repr(result)
    undecided = ht.sprt("random", "random name=B", "tictactoe", max_games=2, **QUICK)
    assert (undecided.verdict, len(undecided.games), undecided.complete) == (None, 2, True)


def test_a_tournament_of_objects_and_texts(tmp_path: Path) -> None:
    players: list[ht.Player | str] = [ht.Player(half, visits=20, name="half"), "mcts:10", "random"]
    ratings = ht.tournament(players, "connect4", games=4, out=tmp_path / "t", **QUICK)
    assert {rating.name for rating in ratings.ratings} == {"half", "mcts:10", "random"}
    assert sum(record.games for record in ratings.results.values()) == 12
    assert repr(ht.tournament(players, "connect4", games=4, out=tmp_path / "t", **QUICK)) == repr(ratings)
    assert (tmp_path / "t" / "1-3" / "match.json").exists()
    table = ratings.crosstable()
    for rating in ratings.ratings:
        assert f"{rating.record.wins + rating.record.draws / 2:g}/8" in table
    frame = pytest.importorskip("pandas") and ratings.to_pandas()
    assert frame.name.tolist() == [rating.name for rating in ratings.ratings]
    assert "random" in ratings._repr_html_()


def test_an_interrupted_tournament_has_a_list_of_what_was_played() -> None:
    left = iter(range(3))

    def on_game(game: MatchGame) -> None:
        if next(left, None) is None:
            raise KeyboardInterrupt

    ratings = ht.tournament(["random name=R", "random"], "tictactoe", games=20, on_game=on_game, **QUICK)
    assert sum(record.games for record in ratings.results.values()) == 4


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"a": 3}, r"player A must be a text or a hauteur.Player, got 3: write hauteur.Player\(...\)"),
        ({"b": "visitz=3"}, "player B: visitz is not a setting"),
        ({"game": "conect4"}, "no game 'conect4'"),
        ({"games": 3}, "match: with swapped colours the number of games must be even, got 3"),
        ({"games": 0}, "match: games must be a whole number .* got 0"),
        ({"seed": -1}, "match: seed must be a whole number .* got -1"),
        ({"colours": "both"}, "match: colours must be 'swap', 'first', .* got 'both'"),
        ({"parallel": 0}, "^parallel must be 1 to 100,000, got 0"),
        ({"threads": -1}, "^threads must be 0 to 1,024, got -1"),
        ({"max_plies": 2}, "max_plies must be more than random_plies, got 2 and 4"),
        ({"openings": []}, "openings must not be empty"),
        ({"openings": ["1 2", "9"]}, r"openings\[1\]: "),
        ({"openings": ["1 2", 3]}, r"openings\[1\]: expected a position: .*; got int"),
    ],
)
def test_wrong_arguments_are_one_line(more: dict[str, Any], message: str) -> None:
    arguments = {"a": A, "b": B, "game": "connect4", "games": 2, **more}
    with pytest.raises(ValueError, match=message) as caught:
        ht.play_match(arguments.pop("a"), arguments.pop("b"), arguments.pop("game"), **arguments)
    assert "\n" not in str(caught.value)


def test_wrong_tests_and_tournaments_are_one_line() -> None:
    with pytest.raises(ValueError, match="elo0 must be below elo1"):
        ht.sprt(A, B, "connect4", elo0=5, elo1=5)
    with pytest.raises(ValueError, match="model must be one of logistic, normalised, got 'bayes'"):
        ht.sprt(A, B, "connect4", model="bayes")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="players must be a list of two or more players, got 'random'"):
        ht.tournament("random", "connect4")
    with pytest.raises(ValueError, match="two players are called 'random': give them names"):
        ht.tournament(["random", "random"], "connect4")
