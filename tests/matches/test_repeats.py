"""Games that are played again are no evidence: pairs count once for each opening and pair of lines."""

import json
import random
from pathlib import Path

import pytest

import hauteur as ht
from hauteur.cli import main
from hauteur.learning.gate import GateResults, decide
from hauteur.learning.sections import GateSettings
from hauteur.matches.ratings.different import DifferentGames, line_digest
from hauteur.matches.ratings.elo import LEAST_REPEATS, MatchScore, Pairs, PairsInOrder, Sprt, pair_score_interval
from hauteur.matches.ratings.elo import pair_likelihood_of_superiority as los_of_pairs
from hauteur.matches.report.stored import StoredMatch
from hauteur.matches.results import SIDES, MatchGame, Tally, standing

OPENINGS = Path(__file__).parents[1] / "support/field/trainers/openings4.txt"
STRONG, WEAK = "net=uniform visits=60", "net=uniform visits=50"


def game_of(index: int, score: float, moves: str, opening: str = "") -> MatchGame:
    return MatchGame(index=index, a=SIDES[index % 2], score=score, end="", plies=2, opening=opening, moves=moves)


def repeated(times: int) -> list[MatchGame]:
    """Three different pairs, each played so many times: three points, two points, one point of two."""
    pairs = [((1.0, "a b"), (1.0, "b a")), ((1.0, "a c"), (0.0, "c a")), ((1.0, "a b"), (0.5, "c b"))]
    games = [game for _ in range(times) for pair in pairs for game in pair]
    return [game_of(index, score, moves) for index, (score, moves) in enumerate(games)]


def tally_of(games: list[MatchGame], *, paired: bool = True) -> Tally:
    found = Tally(paired)
    for game in games:
        found.add(game)
    return found


def test_a_pair_counts_once() -> None:
    once = tally_of(repeated(1))
    often = tally_of(repeated(50))
    assert once.pairs == often.pairs == Pairs((0, 0, 1, 1, 1))
    assert often.score_interval == once.score_interval == pair_score_interval(once.pairs)
    assert often.superiority == once.superiority == los_of_pairs(once.pairs)
    assert (often.record.games, often.different.repeats, often.different.different) == (300, 147, 5)
    assert often.to_json()["different_games"] == 5
    assert standing(often).endswith("5 different games of 300")


def test_games_in_any_order_give_the_same() -> None:
    games = repeated(7)
    mixed = random.Random(1).sample(games, len(games))
    assert tally_of(mixed).to_json() == tally_of(games).to_json()


def test_where_all_games_differ_nothing_is_said_and_all_count() -> None:
    games = [game_of(index, (index % 3) / 2, f"{index}") for index in range(60)]
    tally = tally_of(games)
    assert (tally.different.repeats, tally.pairs.pairs, tally.different.record) == (0, 30, tally.record)
    assert "different" not in standing(tally)
    assert tally.score_interval == pair_score_interval(tally.pairs)


