"""Rating lists: closed forms, laws, and the truth of simulated tournaments within the intervals."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hauteur.matches.ratings.bradley_terry import expected, rating_list
from hauteur.matches.ratings.elo import (
    MatchScore,
    elo_of_interval,
    elo_of_score,
    score_interval,
)
from hauteur.matches.ratings.rating_list import Encounter, RatingList

NAMES = "abcd"
RECORDS = st.builds(MatchScore, *[st.integers(0, 12)] * 3)
LISTS = st.lists(
    st.builds(Encounter, st.sampled_from(NAMES), st.sampled_from(NAMES), RECORDS).filter(lambda e: e.first != e.second),
    min_size=1,
    max_size=8,
)


def elos(found: RatingList) -> dict[str, float]:
    return {rating.name: rating.elo for rating in found.ratings}


def deviations(found: RatingList) -> dict[str, float]:
    return {rating.name: rating.deviation for rating in found.ratings}


def test_two_players_have_a_closed_form() -> None:
    """Davidson's most likely odds of win to loss are W/L, and nu = D / sqrt(WL); the prior adds halves to each."""
    record = MatchScore(wins=181, draws=667, losses=152)
    found = rating_list([Encounter("a", "b", record)])
    nu = 667.5 / math.sqrt(181.5 * 152.5)
    assert found.draws == pytest.approx(nu, rel=1e-6)
    assert found.difference("a", "b")[0] == pytest.approx(400 * math.log10(181.5 / 152.5) / (1 + nu / 2), rel=1e-6)
    assert found.draw_share == pytest.approx(nu / (2 + nu))


@pytest.mark.parametrize(
    "record", [MatchScore(181, 667, 152), MatchScore(65, 521, 39), MatchScore(170, 460, 370), MatchScore(600, 0, 400)]
)
def test_the_scale_is_that_of_the_score(record: MatchScore) -> None:
    found = rating_list([Encounter("a", "b", record)])
    assert found.difference("a", "b")[0] == pytest.approx(elo_of_score(record.score), rel=0.02)
    assert found.difference_interval("a", "b") == pytest.approx(elo_of_interval(score_interval(record)), abs=2)


def test_who_won_all_games_is_far_ahead_but_not_without_end() -> None:
    found = rating_list([Encounter("a", "b", MatchScore(wins=20)), Encounter("b", "c", MatchScore(wins=10, losses=10))])
    above, deviation = found.difference("a", "b")
    assert 400 < above < 900
    assert 100 < deviation < 500
    assert found.ratings[0].name == "a"
    assert found.ratings[0].record == MatchScore(wins=20)
    assert found.superiority("a", "b") > 0.95


def test_points_scored_are_points_expected() -> None:
    """Davidson's model: every player's expected points, the prior's games among them, are those it has made."""
    share = 1 / 3  # of the prior's game, for each opponent where all pairs have played alike
    games = [Encounter(a, b, MatchScore(20, 10, 30)) for a in NAMES for b in NAMES if a < b]
    found = rating_list(games)
    elo = elos(found)
    for name in NAMES:
        expected_points = made = 0.0
        for e in games:
            if name not in (e.first, e.second):
                continue
            sign = 1 if e.first == name else -1
            win, draw, _ = expected(sign * (elo[e.first] - elo[e.second]), found.draws)
            n = e.record.games + share + 0.5 / len(games)
            expected_points += n * (win + draw / 2)
            won = e.record.wins if sign == 1 else e.record.losses
            made += won + share / 2 + (e.record.draws + 0.5 / len(games)) / 2
        assert expected_points == pytest.approx(made, abs=1e-4)


@given(LISTS, st.randoms(use_true_random=False))
def test_the_order_of_games_and_the_names_do_not_matter(games: list[Encounter], random: object) -> None:
    shuffled = list(games)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    found = rating_list(games)
    assert elos(rating_list(shuffled)) == elos(found)
    renamed = {name: NAMES[::-1][i].upper() for i, name in enumerate(NAMES)}
    other = rating_list(Encounter(renamed[e.first], renamed[e.second], e.record) for e in games)
    assert elos(other) == pytest.approx({renamed[name]: elo for name, elo in elos(found).items()}, abs=0.01)
    assert deviations(other) == pytest.approx({renamed[n]: d for n, d in deviations(found).items()}, abs=0.01)


@given(LISTS)
def test_swapping_all_results_turns_the_list(games: list[Encounter]) -> None:
    found = rating_list(games)
    turned = rating_list(
        Encounter(e.first, e.second, MatchScore(e.record.losses, e.record.draws, e.record.wins)) for e in games
    )
    assert elos(turned) == pytest.approx({name: -elo for name, elo in elos(found).items()}, abs=0.01)