def test_another_opening_or_another_side_makes_another_pair() -> None:
    pairs = DifferentGames(paired=True)
    lines = {name: line_digest(name) for name in "abc"}
    for index, name in enumerate("abbaacab"):  # the last pair is the first one
        pairs.add(index, 0.5, lines[name])
    assert (pairs.pairs.pairs, pairs.repeats, pairs.different) == (3, 1, 3)
    tally = tally_of([game_of(index, 1.0, "a", opening=str(index // 2)) for index in range(8)])
    assert tally.pairs.pairs == 4


def test_games_without_pairs_count_once_each() -> None:
    games = [game_of(index, 1.0 if index % 3 else 0.0, f"{index % 3}") for index in range(120)]
    tally = tally_of(games, paired=False)
    once = tally_of(games[:3], paired=False)
    assert tally.different.record == MatchScore(wins=2, losses=1)
    assert tally.score_interval == once.score_interval
    assert tally.different.note == "3 different games of 120"


def test_the_interval_holds_the_score_of_all_games() -> None:
    games = [*repeated(1), *(game_of(6 + index, 1.0, "ab"[index % 2]) for index in range(200))]
    tally = tally_of(games)
    low, high = tally.score_interval
    assert low <= tally.record.score <= high


def test_half_a_match_of_repeats_has_no_narrow_interval() -> None:
    tally = tally_of(repeated(50)[:-1])
    assert tally.interval_from == "running"
    least, most = pair_score_interval(tally.pairs)
    low, high = tally.score_interval
    assert low <= least < most <= high


def test_a_sequential_test_ends_where_nothing_new_comes() -> None:
    test = PairsInOrder(Sprt(0, 10))
    for index in range(1000):
        test.add(index, float(index % 2 == 0), b"x" if index % 2 else b"y")
    assert (test.verdict, test.exhausted, test.over) == (None, True, True)
    assert (test.pairs.pairs, test.record.games) == (1, 2 + 2 * LEAST_REPEATS)
    assert len(test.llrs) == 1
    assert test.llr == Sprt(0, 10).llr(Pairs((0, 0, 1, 0, 0)))


def test_rare_repeats_do_not_end_a_sequential_test() -> None:
    test = PairsInOrder(Sprt(0, 1))
    for index in range(400):
        test.add(index, float(index // 2 % 2), f"{index % 300}".encode())
    assert (test.exhausted, test.pairs.pairs, test.repeats_in_a_row) == (False, 150, 50)


def test_the_command_says_how_many_games_differ(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["match", STRONG, WEAK, "--game", "connect4", "--games", "400", "--openings", str(OPENINGS)]
    assert main.main([*words, "--threads", "1", "--out", str(tmp_path)]) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if "Elo" in line)
    assert "5 different games of 400" in line
    result = json.loads((tmp_path / "result.json").read_text("utf-8"))
    assert result["summary"].endswith("5 different games of 400")
    found = result["results"]
    assert (found["games"], found["different_games"], sum(found["pairs"])) == (400, 5, 4)
    low, high = found["elo_interval_95"]
    assert low < -100
    assert high > 0
    assert StoredMatch(tmp_path).tally.to_json() == found


def test_sprt_of_games_all_alike_ends_undecided(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["sprt", STRONG, WEAK, "--game", "connect4", "--random-plies", "0", "--threads", "1", "--parallel", "8"]
    assert main.main(words) == 3
    output = capsys.readouterr().out
    assert "2 different games of" in output
    for remedy in ("openings", "--random-plies", "temperature"):
        assert remedy in output


def test_a_tournament_rates_games_that_differ(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["tournament", STRONG, WEAK, "--game", "connect4", "--games", "40", "--random-plies", "0", "--threads", "1"]
    assert main.main(words) == 0
    output = capsys.readouterr().out
    assert "40 games (2 different games of 40; repeats count once)" in output
    ratings = ht.tournament([STRONG, WEAK], "connect4", games=40, random_plies=0, threads=1)
    assert [rating.record.games for rating in ratings.ratings] == [2, 2]


def test_rate_counts_games_of_a_folder_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ht.play_match(STRONG, WEAK, "connect4", games=20, random_plies=0, threads=1, out=tmp_path)
    assert main.main(["rate", str(tmp_path), "--json"]) == 0
    assert [line["games"] for line in json.loads(capsys.readouterr().out)["ratings"]] == [2, 2]


@pytest.mark.parametrize("by", ["match", "sprt"])
def test_the_gate_counts_repeats_once_and_says_so(by: str) -> None:
    settings = GateSettings.model_validate({"by": by, "games": 100, "sprt": {"elo1": 100}})
    results = GateResults(Sprt(**settings.sprt.model_dump()) if by == "sprt" else None)
    for index in range(100):
        results.add(index, 1.0, b"first" if index % 2 == 0 else b"second")
        if results.over:
            break
    decision = decide(settings, results, generation=1, best=0)
    found = decision.to_json()
    assert found["different_games"] == 2
    assert found["games"] == (100 if by == "match" else 2 + 2 * LEAST_REPEATS)
    assert decision.evidence == MatchScore(wins=2)
    assert found["score_interval_95"][0] < 0.5
    assert f"2 different games of {found['games']}" in decision.reason