@given(LISTS, st.floats(-2000, 2000), st.floats(-100, 100))
def test_anchors_move_the_list_and_nothing_else(games: list[Encounter], shift: float, second: float) -> None:
    present = sorted({name for e in games for name in (e.first, e.second) if e.record.games})
    if not present:
        assert rating_list(games).ratings == ()
        return
    anchors = {present[0]: 0.0, present[-1]: second}
    here, there = (
        rating_list(games, anchors=anchors),
        rating_list(games, anchors={n: e + shift for n, e in anchors.items()}),
    )
    assert elos(there) == pytest.approx(
        {name: e + (shift if here_group(here, name) == 0 else 0) for name, e in elos(here).items()}, abs=0.01
    )
    if len(present) > 1:
        assert elos(here)[present[-1]] == second
        assert deviations(here)[present[-1]] == 0


def here_group(found: RatingList, name: str) -> int:
    """0 for the players that the anchors reach."""
    anchored = next(rating.group for rating in found.ratings if rating.anchored)
    return 0 if next(rating.group for rating in found.ratings if rating.name == name) == anchored else 1


def test_groups_that_never_met_cannot_be_compared() -> None:
    games = [
        Encounter("a", "b", MatchScore(5, 0, 1)),
        Encounter("c", "d", MatchScore(1, 4, 1)),
        Encounter("d", "e", MatchScore(1, 1, 0)),
    ]
    found = rating_list(games)
    assert found.groups == 2
    assert {rating.name: rating.group for rating in found.ratings} == {"c": 0, "d": 0, "e": 0, "a": 1, "b": 1}
    assert found.difference("a", "c") == (0.0, math.inf)
    assert found.superiority("a", "c") == 0.5
    assert sum(rating.elo for rating in found.ratings if rating.group == 0) == pytest.approx(0, abs=1e-6)
    joined = rating_list(games, anchors={"b": 0, "c": 100})
    assert joined.groups == 1
    assert math.isfinite(joined.difference("a", "e")[1])


@pytest.mark.parametrize(
    ("anchors", "message"),
    [
        ({"x": 0.0}, "the anchor 'x' has no games; players are a, b"),
        ({"a": math.inf}, "must have a finite Elo, got inf"),
    ],
)
def test_bad_anchors_are_refused(anchors: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rating_list([Encounter("a", "b", MatchScore(1, 0, 0))], anchors=anchors)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ValueError, match="no player 'z' in the list; there are a, b"):
        rating_list([Encounter("a", "b", MatchScore(1, 0, 0))]).difference("z", "a")


def simulated(truth: Sequence[float], games: int, draws: float, random: np.random.Generator) -> list[Encounter]:
    """A round robin, each pair with colours swapped."""
    return [
        Encounter(str(i), str(j), MatchScore(*random.multinomial(games, expected(truth[i] - truth[j], draws)).tolist()))
        for i in range(len(truth))
        for j in range(len(truth))
        if i != j
    ]


def test_intervals_cover_the_truth() -> None:
    """Round robins of five players: 95 % of the intervals of ratings and of differences hold the truth."""
    random = np.random.default_rng(3)
    inside = 0
    across = 0
    rounds = 250
    truth = np.array([0.0, 40, 150, 320, 500])
    for _ in range(rounds):
        found = rating_list(simulated(truth.tolist(), 15, 1.2, random))
        for rating in found.ratings:
            low, high = rating.interval()
            inside += low <= truth[int(rating.name)] - truth.mean() <= high
        for a, b in ("01", "03", "24", "04"):
            low, high = found.difference_interval(a, b)
            across += low <= truth[int(a)] - truth[int(b)] <= high
    assert 0.93 < inside / (5 * rounds) < 0.97
    assert 0.925 < across / (4 * rounds) < 0.975


@given(LISTS, LISTS)
def test_a_group_is_rated_as_if_it_were_alone(games: list[Encounter], others: list[Encounter]) -> None:
    strangers = [Encounter(e.first.upper(), e.second.upper(), e.record) for e in others]
    alone = rating_list(games)
    beside = rating_list([*games, *strangers])
    assert {name: elo for name, elo in elos(beside).items() if name.islower()} == elos(alone)
    assert {name: error for name, error in deviations(beside).items() if name.islower()} == deviations(alone)


def test_groups_have_draws_of_their_own() -> None:
    drawish = MatchScore(20, 60, 20)
    sharp = MatchScore(50, 0, 50)
    found = rating_list([Encounter("a", "b", drawish), Encounter("b", "c", drawish), Encounter("x", "y", sharp)])
    assert found.draw_share == pytest.approx(0.6, abs=0.01)
